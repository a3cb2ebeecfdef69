//! Subscriptions of clients to channels and patterns.

use std::collections::BTreeMap;

use picklock_clients::redis::{Bytes, Value};

use crate::{ConnectionId, Output, glob};

/// The subscribers, by channel and in the order in which they came.
#[derive(Clone, Debug, Default)]
pub(crate) struct Subscriptions {
    lists: [BTreeMap<Bytes, Vec<ConnectionId>>; 3],
    /// What was published to channels since the last call of `take_published`; `None` before the first.
    published: Option<Vec<Publication>>,
}

/// A message that was published to a channel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Publication {
    /// The channel.
    pub channel: Bytes,
    /// The subscribers of the channel at this server.
    pub listeners: Vec<ConnectionId>,
}

/// What one can listen to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Channel {
    /// A channel, by its name.
    Named,
    /// Every channel whose name fits a pattern.
    Pattern,
    /// A channel of a shard.
    Shard,
}

impl Channel {
    /// The word before the name in messages and confirmations.
    fn prefix(self) -> &'static str {
        match self {
            Self::Named => "",
            Self::Pattern => "p",
            Self::Shard => "s",
        }
    }

    /// Which list it is in.
    fn index(self) -> usize {
        match self {
            Self::Named => 0,
            Self::Pattern => 1,
            Self::Shard => 2,
        }
    }
}

impl Subscriptions {
    /// What was published since this was asked last; nothing the first time.
    pub(crate) fn take_published(&mut self) -> Vec<Publication> {
        self.published.replace(Vec::new()).unwrap_or_default()
    }

    /// Whether there is no subscription.
    pub(crate) fn is_empty(&self) -> bool {
        self.lists.iter().all(BTreeMap::is_empty)
    }

    pub(crate) fn add(&mut self, kind: Channel, name: &[u8], connection: ConnectionId) {
        let list = &mut self.lists[kind.index()];
        let listeners = list.entry(name.into()).or_default();
        if !listeners.contains(&connection) {
            listeners.push(connection);
        }
    }

    pub(crate) fn remove(&mut self, kind: Channel, name: &[u8], connection: ConnectionId) {
        let list = &mut self.lists[kind.index()];
        if let Some(listeners) = list.get_mut(name) {
            listeners.retain(|other| *other != connection);
            if listeners.is_empty() {
                list.remove(name);
            }
        }
    }

    /// What a connection listens to.
    pub(crate) fn of(&self, kind: Channel, connection: ConnectionId) -> Vec<Bytes> {
        let list = self.lists[kind.index()].iter();
        let his = list.filter(|(_, listeners)| listeners.contains(&connection));
        his.map(|(name, _)| Bytes::clone(name)).collect()
    }

    /// To how many names and patterns a connection listens, or to how many channels of shards.
    pub(crate) fn count(&self, kind: Channel, connection: ConnectionId) -> usize {
        let in_list = |kind: Channel| {
            let list = self.lists[kind.index()].values();
            list.filter(|listeners| listeners.contains(&connection))
                .count()
        };
        match kind {
            Channel::Shard => in_list(Channel::Shard),
            Channel::Named | Channel::Pattern => {
                in_list(Channel::Named) + in_list(Channel::Pattern)
            }
        }
    }

    /// Forgets a connection.
    pub(crate) fn forget(&mut self, connection: ConnectionId) {
        for list in &mut self.lists {
            list.retain(|_, listeners| {
                listeners.retain(|other| *other != connection);
                !listeners.is_empty()
            });
        }
    }

    /// The channels of this kind with subscribers, and how many they have.
    pub(crate) fn listened(&self, kind: Channel) -> impl Iterator<Item = (&Bytes, usize)> {
        let list = self.lists[kind.index()].iter();
        list.map(|(name, listeners)| (name, listeners.len()))
    }

    #[inline]
    fn note_publication(&mut self, kind: Channel, channel: &[u8]) {
        if let Some(published) = &mut self.published {
            let listeners = self.lists[kind.index()].get(channel);
            published.push(Publication {
                channel: channel.into(),
                listeners: listeners.cloned().unwrap_or_default(),
            });
        }
    }

    /// Sends a message to the subscribers of the channel. Answers how many they are.
    pub(crate) fn publish(
        &mut self,
        kind: Channel,
        channel: &[u8],
        message: &[u8],
        out: &mut Vec<Output>,
    ) -> i64 {
        self.note_publication(kind, channel);
        let word = |text: &str| Value::bulk(format!("{}{text}", kind.prefix()));
        let list = &self.lists[kind.index()];
        let mut sent = 0;
        if let Some(listeners) = list.get(channel) {
            let parts = [word("message"), Value::bulk(channel), Value::bulk(message)];
            let value = Value::Push(parts.into_iter().collect());
            for &connection in listeners {
                let value = value.clone();
                out.push(Output::ToClient { connection, value });
                sent += 1;
            }
        }
        if kind == Channel::Shard {
            return sent;
        }
        for (pattern, listeners) in &self.lists[Channel::Pattern.index()] {
            if !glob::fits(pattern, channel) {
                continue;
            }
            let parts = [
                Value::bulk("pmessage"),
                Value::Bulk(Bytes::clone(pattern)),
                Value::bulk(channel),
                Value::bulk(message),
            ];
            let value = Value::Push(parts.into_iter().collect());
            for &connection in listeners {
                let value = value.clone();
                out.push(Output::ToClient { connection, value });
                sent += 1;
            }
        }
        sent
    }

    /// Tells a connection that it has begun or ceased to listen.
    pub(crate) fn confirm(
        &self,
        connection: ConnectionId,
        kind: Channel,
        what: &str,
        name: Option<&[u8]>,
        out: &mut Vec<Output>,
    ) {
        let count = self.count(kind, connection);
        let parts = [
            Value::bulk(format!("{}{what}", kind.prefix())),
            name.map_or(Value::Nil, Value::bulk),
            Value::Integer(count as i64),
        ];
        let value = Value::Push(parts.into_iter().collect());
        out.push(Output::ToClient { connection, value });
    }
}
