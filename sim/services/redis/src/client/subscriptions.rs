//! The connection that is kept for subscriptions.

use picklock_checker::VirtualTime;
use picklock_clients::completion::Completion;
use picklock_clients::redis::{Bytes, Command, Listener, RedisError, RedisResult, Value};

use super::connection::Phase;
use super::{Output, RedisClientConfig};

struct Channel {
    name: Bytes,
    listeners: Vec<Listener>,
    /// Calls that wait for the server to confirm it, and until when.
    waiting: Vec<(Completion<RedisResult<Value>>, VirtualTime)>,
    confirmed: bool,
}

/// The subscriptions of a client at one server. When the connection breaks, it subscribes again by the next; what was
/// published meanwhile is lost.
pub(super) struct Subscriptions {
    pub node: u32,
    pub phase: Phase,
    /// No connection is asked for before.
    pub not_before: VirtualTime,
    channels: Vec<Channel>,
}

impl Subscriptions {
    pub fn new(node: u32) -> Self {
        Self {
            node,
            phase: Phase::Idle,
            not_before: VirtualTime::ZERO,
            channels: Vec::new(),
        }
    }

    /// How many confirmations are awaited.
    pub fn in_flight(&self) -> usize {
        let waiting = self.channels.iter().map(|channel| channel.waiting.len());
        waiting.sum()
    }

    /// The channel that it subscribed to first, of those that it still does.
    pub fn first_channel(&self) -> Option<&[u8]> {
        self.channels.first().map(|channel| &*channel.name)
    }

    pub fn wants_connection(&self) -> bool {
        self.phase == Phase::Idle && !self.channels.is_empty()
    }

    pub fn subscribe(
        &mut self,
        now: VirtualTime,
        name: Bytes,
        listener: Listener,
        completion: Completion<RedisResult<Value>>,
        settings: &RedisClientConfig,
        out: &mut Vec<Output>,
    ) {
        self.leave_unused_channels(out);
        let deadline = now + settings.timeout;
        let known = self.channels.iter_mut().find(|known| known.name == name);
        if let Some(channel) = known {
            channel.listeners.push(listener);
            if channel.confirmed {
                completion.complete(Ok(Value::OK));
            } else {
                channel.waiting.push((completion, deadline));
            }
            return;
        }
        self.send_command("SUBSCRIBE", &name, out);
        self.channels.push(Channel {
            name,
            listeners: vec![listener],
            waiting: vec![(completion, deadline)],
            confirmed: false,
        });
    }

    fn send_command(&self, what: &str, name: &Bytes, out: &mut Vec<Output>) {
        if let Phase::Open(connection) = self.phase {
            let command = Command::new(what).arg(name);
            out.push(Output::Send {
                connection,
                command,
                again: false,
                caller: None,
            });
        }
    }

    /// Leaves the channels without a listener.
    fn leave_unused_channels(&mut self, out: &mut Vec<Output>) {
        let mut left = Vec::new();
        self.channels.retain_mut(|channel| {
            channel.listeners.retain(Listener::has_listener);
            let kept = !channel.listeners.is_empty() || !channel.waiting.is_empty();
            if !kept {
                left.push(Bytes::clone(&channel.name));
            }
            kept
        });
        for name in left {
            self.send_command("UNSUBSCRIBE", &name, out);
        }
    }

    /// The connection stands: subscribes to everything.
    pub fn opened(&self, out: &mut Vec<Output>) {
        for channel in &self.channels {
            self.send_command("SUBSCRIBE", &channel.name, out);
        }
    }

    /// Something has come: a confirmation, or a message. An error is the answer to a subscription that was refused.
    pub fn on_push(&mut self, value: &Value, out: &mut Vec<Output>) {
        let Some([Value::Bulk(kind), Value::Bulk(name), last]) = value.values() else {
            return;
        };
        let Some(channel) = self.channels.iter_mut().find(|known| known.name == *name) else {
            return;
        };
        if &**kind == b"subscribe" {
            channel.confirmed = true;
            for (completion, _) in channel.waiting.drain(..) {
                completion.complete(Ok(Value::OK));
            }
        } else if &**kind == b"message"
            && let Value::Bulk(payload) = last
        {
            for listener in &channel.listeners {
                listener.deliver(Bytes::clone(payload));
            }
            self.leave_unused_channels(out);
        }
    }

    pub fn broken(&mut self, now: VirtualTime, settings: &RedisClientConfig) {
        self.phase = Phase::Idle;
        self.not_before = now + settings.retry_pause;
        for channel in &mut self.channels {
            channel.confirmed = false;
            channel.listeners.retain(Listener::has_listener);
        }
        let heard = |channel: &Channel| !channel.listeners.is_empty();
        self.channels.retain(heard);
    }

    /// Gives up on the confirmations that have not come in time.
    pub fn give_up(&mut self, now: VirtualTime) {
        for channel in &mut self.channels {
            let waiting = std::mem::take(&mut channel.waiting).into_iter();
            for (completion, deadline) in waiting {
                if deadline <= now {
                    completion.complete(Err(RedisError::TimedOut));
                } else {
                    channel.waiting.push((completion, deadline));
                }
            }
        }
    }

    pub fn next_wake(&self) -> VirtualTime {
        let waiting = self.channels.iter().flat_map(|channel| &channel.waiting);
        let deadlines = waiting.map(|(_, deadline)| *deadline);
        let retry = self.wants_connection().then_some(self.not_before);
        let all = deadlines.chain(retry);
        all.min().unwrap_or(VirtualTime::NEVER)
    }
}
