//! A server.

use std::rc::Rc;

use picklock_algorithms::clients::redis::{Command, ErrorReply, Value};
use picklock_checker::VirtualTime;

use crate::blocked_clients::Pause;
use crate::clients::{Blocked, Client, Clients};
use crate::cluster::Migration;
use crate::commands::{self, Outcome, Row, Run, Traits};
use crate::db::Core;
use crate::disk::Disk;
use crate::errors::{refuse, unknown_command};
use crate::pubsub::Channel;
use crate::replication::Replication;
use crate::replication_protocol::Address;
use crate::resp::{for_connection, not_modelled};
use crate::scripts::{Scripts, sha_of};
use crate::{ConnectionId, Input, Now, Output, Settings};

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
    /// A transaction is being run, in which nobody waits.
    pub(crate) in_transaction: bool,
    /// Keys that are on their way to another node: meanwhile it does nothing else.
    pub(crate) migration: Option<Box<Migration>>,
    pub(crate) wake: VirtualTime,
    /// How often it was started again.
    pub(crate) restarts: u32,
}

impl Server {
    /// A server without data.
    pub fn new(settings: Rc<Settings>) -> Self {
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

    /// Lets something happen, and says what the server wants done about it.
    pub fn handle(&mut self, now: Now, input: Input, out: &mut Vec<Output>) {
        std::mem::swap(&mut self.core.out, out);
        self.core.now = now;
        self.set_writable();
        if self.migration.is_none() {
            self.happens(input);
        } else {
            for input in self.while_migrating(input) {
                // One of them may send keys away again.
                match &mut self.migration {
                    Some(migration) => migration.hold(input),
                    None => self.happens(input),
                }
            }
        }
        if self.migration.is_none() {
            // What has arrived comes before what the time brings, as in the loop of a real server.
            self.pass_time();
        }
        self.set_wake();
        std::mem::swap(&mut self.core.out, out);
    }

    fn happens(&mut self, input: Input) {
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
            Input::FromPeer { link, message } => self.heard_from_peer(link, message),
            Input::FromNode { message } => self.heard_from_node(*message),
            Input::Disk { is_full } => self.disk_fills(is_full),
            Input::Wake => {}
        }
    }

    /// When, by its monotonic clock, it wants to look at the clocks again. If its wall clock jumps, the answer may be
    /// another after [`Input::Wake`].
    pub fn next_wake(&self) -> VirtualTime {
        self.wake
    }

    /// The value of a key that has not expired by this wall clock, as `GET`, `HGETALL`, or `LRANGE` would answer it.
    pub fn read(&self, wall_micros: i64, key: &[u8]) -> Option<Value> {
        let now = wall_micros.div_euclid(1_000);
        let entry = self.core.keys.get(key)?;
        (!entry.has_expired(now)).then(|| entry.data.value())
    }

    /// Whether it is nobody's replica.
    pub fn is_primary(&self) -> bool {
        self.replication.primary.is_none()
    }

    /// How many bytes the stream of replication has that it writes or follows.
    pub fn stream_offset(&self) -> u64 {
        self.replication.offset
    }

    /// Whether it serves keys: a node of a cluster does not while it sees no majority, or some slots have nobody.
    pub fn serves(&self) -> bool {
        let cluster = self.core.cluster.as_ref();
        self.core.trouble.loading.is_none() && cluster.is_none_or(|cluster| cluster.serves)
    }

    /// What `INFO server` answers.
    pub(crate) fn section(&self) -> String {
        let number = self.core.settings.number;
        let life = sha_of(format!("life {} of {number}", self.restarts).as_bytes());
        format!(
            "# Server\r\nredis_version:{}\r\nrun_id:{life}\r\n",
            crate::VERSION
        )
    }

    /// When, by its wall clock, a key expires, in milliseconds since the Unix epoch; `None` if never, or no such key.
    pub fn expires_at(&self, key: &[u8]) -> Option<i64> {
        self.core.keys.get(key)?.expires
    }

    fn received(&mut self, connection: ConnectionId, command: Command) {
        let client = self.clients.get_mut(connection);
        if client.blocked.is_some() {
            client.pending.push_back(command);
        } else {
            self.serve(connection, &command);
        }
    }

    /// Serves a command, whatever comes of it.
    pub(crate) fn serve(&mut self, connection: ConnectionId, command: &Command) {
        self.core.serving = Some(connection);
        let outcome = self.process(connection, command).unwrap_or_else(|error| {
            self.note_not_modelled(&error);
            // A refused command spoils the transaction that it was to be part of.
            Outcome::Answer(Value::Error(error))
        });
        self.served(connection, outcome);
        self.core.serving = None;
    }

    /// Answers a command that was served, and tells replicas what has come of it. A transaction that is held up is told
    /// of as one when it is through.
    pub(crate) fn served(&mut self, connection: ConnectionId, outcome: Outcome) {
        let migration = self.migration.as_ref();
        if !migration.is_some_and(|it| it.holds_up_transaction()) {
            self.core.effects.flush();
        }
        let place = self.clients.place(connection);
        let blocked = outcome == Outcome::Blocked;
        if let Outcome::Answer(value) = outcome {
            self.answer_at(place, connection, value);
        }
        // An answer and what replicas are told leave together: neither says anything about the other.
        self.tell_replicas();
        if blocked {
            return;
        }
        let offset = self.replication.offset;
        if let Some(client) = self.clients.at(place) {
            client.written = offset;
            if client.closing {
                self.close(connection);
            }
        }
    }

    pub(crate) fn answer(&mut self, connection: ConnectionId, value: Value) {
        self.answer_at(self.clients.place(connection), connection, value);
    }

    /// Answers a connection that is at a place, if there is one.
    fn answer_at(&mut self, place: Option<usize>, connection: ConnectionId, value: Value) {
        if let Some(client) = self.clients.at(place) {
            let value = for_connection(value, client.resp3);
            self.core.out.push(Output::ToClient { connection, value });
        }
    }

    pub(crate) fn note_not_modelled(&mut self, error: &ErrorReply) {
        if let Some(what) = not_modelled(error) {
            let what = what.to_owned();
            self.core.out.push(Output::NotModelled { what });
        }
    }

    /// Runs a command, or says why not, in the order in which a real server looks for reasons.
    fn process(
        &mut self,
        connection: ConnectionId,
        command: &Command,
    ) -> Result<Outcome, ErrorReply> {
        let row = match self.known(command) {
            Ok(row) => row,
            Err(error) => {
                self.spoil(connection);
                return Err(error);
            }
        };
        if let Err(error) = self.redirect(connection, row, command) {
            if row.name == "exec" {
                self.clients.get_mut(connection).end_transaction();
                self.core.watches.forget(connection);
            } else {
                self.spoil(connection);
            }
            return Err(error);
        }
        if let Err(error) = self.gate(connection, row, command) {
            if row.name == "exec" {
                self.clients.get_mut(connection).end_transaction();
                self.core.watches.forget(connection);
                let text = error.text();
                let text = text.strip_prefix("ERR ").unwrap_or(text);
                return refuse(format!(
                    "EXECABORT Transaction discarded because of: {text}"
                ));
            }
            self.spoil(connection);
            return Err(error);
        }
        if self.is_paused(connection, row) {
            let client = self.clients.get_mut(connection);
            client.pending.push_front(command.clone());
            self.clients.block(connection, Blocked::Paused);
            return Ok(Outcome::Blocked);
        }
        let at_once = ["exec", "discard", "multi", "watch", "quit", "reset"];
        let client = self.clients.get_mut(connection);
        self.core.resp3 = client.resp3;
        if let Some(queue) = &mut client.queue
            && !at_once.contains(&row.name)
        {
            // What cannot succeed any more is not kept.
            if !client.doomed {
                queue.push(command.clone());
            }
            return Ok(Outcome::Answer(Value::Status("QUEUED".into())));
        }
        Ok(self.run_row(connection, row, command))
    }

    fn spoil(&mut self, connection: ConnectionId) {
        let client = self.clients.get_mut(connection);
        client.doomed = client.queue.is_some();
    }

    /// The row of a command that has as many words as it must have.
    fn known(&self, command: &Command) -> Result<&'static Row, ErrorReply> {
        let Some(row) = commands::find(command.name()) else {
            return refuse(unknown_command(command));
        };
        if !row.takes(command.len()) {
            return Err(commands::wrong_number(row.name));
        }
        if row.name == "cluster" {
            commands::check_cluster_part(command)?;
        }
        Ok(row)
    }

    /// Refuses what must not be run now.
    fn gate(
        &self,
        connection: ConnectionId,
        row: &Row,
        command: &Command,
    ) -> Result<(), ErrorReply> {
        if self.is_at_ease() {
            return Ok(());
        }
        let client = self.clients.get(connection);
        let queue = client.and_then(|client| client.queue.as_deref());
        if let Some(refusal) = self.refused_early(row, command, queue) {
            return refuse(refusal);
        }
        if let Some(refusal) = self.core.refusal()
            && (row.is_or_runs(queue, Row::writes) || self.declares_writes(command))
        {
            return refuse(refusal);
        }
        let listens = client.is_some_and(|client| client.listens > 0 && !client.resp3);
        if listens && !row.traits.has(Traits::WHILE_LISTENING) {
            let name = commands::full_name(row, command);
            let others = "only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / QUIT / RESET";
            return refuse(format!(
                "ERR Can't execute '{name}': {others} are allowed in this context"
            ));
        }
        match self.refused_late(row, command, queue) {
            Some(refusal) => refuse(refusal),
            None => Ok(()),
        }
    }

    /// Runs a command that nothing speaks against.
    pub(crate) fn run(&mut self, connection: ConnectionId, command: &Command) -> Outcome {
        self.core.resp3 = self.clients.get_mut(connection).resp3;
        match self.known(command) {
            Ok(row) => self.run_row(connection, row, command),
            Err(error) => Outcome::Answer(Value::Error(error)),
        }
    }

    fn run_row(&mut self, connection: ConnectionId, row: &Row, command: &Command) -> Outcome {
        let dirty = self.core.effects.dirty;
        let outcome = match row.run {
            Run::Keys(run) => {
                let reply = run(&mut self.core, command);
                self.core.effects.ran(dirty, command);
                reply.map(Outcome::Answer)
            }
            Run::Connection(run) => run(self, connection, command),
            Run::Not => {
                let name = row.name.to_ascii_uppercase();
                refuse(format!("ERR not modelled: {name}"))
            }
        };
        outcome.unwrap_or_else(|error| {
            self.note_not_modelled(&error);
            Outcome::Answer(Value::Error(error))
        })
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
        is_meant: impl Fn(ConnectionId, &Client) -> bool,
    ) -> i64 {
        let meant = self
            .clients
            .iter()
            .filter(|(id, client)| is_meant(*id, client));
        let meant: Vec<ConnectionId> = meant.map(|(id, _)| id).collect();
        for &connection in &meant {
            if connection == by {
                // Who closes itself is answered first.
                self.clients.get_mut(connection).closing = true;
            } else {
                self.close(connection);
            }
        }
        meant.len() as i64
    }
}
