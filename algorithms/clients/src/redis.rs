//! A handle to Redis, as client libraries offer it.
//!
//! [`Redis`] has an `async` method per command that locks use, over one narrow [`Transport`]. The simulator stands
//! behind it, or an adapter to a real server.

mod command;
mod command_kind;
mod error;
mod script;
mod subscription;
mod value;

use std::rc::Rc;
use std::time::Duration;

pub use command::{Command, short_name};
pub use error::{RedisError, RedisResult};
pub use script::{Script, sha1};
pub use subscription::{Listener, Subscription, subscription};
pub use value::{Bytes, ErrorReply, Value};

use crate::completion::{Answer, Completion, Completions};

/// Which connection of a client a command goes by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Lane {
    /// The server, by its place, among independent ones; zero for the only one, or for the primary of the moment.
    pub node: u32,
    /// Connections to the same server have numbers; zero is the one that all threads of the process share.
    pub number: u32,
}

impl Lane {
    /// Whether all threads of the process share it.
    pub fn is_shared(self) -> bool {
        self.number == 0
    }
}

/// What carries commands to servers and brings the answers back.
pub trait Transport {
    /// How many independent servers there are.
    fn nodes(&self) -> u32;
    /// A lane to a server, for the caller alone.
    fn dedicated(&self, node: u32) -> Lane;
    /// Sends a command. Commands of one lane arrive in the order in which they were sent, as long as its connection
    /// stands.
    fn submit(&self, lane: Lane, command: Command, completion: Completion<RedisResult<Value>>);
    /// Subscribes to a channel of a server, by the connection that is kept for subscriptions. The completion is told
    /// when the server has confirmed it.
    fn subscribe(
        &self,
        node: u32,
        channel: Bytes,
        listener: Listener,
        completion: Completion<RedisResult<Value>>,
    );
}

/// A connection to a server, as a process shares it.
#[derive(Clone)]
pub struct Redis {
    transport: Rc<dyn Transport>,
    answers: Rc<Completions<RedisResult<Value>>>,
    lane: Lane,
}

impl Redis {
    /// Wraps a transport.
    pub fn new(transport: Rc<dyn Transport>) -> Self {
        Self {
            transport,
            answers: Rc::default(),
            lane: Lane { node: 0, number: 0 },
        }
    }

    /// How many independent servers there are.
    pub fn nodes(&self) -> u32 {
        self.transport.nodes()
    }

    /// The shared connection to one of several independent servers, by its place.
    #[must_use]
    pub fn at(&self, node: u32) -> Self {
        let lane = Lane { node, number: 0 };
        Self {
            lane,
            ..self.clone()
        }
    }

    /// A connection of its own to the same server: what `WATCH` needs.
    #[must_use]
    pub fn dedicated(&self) -> Self {
        let lane = self.transport.dedicated(self.lane.node);
        Self {
            lane,
            ..self.clone()
        }
    }

    fn send(&self, command: Command) -> Answer<RedisResult<Value>> {
        let (completion, answer) = self.answers.completion();
        self.transport.submit(self.lane, command, completion);
        answer
    }

    /// Sends a command and waits for the answer.
    ///
    /// # Errors
    ///
    /// Any [`RedisError`]; an error reply is `Refused`.
    pub async fn ask(&self, command: Command) -> RedisResult<Value> {
        accepted(self.send(command).await?)
    }

    async fn number(&self, command: Command) -> RedisResult<i64> {
        let answer = accepted(self.send(command).await?)?;
        answer.integer().ok_or(RedisError::Unexpected)
    }

    /// `SET key value NX PX ttl`: whether the key was missing, and is set now.
    ///
    /// # Errors
    ///
    /// After an error that is not [`definite`](RedisError::definite) the key may be set.
    pub async fn set_if_missing(&self, key: &str, value: &str, ttl: Duration) -> RedisResult<bool> {
        let mut digits = itoa::Buffer::new();
        let millis = digits.format(millis(ttl));
        let command = Command::new("SET").args([key, value, "NX", "PX", millis]);
        Ok(accepted(self.send(command).await?)?.is_ok())
    }

    /// `SETNX key value`: whether the key was missing, and is set now, for ever.
    ///
    /// # Errors
    ///
    /// As for [`set_if_missing`](Self::set_if_missing).
    pub async fn setnx(&self, key: &str, value: &str) -> RedisResult<bool> {
        let command = Command::new("SETNX").arg(key).arg(value);
        Ok(self.number(command).await? == 1)
    }

    /// `PEXPIRE key ttl`: whether there is such a key; it goes after this time.
    ///
    /// # Errors
    ///
    /// Any [`RedisError`].
    pub async fn expire(&self, key: &str, ttl: Duration) -> RedisResult<bool> {
        let command = Command::new("PEXPIRE").arg(key).number(millis(ttl));
        Ok(self.number(command).await? == 1)
    }

    /// `GET key`
    ///
    /// # Errors
    ///
    /// Any [`RedisError`]; `Refused` if the value is no string.
    pub async fn get(&self, key: &str) -> RedisResult<Option<Bytes>> {
        match self.ask(Command::new("GET").arg(key)).await? {
            Value::Bulk(bytes) => Ok(Some(bytes)),
            Value::Nil => Ok(None),
            _ => Err(RedisError::Unexpected),
        }
    }

    /// `DEL key`: whether there was such a key.
    ///
    /// # Errors
    ///
    /// After an error that is not [`definite`](RedisError::definite) it may be gone.
    pub async fn del(&self, key: &str) -> RedisResult<bool> {
        Ok(self.number(Command::new("DEL").arg(key)).await? == 1)
    }

    /// Runs a script: by its SHA1, and by its source if the server does not know it.
    ///
    /// # Errors
    ///
    /// Any [`RedisError`]; a script that failed half-way is `Refused`, and what it wrote before stays.
    pub async fn script(
        &self,
        script: &Script,
        keys: &[&str],
        args: &[&str],
    ) -> RedisResult<Value> {
        let call = |name: &str, body: &str| {
            let start = Command::new(name).arg(body).number(keys.len() as i64);
            start.args(keys.iter().chain(args))
        };
        let sends_source = script.sends_source();
        match self.ask(call("EVALSHA", script.sha1())).await {
            Err(RedisError::Refused(error)) if error.code() == "NOSCRIPT" && sends_source => {
                self.ask(call("EVAL", script.source())).await
            }
            answer => answer,
        }
    }

    /// `WATCH key`, on a connection of its own.
    ///
    /// # Errors
    ///
    /// Any [`RedisError`].
    pub async fn watch(&self, key: &str) -> RedisResult<()> {
        self.ask(Command::new("WATCH").arg(key)).await?;
        Ok(())
    }

    /// `UNWATCH`
    ///
    /// # Errors
    ///
    /// Any [`RedisError`].
    pub async fn unwatch(&self) -> RedisResult<()> {
        self.ask(Command::new("UNWATCH")).await?;
        Ok(())
    }

    /// `MULTI`, the commands, and `EXEC`, sent together: what each of them answered, or `None` if a watched key was
    /// touched and nothing was done.
    ///
    /// # Errors
    ///
    /// Any [`RedisError`]; `Refused` if a command could not be queued, and then nothing was done.
    pub async fn transaction(
        &self,
        commands: impl IntoIterator<Item = Command>,
    ) -> RedisResult<Option<Rc<[Value]>>> {
        let _queued: Vec<_> = std::iter::once(Command::new("MULTI"))
            .chain(commands)
            .map(|command| self.send(command))
            .collect();
        match self.ask(Command::new("EXEC")).await? {
            Value::Array(answers) => Ok(Some(answers)),
            Value::NilArray | Value::Nil => Ok(None),
            _ => Err(RedisError::Unexpected),
        }
    }

    /// `WAIT replicas timeout`: how many replicas have what this connection wrote last. Without a write of its own, how
    /// many there are. It undoes nothing.
    ///
    /// # Errors
    ///
    /// Any [`RedisError`]; `Refused` by a replica, and by a primary that becomes one meanwhile.
    pub async fn wait(&self, replicas: i64, timeout: Duration) -> RedisResult<i64> {
        let command = Command::new("WAIT").number(replicas);
        self.number(command.number(millis(timeout))).await
    }

    /// `WAITAOF 1 0 timeout`: whether what this connection wrote last is in the log on the primary's disk. It undoes
    /// nothing. Of Redis 7.2 and Valkey.
    ///
    /// # Errors
    ///
    /// Any [`RedisError`]; `Refused` by a server that keeps no log.
    pub async fn wait_aof(&self, timeout: Duration) -> RedisResult<bool> {
        let command = Command::new("WAITAOF").number(1).number(0);
        let answer = self.ask(command.number(millis(timeout))).await?;
        match answer.values() {
            Some([Value::Integer(synced), _]) => Ok(*synced == 1),
            _ => Err(RedisError::Unexpected),
        }
    }

    /// `SET key value IFEQ expected [PX ttl]`: whether the key held `expected`, and is set now; without a time to live,
    /// for ever. Of Redis 8.4 and Valkey 8.1.
    ///
    /// # Errors
    ///
    /// As for [`set_if_missing`](Self::set_if_missing); `Refused` by an older server.
    pub async fn set_if_equal(
        &self,
        key: &str,
        value: &str,
        expected: &str,
        ttl: Option<Duration>,
    ) -> RedisResult<bool> {
        let mut command = Command::new("SET").args([key, value, "IFEQ", expected]);
        if let Some(ttl) = ttl {
            command = command.arg("PX").number(millis(ttl));
        }
        Ok(accepted(self.send(command).await?)?.is_ok())
    }

    /// `DELEX key IFEQ value`: whether the key held this value, and is gone now. Of Redis 8.4.
    ///
    /// # Errors
    ///
    /// Any [`RedisError`]; `Refused` by an older server.
    pub async fn delex(&self, key: &str, value: &str) -> RedisResult<bool> {
        let command = Command::new("DELEX").args([key, "IFEQ", value]);
        Ok(self.number(command).await? == 1)
    }

    /// `DELIFEQ key value`: whether the key held this value, and is gone now. Of Valkey 9.0.
    ///
    /// # Errors
    ///
    /// Any [`RedisError`]; `Refused` by another server.
    pub async fn delifeq(&self, key: &str, value: &str) -> RedisResult<bool> {
        let command = Command::new("DELIFEQ").args([key, value]);
        Ok(self.number(command).await? == 1)
    }

    /// `BLPOP key timeout`: the first element of a list, as soon as there is one; `None` if there was none for so long.
    /// A connection that waits does nothing else, so this one should be [`dedicated`](Self::dedicated). No time at all
    /// is for ever.
    ///
    /// # Errors
    ///
    /// Any [`RedisError`]. After one that is not [`definite`](RedisError::definite) an element may have been taken and
    /// lost.
    pub async fn blpop(&self, key: &str, timeout: Duration) -> RedisResult<Option<Bytes>> {
        let seconds = format!("{}.{:03}", timeout.as_secs(), timeout.subsec_millis());
        let command = Command::new("BLPOP").arg(key).arg(seconds);
        match self.ask(command).await? {
            Value::NilArray | Value::Nil => Ok(None),
            answer => match answer.values() {
                Some([_, Value::Bulk(element)]) => Ok(Some(Bytes::clone(element))),
                _ => Err(RedisError::Unexpected),
            },
        }
    }

    /// `INFO replication`: how many replicas are connected.
    ///
    /// # Errors
    ///
    /// Any [`RedisError`].
    pub async fn replicas(&self) -> RedisResult<i64> {
        let answer = self.ask(Command::new("INFO").arg("replication")).await?;
        let text = String::from_utf8_lossy(answer.bytes().ok_or(RedisError::Unexpected)?);
        let mut lines = text.lines();
        let number = lines.find_map(|line| line.strip_prefix("connected_slaves:"));
        let number = number.and_then(|number| number.parse().ok());
        number.ok_or(RedisError::Unexpected)
    }

    /// Subscribes to a channel, and waits until the server has confirmed it.
    ///
    /// # Errors
    ///
    /// Any [`RedisError`].
    pub async fn subscribe(&self, channel: &str) -> RedisResult<Subscription> {
        let (listener, subscription) = subscription();
        let (completion, confirmed) = self.answers.completion();
        let channel = channel.as_bytes().into();
        let node = self.lane.node;
        self.transport
            .subscribe(node, channel, listener, completion);
        confirmed.await?;
        Ok(subscription)
    }
}

/// An answer that is no refusal.
#[inline]
fn accepted(answer: Value) -> RedisResult<Value> {
    match answer {
        Value::Error(error) => Err(RedisError::Refused(error)),
        answer => Ok(answer),
    }
}

fn millis(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}
