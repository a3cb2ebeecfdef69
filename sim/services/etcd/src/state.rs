//! The state of a member, and what all its parts do with it.

use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;
use std::time::Duration;

use picklock_checker::VirtualTime;
use picklock_machines::{Chance, ConnectionId, ServerId};

use crate::apply::Applier;
use crate::concurrency::{Task, TaskNews};
use crate::ids::{Caller, LookupId, Origin, StreamId, TaskId};
use crate::io::{Output, PeerMessage, Turn};
use crate::lessor::{Lessor, min_ttl};
use crate::lookup::{KeepAliveStream, Lookup};
use crate::mvcc::Store;
use crate::raft::{Proposal, Raft, RaftMessage, Ready};
use crate::reads::{PendingProposal, Reads};
use crate::rpc::{LeaseId, Response, ResponseHeader, Revision, ServerBody};
use crate::rpctypes::Status;
use crate::settings::Settings;
use crate::watchable_store::{WatchStream, WatchableStore};

/// A member.
#[derive(Clone, Debug)]
pub struct Member {
    pub(crate) settings: Settings,
    pub(crate) raft: Raft,
    pub(crate) applier: Applier,
    pub(crate) applied: usize,
    pub(crate) numbers: u64,
    pub(crate) next_tick: VirtualTime,
    pub(crate) last_tick: VirtualTime,
    /// What has come for the raft loop while it hangs.
    pub(crate) stalled: Option<VecDeque<(ServerId, RaftMessage)>>,
    /// The leader as the rest of the process knows it, and since when.
    pub(crate) lead: Option<ServerId>,
    pub(crate) elected_at: VirtualTime,
    pub(crate) led: bool,
    pub(crate) proposals: BTreeMap<u64, PendingProposal>,
    /// Proposals that wait for a leader: of this member, by number, and of others.
    pub(crate) unproposed: VecDeque<Rc<Proposal>>,
    pub(crate) reads: Reads,
    pub(crate) watchable: WatchableStore,
    pub(crate) streams: BTreeMap<StreamId, WatchStream>,
    pub(crate) leader_check: Option<VirtualTime>,
    pub(crate) lookups: BTreeMap<LookupId, Lookup>,
    /// Renewals of leases that are over, until they are revoked.
    pub(crate) blocked_renewals: Vec<(Origin, LeaseId)>,
    pub(crate) keepalives: BTreeMap<(ConnectionId, u32), KeepAliveStream>,
    pub(crate) tasks: BTreeMap<TaskId, Task>,
    /// What tasks have not looked at yet.
    pub(crate) task_news: VecDeque<(TaskId, TaskNews)>,
}

impl Member {
    /// A member of a fresh cluster that has elected `leader`.
    pub fn formed(id: ServerId, leader: ServerId, settings: Settings) -> Self {
        let ttl = min_ttl(settings.election_timeout, settings.heartbeat_interval);
        let mut lessor = Lessor::new(ttl);
        if id == leader {
            lessor.promote(VirtualTime::ZERO, settings.election_timeout);
        }
        let store = Store::new(settings.version.keeps_compacted_tombstone());
        Self {
            settings,
            raft: Raft::formed(id, leader, settings),
            applier: Applier { store, lessor },
            applied: 1,
            numbers: 0,
            next_tick: VirtualTime::ZERO + settings.heartbeat_interval,
            last_tick: VirtualTime::ZERO,
            stalled: None,
            lead: Some(leader),
            elected_at: VirtualTime::ZERO,
            led: id == leader,
            proposals: BTreeMap::new(),
            unproposed: VecDeque::new(),
            reads: Reads::default(),
            watchable: WatchableStore::default(),
            streams: BTreeMap::new(),
            leader_check: None,
            lookups: BTreeMap::new(),
            blocked_renewals: Vec::new(),
            keepalives: BTreeMap::new(),
            tasks: BTreeMap::new(),
            task_news: VecDeque::new(),
        }
    }

    /// The member that it believes to lead.
    pub fn leader(&self) -> Option<ServerId> {
        self.lead
    }

    /// Whether it leads, as its raft loop knows.
    pub fn is_leader(&self) -> bool {
        self.raft.is_leader()
    }

    /// How many entries of its log it has applied.
    pub fn applied(&self) -> usize {
        self.applied
    }

    /// Its term.
    pub fn term(&self) -> u64 {
        self.raft.term
    }

    /// Its store.
    pub fn store(&self) -> &Store {
        &self.applier.store
    }

    pub(crate) fn id(&self) -> ServerId {
        self.raft.id
    }

    pub(crate) fn next_number(&mut self) -> u64 {
        self.numbers += 1;
        self.numbers
    }

    pub(crate) fn header(&self) -> ResponseHeader {
        self.header_at(self.applier.store.revision())
    }

    pub(crate) fn header_at(&self, revision: Revision) -> ResponseHeader {
        ResponseHeader {
            member: self.id().0,
            revision,
            raft_term: self.raft.term,
        }
    }

    pub(crate) fn believes_to_lead(&self) -> bool {
        self.lead == Some(self.id())
    }

    pub(crate) fn raft_hangs(&self) -> bool {
        self.stalled.is_some()
    }

    /// A leader looks for leases that are over this long after the start, and each 500 ms.
    #[must_use]
    pub fn scanning_from(mut self, phase: Duration) -> Self {
        self.applier
            .lessor
            .set_scan_phase(VirtualTime::ZERO + phase);
        self
    }

    /// Answers a call.
    pub(crate) fn answer(
        &mut self,
        turn: &mut Turn,
        caller: Caller,
        result: Result<Response, Status>,
    ) {
        match caller {
            Caller::Client(connection, call) => {
                let body = match result {
                    Ok(response) => ServerBody::Unary(self.header(), response),
                    Err(status) => ServerBody::Error(status),
                };
                turn.tell_client((connection, call), body);
            }
            Caller::Task(task) => {
                let revision = self.applier.store.revision();
                self.task_news
                    .push_back((task, TaskNews::Answer(revision, result)));
            }
            Caller::Unheard => {}
        }
    }

    /// Does something with the raft node, if its loop does not hang.
    pub(crate) fn with_raft<T>(
        &mut self,
        turn: &mut Turn,
        step: impl FnOnce(&mut Raft, &mut dyn Chance, &mut Ready) -> T,
    ) -> Option<T> {
        if self.raft_hangs() {
            return None;
        }
        let mut ready = Ready::default();
        let result = step(&mut self.raft, turn.chance, &mut ready);
        for (to, message) in ready.messages {
            turn.out
                .push(Output::ToPeer(to, PeerMessage::Raft(message)));
        }
        self.unproposed.extend(ready.no_leader);
        for (number, index) in ready.read_states {
            self.reads.confirmed(number, index);
        }
        Some(result)
    }
}
