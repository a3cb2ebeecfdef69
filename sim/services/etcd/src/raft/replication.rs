//! The log is replicated, and reads are confirmed.

use std::collections::BTreeSet;
use std::rc::Rc;

use picklock_machines::ServerId;

use super::messages::{Entry, Proposal, RaftBody, ReadId, Ready};
use super::{PendingRead, Raft, Role};

impl Raft {
    /// Proposes a request; answers whether there was a leader for it.
    pub(crate) fn propose(&mut self, proposal: &Rc<Proposal>, ready: &mut Ready) -> bool {
        match self.lead {
            Some(_) if self.is_leader() => self.append(Some(Rc::clone(proposal)), ready),
            Some(leader) => self.send(leader, RaftBody::Prop(Rc::clone(proposal)), ready),
            None => return false,
        }
        true
    }

    pub(super) fn append(&mut self, proposal: Option<Rc<Proposal>>, ready: &mut Ready) {
        let term = self.term;
        self.log.push(Entry { term, proposal });
        if !self.maybe_commit(ready) {
            self.broadcast_append(ready);
        }
    }

    pub(super) fn broadcast_append(&mut self, ready: &mut Ready) {
        for peer in self.peers() {
            self.send_append(peer, ready);
        }
    }

    pub(super) fn send_append(&mut self, to: ServerId, ready: &mut Ready) {
        let end = self.log.len();
        let Role::Leader(progress) = &mut self.role else {
            return;
        };
        let Some(peer) = progress.get_mut(&to) else {
            return;
        };
        let index = peer.next - 1;
        peer.next = end + 1;
        let body = RaftBody::App {
            index,
            log_term: self.term_at(index),
            entries: self.log[index..].to_vec(),
            commit: self.committed,
        };
        self.send(to, body, ready);
    }

    pub(super) fn broadcast_heartbeat(&self, read: Option<ReadId>, ready: &mut Ready) {
        let Role::Leader(progress) = &self.role else {
            return;
        };
        for (peer, progress) in progress {
            let commit = self.committed.min(progress.matched);
            self.send(*peer, RaftBody::Heartbeat { commit, read }, ready);
        }
    }

    /// Commits what a quorum has; answers whether that was more than before.
    pub(super) fn maybe_commit(&mut self, ready: &mut Ready) -> bool {
        let Role::Leader(progress) = &self.role else {
            return false;
        };
        let mut matched: Vec<usize> = progress.values().map(|peer| peer.matched).collect();
        matched.push(self.log.len());
        matched.sort_unstable_by(|one, other| other.cmp(one));
        let index = matched[self.quorum() - 1];
        if index <= self.committed || self.term_at(index) != self.term {
            return false;
        }
        self.committed = index;
        self.broadcast_append(ready);
        for read in std::mem::take(&mut self.postponed_reads) {
            self.read_index_of(read, ready);
        }
        true
    }

    /// This member wants to read: how far must it be?
    pub(crate) fn read_index(&mut self, number: u64, ready: &mut Ready) {
        match self.lead {
            Some(_) if self.is_leader() => self.read_index_of((self.id, number), ready),
            Some(leader) => self.send(leader, RaftBody::ReadIndex { number }, ready),
            None => {}
        }
    }

    pub(super) fn read_index_of(&mut self, read: ReadId, ready: &mut Ready) {
        if self.quorum() > 1 && self.term_at(self.committed) != self.term {
            self.postponed_reads.push(read);
            return;
        }
        if self.quorum() == 1 {
            ready.read_states.push((read.1, self.committed));
            return;
        }
        self.reads.push(PendingRead {
            read,
            index: self.committed,
            acks: BTreeSet::from([self.id]),
        });
        self.broadcast_heartbeat(Some(read), ready);
    }

    /// A member has confirmed that this one leads: with a quorum, that holds for this read and all before it.
    pub(super) fn confirm_read(&mut self, from: ServerId, read: ReadId, ready: &mut Ready) {
        let quorum = self.quorum();
        let Some(place) = self.reads.iter().position(|pending| pending.read == read) else {
            return;
        };
        self.reads[place].acks.insert(from);
        if self.reads[place].acks.len() < quorum {
            return;
        }
        let confirmed: Vec<PendingRead> = self.reads.drain(..=place).collect();
        for PendingRead {
            read: (by, number),
            index,
            ..
        } in confirmed
        {
            if by == self.id {
                ready.read_states.push((number, index));
            } else {
                self.send(by, RaftBody::ReadIndexResp { number, index }, ready);
            }
        }
    }

    pub(super) fn take_append(
        &mut self,
        from: ServerId,
        (index, log_term): (usize, u64),
        entries: Vec<Entry>,
        commit: usize,
        ready: &mut Ready,
    ) {
        if index < self.committed {
            let index = self.committed;
            return self.send(
                from,
                RaftBody::AppResp {
                    index,
                    reject: false,
                },
                ready,
            );
        }
        if index > self.log.len() || self.term_at(index) != log_term {
            let index = self
                .committed
                .max(index.saturating_sub(1).min(self.log.len()));
            return self.send(
                from,
                RaftBody::AppResp {
                    index,
                    reject: true,
                },
                ready,
            );
        }
        let last = index + entries.len();
        for (at, entry) in (index..).zip(entries) {
            if self.term_at(at + 1) == entry.term {
                continue;
            }
            self.log.truncate(at);
            self.log.push(entry);
        }
        self.committed = self.committed.max(commit.min(last));
        self.send(
            from,
            RaftBody::AppResp {
                index: last,
                reject: false,
            },
            ready,
        );
    }

    pub(super) fn take_append_response(
        &mut self,
        from: ServerId,
        index: usize,
        reject: bool,
        ready: &mut Ready,
    ) {
        let Role::Leader(progress) = &mut self.role else {
            return;
        };
        let Some(peer) = progress.get_mut(&from) else {
            return;
        };
        peer.recent_active = true;
        if reject {
            if index >= peer.matched {
                peer.next = index + 1;
                self.send_append(from, ready);
            }
        } else if index > peer.matched {
            peer.matched = index;
            peer.next = peer.next.max(index + 1);
            self.maybe_commit(ready);
        }
    }
}
