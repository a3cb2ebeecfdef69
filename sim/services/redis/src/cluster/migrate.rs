//! Keys that go from one node to another (`MIGRATE`).
//!
//! The source sends a key with what it holds and what is left of its time to live, and does nothing else until it is
//! answered, or has waited for long enough. So no client sees a key that is on its way; but if no answer comes, both
//! may have it. What a real source sends is an image of the key; here it is the key itself, and what it comes to at the
//! target is told to replicas as the commands that would build it.

use std::collections::VecDeque;
use std::time::Duration;

use picklock_checker::VirtualTime;
use picklock_clients::redis::{Bytes, Command, ErrorReply, Value};

use super::bus::{Body, BusMessage, KeyPayload};
use super::migration::Migration;
use super::{NodeId, names_in, slot_of};
use crate::clients::ConnectionFlags;
use crate::command_table::Outcome;
use crate::commands;
use crate::errors::{SYNTAX, refuse};
use crate::key_observer::RemovalReason;
use crate::keyspace_events::Class;
use crate::replication_protocol::Address;
use crate::{ConnectionId, Input, Server, numbers};

/// How long a source waits if it is not told.
const TIMEOUT: u64 = 1_000;

/// What `MIGRATE` is asked for.
struct MigrateArgs {
    to: Address,
    timeout: u64,
    copy: bool,
    replace: bool,
    keys: Vec<Bytes>,
}

impl MigrateArgs {
    fn read(command: &Command) -> Result<Self, ErrorReply> {
        let word = |index: usize| command.word(index).unwrap_or_default();
        let is = |index: usize, name: &str| word(index).eq_ignore_ascii_case(name.as_bytes());
        let (mut copy, mut replace, mut several) = (false, false, None);
        let mut index = 6;
        while index < command.len() && several.is_none() {
            if is(index, "COPY") {
                copy = true;
            } else if is(index, "REPLACE") {
                replace = true;
            } else if is(index, "KEYS") {
                if !word(3).is_empty() {
                    return refuse(
                        "ERR When using MIGRATE KEYS option, the key argument must be set to the empty string",
                    );
                }
                several = Some(index + 1);
            } else {
                return refuse(SYNTAX);
            }
            index += 1;
        }
        let numbers = (numbers::integer(word(5)), numbers::integer(word(4)));
        let (Some(timeout), Some(_)) = numbers else {
            return refuse(crate::errors::NOT_AN_INTEGER);
        };
        let indices = several.map_or(3..4, |first| first..command.len());
        Ok(Self {
            to: Address {
                host: String::from_utf8_lossy(word(1)).into(),
                port: numbers::integer(word(2))
                    .and_then(|port| u16::try_from(port).ok())
                    .unwrap_or_default(),
            },
            timeout: u64::try_from(timeout)
                .ok()
                .filter(|millis| *millis > 0)
                .unwrap_or(TIMEOUT),
            copy,
            replace,
            keys: indices.map(|index| Bytes::from(word(index))).collect(),
        })
    }
}

impl Server {
    /// `MIGRATE`: sends keys to another node, and waits for its answer.
    pub(crate) fn migrate(
        &mut self,
        connection: ConnectionId,
        command: &Command,
    ) -> Result<Outcome, ErrorReply> {
        let wanted = MigrateArgs::read(command)?;
        if self.core.cluster.is_none() {
            return refuse("ERR not modelled: MIGRATE outside of a cluster");
        }
        let now = self.core.wall_millis();
        let mut payloads = Vec::new();
        for key in &wanted.keys {
            let Some(entry) = self.core.entry(key) else {
                continue;
            };
            payloads.push(KeyPayload {
                key: Bytes::clone(key),
                data: entry.data.clone(),
                // A key in its last millisecond is given one more.
                left: entry.expires.map(|expires| (expires - now).max(1)),
            });
        }
        if payloads.is_empty() {
            return Ok(Outcome::Answer(Value::Status("NOKEY".into())));
        }
        let Some(cluster) = &mut self.core.cluster else {
            return refuse(SYNTAX);
        };
        let Some(to) = cluster.at(&wanted.to) else {
            return refuse("IOERR error or timeout connecting to the client");
        };
        cluster.migrations += 1;
        let number = cluster.migrations;
        self.migration = Some(Box::new(Migration {
            connection,
            number,
            keys: payloads
                .iter()
                .map(|payload| Bytes::clone(&payload.key))
                .collect(),
            copy: wanted.copy,
            until: self.core.now.monotonic + Duration::from_millis(wanted.timeout),
            transaction: None,
            waiting: VecDeque::new(),
        }));
        let body = Body::Keys {
            number,
            replace: wanted.replace,
            payloads: payloads.into(),
        };
        cluster.send_to_node(to, body, &mut self.core.out);
        Ok(Outcome::Blocked)
    }

    /// Whether it waits for the answer of another node, and does nothing else; and until when.
    pub(crate) fn migrates_until(&self) -> Option<VirtualTime> {
        self.migration.as_ref().map(|migration| migration.until)
    }

    /// Something happens while keys are on their way. Answers what is to be done about it now, in order; what is left
    /// waits.
    pub(crate) fn while_migrating(&mut self, input: Input) -> VecDeque<Input> {
        let Some(migration) = &mut self.migration else {
            return VecDeque::from([input]);
        };
        let number = migration.number;
        match input {
            Input::FromNode { message } => match &message.body {
                Body::KeysTaken {
                    number: answered,
                    refusals,
                } if *answered == number => return self.migrated(Some(refusals)),
                _ => migration.waiting.push_back(Input::FromNode { message }),
            },
            Input::Wake => {}
            input => migration.waiting.push_back(input),
        }
        if self.core.now.monotonic < migration.until {
            return VecDeque::new();
        }
        self.migrated(None)
    }

    /// The target has answered, or has not in time.
    fn migrated(&mut self, refusals: Option<&[Option<ErrorReply>]>) -> VecDeque<Input> {
        let Some(migration) = self.migration.take() else {
            return VecDeque::new();
        };
        self.core.serving = Some(migration.connection);
        let mut answer = Value::OK;
        match refusals {
            None => answer = Value::error("IOERR error or timeout reading to target instance"),
            Some(refusals) => {
                let mut gone = Command::new("DEL");
                for (key, refusal) in migration.keys.iter().zip(refusals) {
                    match refusal {
                        Some(why) => {
                            let text = why.text();
                            answer = Value::error(format!(
                                "ERR Target instance replied with error: {text}"
                            ));
                        }
                        None if migration.copy => {}
                        None => {
                            self.core.keys.remove(key);
                            self.core.note_removed(key, RemovalReason::Migrated);
                            self.core.changed(key, Class::Generic, "del");
                            gone = gone.arg(key);
                        }
                    }
                }
                if gone.len() > 1 {
                    self.core.effects.add_with(|| gone);
                }
            }
        }
        let outcome = match migration.transaction {
            None => Outcome::Answer(answer),
            Some(mut transaction) => {
                transaction.answers.push(answer);
                self.run_transaction(migration.connection, transaction)
            }
        };
        self.served(migration.connection, outcome);
        self.core.serving = None;
        migration.waiting
    }

    /// Keys have come, or an answer that is not awaited any more.
    pub(super) fn on_keys_message(&mut self, message: BusMessage) {
        if let Body::Keys {
            number,
            replace,
            payloads,
        } = message.body
        {
            self.restore_keys(message.header.from, number, replace, &payloads);
        }
    }

    /// Keys have come from another node.
    fn restore_keys(&mut self, from: NodeId, number: u64, replace: bool, payloads: &[KeyPayload]) {
        let taken = payloads
            .iter()
            .map(|payload| self.restore(payload, replace).err());
        let refusals = taken.collect();
        if let Some(cluster) = &self.core.cluster {
            let body = Body::KeysTaken { number, refusals };
            cluster.send_to_node(from, body, &mut self.core.out);
        }
        self.core.effects.flush();
        self.feed_replicas();
    }

    /// `RESTORE-ASKING`: a slot that is on its way here is as good as one's own.
    fn restore(&mut self, payload: &KeyPayload, replace: bool) -> Result<(), ErrorReply> {
        let command = Command::new("RESTORE-ASKING").arg(&payload.key);
        let now = self.core.wall_millis();
        if let (Some(cluster), Some(row)) = (&self.core.cluster, commands::find(command.name())) {
            let flags = ConnectionFlags {
                asking: true,
                ..ConnectionFlags::default()
            };
            let one = std::iter::once((row, &command));
            if let Some(elsewhere) = cluster.redirection(one, &self.core.keys, now, flags) {
                return cluster.redirect(elsewhere);
            }
            let early = self
                .refused_early(row, &command, None)
                .or_else(|| self.core.refusal());
            if let Some(refusal) = early.or_else(|| self.refused_late(row, &command, None)) {
                return refuse(refusal);
            }
        }
        if self.core.lookup_key(&payload.key) && !replace {
            return refuse("BUSYKEY Target key name already exists.");
        }
        let expires = payload.left.map(|left| now.saturating_add(left));
        self.core.put(&payload.key, payload.data.clone(), expires);
        self.core.notify(Class::Generic, "restore", &payload.key);
        for command in payload.data.rebuilt(&payload.key, expires) {
            self.core.effects.add_with(|| command);
        }
        Ok(())
    }

    /// Up to so many keys of a slot that it has.
    pub(crate) fn keys_in(&self, slot: u16, most: usize) -> Vec<Bytes> {
        let of_slot = names_in(&self.core.keys, slot);
        of_slot.take(most).cloned().collect()
    }
}

impl Server {
    /// The keys that it has of the slot of a key, expired or not, in an order that depends on nothing but what was done
    /// to them.
    pub fn keys_of_same_slot(&self, key: &[u8]) -> Vec<Bytes> {
        self.keys_in(slot_of(key), usize::MAX)
    }

    /// Whether it is a node of a cluster that takes itself for the primary of a key's slot.
    pub fn has_slot_of(&self, key: &[u8]) -> bool {
        let cluster = self.core.cluster.as_ref();
        cluster
            .is_some_and(|cluster| cluster.primary().is_none() && cluster.serves_slot(slot_of(key)))
    }

    /// Whether keys are on their way from it to another node: meanwhile it does nothing else.
    pub fn is_migrating(&self) -> bool {
        self.migration.is_some()
    }

    /// The name of a node of its cluster, as `CLUSTER MYID` answers it there.
    pub fn name_of_node(&self, node: NodeId) -> Option<String> {
        let cluster = self.core.cluster.as_ref();
        let cluster = cluster.filter(|cluster| cluster.has(node));
        cluster.map(|cluster| cluster.name(node))
    }
}
