//! Replication at the primary: synchronising replicas, and feeding them the stream.

use std::rc::Rc;

use picklock_checker::VirtualTime;
use picklock_clients::redis::Command;

use super::{Attached, CRON, LinkState, ReplicaState};
use crate::replication_protocol::{
    Address, LinkId, PeerMessage, ReplicationId, Snapshot, StreamPart,
};
use crate::{Output, Server};

/// How often replicas hear from an idle primary, in microseconds.
const PING: u64 = 10_000_000;
/// After how long without a word a link is given up, in milliseconds.
pub(super) const TIMEOUT: i64 = 60_000;

impl Server {
    /// Tells replicas what has changed since they were told last.
    #[inline]
    pub(crate) fn feed_replicas(&mut self) {
        if self.core.effects.has_pending() || self.replication.ack_wanted {
            self.add_to_stream();
        }
    }

    fn add_to_stream(&mut self) {
        let mut commands = self.core.effects.take();
        if std::mem::take(&mut self.replication.ack_wanted) {
            commands.push((None, Command::new("REPLCONF").arg("GETACK").arg("*")));
        }
        if let Some(part) = self.replication.append(commands) {
            self.pass_on(&part);
        }
    }

    /// Sends a part of the stream to the replicas that get every write at once.
    pub(super) fn pass_on(&mut self, part: &Rc<StreamPart>) {
        for replica in &mut self.replication.replicas {
            if replica.stage == ReplicaState::Streaming {
                replica.sent = part.end;
                self.core.out.push(Output::ToPeer {
                    link: replica.link,
                    message: PeerMessage::Stream(Rc::clone(part)),
                });
            }
        }
    }

    /// A replica wants to go on, or a full copy.
    pub(super) fn attach(
        &mut self,
        link: LinkId,
        id: Option<ReplicationId>,
        wanted: u64,
        address: Option<Address>,
    ) {
        let upstream = self.replication.primary.as_ref();
        let has_lost = upstream.is_some_and(|upstream| !matches!(upstream.state, LinkState::Up(_)));
        if has_lost || self.core.degraded.loading.is_some() {
            // What we have may be worth nothing soon, or is not there yet.
            self.core.out.push(Output::CloseLink { link });
            return;
        }
        self.detach(link);
        let now = self.core.now.monotonic;
        let continues = self.replication.can_continue(id, wanted);
        let stage = if continues {
            ReplicaState::Streaming
        } else {
            let until = now + self.core.settings.sync_delay;
            ReplicaState::Waiting { until }
        };
        if self.replication.backlog.is_none() {
            // The first replica ever: from now on the stream has a length, and the data have a new name.
            self.replication.rename();
            self.replication.previous = None;
            self.replication.begin_backlog();
        }
        let offset = wanted.saturating_sub(1);
        self.replication.replicas.push(Attached {
            link,
            address,
            stage,
            acked: if continues { offset } else { 0 },
            synced: None,
            heard: self.core.wall_millis(),
            sent: offset,
        });
        if continues {
            let id = self.replication.id;
            self.core.out.push(Output::ToPeer {
                link,
                message: PeerMessage::Continue { id },
            });
            self.catch_up(link);
        }
        self.count_good();
        self.start_cron();
        self.advance_replicas();
    }

    /// Sends a replica what it has missed.
    fn catch_up(&mut self, link: LinkId) {
        let replicas = &mut self.replication.replicas;
        let Some(index) = replicas.iter().position(|replica| replica.link == link) else {
            return;
        };
        let sent = replicas[index].sent;
        for part in self.replication.since(sent) {
            self.replication.replicas[index].sent = part.end;
            self.core.out.push(Output::ToPeer {
                link,
                message: PeerMessage::Stream(part),
            });
        }
    }

    /// Goes on with replicas whose time has come.
    pub(crate) fn advance_replicas(&mut self) {
        let now = self.core.now.monotonic;
        for index in 0..self.replication.replicas.len() {
            match self.replication.replicas[index].stage {
                ReplicaState::Waiting { until } if until <= now => self.send_all(index),
                ReplicaState::Sent { noticed } if noticed <= now => {
                    let replica = &mut self.replication.replicas[index];
                    replica.stage = ReplicaState::Silent;
                    replica.heard = self.core.wall_millis();
                    self.count_good();
                }
                ReplicaState::Waiting { .. }
                | ReplicaState::Sent { .. }
                | ReplicaState::Silent
                | ReplicaState::Streaming => {}
            }
        }
    }

    /// Sends a replica all keys.
    fn send_all(&mut self, index: usize) {
        let snapshot = Snapshot(Rc::new(self.core.dataset()));
        let noticed = self.core.now.monotonic + self.core.settings.sync_notice;
        self.replication.selected = None;
        let (id, offset) = (self.replication.id, self.replication.offset);
        let replica = &mut self.replication.replicas[index];
        replica.sent = offset;
        replica.stage = ReplicaState::Sent { noticed };
        self.core.out.push(Output::ToPeer {
            link: replica.link,
            message: PeerMessage::FullSync {
                id,
                offset,
                snapshot,
            },
        });
        if noticed <= self.core.now.monotonic {
            self.replication.replicas[index].stage = ReplicaState::Silent;
            self.count_good();
        }
    }

    /// A replica says how far it is, and its disk.
    pub(super) fn acked(&mut self, link: LinkId, offset: u64, synced: Option<u64>) {
        let now = self.core.wall_millis();
        let replicas = &mut self.replication.replicas;
        let Some(replica) = replicas.iter_mut().find(|replica| replica.link == link) else {
            return;
        };
        replica.heard = now;
        replica.acked = replica.acked.max(offset);
        replica.synced = replica.synced.max(synced);
        if replica.stage == ReplicaState::Silent {
            // Only now it gets what has changed since its copy was made.
            replica.stage = ReplicaState::Streaming;
            self.catch_up(link);
        }
    }

    /// Forgets a replica.
    pub(super) fn detach(&mut self, link: LinkId) {
        self.replication
            .replicas
            .retain(|replica| replica.link != link);
        self.count_good();
    }

    /// Closes the links to all replicas, which come back and ask again.
    pub(super) fn drop_replicas(&mut self) {
        for replica in self.replication.replicas.drain(..) {
            let link = replica.link;
            self.core.out.push(Output::CloseLink { link });
        }
        self.count_good();
    }

    fn count_good(&mut self) {
        let most = self.core.settings.min_replicas_max_lag.as_secs() as i64;
        let now = self.core.wall_millis();
        let is_good = |replica: &&Attached| {
            let there = matches!(
                replica.stage,
                ReplicaState::Streaming | ReplicaState::Silent
            );
            there && now.div_euclid(1_000) - replica.heard.div_euclid(1_000) <= most
        };
        self.replication.good = self.replication.replicas.iter().filter(is_good).count();
    }

    pub(super) fn start_cron(&mut self) {
        let now = self.core.now.monotonic.micros();
        let next = VirtualTime::from_micros((now / CRON + 1) * CRON);
        self.replication.cron = self.replication.cron.min(next);
    }

    /// Looks after replicas and primary, once a second.
    pub(crate) fn replication_cron(&mut self) {
        let now = self.core.now.monotonic;
        if self.replication.cron > now {
            return;
        }
        self.replication.cron = VirtualTime::NEVER;
        if self.replication.primary.is_some() || !self.replication.replicas.is_empty() {
            self.start_cron();
        }
        self.check_primary_link();
        self.check_replica_links();
    }

    fn check_replica_links(&mut self) {
        let (now, wall) = (self.core.now.monotonic, self.core.wall_millis());
        let is_lost = |replica: &&Attached| {
            replica.stage == ReplicaState::Streaming && wall - replica.heard > TIMEOUT
        };
        let lost: Vec<LinkId> = self
            .replication
            .replicas
            .iter()
            .filter(is_lost)
            .map(|replica| replica.link)
            .collect();
        for link in lost {
            self.detach(link);
            self.core.out.push(Output::CloseLink { link });
        }
        self.count_good();
        let idle = now.since(self.replication.pinged).as_micros() as u64 >= PING;
        if idle && self.replication.is_wanted() && !self.replication.replicas.is_empty() {
            self.replication.pinged = now;
            if let Some(part) = self.replication.append(vec![(None, Command::new("PING"))]) {
                self.pass_on(&part);
            }
        }
    }
}
