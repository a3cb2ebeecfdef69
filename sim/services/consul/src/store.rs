//! The state store: keys and sessions, as the entries of the log make them.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Duration;

use picklock_clients::consul::{
    ConsulError, ConsulResult, KvPair, PutIf, Request, Response, SessionBehavior, SessionEntry,
    SessionId,
};

use crate::log::Command;

/// The state store of a server.
#[derive(Clone, Debug, Default)]
pub(crate) struct Store {
    keys: BTreeMap<Rc<str>, KvPair>,
    sessions: BTreeMap<SessionId, SessionEntry>,
    /// When keys were deleted that are not there any more.
    tombstones: BTreeMap<Rc<str>, u64>,
    /// When any key was changed last.
    kv_index: u64,
}

/// What an entry has changed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Applied {
    /// Keys, as they are now.
    pub(crate) changes: Vec<(Rc<str>, Option<KvPair>)>,
    /// The session that has ended, and the lock-delay of the keys that it held.
    pub(crate) ended: Option<(SessionId, Duration)>,
}

impl Store {
    pub(crate) fn key(&self, key: &str) -> Option<&KvPair> {
        self.keys.get(key)
    }

    pub(crate) fn session(&self, session: SessionId) -> Option<&SessionEntry> {
        self.sessions.get(&session)
    }

    pub(crate) fn sessions(&self) -> impl Iterator<Item = (SessionId, Duration)> {
        self.sessions.iter().map(|(id, entry)| (*id, entry.ttl))
    }

    /// Answers a read.
    pub(crate) fn read(&self, request: &Request) -> (Vec<KvPair>, u64) {
        match request {
            Request::Get(key, _) => match self.key(key) {
                Some(pair) => (vec![pair.clone()], pair.modify_index),
                None => (Vec::new(), self.kv_index.max(1)),
            },
            Request::List(prefix, _) => {
                let pairs = self.keys.range(Rc::clone(prefix)..);
                let pairs = pairs.take_while(|(key, _)| key.starts_with(&**prefix));
                let pairs: Vec<KvPair> = pairs.map(|(_, pair)| pair.clone()).collect();
                let gone = self.tombstones.range(Rc::clone(prefix)..);
                let gone = gone.take_while(|(key, _)| key.starts_with(&**prefix));
                let changed = pairs.iter().map(|pair| pair.modify_index);
                let index = changed.chain(gone.map(|(_, index)| *index)).max();
                (pairs, index.unwrap_or(self.kv_index.max(1)))
            }
            Request::SessionCreate(_)
            | Request::SessionRenew(_)
            | Request::SessionDestroy(_)
            | Request::Put(..)
            | Request::Delete(..) => (Vec::new(), self.kv_index),
        }
    }

    /// Applies the entry of the log at this index.
    pub(crate) fn apply(
        &mut self,
        index: u64,
        command: &Command,
    ) -> (ConsulResult<Response>, Applied) {
        let mut applied = Applied::default();
        let result = match command {
            Command::CreateSession(session, entry) => {
                self.sessions.insert(*session, *entry);
                Ok(Response::Created(*session))
            }
            Command::Request(Request::SessionDestroy(session)) => {
                self.end_session(index, *session, &mut applied);
                Ok(Response::Done(true))
            }
            Command::Request(Request::Put(condition, pair)) => {
                let done = self.put(index, *condition, pair.clone(), &mut applied);
                done.map(Response::Done)
            }
            Command::Request(Request::Delete(key, cas)) => {
                let found = self.key(key).map(|pair| pair.modify_index);
                let is_other = found.is_some() && cas.is_some_and(|cas| found != Some(cas));
                if !is_other {
                    self.delete(index, key, &mut applied);
                }
                Ok(Response::Done(!is_other))
            }
            Command::Request(
                Request::Get(..)
                | Request::List(..)
                | Request::SessionCreate(_)
                | Request::SessionRenew(_),
            )
            | Command::Noop => Ok(Response::Done(true)),
        };
        (result, applied)
    }

    /// Writes a key, if the condition holds; answers whether it does.
    fn put(
        &mut self,
        index: u64,
        condition: PutIf,
        mut pair: KvPair,
        applied: &mut Applied,
    ) -> ConsulResult<bool> {
        let existing = self.keys.get(&pair.key);
        let held_by = existing.and_then(|existing| existing.session);
        let lock_index = existing.map_or(0, |existing| existing.lock_index);
        match condition {
            // A plain put leaves the session alone, and writes the lock index of the request, which has none.
            PutIf::Always => (pair.session, pair.lock_index) = (held_by, 0),
            PutIf::Cas => {
                let found = existing.map_or(0, |existing| existing.modify_index);
                if found != pair.modify_index {
                    return Ok(false);
                }
                (pair.session, pair.lock_index) = (held_by, 0);
            }
            PutIf::Acquire => {
                let session = pair.session.filter(|id| self.sessions.contains_key(id));
                let session = session.ok_or(ConsulError::InvalidSession)?;
                match held_by {
                    Some(holder) if holder != session => return Ok(false),
                    Some(_) => pair.lock_index = lock_index,
                    None => pair.lock_index = lock_index + 1,
                }
            }
            PutIf::Release => {
                let session = pair.session.take().ok_or(ConsulError::InvalidSession)?;
                if held_by != Some(session) {
                    return Ok(false);
                }
                pair.lock_index = lock_index;
            }
        }
        self.set(index, pair, applied);
        Ok(true)
    }

    /// Writes a key. What changes nothing leaves its index.
    fn set(&mut self, index: u64, mut pair: KvPair, applied: &mut Applied) {
        let existing = self.keys.get(&pair.key);
        pair.create_index = existing.map_or(index, |existing| existing.create_index);
        if let Some(existing) = existing {
            pair.modify_index = existing.modify_index;
            if *existing == pair {
                return;
            }
        }
        pair.modify_index = index;
        self.kv_index = index;
        self.tombstones.remove(&pair.key);
        let key = Rc::clone(&pair.key);
        self.keys.insert(Rc::clone(&key), pair.clone());
        applied.changes.push((key, Some(pair)));
    }

    fn delete(&mut self, index: u64, key: &Rc<str>, applied: &mut Applied) {
        if self.keys.remove(key).is_some() {
            self.kv_index = index;
            self.tombstones.insert(Rc::clone(key), index);
            applied.changes.push((Rc::clone(key), None));
        }
    }

    /// Ends a session, and with it what it holds.
    fn end_session(&mut self, index: u64, session: SessionId, applied: &mut Applied) {
        let Some(entry) = self.sessions.remove(&session) else {
            return;
        };
        let held = self
            .keys
            .values()
            .filter(|pair| pair.session == Some(session));
        let held: Vec<KvPair> = held.cloned().collect();
        for pair in held {
            match entry.behavior {
                SessionBehavior::Release => {
                    let session = None;
                    self.set(index, KvPair { session, ..pair }, applied);
                }
                SessionBehavior::Delete => self.delete(index, &pair.key, applied),
            }
        }
        applied.ended = Some((session, entry.lock_delay));
    }
}
