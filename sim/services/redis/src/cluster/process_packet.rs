//! Processes the messages of other nodes.

use std::rc::Rc;

use super::bus::{Body, BusMessage, Gossip, Header};
use super::{Cluster, NodeId};
use crate::Output;

/// For so many node timeouts, a report that a node is down counts.
const REPORT_LASTS: i64 = 2;
/// So many node timeouts after it was given up, a primary without a successor is taken back.
const TAKEN_BACK_AFTER: i64 = 2;
/// What others say of when a node answered is not believed if it lies further ahead than this.
const AHEAD: i64 = 500;

/// What else is to be done about a message.
pub(super) enum PacketOutcome {
    Nothing,
    /// This node has got a vote.
    Vote,
    /// A message for the subscribers here.
    Published(Body),
}

impl Cluster {
    /// Takes note of a message.
    pub(super) fn process_packet(
        &mut self,
        now: i64,
        message: BusMessage,
        out: &mut Vec<Output>,
    ) -> PacketOutcome {
        let BusMessage { header, body } = message;
        let from = header.from;
        if !self.has(from) || from == self.me {
            return PacketOutcome::Nothing;
        }
        self.epoch = self.epoch.max(header.epoch).max(header.config_epoch);
        let sender = self.node_mut(from);
        sender.heard = now;
        sender.offset = header.offset;
        let (asks, answers) = (matches!(body, Body::Ping(_)), matches!(body, Body::Pong(_)));
        if answers {
            let sender = self.node_mut(from);
            sender.asked = None;
            sender.answered = now;
            sender.suspected = false;
            self.clear_failure(from, now);
        }
        if asks && self.node(from).asked.is_some_and(|asked| now - asked > 0) {
            // It can be reached again, and was asked in vain.
            self.repeat(from, now, out);
        }
        match body {
            Body::Ping(gossip) | Body::Pong(gossip) => {
                if asks {
                    let answer = self.gossip(from);
                    self.send_to_node(from, Body::Pong(answer), out);
                }
                self.apply_header(&header, out);
                self.listen_to_gossip(from, &gossip, now, out);
            }
            Body::Failed(node) => {
                if self.has(node) && node != self.me && self.node(node).failed.is_none() {
                    let node = self.node_mut(node);
                    node.failed = Some(now);
                    node.suspected = false;
                }
            }
            Body::VoteWanted => {
                if self.may_vote_for(&header, now) {
                    self.vote_for(from, now, out);
                }
            }
            Body::Vote => {
                if self.node(from).counts() && header.epoch >= self.election.epoch {
                    self.election.votes += 1;
                    return PacketOutcome::Vote;
                }
            }
            Body::Newer {
                node,
                config_epoch,
                slots,
            } => self.apply_newer_config(node, config_epoch, &slots),
            published @ Body::Published { .. } => return PacketOutcome::Published(published),
            // The caller looks for these first.
            Body::Keys { .. } | Body::KeysTaken { .. } => {}
        }
        PacketOutcome::Nothing
    }

    /// A node that was given up answers: a replica, or a primary without slots, is taken back at once; one that has
    /// slots only if it has had no successor for long.
    fn clear_failure(&mut self, id: NodeId, now: i64) {
        let late = TAKEN_BACK_AFTER * self.timeout();
        let node = self.node_mut(id);
        let Some(failed) = node.failed else { return };
        if !node.counts() || now - failed > late {
            node.failed = None;
        }
    }

    fn listen_to_gossip(
        &mut self,
        from: NodeId,
        gossip: &Rc<[Gossip]>,
        now: i64,
        out: &mut Vec<Output>,
    ) {
        let is_primary = self.node(from).primary.is_none();
        for told in gossip.iter() {
            if !self.has(told.node) || told.node == self.me {
                continue;
            }
            if is_primary {
                let reports = &mut self.node_mut(told.node).reports;
                reports.retain(|(reporter, _)| *reporter != from);
                if told.down {
                    reports.push((from, now));
                    self.mark_failed_if_needed(told.node, now, out);
                }
            }
            let node = self.node_mut(told.node);
            let fine = !told.down && !node.is_down() && node.asked.is_none();
            if fine && node.reports.is_empty() && told.heard > node.answered {
                // Not without end, if the clocks differ.
                if told.heard <= now + AHEAD {
                    node.answered = told.heard;
                }
            }
        }
    }

    /// Gives up on a suspect if a majority of those that have a vote suspects it too.
    pub(super) fn mark_failed_if_needed(&mut self, id: NodeId, now: i64, out: &mut Vec<Output>) {
        let lasts = REPORT_LASTS * self.timeout();
        let votes = usize::from(self.node(self.me).primary.is_none());
        let node = self.node_mut(id);
        node.reports.retain(|(_, since)| now - since <= lasts);
        if !node.suspected || node.failed.is_some() {
            return;
        }
        let votes = votes + node.reports.len();
        if votes < self.majority() {
            return;
        }
        let node = self.node_mut(id);
        node.suspected = false;
        node.failed = Some(now);
        self.broadcast(&Body::Failed(id), out);
    }

    /// Takes over what a sender says of its role and its slots.
    fn apply_header(&mut self, header: &Header, out: &mut Vec<Output>) {
        let from = header.from;
        let node = self.node_mut(from);
        if let Some(primary) = header.primary {
            if node.primary.is_none() {
                node.slots = Rc::new(super::SlotSet::NONE);
            }
            node.primary = Some(primary);
        } else {
            node.primary = None;
            node.config_epoch = node.config_epoch.max(header.config_epoch);
        }
        self.settle_same_epoch(header);
        let head = header.primary.unwrap_or(from);
        if !self.has(head) || self.node(head).slots == header.slots {
            return;
        }
        if header.primary.is_none() {
            self.claim(from, header.config_epoch, &header.slots);
        }
        self.contradict(header, out);
    }

    /// Answers a sender with another node that serves one of its slots by a larger epoch.
    fn contradict(&self, header: &Header, out: &mut Vec<Output>) {
        let newer = header.slots.iter().find_map(|slot| {
            let owner = self.owner(slot)?;
            let epoch = self.node(owner).config_epoch;
            (owner != header.from && epoch > header.config_epoch).then_some(owner)
        });
        if let Some(node) = newer {
            let body = Body::Newer {
                node,
                config_epoch: self.node(node).config_epoch,
                slots: Rc::clone(&self.node(node).slots),
            };
            self.send_to_node(header.from, body, out);
        }
    }

    /// Two primaries of one epoch: one of them takes the next.
    fn settle_same_epoch(&mut self, header: &Header) {
        let mine = self.node(self.me);
        let same = mine.primary.is_none()
            && header.primary.is_none()
            && mine.config_epoch == header.config_epoch;
        if same && header.from > self.me {
            self.epoch += 1;
            let epoch = self.epoch;
            self.node_mut(self.me).config_epoch = epoch;
        }
    }
}
