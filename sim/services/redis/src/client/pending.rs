//! A command on its way: how often it is sent again, and how it fails.

use std::time::Duration;

use picklock_checker::{ContenderId, VirtualTime};
use picklock_clients::completion::Completion;
use picklock_clients::redis::{Command, RedisError, RedisResult, Value, short_name};

use super::RedisClientConfig;

/// A command with an awaited answer.
pub(super) struct Pending {
    pub command: Command,
    pub completion: Completion<RedisResult<Value>>,
    /// Which of the tasks that share the client has asked.
    pub caller: Option<ContenderId>,
    /// When it is given up.
    pub deadline: VirtualTime,
    pub tries_left: u32,
    /// It is tried again only for want of a connection, and not once it was sent.
    keeps_to_first_sending: bool,
    /// It was sent before, by a connection that broke: it may have been executed.
    pub sent_before: bool,
    /// How often it may still be sent again because the cluster was down.
    patience: u32,
    /// How often it may still be sent to another node of a cluster because one said so.
    pub redirections_left: u32,
    /// It is to be preceded by the word that its slot is on its way.
    pub asking: bool,
}

/// How often a command is sent elsewhere because a node said so (redis-py's `RedisClusterRequestTTL`).
const REDIRECTIONS: u32 = 16;

/// How often a command is sent again because the cluster was down, and after what time: both as redis-py does.
const PATIENCE: u32 = 3;
const DOWN_FOR: Duration = Duration::from_millis(250);

/// When a command is given up. What the server itself waits for comes on top of the time-out, as with Jedis and
/// Redisson.
fn deadline(
    now: VirtualTime,
    pause: Duration,
    command: &Command,
    settings: &RedisClientConfig,
) -> VirtualTime {
    match blocks_for(command) {
        Some(wait) => now + pause + settings.timeout + wait,
        None => VirtualTime::NEVER,
    }
}

/// For how long a server may wait before it answers a command; `None` is for ever.
fn blocks_for(command: &Command) -> Option<Duration> {
    if short_name(command.name()) == WAITAOF {
        let millis = std::str::from_utf8(command.word(3)?).ok()?;
        let millis = millis.parse().ok()?;
        return (millis > 0).then(|| Duration::from_millis(millis));
    }
    let index = match short_name(command.name()) {
        BLPOP | BRPOP => command.len().checked_sub(1),
        BLMOVE => Some(5),
        BLMPOP => Some(1),
        None if command.is("BRPOPLPUSH") => Some(3),
        _ => None,
    };
    let Some(word) = index.and_then(|index| command.word(index)) else {
        return Some(Duration::ZERO);
    };
    let seconds = std::str::from_utf8(word).ok()?.parse::<f64>().ok()?;
    let wait = Duration::try_from_secs_f64(seconds).ok()?;
    (!wait.is_zero()).then_some(wait)
}

const BLPOP: Option<u64> = short_name(b"blpop");
const BRPOP: Option<u64> = short_name(b"brpop");
const BLMOVE: Option<u64> = short_name(b"blmove");
const BLMPOP: Option<u64> = short_name(b"blmpop");
const WAITAOF: Option<u64> = short_name(b"waitaof");

impl Pending {
    pub fn new(
        now: VirtualTime,
        command: Command,
        completion: Completion<RedisResult<Value>>,
        settings: &RedisClientConfig,
    ) -> Self {
        Self {
            completion,
            caller: None,
            deadline: deadline(now, Duration::ZERO, &command, settings),
            command,
            tries_left: settings.retries,
            keeps_to_first_sending: !settings.resend,
            sent_before: false,
            patience: PATIENCE,
            redirections_left: REDIRECTIONS,
            asking: false,
        }
    }

    /// It waits for its answer from now on.
    pub fn wait_from(&mut self, now: VirtualTime, settings: &RedisClientConfig) {
        self.deadline = deadline(now, Duration::ZERO, &self.command, settings);
    }

    /// It goes out by a connection.
    pub fn is_sent(&mut self) {
        if self.keeps_to_first_sending {
            self.tries_left = 0;
        }
    }

    /// The connection that it was sent by broke.
    pub fn broken_off(self) -> Self {
        Self {
            sent_before: true,
            ..self
        }
    }

    #[inline]
    pub fn answer(self, value: Value) {
        self.completion.complete(Ok(value));
    }

    /// Takes one of the tries that are left, if any is: it may be sent again then, after a pause. A client that replays
    /// counts no tries, and goes by the time that the command has.
    pub fn try_again(
        &mut self,
        now: VirtualTime,
        pause: Duration,
        settings: &RedisClientConfig,
    ) -> bool {
        if settings.replay {
            return self.deadline > now;
        }
        let Some(left) = self.tries_left.checked_sub(1) else {
            return false;
        };
        self.tries_left = left;
        self.deadline = deadline(now, pause, &self.command, settings);
        true
    }

    /// The cluster is down: when it may be sent again, if it may.
    pub fn wait_for_cluster(
        &mut self,
        now: VirtualTime,
        settings: &RedisClientConfig,
    ) -> Option<VirtualTime> {
        if let Some(left) = self.patience.checked_sub(1) {
            self.patience = left;
            self.deadline = deadline(now, DOWN_FOR, &self.command, settings);
            return Some(now + DOWN_FOR);
        }
        let again = self.try_again(now, settings.retry_pause, settings);
        again.then(|| now + settings.retry_pause)
    }

    /// There is no connection to send it by, or no longer.
    pub fn fail(self) {
        let error = if self.sent_before {
            RedisError::ConnectionLoss
        } else {
            RedisError::NotConnected
        };
        self.completion.complete(Err(error));
    }

    /// It has waited to be sent for too long.
    pub fn give_up(self) {
        let error = if self.sent_before {
            RedisError::TimedOut
        } else {
            RedisError::NotConnected
        };
        self.completion.complete(Err(error));
    }
}
