//! Whether the primary is down, and which Sentinel is to replace it: what Sentinels ask each other.

use std::rc::Rc;

use picklock_clients::redis::{Command, Value};
use picklock_machines::Chance;

use super::Sentinel;
use super::instance::{Instance, Purpose, Role};
use super::io::Event;
use super::settings::{ASK, OPINION};
use super::wall_time::Stamp;
use crate::replication_protocol::Address;

/// Another Sentinel.
#[derive(Clone, Debug)]
pub(super) struct OtherSentinel {
    pub own: Instance,
    /// It finds the primary down.
    finds_down: bool,
    /// When it last said whether it finds the primary down.
    said: Stamp,
    /// The Sentinel that it has voted for, and in which epoch.
    vote: Option<(Rc<str>, u64)>,
}

impl OtherSentinel {
    pub fn new(address: Address, id: Rc<str>, now: Stamp) -> Self {
        let mut own = Instance::new(address, Role::Primary, false, now);
        own.id = Some(id);
        Self {
            own,
            finds_down: false,
            said: Stamp::LONG_AGO,
            vote: None,
        }
    }
}

impl Sentinel {
    /// How many Sentinels find the primary down, itself counted as one.
    pub(super) fn finding_it_down(&self) -> usize {
        let others = self.sentinels.iter().filter(|other| other.finds_down);
        1 + others.count()
    }

    /// Finds whether enough Sentinels find the primary down.
    pub(super) fn check_quorum(&mut self) {
        let is_down = self.primary.is_down && self.finding_it_down() >= self.settings.quorum;
        if is_down != self.objectively_down {
            self.objectively_down = is_down;
            self.note(if is_down {
                Event::ObjectivelyDown
            } else {
                Event::ObjectivelyUp
            });
        }
    }

    /// Asks the others whether the primary is down, and, in a failover, for their votes.
    pub(super) fn ask_other_sentinels(&mut self, forced: bool, chance: &mut dyn Chance) {
        if self.objectively_down {
            // Our own vote, if we have not given it yet.
            let (epoch, id) = (self.epoch, Rc::clone(&self.id));
            self.vote(epoch, &id, chance);
        }
        let now = self.context.now;
        let Address { host, port } = self.primary.address.clone();
        let name: &str = if self.failover.is_in_progress() {
            &self.id
        } else {
            "*"
        };
        let ask = Command::new("SENTINEL").arg("IS-MASTER-DOWN-BY-ADDR");
        let ask = ask.arg(&*host).number(port);
        let ask = ask.arg(self.epoch.to_string()).arg(name);
        for other in &mut self.sentinels {
            let age = now.since(other.said);
            if age > OPINION {
                other.finds_down = false;
                other.vote = None;
            }
            if self.primary.is_down && other.own.connected && (forced || age >= ASK) {
                other
                    .own
                    .send_command(Purpose::Opinion, ask.clone(), &mut self.context);
            }
        }
    }

    /// The reply of another Sentinel to `SENTINEL IS-MASTER-DOWN-BY-ADDR`.
    pub(super) fn receive_is_master_down_reply(&mut self, index: usize, value: &Value) {
        let Some(
            [
                Value::Integer(down),
                Value::Bulk(name),
                Value::Integer(epoch),
            ],
        ) = value.values()
        else {
            return;
        };
        let other = &mut self.sentinels[index];
        other.said = self.context.now;
        other.finds_down = *down == 1;
        if &**name != b"*" {
            let name = String::from_utf8_lossy(name).into();
            other.vote = Some((name, u64::try_from(*epoch).unwrap_or(0)));
        }
    }

    /// Votes, if we have not in this epoch or a later one. Answers our vote and its epoch.
    pub(super) fn vote(
        &mut self,
        epoch: u64,
        name: &Rc<str>,
        chance: &mut dyn Chance,
    ) -> (Option<Rc<str>>, u64) {
        if epoch > self.epoch {
            self.epoch = epoch;
            self.note(Event::NewEpoch);
        }
        if self.leader_epoch < epoch && self.epoch <= epoch {
            self.leader = Some(Rc::clone(name));
            self.leader_epoch = self.epoch;
            self.note(Event::VoteForLeader);
            if *name != self.id {
                // A Sentinel that has voted for another does not try for a while.
                self.failover.started = self.context.now.later(self.desync(chance));
            }
        }
        (self.leader.clone(), self.leader_epoch)
    }

    /// The elected leader: by the majority of all Sentinels that we know of, and by as many as the quorum.
    pub(super) fn leader_of(&mut self, epoch: u64, chance: &mut dyn Chance) -> Option<Rc<str>> {
        let now = self.epoch;
        let given = self.sentinels.iter().filter_map(|other| match &other.vote {
            Some((name, epoch)) if *epoch == now => Some(Rc::clone(name)),
            _ => None,
        });
        let mut votes: Vec<Rc<str>> = given.collect();
        let count =
            |votes: &[Rc<str>], name: &Rc<str>| votes.iter().filter(|vote| *vote == name).count();
        let first = |votes: &[Rc<str>]| {
            let names = votes.iter();
            names.max_by_key(|name| count(votes, name)).cloned()
        };
        // This Sentinel votes with the others, if it has not voted yet.
        let ours = first(&votes).unwrap_or_else(|| Rc::clone(&self.id));
        if let (Some(name), given) = self.vote(epoch, &ours, chance)
            && given == epoch
        {
            votes.push(name);
        }
        let all = self.sentinels.len() + 1;
        let needed = (all / 2 + 1).max(self.settings.quorum);
        first(&votes).filter(|name| count(&votes, name) >= needed)
    }

    /// What another Sentinel is told that asks whether the primary is down.
    pub(super) fn opinion(
        &mut self,
        about: &Address,
        epoch: u64,
        name: &str,
        chance: &mut dyn Chance,
    ) -> Value {
        let is_it = self.primary.address == *about;
        let down = is_it && self.primary.is_down && self.tilt.is_none();
        let (leader, epoch) = if is_it && name != "*" {
            self.vote(epoch, &name.into(), chance)
        } else {
            (None, 0)
        };
        let leader = leader.unwrap_or_else(|| "*".into());
        Value::array([
            Value::Integer(down.into()),
            Value::bulk(&*leader),
            Value::Integer(epoch.cast_signed()),
        ])
    }
}
