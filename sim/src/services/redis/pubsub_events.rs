//! Records who subscribes to channels, what is published there, and which messages never arrive.

use picklock_checker::ContenderId;
use picklock_checker::service_event::{MessageLoss, ServiceEventKind as What};
use picklock_clients::redis::Value;
use picklock_redis::{Input, Publication};

use super::SimulatedRedis;
use super::is_message;
use super::operator::OPERATOR;
use super::sentinel_links;
use crate::network::{ConnectionId, ServerId};
use crate::world::World;

/// Channels by which Sentinels find each other begin so: no client listens there.
const OF_SENTINELS: &[u8] = b"__sentinel__";
/// Channels by which a server itself says what happens to keys begin so.
const OF_KEYS: &[u8] = b"__key";

impl World<SimulatedRedis> {
    fn contender_at(&self, connection: ConnectionId) -> Option<ContenderId> {
        if connection == OPERATOR || sentinel_links::is_call(connection) {
            return None;
        }
        self.contender_of(self.process_of(connection))
    }

    /// The contender that would publish what is published because of this input, if service events are recorded.
    #[inline]
    pub(super) fn publisher(&self, input: &Input) -> Option<ContenderId> {
        match input {
            Input::Received { connection, .. } if self.records_service_events() => {
                self.contender_at(*connection)
            }
            _ => None,
        }
    }

    /// A server has handled an input that came from this contender, or from none.
    #[inline]
    pub(super) fn record_publications(&mut self, server: ServerId, by: Option<ContenderId>) {
        if self.records_service_events() {
            let machine = &mut self.host.servers[usize::from(server.0)].machine;
            for publication in machine.take_publications() {
                self.record_publication(server, by, &publication);
            }
        }
    }

    #[cold]
    fn record_publication(
        &mut self,
        server: ServerId,
        by: Option<ContenderId>,
        publication: &Publication,
    ) {
        let Publication { channel, listeners } = publication;
        if channel.starts_with(OF_SENTINELS) {
            return;
        }
        let by = by.filter(|_| !channel.starts_with(OF_KEYS));
        let to = listeners.iter().filter_map(|id| self.contender_at(*id));
        let to: Vec<ContenderId> = to.collect();
        // A replica, and another node of a cluster, passes on what was published elsewhere.
        let is_primary = self.host.servers[usize::from(server.0)].leads();
        let is_passed_on = by.is_none() && !channel.starts_with(OF_KEYS);
        if to.is_empty() && (is_passed_on || !is_primary) {
            return;
        }
        let channel = String::from_utf8_lossy(channel).into_owned();
        self.record_service_event(server, What::Published { by, channel, to });
    }

    /// A server says something to a client: that it is subscribed now, perhaps.
    #[inline(always)]
    pub(super) fn record_subscription(
        &mut self,
        server: ServerId,
        connection: ConnectionId,
        value: &Value,
    ) {
        if self.records_service_events()
            && let Some([Value::Bulk(word), Value::Bulk(channel), ..]) = value.values()
            && **word == *b"subscribe"
            && let Some(by) = self.contender_of(self.process_of(connection))
        {
            let channel = String::from_utf8_lossy(channel).into_owned();
            self.record_service_event(server, What::Subscribed { by, channel });
        }
    }

    /// A message of a channel does not come to its subscriber.
    pub(super) fn record_lost_message(
        &mut self,
        connection: ConnectionId,
        value: &Value,
        why: MessageLoss,
    ) {
        if self.records_service_events()
            && is_message(value)
            && let Some([_, Value::Bulk(channel), ..]) = value.values()
            && let Some(to) = self.contender_of(self.process_of(connection))
        {
            let channel = String::from_utf8_lossy(channel).into_owned();
            let server = self.server_of(connection);
            self.record_service_event(server, What::MessageLost { to, channel, why });
        }
    }
}
