//! A member as a machine.

use std::time::Duration;

use picklock_checker::VirtualTime;
use picklock_machines::{Alarm, Chance, ConnectionId, Machine, Now, ServerId};

use crate::ids::{Caller, Origin};
use crate::io::{Input, Output, PeerMessage, Turn};
use crate::lookup::Lookup;
use crate::rpc::{ClientBody, ClientMessage, ServerBody};
use crate::rpctypes;
use crate::state::Member;

impl Member {
    fn restart(&mut self, turn: &mut Turn) {
        let phase = Duration::from_millis(turn.chance.choose(500).into());
        let fresh = Self::formed(self.id(), self.id(), self.settings);
        let before = std::mem::replace(self, fresh);
        (self.raft, self.applier) = (before.raft, before.applier);
        // Numbers of calls that were under way must not be taken for new ones.
        (self.applied, self.numbers) = (before.applied, before.numbers);
        (self.lead, self.led) = (None, false);
        self.raft.restart(turn.chance);
        self.applier.lessor.demote();
        self.applier.lessor.set_scan_phase(turn.now + phase);
        self.next_tick = turn.now + self.settings.heartbeat_interval;
        self.last_tick = turn.now;
    }

    fn client(&mut self, turn: &mut Turn, connection: ConnectionId, message: ClientMessage) {
        let ClientMessage {
            call,
            require_leader,
            body,
        } = message;
        let caller = (connection, call);
        let refuses = require_leader && self.lead.is_none();
        match body {
            ClientBody::Cancel => self.cancel_call(turn, caller),
            ClientBody::Unary(_) | ClientBody::Watch(_) | ClientBody::LeaseKeepAlive(_)
                if refuses =>
            {
                turn.tell_client(caller, ServerBody::Error(rpctypes::NO_LEADER));
            }
            ClientBody::Unary(request) => {
                self.submit(turn, Caller::Client(connection, call), request);
            }
            ClientBody::Watch(request) => self.watch(turn, caller, require_leader, request),
            ClientBody::LeaseKeepAlive(lease) => self.keep_alive(turn, caller, lease),
        }
    }

    fn peer(&mut self, turn: &mut Turn, from: ServerId, message: PeerMessage) {
        match message {
            PeerMessage::Raft(message) => {
                if let Some(stalled) = &mut self.stalled {
                    stalled.push_back((from, message));
                } else {
                    self.with_raft(turn, |raft, chance, ready| {
                        raft.step(from, message, chance, ready)
                    });
                }
            }
            PeerMessage::Lease(id, kind, lease) => {
                self.ask_lessor(turn, Origin::Peer(from, id), kind, lease);
            }
            PeerMessage::LeaseAnswer(id, answer) => self.lease_answered(turn, (from, id), answer),
        }
    }

    /// Does what follows from what has happened, until nothing does.
    fn settle(&mut self, turn: &mut Turn) {
        loop {
            if !self.raft_hangs() {
                self.update_leadership(turn);
                self.apply_committed(turn);
                self.propose_waiting(turn);
            }
            self.serve_reads(turn);
            let Some((task, news)) = self.task_news.pop_front() else {
                return;
            };
            self.task_hears(turn, task, news);
        }
    }

    /// The rest of the process learns from the raft loop who leads.
    fn update_leadership(&mut self, turn: &mut Turn) {
        let lead = self.raft.lead;
        if self.led != self.raft.is_leader() {
            self.led = !self.led;
            if self.led {
                turn.out.push(Output::BecameLeader(self.raft.term));
            } else {
                turn.out.push(Output::SteppedDown);
            }
        }
        if self.lead == lead {
            return;
        }
        self.lead = lead;
        if !self.led {
            self.applier.lessor.demote();
            self.lessor_demoted(turn);
        }
        if lead.is_some() {
            self.elected_at = turn.now;
            self.fail_reads(turn, rpctypes::LEADER_CHANGED);
        }
    }

    pub(crate) fn apply_committed(&mut self, turn: &mut Turn) {
        while self.applied < self.raft.committed {
            let entry = self.raft.log[self.applied].clone();
            self.applied += 1;
            match entry.proposal {
                Some(proposal) => self.apply_entry(turn, &proposal),
                None if self.raft.is_leader() && entry.term == self.raft.term => {
                    let extend = self.settings.election_timeout;
                    self.applier.lessor.promote(turn.now, extend);
                }
                None => {}
            }
        }
        self.reads.applied(self.applied);
    }

    fn tick(&mut self, turn: &mut Turn) {
        if turn.now < self.next_tick || self.raft_hangs() {
            return;
        }
        let period = self.settings.heartbeat_interval;
        self.last_tick = turn.now;
        self.next_tick += period;
        if self.next_tick <= turn.now {
            // A ticker that was not read for a while has one tick, and no more.
            self.next_tick = turn.now + period;
        }
        self.with_raft(turn, |raft, chance, ready| raft.tick(chance, ready));
    }

    fn go_on(&mut self, turn: &mut Turn) {
        let waiting = self.stalled.take().unwrap_or_default();
        for (from, message) in waiting {
            self.with_raft(turn, |raft, chance, ready| {
                raft.step(from, message, chance, ready)
            });
        }
    }
}

impl Machine for Member {
    type Input = Input;
    type Output = Output;
    const WAKE: Input = Input::Wake;

    fn handle(
        &mut self,
        now: Now,
        input: Input,
        chance: &mut dyn Chance,
        out: &mut Vec<Output>,
    ) -> Alarm {
        let now = now.monotonic;
        let turn = &mut Turn { now, chance, out };
        match input {
            Input::Restart => self.restart(turn),
            Input::Client(connection, message) => self.client(turn, connection, message),
            Input::ClientGone(connection) => self.connection_gone(turn, connection),
            Input::Peer(from, message) => self.peer(turn, from, message),
            Input::PeerLost(peer) => self.lease_peer_lost(turn, peer),
            Input::RaftStalls => {
                self.stalled.get_or_insert_default();
            }
            Input::RaftGoesOn => self.go_on(turn),
            Input::Wake => {}
        }
        self.tick(turn);
        self.settle(turn);
        self.revoke_expired(turn);
        self.sync_watchers(turn);
        self.check_leader(turn);
        self.time_out(turn);
        self.retry_lookups(turn);
        self.settle(turn);
        Alarm::MayBeEarlier
    }

    fn next_wake(&self) -> VirtualTime {
        let tick = match self.stalled {
            Some(_) => VirtualTime::NEVER,
            None => self.next_tick,
        };
        let lookup = self.lookups.values().map(Lookup::next_wake).min();
        tick.min(self.applier.lessor.next_scan())
            .min(self.watchable.next_sync())
            .min(self.next_timeout())
            .min(self.leader_check.unwrap_or(VirtualTime::NEVER))
            .min(lookup.unwrap_or(VirtualTime::NEVER))
    }
}
