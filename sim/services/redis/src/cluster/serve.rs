//! A server does what its cluster wants: it answers the others, follows, leads, and sends clients elsewhere.

use std::rc::Rc;

use picklock_checker::VirtualTime;
use picklock_clients::redis::{Bytes, Command, ErrorReply};

use super::bus::{Body, BusMessage};
use super::cron::EVERY;
use super::process_packet::PacketOutcome;
use super::{SlotSet, slot_of};
use crate::clients::ConnectionFlags;
use crate::command_table::Row;
use crate::commands;
use crate::db::Core;
use crate::pubsub::Channel;
use crate::{ConnectionId, Server};

impl Server {
    /// A message from another node.
    pub(crate) fn on_bus_message(&mut self, message: BusMessage) {
        let now = self.core.wall_millis();
        let offset = self.replication.offset;
        if message.is_about_keys() {
            self.on_keys_message(message);
            return;
        }
        let Some(cluster) = &mut self.core.cluster else {
            return;
        };
        cluster.offset = offset;
        let before = Rc::clone(&cluster.node(cluster.me).slots);
        let heard = cluster.process_packet(now, message, &mut self.core.out);
        match heard {
            PacketOutcome::Nothing => {}
            PacketOutcome::Vote => self.stand_for_primary(),
            PacketOutcome::Published(Body::Published {
                shard,
                channel,
                message,
            }) => {
                let kind = if shard {
                    Channel::Shard
                } else {
                    Channel::Named
                };
                let Core {
                    subscriptions, out, ..
                } = &mut *self.core;
                subscriptions.publish(kind, &channel, &message, out);
            }
            PacketOutcome::Published(_) => {}
        }
        self.fall_in_line(&before);
    }

    /// Looks after the cluster, if it is time.
    pub(crate) fn cluster_cron(&mut self) {
        let (now, monotonic) = (self.core.wall_millis(), self.core.now.monotonic);
        let offset = self.replication.offset;
        let Some(cluster) = &mut self.core.cluster else {
            return;
        };
        if monotonic < cluster.next {
            return;
        }
        cluster.next = monotonic + EVERY;
        cluster.offset = offset;
        let news = cluster.run_cron(now, &mut self.core.out);
        self.stand_for_primary();
        if let Some(cluster) = &mut self.core.cluster
            && (news || !cluster.serves)
        {
            cluster.update_state(now);
        }
    }

    /// When it looks after its cluster next.
    pub(crate) fn cluster_wake(&self) -> VirtualTime {
        let cluster = self.core.cluster.as_ref();
        cluster.map_or(VirtualTime::NEVER, |cluster| cluster.next)
    }

    fn stand_for_primary(&mut self) {
        let now = self.core.wall_millis();
        let behind = self.replication.behind(self.core.now.monotonic);
        let Some(cluster) = &mut self.core.cluster else {
            return;
        };
        let behind = behind.as_millis() as i64;
        if !cluster.stand(now, behind, &mut self.core.out) {
            return;
        }
        cluster.take_over();
        self.configured = None;
        self.lead();
        if let Some(cluster) = &mut self.core.cluster {
            cluster.update_state(now);
            cluster.broadcast_pong(&mut self.core.out);
        }
    }

    /// Takes the role that the cluster has come to give it, and throws away keys that others serve now.
    fn fall_in_line(&mut self, before: &Rc<SlotSet>) {
        let now = self.core.wall_millis();
        let Some(cluster) = &mut self.core.cluster else {
            return;
        };
        cluster.update_state(now);
        let slots = Rc::clone(&cluster.node(cluster.me).slots);
        match cluster.primary() {
            Some(primary) => {
                let address = cluster.address(primary).clone();
                let following = self.replication.primary.as_ref();
                if following.is_none_or(|upstream| upstream.address != address) {
                    self.configured = Some(address.clone());
                    self.follow(address);
                }
            }
            None if !Rc::ptr_eq(before, &slots) => {
                let is_lost = |name: &[u8]| {
                    let slot = slot_of(name);
                    before.has(slot) && !slots.has(slot)
                };
                let names = self.core.keys.names();
                let lost: Vec<Bytes> = names.filter(|name| is_lost(name)).cloned().collect();
                for name in lost {
                    self.core.remove(&name);
                }
                self.core.effects.flush();
            }
            None => {}
        }
    }

    /// Refuses a command that has waited, if another node is to be asked for its keys by now.
    pub(crate) fn redirect_command(&self, command: &Command) -> Result<(), ErrorReply> {
        let (Some(cluster), Some(row)) = (&self.core.cluster, commands::find(command.name()))
        else {
            return Ok(());
        };
        // A slot that is on its way here is as good as one's own.
        let flags = ConnectionFlags {
            asking: true,
            ..ConnectionFlags::default()
        };
        let one = std::iter::once((row, command));
        match cluster.redirection(one, &self.core.keys, self.core.wall_millis(), flags) {
            None => Ok(()),
            Some(elsewhere) => cluster.redirect(elsewhere),
        }
    }

    /// Refuses a command that another node is to be asked for.
    pub(crate) fn redirect(
        &mut self,
        connection: ConnectionId,
        row: &Row,
        command: &Command,
    ) -> Result<(), ErrorReply> {
        let Some(cluster) = &self.core.cluster else {
            return Ok(());
        };
        let client = self.clients.get_mut(connection);
        let flags = client.flags;
        // For one command, or for all of a transaction.
        let goes_on = match row.name {
            "asking" | "multi" => true,
            "exec" | "discard" => false,
            _ => client.queue.is_some(),
        };
        client.flags.asking &= goes_on;
        let (keys, now) = (&self.core.keys, self.core.wall_millis());
        let elsewhere = match &client.queue {
            Some(queue) if row.name == "exec" => {
                let queued = queue
                    .iter()
                    .filter_map(|queued| Some((commands::find(queued.name())?, queued)));
                let all = std::iter::once((row, command)).chain(queued);
                cluster.redirection(all, keys, now, flags)
            }
            _ => cluster.redirection(std::iter::once((row, command)), keys, now, flags),
        };
        self.core.flags = flags;
        match elsewhere {
            None => Ok(()),
            Some(elsewhere) => cluster.redirect(elsewhere),
        }
    }
}
