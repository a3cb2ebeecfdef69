//! The commands of Tair: of its cache engine (MDB), as its client documents them, and of the module TairString.

use std::rc::Rc;
use std::time::Duration;

use picklock_checker::VirtualTime;
use picklock_clients::memcached::{Command, Product, Reply};

use crate::server::{Call, Server};
use crate::store::Item;

const WRONG_TYPE: Reply =
    Reply::ClientError("WRONGTYPE Operation against a key holding the wrong kind of value");

impl Server {
    pub(crate) fn execute_tair(&mut self, call: &mut Call, command: &Command) -> Reply {
        match self.settings.product {
            Product::Memcached => Reply::Error,
            Product::TairMdb => self.execute_mdb(call, command),
            Product::TairString => self.execute_tair_string(call, command),
        }
    }

    fn execute_mdb(&mut self, call: &mut Call, command: &Command) -> Reply {
        match command {
            Command::Put {
                key,
                value,
                version,
                expire,
            } => {
                let there = self.version(call, key);
                if there.is_some_and(|there| *version != 0 && *version != there) {
                    return Reply::Exists;
                }
                let seconds = u64::try_from(*expire).unwrap_or_default();
                let time = (seconds > 0).then(|| Duration::from_secs(seconds));
                self.sets(call, key, value, (there.unwrap_or(0) + 1, time));
                Reply::Stored
            }
            Command::Get { key, .. } => self.get(call, key, true),
            Command::Delete(key) => match self.delete(call, key) {
                true => Reply::Deleted,
                false => Reply::NotFound,
            },
            _ => Reply::Error,
        }
    }

    fn execute_tair_string(&mut self, call: &mut Call, command: &Command) -> Reply {
        match command {
            Command::SetNx(key, value, time) => {
                if self.finds(call, key) {
                    return Reply::NotStored;
                }
                self.sets_plain(call, key, value, Some(*time));
                Reply::Stored
            }
            Command::Get { key, .. } => match self.is_plain(call, key) {
                Some(false) => WRONG_TYPE,
                Some(true) | None => self.get(call, key, false),
            },
            Command::CompareAndSet {
                key,
                old,
                new,
                time,
            } => self.if_same(call, (key, old), |server, call| {
                server.sets_plain(call, key, new, *time);
                Reply::Stored
            }),
            Command::CompareAndDelete(key, value) => {
                self.if_same(call, (key, value), |server, call| {
                    server.delete(call, key);
                    Reply::Deleted
                })
            }
            Command::Delete(key) => match self.delete(call, key) {
                true => Reply::Deleted,
                false => Reply::NotFound,
            },
            Command::ExSet {
                key,
                value,
                time,
                if_missing,
                version,
            } => match self.version(call, key) {
                _ if self.is_plain(call, key) == Some(true) => WRONG_TYPE,
                Some(_) if *if_missing => Reply::NotStored,
                Some(there) if version.is_some_and(|version| ![0, there].contains(&version)) => {
                    Reply::Exists
                }
                // A key that is missing has no version that could be another.
                there => {
                    self.sets(call, key, value, (there.unwrap_or(0) + 1, *time));
                    Reply::Stored
                }
            },
            Command::ExGet(key) => match self.is_plain(call, key) {
                Some(true) => WRONG_TYPE,
                Some(false) | None => self.get(call, key, true),
            },
            Command::ExCas(key, value, version) => {
                self.if_version(call, (key, *version), |server, call| {
                    server.sets(call, key, value, (version + 1, None));
                    Reply::Stored
                })
            }
            Command::ExCad(key, version) => {
                self.if_version(call, (key, *version), |server, call| {
                    server.delete(call, key);
                    Reply::Deleted
                })
            }
            _ => Reply::Error,
        }
    }

    /// The version of a key, if it is there.
    fn version(&mut self, call: &mut Call, key: &Rc<str>) -> Option<u64> {
        let is_there = self.finds(call, key);
        let item = self.store.get(key).filter(|_| is_there);
        item.map(|item| item.cas)
    }

    /// Whether a key is a plain string, if it is there.
    fn is_plain(&mut self, call: &mut Call, key: &Rc<str>) -> Option<bool> {
        let is_there = self.finds(call, key);
        let item = self.store.get(key).filter(|_| is_there);
        item.map(|item| item.is_plain)
    }

    fn sets(
        &mut self,
        call: &mut Call,
        key: &Rc<str>,
        value: &Rc<str>,
        (version, time): (u64, Option<Duration>),
    ) {
        let ends = time.map_or(VirtualTime::NEVER, |time| call.now.monotonic + time);
        let item = Item {
            ends,
            ..Item::new(value, version)
        };
        self.stores(call, key, item);
    }

    fn sets_plain(
        &mut self,
        call: &mut Call,
        key: &Rc<str>,
        value: &Rc<str>,
        time: Option<Duration>,
    ) {
        self.sets(call, key, value, (0, time));
        if let Some(item) = self.store.get_mut(key) {
            item.is_plain = true;
        }
    }

    /// Does something if a plain string is as it was.
    fn if_same(
        &mut self,
        call: &mut Call,
        (key, value): (&Rc<str>, &Rc<str>),
        does: impl FnOnce(&mut Self, &mut Call) -> Reply,
    ) -> Reply {
        match self.is_plain(call, key) {
            None => Reply::NotFound,
            Some(false) => WRONG_TYPE,
            Some(true) if self.store.get(key).is_some_and(|item| item.value == *value) => {
                does(self, call)
            }
            Some(true) => Reply::Exists,
        }
    }

    /// Does something if a value of TairString has this version.
    fn if_version(
        &mut self,
        call: &mut Call,
        (key, version): (&Rc<str>, u64),
        does: impl FnOnce(&mut Self, &mut Call) -> Reply,
    ) -> Reply {
        match self.version(call, key) {
            None => Reply::NotFound,
            Some(_) if self.is_plain(call, key) == Some(true) => WRONG_TYPE,
            Some(there) if there == version => does(self, call),
            Some(_) => Reply::Exists,
        }
    }
}
