//! The cron of a node, ten times a second: it pings other nodes, and suspects those that do not answer.

use std::rc::Rc;
use std::time::Duration;

use super::bus::{Body, Gossip};
use super::{Cluster, NodeId};
use crate::Output;

/// How often.
pub(super) const EVERY: Duration = Duration::from_millis(100);
/// Every so many times, a node is asked that is not due yet.
const SECOND: u64 = 10;
/// Among so many.
const SAMPLE: u32 = 5;
/// Of so many others a message tells at least.
const GOSSIP_LEAST: usize = 3;

impl Cluster {
    /// Looks after the others. Answers whether a node is suspected that was not.
    pub(super) fn run_cron(&mut self, now: i64, out: &mut Vec<Output>) -> bool {
        self.beats += 1;
        if self.beats == 1 {
            // Connections to all are made, and each begins with a question.
            for id in self.others() {
                self.ping_node(id, now, out);
            }
        } else if self.beats.is_multiple_of(SECOND) {
            self.ping_random_node(now, out);
        }
        let timeout = self.timeout();
        let mut news = false;
        for id in self.others() {
            let node = self.node(id);
            let Some(asked) = node.asked else {
                if now - node.answered > timeout / 2 {
                    self.ping_node(id, now, out);
                }
                continue;
            };
            if now - node.repeated > timeout / 2 {
                // The connection may be at fault: a new one begins with a new question.
                self.repeat(id, now, out);
            }
            let node = self.node_mut(id);
            let silent = (now - asked).min(now - node.heard);
            if silent > timeout && !node.is_down() {
                node.suspected = true;
                news = true;
            }
        }
        news
    }

    /// Asks the one that has answered the longest time ago among some.
    fn ping_random_node(&mut self, now: i64, out: &mut Vec<Output>) {
        let mut chosen: Option<NodeId> = None;
        for _ in 0..SAMPLE {
            let id = NodeId(self.draw(self.nodes.len() as u32) as u8);
            let node = self.node(id);
            if id != self.me
                && node.asked.is_none()
                && chosen.is_none_or(|best| node.answered < self.node(best).answered)
            {
                chosen = Some(id);
            }
        }
        if let Some(id) = chosen {
            self.ping_node(id, now, out);
        }
    }

    fn ping_node(&mut self, id: NodeId, now: i64, out: &mut Vec<Output>) {
        self.node_mut(id).asked = Some(now);
        self.repeat(id, now, out);
    }

    /// Asks again, and reckons from the first time.
    pub(super) fn repeat(&mut self, id: NodeId, now: i64, out: &mut Vec<Output>) {
        self.node_mut(id).repeated = now;
        let gossip = self.gossip(id);
        self.send_to_node(id, Body::Ping(gossip), out);
    }

    /// The gossip for a node: about a few others by chance, and about all that are suspected.
    pub(super) fn gossip(&mut self, to: NodeId) -> Rc<[Gossip]> {
        let most = self.nodes.len().saturating_sub(2);
        let wanted = (self.nodes.len() / 10).max(GOSSIP_LEAST).min(most);
        let mut told: Vec<NodeId> = Vec::with_capacity(wanted);
        let mut tries = wanted * 3;
        while told.len() < wanted && tries > 0 {
            tries -= 1;
            let id = NodeId(self.draw(self.nodes.len() as u32) as u8);
            let known = id != self.me && id != to && !self.node(id).suspected;
            if known && !told.contains(&id) {
                told.push(id);
            }
        }
        told.extend(self.others().filter(|id| self.node(*id).suspected));
        let gossip = told.iter().map(|id| {
            let node = self.node(*id);
            Gossip {
                node: *id,
                down: node.is_down(),
                heard: node.answered,
            }
        });
        gossip.collect()
    }
}
