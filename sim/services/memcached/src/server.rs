//! A server: it does one command after the other (`proto_text.c`, `memcached.c`).

use std::rc::Rc;

use picklock_checker::VirtualTime;
use picklock_clients::memcached::{Command, Found, Product, Reply, ServerMessage, Verb};
use picklock_machines::{Alarm, Chance, ConnectionId, Machine, Now};

use crate::clock::CoarseClock;
use crate::store::{Item, Store};
use crate::{Change, Input, Output};

/// How a server is set.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// What it is.
    pub product: Product,
    /// How many items there is room for in each class of sizes; `None`: for all.
    pub items_per_class: Option<usize>,
    /// How many microseconds before the beginning the clock of its first process ticked.
    pub since_tick: u64,
}

/// A server.
#[derive(Clone, Debug)]
pub struct Server {
    pub(crate) settings: Settings,
    pub(crate) store: Store,
    pub(crate) clock: CoarseClock,
    /// The last cas number that it has given: one counter for all items.
    cas: u64,
    flush: Option<Flush>,
}

/// What `flush_all` ends, from a tick of the clock on.
#[derive(Clone, Copy, Debug)]
struct Flush {
    /// Items that were stored up to this tick, from then on (`oldest_live`).
    up_to: u64,
    /// Of a flush without a delay: items of a lower cas number, whenever they were stored (`oldest_cas`).
    below: u64,
}

/// A command that is done, as far as its parts need it.
pub(crate) struct Call<'a> {
    pub now: Now,
    pub connection: ConnectionId,
    pub out: &'a mut Vec<Output>,
}

impl Call<'_> {
    pub fn changed(&mut self, key: &Rc<str>, change: Change) {
        self.out.push(Output::Changed(Rc::clone(key), change));
    }

    pub fn written(&mut self, key: &Rc<str>) {
        self.changed(key, Change::Written(self.connection));
    }
}

const NOT_A_NUMBER: Reply = Reply::ClientError("cannot increment or decrement non-numeric value");

impl Server {
    /// A server that is up from the beginning on, at this time of its wall clock.
    pub fn new(settings: Settings, wall_micros: i64) -> Self {
        let now = Now {
            monotonic: VirtualTime::ZERO,
            wall_micros,
        };
        Self {
            settings,
            store: Store::default(),
            clock: CoarseClock::begun(now, settings.since_tick),
            cas: 0,
            flush: None,
        }
    }

    /// The value of a key, if it is there and not over.
    pub fn value(&self, now: Now, key: &str) -> Option<&Rc<str>> {
        let item = self.store.get(key)?;
        (self.ends(item) > now.monotonic).then_some(&item.value)
    }

    /// When the item of a key is over; never, if there is none.
    pub fn ends_at(&self, key: &str) -> VirtualTime {
        let item = self.store.get(key);
        item.map_or(VirtualTime::NEVER, |item| self.ends(item))
    }

    /// When an item is over, by its exptime or by a flush.
    fn ends(&self, item: &Item) -> VirtualTime {
        match self.flush {
            Some(flush) if item.stored <= flush.up_to || item.cas < flush.below => {
                item.ends.min(self.clock.time_of(flush.up_to))
            }
            _ => item.ends,
        }
    }

    /// Takes an item away that is over. Answers whether there is one that is not.
    pub(crate) fn finds(&mut self, call: &mut Call, key: &Rc<str>) -> bool {
        let is_there = self.value(call.now, key).is_some();
        if !is_there && self.store.remove(key).is_some() {
            call.changed(key, Change::Expired);
        }
        is_there
    }

    /// Stores a value that is over at this time.
    pub(crate) fn stores(&mut self, call: &mut Call, key: &Rc<str>, item: Item) {
        let stored = self.clock.ticks(call.now);
        let item = Item { stored, ..item };
        let most = self.settings.items_per_class;
        let evicted = self.store.insert(key, item, most);
        call.written(key);
        if let Some(evicted) = evicted {
            call.changed(&evicted, Change::Evicted);
        }
    }

    fn end_of(&self, now: Now, exptime: i64) -> VirtualTime {
        let ticks = self.clock.expires(now, exptime);
        ticks.map_or(VirtualTime::NEVER, |ticks| self.clock.time_of(ticks))
    }

    fn next_cas(&mut self) -> u64 {
        self.cas += 1;
        self.cas
    }

    fn storage(&mut self, call: &mut Call, verb: Verb, item: (&Rc<str>, &Rc<str>, i64)) -> Reply {
        let (key, value, exptime) = item;
        let is_there = self.finds(call, key);
        let cas = self.store.get(key).map(|item| item.cas);
        match verb {
            Verb::Add if is_there => return Reply::NotStored,
            Verb::Replace if !is_there => return Reply::NotStored,
            Verb::Cas(_) if !is_there => return Reply::NotFound,
            Verb::Cas(known) if Some(known) != cas => return Reply::Exists,
            Verb::Add | Verb::Replace | Verb::Cas(_) | Verb::Set => {}
        }
        let ends = self.end_of(call.now, exptime);
        let item = Item {
            ends,
            ..Item::new(value, self.next_cas())
        };
        self.stores(call, key, item);
        Reply::Stored
    }

    pub(crate) fn get(&mut self, call: &mut Call, key: &Rc<str>, with_cas: bool) -> Reply {
        self.finds(call, key);
        self.read(key, with_cas)
    }

    fn read(&mut self, key: &str, with_cas: bool) -> Reply {
        self.store.read(key);
        Reply::Value(self.store.get(key).map(|item| Found {
            value: Rc::clone(&item.value),
            cas: match with_cas {
                true => item.cas,
                false => 0,
            },
        }))
    }

    /// Sets when an item expires. Its cas number stays.
    fn touch(&mut self, call: &mut Call, key: &Rc<str>, exptime: i64) -> bool {
        let is_there = self.finds(call, key);
        let ends = self.end_of(call.now, exptime);
        if is_there && let Some(item) = self.store.get_mut(key) {
            item.ends = ends;
            call.written(key);
        }
        is_there
    }

    pub(crate) fn delete(&mut self, call: &mut Call, key: &Rc<str>) -> bool {
        let is_there = self.finds(call, key);
        if is_there {
            self.store.remove(key);
            call.changed(key, Change::Deleted(call.connection));
        }
        is_there
    }

    /// A number that has fewer digits than the value keeps its length, filled with spaces. When it expires stays.
    fn count(&mut self, call: &mut Call, key: &Rc<str>, by: impl Fn(u64) -> u64) -> Reply {
        if !self.finds(call, key) {
            return Reply::NotFound;
        }
        let next = self.cas + 1;
        let Some(item) = self.store.get_mut(key) else {
            return Reply::NotFound;
        };
        let Ok(number) = item.value.trim_end_matches(' ').parse() else {
            return NOT_A_NUMBER;
        };
        let number = by(number);
        let length = item.value.len();
        item.value = format!("{number:<length$}").into();
        (item.cas, self.cas) = (next, next);
        call.written(key);
        Reply::Number(number)
    }

    /// All that is there is over: at once, or from the last tick on before so many seconds are.
    fn flush_all(&mut self, call: &mut Call, delay: i64) -> Reply {
        let now = self.clock.ticks(call.now);
        let delayed = self.clock.expires(call.now, delay);
        let ticks = delayed.filter(|_| delay > 0).unwrap_or(now);
        self.flush = Some(Flush {
            up_to: ticks - 1,
            below: match ticks <= now + 1 {
                true => self.next_cas(),
                false => 0,
            },
        });
        for key in self.store.keys() {
            if self.value(call.now, &key).is_none() {
                self.store.remove(&key);
                call.changed(&key, Change::Deleted(call.connection));
            }
        }
        Reply::Ok
    }

    fn execute(&mut self, call: &mut Call, command: &Command) -> Reply {
        if self.settings.product != Product::Memcached {
            return self.execute_tair(call, command);
        }
        if command.key().is_some_and(|key| key.len() > KEY_AT_MOST) {
            return Reply::ClientError("bad command line format");
        }
        match command {
            Command::Storage {
                verb,
                key,
                value,
                exptime,
            } => self.storage(call, *verb, (key, value, *exptime)),
            Command::Get { key, with_cas } => self.get(call, key, *with_cas),
            Command::Gat(key, exptime) => {
                self.touch(call, key, *exptime);
                // What is over by that is answered this once.
                self.read(key, false)
            }
            Command::Delete(key) => match self.delete(call, key) {
                true => Reply::Deleted,
                false => Reply::NotFound,
            },
            Command::Incr(key, by) => self.count(call, key, |number| number.wrapping_add(*by)),
            Command::Decr(key, by) => self.count(call, key, |number| number.saturating_sub(*by)),
            Command::Touch(key, exptime) => match self.touch(call, key, *exptime) {
                true => Reply::Touched,
                false => Reply::NotFound,
            },
            Command::FlushAll(delay) => self.flush_all(call, *delay),
            _ => Reply::Error,
        }
    }
}

/// The length of a key at most (`KEY_MAX_LENGTH`).
const KEY_AT_MOST: usize = 250;

impl Machine for Server {
    type Input = Input;
    type Output = Output;
    const WAKE: Input = Input::Wake;

    fn handle(
        &mut self,
        now: Now,
        input: Input,
        _chance: &mut dyn Chance,
        out: &mut Vec<Output>,
    ) -> Alarm {
        match input {
            Input::Command(connection, message) => {
                let mut call = Call {
                    now,
                    connection,
                    out: &mut *out,
                };
                let reply = self.execute(&mut call, &message.command);
                let number = message.number;
                out.push(Output::Reply(connection, ServerMessage { number, reply }));
            }
            Input::Evict(key) => {
                if self.store.remove(&key).is_some() {
                    out.push(Output::Changed(key, Change::Evicted));
                }
            }
            Input::Restart => {
                *self = Self {
                    clock: CoarseClock::begun(now, 0),
                    ..Self::new(self.settings, now.wall_micros)
                };
            }
            Input::Wake => {}
        }
        Alarm::Unchanged
    }

    /// It looks whether an item is over when a command is about it.
    fn next_wake(&self) -> VirtualTime {
        VirtualTime::NEVER
    }
}
