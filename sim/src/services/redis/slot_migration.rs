//! The slot of the lock's key, on its way from one primary of a cluster to another.
//!
//! An operator does what `redis-cli --cluster reshard` does, from the machines of the two: the target is told that it
//! imports the slot, and the source that it migrates it; then keys go one by one (`MIGRATE`); and when none is left,
//! the target and the source are told whose the slot is, and all others hear it from them. A key goes a quarter of the
//! time after the one before it, so that commands arrive while some are here and some are there.
use std::time::Duration;

use picklock_checker::VirtualTime;
use picklock_clients::redis::{Bytes, Command};
use picklock_redis::{NodeId, slot_of};

use super::SimulatedRedis;
use super::event::RedisEvent;
use super::replication_links;
use crate::network::ServerId;
use crate::plan::LOCK_KEY;
use crate::world::World;

/// Keys go at so many moments while a slot is on its way.
const PARTS: u32 = 4;
/// How long a source waits for its target, in milliseconds, as `redis-cli` sets it: it does nothing else meanwhile.
const PATIENCE: u32 = 60_000;
/// How soon the operator looks again whether all keys have gone, and whether both ends run.
const LOOK: Duration = Duration::from_millis(10);

/// A slot that is on its way.
pub(super) struct SlotMove {
    /// By its number, the fault that moves it.
    fault: usize,
    from: ServerId,
    to: ServerId,
    /// How long after a key goes the next one.
    every: Duration,
    /// From then on the slot is given over as soon as it can be.
    ends: VirtualTime,
}

impl World<SimulatedRedis> {
    /// Begins to move the slot of the lock's key. Whether one server has it, and another can take it.
    pub(super) fn begin_to_move_slot(&mut self, to: ServerId, length: Duration) -> bool {
        let all = (0..self.host.servers.len()).map(|index| ServerId(index as u8));
        let Some(from) = { all }.find(|server| self.has_slot(*server)) else {
            return false;
        };
        let target = &self.host.servers[usize::from(to.0)];
        let can = target.machine.is_primary() && target.process.runs();
        if from == to || !can {
            return false;
        }
        self.set_slot(to, "IMPORTING", Some(from));
        self.set_slot(from, "MIGRATING", Some(to));
        let (fault, every) = (self.striking, length / PARTS);
        self.service.moves.push(SlotMove {
            fault,
            from,
            to,
            every,
            ends: self.now + length,
        });
        self.schedule_slot_check(fault, every);
        true
    }

    /// Whether a node that runs takes itself for the primary of the slot.
    fn has_slot(&self, server: ServerId) -> bool {
        let slot = &self.host.servers[usize::from(server.0)];
        slot.process.runs() && slot.machine.has_slot_of(LOCK_KEY.as_bytes())
    }

    fn schedule_slot_check(&mut self, fault: usize, after: Duration) {
        let event = RedisEvent::SlotMoves { fault };
        self.schedule(self.now + after, event);
    }

    /// It is time for the next key, or to look whether the slot can be given over.
    pub(super) fn slot_moves(&mut self, fault: usize) {
        let moves = &self.service.moves;
        let Some(SlotMove {
            from,
            to,
            every,
            ends,
            ..
        }) = moves.iter().find(|planned| planned.fault == fault)
        else {
            return;
        };
        let (from, to, every, ends) = (*from, *to, *every, *ends);
        if self.now >= ends {
            self.finish_moving_slot(fault);
            return;
        }
        if self.has_slot(from) && self.machine_process(to).runs() {
            let keys = self.keys_of_slot(from);
            self.send_keys(from, to, &keys[..keys.len().min(1)]);
        }
        self.schedule_slot_check(fault, every);
    }

    /// The slot is given to its new primary, if all keys are there; if not, they go, and the next look comes later. A
    /// source that has lost the slot meanwhile has nothing to give: then all is left as it is.
    pub(super) fn finish_moving_slot(&mut self, fault: usize) {
        let moves = self.service.moves.iter();
        let Some(index) = { moves }.position(|planned| planned.fault == fault) else {
            return;
        };
        let (from, to) = (self.service.moves[index].from, self.service.moves[index].to);
        if !self.machine_process(from).runs() || !self.machine_process(to).runs() {
            self.schedule_slot_check(fault, LOOK);
            return;
        }
        if !self.has_slot(from) {
            self.service.moves.remove(index);
            for server in [to, from] {
                self.set_slot(server, "STABLE", None);
            }
            return;
        }
        let keys = self.keys_of_slot(from);
        if !keys.is_empty() {
            self.send_keys(from, to, &keys);
            self.schedule_slot_check(fault, LOOK);
            return;
        }
        self.service.moves.remove(index);
        for server in [to, from] {
            self.set_slot(server, "NODE", Some(to));
        }
    }

    fn keys_of_slot(&self, server: ServerId) -> Vec<Bytes> {
        let slot = &self.host.servers[usize::from(server.0)];
        slot.machine.keys_of_same_slot(LOCK_KEY.as_bytes())
    }

    /// Keys go, unless others are still on their way. One that the target has from before is replaced.
    fn send_keys(&mut self, from: ServerId, to: ServerId, keys: &[Bytes]) {
        let busy = self.host.servers[usize::from(from.0)]
            .machine
            .is_migrating();
        if busy || keys.is_empty() {
            return;
        }
        let address = replication_links::address(to);
        let command = Command::new("MIGRATE")
            .arg(&*address.host)
            .number(address.port)
            .arg("")
            .number(0)
            .number(PATIENCE)
            .arg("REPLACE")
            .arg("KEYS");
        self.run_as_operator(from, keys.iter().fold(command, Command::arg));
    }

    /// `CLUSTER SETSLOT`, of the slot of the lock's key.
    fn set_slot(&mut self, server: ServerId, how: &str, node: Option<ServerId>) {
        let machine = &self.host.servers[usize::from(server.0)].machine;
        let name = node.and_then(|node| machine.name_of_node(NodeId(node.0)));
        let command = Command::new("CLUSTER")
            .arg("SETSLOT")
            .number(slot_of(LOCK_KEY.as_bytes()))
            .arg(how);
        self.run_as_operator(server, name.into_iter().fold(command, Command::arg));
    }
}
