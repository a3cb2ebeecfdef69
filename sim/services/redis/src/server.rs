//! A server.

use std::rc::Rc;

use picklock_checker::VirtualTime;
use picklock_machines::{Alarm, Chance, Machine};

use crate::busy_script::BusyScript;
use crate::clients::{ClientConnection, Clients, Pause};
use crate::cluster::Migration;
use crate::db::Core;
use crate::disk::Disk;
use crate::key_observer::{KeyChanges, KeyObserver, KeyStep, KeysAt};
use crate::pubsub::Channel;
use crate::replication::Replication;
use crate::replication_protocol::Address;
use crate::scripts::{Scripts, sha_of};
use crate::{ConnectionId, Input, Now, Output, ServerConfig};

/// A server and its data.
#[derive(Clone, Debug)]
pub struct Server {
    // In a box, so that it can be lent to the interpreter of scripts.
    pub(crate) core: Box<Core>,
    pub(crate) clients: Clients,
    pub(crate) scripts: Scripts,
    pub(crate) replication: Replication,
    pub(crate) disk: Disk,
    /// Where its primary is after a restart, if it is a replica then.
    pub(crate) configured: Option<Address>,
    pub(crate) pause: Option<Pause>,
    /// A transaction is being run, in which no command blocks.
    pub(crate) in_transaction: bool,
    /// Keys that are on their way to another node: meanwhile it does nothing else.
    pub(crate) migration: Option<Box<Migration>>,
    /// A script that takes its time: meanwhile hardly anything else is done.
    pub(crate) busy: Option<Box<BusyScript>>,
    pub(crate) wake: VirtualTime,
    /// How often it was started again.
    pub(crate) restarts: u32,
}

impl Machine for Server {
    type Input = Input;
    type Output = Output;
    const WAKE: Input = Input::Wake;

    fn handle(
        &mut self,
        now: Now,
        input: Input,
        chance: &mut dyn Chance,
        out: &mut Vec<Output>,
    ) -> Alarm {
        std::mem::swap(&mut self.core.out, out);
        if let Input::Received { command, .. } = &input {
            self.begin_random_numbers(command, chance);
        }
        self.core.now = now;
        self.set_writable();
        if self.is_free() {
            self.on_input(input);
        } else {
            self.while_held_up(input);
        }
        if self.is_free() {
            // What has arrived comes before what the time brings, as in the loop of a real server.
            self.pass_time();
        }
        self.set_wake();
        std::mem::swap(&mut self.core.out, out);
        Alarm::MayBeEarlier
    }

    /// If its wall clock jumps, the answer may be another after [`Input::Wake`].
    #[inline]
    fn next_wake(&self) -> VirtualTime {
        self.wake
    }
}

impl Server {
    /// A server without data.
    pub fn new(settings: Rc<ServerConfig>) -> Self {
        let configured = settings.primary.clone();
        let mut server = Self {
            replication: Replication::new(settings.number),
            core: Box::new(Core::new(settings)),
            clients: Clients::default(),
            scripts: Scripts::default(),
            disk: Disk::default(),
            configured: configured.clone(),
            pause: None,
            in_transaction: false,
            migration: None,
            busy: None,
            wake: VirtualTime::NEVER,
            restarts: 0,
        };
        if let Some(primary) = configured {
            server.begin_as_replica(primary);
        }
        if server.core.cluster.is_some() {
            server.wake = VirtualTime::ZERO;
        }
        server
    }

    /// Whether it does what it is asked for at once: no keys are on their way from it, and no script takes its time.
    fn is_free(&self) -> bool {
        self.migration.is_none() && self.busy.is_none()
    }

    fn while_held_up(&mut self, input: Input) {
        let inputs = match self.busy {
            Some(_) => self.while_busy(input),
            None => self.while_migrating(input),
        };
        for input in inputs {
            self.end_key_steps();
            // One of them may send keys away again, or run another such script.
            if self.busy.is_some() {
                for input in self.while_busy(input) {
                    self.on_input(input);
                }
                continue;
            }
            match &mut self.migration {
                Some(migration) => migration.hold(input),
                None => self.on_input(input),
            }
        }
    }

    pub(crate) fn on_input(&mut self, input: Input) {
        match input {
            Input::Connected { connection } => {
                self.clients.get_mut(connection);
            }
            Input::Received {
                connection,
                command,
            } => self.received(connection, command),
            Input::Gone { connection } => self.forget(connection),
            Input::Linked { link } => self.linked(link),
            Input::LinkGone { link } => self.link_gone(link),
            Input::FromPeer { link, message } => self.on_peer_message(link, message),
            Input::FromNode { message } => self.on_bus_message(*message),
            Input::Disk { is_full } => self.disk_fills(is_full),
            Input::Memory { is_full } => self.core.degraded.memory_is_full = is_full,
            Input::SlowScript { lasts } => self.begin_slow_script(lasts),
            Input::Wake => {}
        }
        self.serve_ready_keys();
    }

    /// Its keys.
    pub fn keys(&self) -> KeysAt<'_> {
        KeysAt(&self.core.keys)
    }

    /// Whether it has no primary.
    pub fn is_primary(&self) -> bool {
        self.replication.primary.is_none()
    }

    /// How many bytes the stream of replication has that it writes or follows.
    pub fn stream_offset(&self) -> u64 {
        self.replication.offset
    }

    /// Whether it serves keys: a node of a cluster does not while it sees no majority, or some slots have no node.
    pub fn serves(&self) -> bool {
        let cluster = self.core.cluster.as_ref();
        self.core.degraded.loading.is_none() && cluster.is_none_or(|cluster| cluster.serves)
    }

    /// What `INFO server` answers.
    pub(crate) fn section(&self) -> String {
        let number = self.core.settings.number;
        let life = sha_of(format!("life {} of {number}", self.restarts).as_bytes());
        let version = self.core.settings.version;
        let (server, _) = version.release();
        let named = match server {
            "valkey" => {
                format!("redis_version:7.2.4\r\nserver_name:valkey\r\nvalkey_version:{version}")
            }
            _ => format!("redis_version:{version}"),
        };
        format!("# Server\r\n{named}\r\nrun_id:{life}\r\n")
    }

    /// Follows a key from now on, besides those that it follows: [`fate_of`](Self::fate_of) tells what becomes of it.
    pub fn follow_key(&mut self, key: &[u8]) {
        self.core.followed.push(KeyObserver::new(key));
    }

    /// What has become of the first key that it follows since it was asked last.
    #[inline]
    pub fn key_changes(&mut self) -> KeyChanges {
        self.fate_of(0)
    }

    /// The same, of the key that it was told to follow at this place, from zero.
    #[inline]
    pub fn fate_of(&mut self, index: usize) -> KeyChanges {
        let followed = self.core.followed.get_mut(index);
        followed.map_or_else(KeyChanges::default, KeyObserver::take_changes)
    }

    /// The changes of the key that it observes at this place by the commands before the last one, each by itself, since
    /// the last call: it may have executed several in one step, for it was kept from its work.
    #[inline]
    pub fn key_steps(&mut self, index: usize) -> Vec<KeyStep> {
        let followed = self.core.followed.get_mut(index);
        followed.map_or_else(Vec::new, KeyObserver::take_steps)
    }

    /// Keeps apart what has become of the keys that it follows, and what comes next.
    fn end_key_steps(&mut self) {
        let Core { followed, keys, .. } = &mut *self.core;
        if followed.iter().any(KeyObserver::has_changed) {
            let keys = Rc::new(keys.clone());
            for followed in followed {
                followed.end_step(&keys);
            }
        }
    }

    /// Notes to how much a connection listens.
    pub(crate) fn note_listening(&mut self, connection: ConnectionId) {
        let subscriptions = &self.core.subscriptions;
        let listens = subscriptions.count(Channel::Named, connection)
            + subscriptions.count(Channel::Shard, connection);
        self.clients.get_mut(connection).listens = listens;
    }

    fn forget(&mut self, connection: ConnectionId) {
        self.core.watches.forget(connection);
        self.core.subscriptions.forget(connection);
        self.core.blocking.forget(connection);
        self.clients.remove(connection);
    }

    pub(crate) fn close(&mut self, connection: ConnectionId) {
        self.forget(connection);
        self.core.out.push(Output::Close { connection });
    }

    /// Closes the connections that are meant. Answers how many.
    pub(crate) fn kill(
        &mut self,
        by: ConnectionId,
        is_meant: impl Fn(ConnectionId, &ClientConnection) -> bool,
    ) -> i64 {
        let meant = self
            .clients
            .iter()
            .filter(|(id, client)| is_meant(*id, client));
        let meant: Vec<ConnectionId> = meant.map(|(id, _)| id).collect();
        for &connection in &meant {
            if connection == by {
                // A client that closes itself is answered first.
                self.clients.get_mut(connection).closing = true;
            } else {
                self.close(connection);
            }
        }
        meant.len() as i64
    }
}
