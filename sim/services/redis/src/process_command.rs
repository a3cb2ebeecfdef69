//! What a server does with a command: it refuses, queues, or runs it, and answers.

use picklock_clients::redis::{Command, ErrorReply, Value};

use crate::clients::Blocked;
use crate::command_table::{Outcome, Row, Run, Traits, full_name, wrong_number};
use crate::commands;
use crate::errors::{refuse, unknown_command};
use crate::resp::{for_connection, not_modelled};
use crate::{ConnectionId, Output, Server};

impl Server {
    pub(crate) fn received(&mut self, connection: ConnectionId, command: Command) {
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
        self.serve_ready_keys();
    }

    /// Answers a command that was served, and tells replicas what has come of it. A transaction that is held up is told
    /// of as one when it is through.
    pub(crate) fn served(&mut self, connection: ConnectionId, outcome: Outcome) {
        let migration = self.migration.as_ref();
        let holds_up = migration.is_some_and(|migration| migration.holds_up_transaction());
        if !holds_up && self.busy.is_none() {
            self.core.effects.flush();
        }
        let index = self.clients.index_of(connection);
        let blocked = outcome == Outcome::Blocked;
        if let Outcome::Answer(value) = outcome {
            self.answer_at(index, connection, value);
        }
        // An answer and what replicas are told leave together: neither says anything about the other.
        self.feed_replicas();
        if blocked {
            return;
        }
        let (offset, changes) = (self.replication.offset, self.core.effects.dirty);
        if let Some(client) = self.clients.at(index) {
            (client.written, client.changes) = (offset, changes);
            if client.closing {
                self.close(connection);
            }
        }
    }

    pub(crate) fn answer(&mut self, connection: ConnectionId, value: Value) {
        self.answer_at(self.clients.index_of(connection), connection, value);
    }

    /// Answers a connection that is at a place, if there is one.
    fn answer_at(&mut self, index: Option<usize>, connection: ConnectionId, value: Value) {
        if let Some(client) = self.clients.at(index) {
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
                self.flag_transaction(connection);
                return Err(error);
            }
        };
        if let Err(error) = self.redirect(connection, row, command) {
            if row.name == "exec" {
                self.clients.get_mut(connection).end_transaction();
                self.core.watches.forget(connection);
            } else {
                self.flag_transaction(connection);
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
            self.flag_transaction(connection);
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
            if !client.dirty_exec {
                queue.push(command.clone());
            }
            return Ok(Outcome::Answer(Value::Status("QUEUED".into())));
        }
        Ok(self.run_row(connection, row, command))
    }

    fn flag_transaction(&mut self, connection: ConnectionId) {
        let client = self.clients.get_mut(connection);
        client.dirty_exec = client.queue.is_some();
    }

    /// The row of a command that has as many words as it must have.
    fn known(&self, command: &Command) -> Result<&'static Row, ErrorReply> {
        let Some(row) = commands::find(command.name()) else {
            return refuse(unknown_command(command));
        };
        if !row.is_of(self.core.settings.version) {
            return refuse(unknown_command(command));
        }
        if !row.takes(command.len()) {
            return Err(wrong_number(row.name));
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
            let name = full_name(row, command);
            let others = "only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / QUIT / RESET";
            return refuse(format!(
                "ERR Can't execute '{name}': {others} are allowed in this context"
            ));
        }
        let late = self.refused_late(row, command, queue);
        match late.or_else(|| self.refused_busy(row, command)) {
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
        let client = self.clients.get(connection);
        self.core.select(client.map_or(0, |client| client.db));
        let dirty = self.core.effects.dirty;
        let outcome = match row.run {
            Run::Keys(run) => {
                let reply = run(&mut self.core, command);
                self.core.effects.ran(dirty, command);
                if row.name == "select" {
                    self.clients.get_mut(connection).db = self.core.selected;
                }
                reply.map(Outcome::Answer)
            }
            Run::Connection(run) => run(self, connection, command),
            Run::Not => {
                let name = row.name.to_ascii_uppercase();
                refuse(format!("ERR not modelled: {name}"))
            }
        };
        self.core.select(0);
        outcome.unwrap_or_else(|error| {
            self.note_not_modelled(&error);
            Outcome::Answer(Value::Error(error))
        })
    }
}
