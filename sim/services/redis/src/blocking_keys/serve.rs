//! Connections that wait for keys: they begin to, are served, and give up.

use std::rc::Rc;

use picklock_clients::redis::{Bytes, ErrorReply, Value};

use super::KeysWanted;
use crate::clients::Blocked;
use crate::command_table::Outcome;
use crate::value::{Data, List};
use crate::{ConnectionId, Server};

impl Server {
    /// Takes from the first list that has something; without any, blocks the connection, unless that must not be.
    pub(crate) fn pop_or_block(
        &mut self,
        connection: ConnectionId,
        wanted: KeysWanted,
        until: Option<i64>,
    ) -> Result<Outcome, ErrorReply> {
        for key in &wanted.keys {
            if self.core.read::<List>(key)?.is_some() {
                let answer = wanted.pop.run(&mut self.core, key, Some(&wanted.command));
                return answer.map(Outcome::Answer);
            }
        }
        if self.in_transaction {
            return Ok(Outcome::Answer(wanted.pop.empty()));
        }
        for key in &wanted.keys {
            self.core.blocking.block(wanted.db, key, connection);
        }
        self.clients.get_mut(connection).wanted = Some(Rc::new(wanted));
        self.clients.block(connection, Blocked::Keys { until });
        Ok(Outcome::Blocked)
    }

    /// Serves who waits for keys that were made: each key in the order in which it was, and of each who came first.
    pub(crate) fn serve_ready_keys(&mut self) {
        let mut unblocked = Vec::new();
        while !self.core.blocking.ready.is_empty() {
            for (db, key) in std::mem::take(&mut self.core.blocking.ready) {
                self.serve_ready_key(db, &key, &mut unblocked);
            }
        }
        for connection in unblocked {
            self.run_pending(connection);
        }
    }

    fn serve_ready_key(&mut self, db: u8, key: &Bytes, unblocked: &mut Vec<ConnectionId>) {
        let waiting = self.core.blocking.blocked.get(&(db, Bytes::clone(key)));
        for connection in waiting.cloned().unwrap_or_default() {
            self.core.select(db);
            let entry = self.core.entry(key);
            let has_something = entry.is_some_and(|entry| matches!(entry.data, Data::List(_)));
            let client = self.clients.get(connection);
            let wanted = client.and_then(|client| client.wanted.clone());
            if has_something && let Some(wanted) = wanted {
                let before = self.core.serving.replace(connection);
                let answer = wanted.pop.run(&mut self.core, key, None);
                self.core.effects.flush();
                self.core.serving = before;
                self.unblock_from_keys(connection);
                self.answer(connection, answer.unwrap_or_else(Value::Error));
                self.feed_replicas();
                unblocked.push(connection);
            }
            self.core.select(0);
        }
    }

    /// Ends the wait of a connection for keys.
    pub(crate) fn unblock_from_keys(&mut self, connection: ConnectionId) {
        self.core.blocking.forget(connection);
        self.clients.get_mut(connection).wanted = None;
        self.clients.unblock(connection);
    }

    /// Sends away clients that wait for keys that another node serves now, or none.
    pub(crate) fn redirect_blocked(&mut self) {
        if self.core.cluster.is_none() {
            return;
        }
        let waiting = self.clients.blocked();
        let waiting: Vec<(ConnectionId, Rc<KeysWanted>)> = waiting
            .filter_map(|(id, client, _)| Some((id, client.wanted.clone()?)))
            .collect();
        for (connection, wanted) in waiting {
            if let Err(error) = self.redirect_command(&wanted.command) {
                self.unblock_from_keys(connection);
                self.answer(connection, Value::Error(error));
                self.run_pending(connection);
            }
        }
    }
}
