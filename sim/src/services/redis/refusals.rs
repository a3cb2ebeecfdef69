//! Answers that say that the lock's key is not the client's own any more.

use picklock_checker::{ContenderId, LockId};
use picklock_clients::RequestKind;
use picklock_clients::redis::{Command, Value};

use super::SimulatedRedis;
use crate::network::ConnectionId;
use crate::world::World;

impl World<SimulatedRedis> {
    /// Whether a command is one of a contender that believes in vain, about a hold that it believes in, and of which
    /// lock.
    #[inline(always)]
    pub(super) fn lock_request_of(
        &self,
        by: ContenderId,
        connection: ConnectionId,
        command: &Command,
    ) -> Option<(ConnectionId, RequestKind, LockId)> {
        if !self.believes_without_owning(by) {
            return None;
        }
        // A command from before it got the lock was about an earlier hold, and the call may have been given up.
        let traffic = &self.service.traffic[connection.0 as usize];
        let sent = traffic.unanswered.front()?.sent;
        let kind = command.kind();
        let is_about = |lock: LockId| {
            let key = self.lock_names[lock.0 as usize].as_bytes();
            // What a transaction asks stands in the commands before it.
            kind == RequestKind::Exec || command.words().any(|word| word == key)
        };
        let mut lost = self.lost_locks(by);
        let (lock, _) = lost.find(|(lock, since)| sent >= *since && is_about(*lock))?;
        Some((connection, kind, lock))
    }

    /// A server sends an answer. It is noted if it refuses what its client asked of a key that it does not own.
    #[inline(always)]
    pub(super) fn note_refusal(
        &mut self,
        by: ContenderId,
        connection: ConnectionId,
        value: &Value,
    ) {
        let refuses = match self.service.refusal_probe {
            Some((asked, kind, lock)) if asked == connection => {
                let refuses = is_refusal(kind, value) && self.believes_in_vain(by, lock);
                refuses.then_some(lock)
            }
            Some(_) | None => None,
        };
        let traffic = &mut self.service.traffic[connection.0 as usize];
        traffic.answers += 1;
        if let Some(lock) = refuses {
            traffic.refusals.push((traffic.answers, (by, lock)));
        }
    }

    /// How many commands of a contender's process have had no answer.
    pub(super) fn unanswered_of(&self, by: ContenderId) -> u64 {
        let process = self.tasks.process_of(by);
        let traffic = self.service.traffic.iter().enumerate();
        let of_process = traffic.filter(|(number, _)| {
            let connection = ConnectionId(*number as u32);
            self.connections.get(connection).process == process
        });
        let unanswered = |traffic: &super::Traffic| traffic.sent.saturating_sub(traffic.heard);
        of_process
            .map(|(_, traffic)| u64::from(unanswered(traffic)))
            .sum()
    }

    /// An answer arrives.
    #[inline(always)]
    pub(super) fn on_refusal(&mut self, connection: ConnectionId, heard: bool) {
        let traffic = &mut self.service.traffic[connection.0 as usize];
        traffic.heard += 1;
        if traffic.refusals.is_empty() {
            return;
        }
        let number = traffic.heard;
        let known = traffic.refusals.iter().position(|(nth, _)| *nth == number);
        let refused = known.map(|index| traffic.refusals.swap_remove(index));
        if let Some((_, (by, lock))) = refused
            && heard
            && self.believes_in_vain(by, lock)
        {
            let server = self.server_of(connection);
            let client = self.connections.get(connection).client;
            let machine = &self.host.clients[client as usize].machine;
            let is_passed_on = machine.awaits_answer(connection);
            let needed = self.service.refusals_needed();
            self.refused(by, lock, (server, is_passed_on), needed);
        }
    }
}

impl super::SimulatedRedis {
    /// How many servers must refuse a key until no holder can have it on a majority of them. Where one server has the
    /// key, its word is enough.
    fn refusals_needed(&self) -> u32 {
        if self.deployment.is_replicated() || self.deployment.cluster.is_some() {
            return 1;
        }
        let servers = u32::from(self.servers);
        servers - servers / 2
    }
}

/// Whether the answer to a request of this kind about a key says that the key is not there, or is another's. What only
/// tries to set a key is refused its own, too.
fn is_refusal(kind: RequestKind, value: &Value) -> bool {
    let nothing = matches!(value, Value::Nil | Value::NilArray | Value::Boolean(false));
    let none = matches!(value, Value::Integer(number) if *number <= 0);
    match kind.general() {
        RequestKind::Get => nothing || matches!(value, Value::Bulk(_)),
        RequestKind::Script | RequestKind::OtherCommand => nothing || none,
        RequestKind::Del | RequestKind::Expire => none,
        RequestKind::Exec => nothing,
        _ => false,
    }
}
