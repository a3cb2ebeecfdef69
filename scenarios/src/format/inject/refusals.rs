//! Faults that the world of a scenario cannot have.

use std::ops::Range;

use picklock_sim::plan::{Fault, FaultKind, ServerName};

use super::super::reader::Mistake;
use super::Body;

impl Body<'_, '_, '_> {
    /// Reports a kind of fault that has nothing to strike here.
    pub(super) fn refuse_kind(&mut self, kind: FaultKind) {
        match kind {
            FaultKind::BlockEvents if !self.participants.has_event_thread => {
                self.refuse(self.participants.service.no_event_thread);
            }
            FaultKind::DeleteStale if !self.participants.has_names => self.refuse([
                "there is nothing to delete by its name",
                "the server forgets a lock by itself",
                "take the fault away",
            ]),
            FaultKind::FullDisk if !self.participants.tolerates_disk_errors => self.refuse([
                "a full disk stops no write here",
                "or ends the server: with `aof-always` it exits",
                "give [service.redis] a `persistence` of `rdb`, `aof-no`, or `aof-everysec`",
            ]),
            FaultKind::MoveSlot if !self.participants.in_cluster => self.refuse([
                "there are no slots",
                "the servers are no cluster",
                "give [service.redis] a `cluster`",
            ]),
            FaultKind::IsolateServer if self.is_alone_in_ensemble() => self.refuse([
                "there is nothing to isolate the server from",
                "the ensemble has one server",
                "give [service.zookeeper] 3 or 5 `servers`",
            ]),
            FaultKind::IsolateServer | FaultKind::HoldLink => self.refuse_without_replicas(),
            FaultKind::Promote => self.refuse_promotion(),
            _ => {}
        }
    }

    fn is_alone_in_ensemble(&self) -> bool {
        self.participants.service.has_quorum && self.participants.servers == Some(1)
    }

    /// Between servers of Redis there are links only if some are replicas.
    fn refuse_without_replicas(&mut self) {
        let service = self.participants.service;
        if service.replicates_asynchronously && !self.participants.has_links {
            self.refuse([
                "there is no replica",
                "the servers know nothing of each other",
                "give [service.redis] `replicas`",
            ]);
        }
    }

    /// A replica becomes the primary by hand, unless there are others to decide that.
    fn refuse_promotion(&mut self) {
        self.refuse_without_replicas();
        if self.participants.sentinels > 0 {
            self.refuse([
                "the Sentinels choose the primary",
                "they would not know of this one",
                "crash or hang the primary, or leave out `sentinels`",
            ]);
        }
        if self.participants.in_cluster {
            self.refuse([
                "the nodes of a cluster elect their primaries",
                "they would not know of this one",
                "crash, hang, or isolate the primary, or leave out `cluster`",
            ]);
        }
    }

    fn refuse(&mut self, [what, label, help]: [&'static str; 3]) {
        let mistake = Mistake::new(what).label(label).help(help);
        self.mistakes.add(self.fields.span(), mistake);
    }

    /// Whether a fault can be; reports why not.
    pub(super) fn is_possible(&mut self, fault: &Fault) -> bool {
        match fault {
            Fault::EvictKey { target }
            | Fault::FullMemory { target, .. }
            | Fault::SlowScript { target, .. }
            | Fault::FullDisk { target, .. } => {
                if let ServerName::Sentinel(_) = target {
                    let mistake = Mistake::new("a Sentinel has no keys").help("name a server");
                    self.mistakes.add(self.fields.span(), mistake);
                }
            }
            Fault::Partition { servers, .. } => {
                let besides = self.participants.observers + self.participants.sentinels;
                let machines = self.participants.servers.map(|servers| servers + besides);
                if machines == u8::try_from(servers.len()).ok() {
                    let mistake = Mistake::new("all servers are on one side")
                        .label("no server is left on the other")
                        .help(
                            "leave one of them out; to cut off contenders from all servers, use `black-hole`",
                        );
                    self.mistakes.add(self.span_of("servers"), mistake);
                    return false;
                }
            }
            Fault::HoldLink { from, to, .. } if from.contains(to) => {
                let mistake = Mistake::new("no server has a link to itself")
                    .label("the server in `to` also stands here")
                    .help("take it away from one of the two");
                self.mistakes.add(self.span_of("from"), mistake);
                return false;
            }
            _ => {}
        }
        true
    }

    /// Where a field stands that has been read.
    fn span_of(&self, key: &str) -> Range<usize> {
        let mut spans = self.spans.iter();
        let found = spans.find(|(known, _)| *known == key);
        found.map_or_else(|| self.fields.span(), |(_, span)| span.clone())
    }
}
