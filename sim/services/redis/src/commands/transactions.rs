//! Transactions: commands that wait until all are there, and then run one after the other.

use picklock_clients::redis::{Command, ErrorReply, Value};

use super::{Outcome, Row, about};
use crate::clients::Transaction;
use crate::errors::{EXEC_ABORT, refuse};
use crate::{ConnectionId, Server};

pub(super) const ROWS: &[Row] = &[
    about("discard", 1, discard),
    about("exec", 1, exec),
    about("multi", 1, multi),
    about("unwatch", 1, unwatch),
    about("watch", -2, watch),
];

fn multi(
    server: &mut Server,
    connection: ConnectionId,
    _: &Command,
) -> Result<Outcome, ErrorReply> {
    let client = server.clients.get_mut(connection);
    if client.queue.is_some() {
        return refuse("ERR MULTI calls can not be nested");
    }
    client.queue = Some(Vec::new());
    Ok(Outcome::Answer(Value::OK))
}

fn discard(
    server: &mut Server,
    connection: ConnectionId,
    _: &Command,
) -> Result<Outcome, ErrorReply> {
    if server
        .clients
        .get_mut(connection)
        .end_transaction()
        .is_none()
    {
        return refuse("ERR DISCARD without MULTI");
    }
    server.core.watches.forget(connection);
    Ok(Outcome::Answer(Value::OK))
}

fn watch(
    server: &mut Server,
    connection: ConnectionId,
    command: &Command,
) -> Result<Outcome, ErrorReply> {
    if server.clients.get_mut(connection).queue.is_some() {
        return refuse("ERR WATCH inside MULTI is not allowed");
    }
    let now = server.core.wall_millis();
    for key in command.words().skip(1) {
        let entry = server.core.keys.get(key);
        let had_expired = entry.is_some_and(|entry| entry.has_expired(now));
        let index = (server.core.selected, key);
        server.core.watches.watch(connection, index, had_expired);
    }
    Ok(Outcome::Answer(Value::OK))
}

fn unwatch(
    server: &mut Server,
    connection: ConnectionId,
    _: &Command,
) -> Result<Outcome, ErrorReply> {
    server.core.watches.forget(connection);
    Ok(Outcome::Answer(Value::OK))
}

fn exec(server: &mut Server, connection: ConnectionId, _: &Command) -> Result<Outcome, ErrorReply> {
    let client = server.clients.get_mut(connection);
    let Some((queue, dirty_exec)) = client.end_transaction() else {
        return refuse("ERR EXEC without MULTI");
    };
    let core = &mut *server.core;
    let sees_expiry = core.settings.watch_sees_expiry;
    let now = core.wall_millis();
    let stopped = {
        let entry_in = |db: u8, key: &[u8]| core.entry_in(db, key);
        core.watches.stop(connection, entry_in, sees_expiry, now)
    };
    core.watches.forget(connection);
    if dirty_exec {
        return refuse(EXEC_ABORT);
    }
    if stopped {
        return Ok(Outcome::Answer(Value::NilArray));
    }
    let transaction = Transaction {
        answers: Vec::with_capacity(queue.len()),
        left: queue.into(),
    };
    Ok(server.run_transaction(connection, transaction))
}

impl Server {
    /// Runs what is left of a transaction. Only keys that go to another node hold it up, and with it the whole server.
    pub(crate) fn run_transaction(
        &mut self,
        connection: ConnectionId,
        mut transaction: Transaction,
    ) -> Outcome {
        self.in_transaction = true;
        let mut outcome = None;
        while outcome.is_none()
            && let Some(command) = transaction.left.pop_front()
        {
            match self.run(connection, &command) {
                Outcome::Answer(value) => transaction.answers.push(value),
                // What listens answers with its confirmations, which count as answers of the client's protocol.
                Outcome::Silent => {}
                Outcome::Blocked => outcome = Some(Outcome::Blocked),
            }
        }
        self.in_transaction = false;
        if let (Some(Outcome::Blocked), Some(migration)) = (&outcome, &mut self.migration) {
            migration.hold_up(transaction);
            return Outcome::Blocked;
        }
        Outcome::Answer(Value::array(transaction.answers))
    }
}
