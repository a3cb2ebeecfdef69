//! The server against simpler models of it.

use std::collections::BTreeMap;

use proptest::prelude::*;

use crate::server::bench::{Bench, WALL};

const RELEASE: &str = "if redis.call('get', KEYS[1]) == ARGV[1] then \
     return redis.call('del', KEYS[1]) else return 0 end";

/// What a server of strings knows of a key: its value, and when it expires.
#[derive(Default)]
struct Simple {
    keys: BTreeMap<u8, (String, Option<i64>)>,
    now: i64,
}

#[derive(Clone, Debug)]
enum Step {
    Set {
        key: u8,
        value: u8,
        unless_there: bool,
        millis: Option<u16>,
    },
    Get(u8),
    Del(u8),
    Expire {
        key: u8,
        millis: i16,
    },
    Persist(u8),
    Incr(u8),
    Ttl(u8),
    Release {
        key: u8,
        value: u8,
    },
    Pass(u16),
}

impl Simple {
    fn there(&self, key: u8) -> bool {
        let entry = self.keys.get(&key);
        entry.is_some_and(|(_, expires)| expires.is_none_or(|expires| self.now <= expires))
    }

    fn answer(&mut self, step: &Step) -> String {
        self.keys
            .retain(|_, (_, expires)| expires.is_none_or(|expires| self.now <= expires));
        match step {
            Step::Set {
                key,
                value,
                unless_there,
                millis,
            } => {
                if *unless_there && self.there(*key) {
                    return "nil".to_owned();
                }
                let expires = millis.map(|millis| self.now + i64::from(millis));
                self.keys.insert(*key, (value.to_string(), expires));
                "+OK".to_owned()
            }
            Step::Get(key) => self
                .keys
                .get(key)
                .map_or("nil".to_owned(), |(value, _)| value.clone()),
            Step::Del(key) => format!(":{}", u8::from(self.keys.remove(key).is_some())),
            Step::Expire { key, millis } => {
                let at = self.now + i64::from(*millis);
                let there = self.there(*key);
                if *millis <= 0 {
                    self.keys.remove(key);
                } else if let Some((_, expires)) = self.keys.get_mut(key) {
                    *expires = Some(at);
                }
                format!(":{}", u8::from(there))
            }
            Step::Persist(key) => {
                let expires = self
                    .keys
                    .get_mut(key)
                    .and_then(|(_, expires)| expires.take());
                format!(":{}", u8::from(expires.is_some()))
            }
            Step::Incr(key) => {
                let entry = self
                    .keys
                    .entry(*key)
                    .or_insert_with(|| ("0".to_owned(), None));
                let number = entry.0.parse::<i64>().unwrap_or(0) + 1;
                entry.0 = number.to_string();
                format!(":{number}")
            }
            Step::Ttl(key) => match self.keys.get(key) {
                None => ":-2".to_owned(),
                Some((_, None)) => ":-1".to_owned(),
                Some((_, Some(expires))) => format!(":{}", expires - self.now),
            },
            Step::Release { key, value } => {
                let ours = self
                    .keys
                    .get(key)
                    .is_some_and(|(held, _)| *held == value.to_string());
                if ours {
                    self.keys.remove(key);
                }
                format!(":{}", u8::from(ours))
            }
            Step::Pass(millis) => {
                self.now += i64::from(*millis);
                String::new()
            }
        }
    }
}

fn real(redis: &mut Bench, step: &Step) -> String {
    match step {
        Step::Set {
            key,
            value,
            unless_there,
            millis,
        } => {
            let unless = if *unless_there { " NX" } else { "" };
            let expires = millis.map_or(String::new(), |millis| format!(" PX {millis}"));
            redis.on(1, &format!("SET {key} {value}{unless}{expires}"))
        }
        Step::Get(key) => redis.on(1, &format!("GET {key}")),
        Step::Del(key) => redis.on(1, &format!("DEL {key}")),
        Step::Expire { key, millis } => redis.on(1, &format!("PEXPIRE {key} {millis}")),
        Step::Persist(key) => redis.on(1, &format!("PERSIST {key}")),
        Step::Incr(key) => redis.on(1, &format!("INCR {key}")),
        Step::Ttl(key) => redis.on(1, &format!("PTTL {key}")),
        Step::Release { key, value } => {
            let (key, value) = (key.to_string(), value.to_string());
            redis.send(1, vec!["EVAL", RELEASE, "1", &key, &value])
        }
        Step::Pass(millis) => {
            // Unseen: the model does not look for expired keys.
            redis.pass_unseen(u64::from(*millis));
            String::new()
        }
    }
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let key = 0..3_u8;
    let value = 0..3_u8;
    let set = (
        key.clone(),
        value.clone(),
        any::<bool>(),
        proptest::option::of(1..50_u16),
    );
    let step = prop_oneof![
        set.prop_map(|(key, value, unless_there, millis)| Step::Set {
            key,
            value,
            unless_there,
            millis
        }),
        key.clone().prop_map(Step::Get),
        key.clone().prop_map(Step::Del),
        (key.clone(), -3..50_i16).prop_map(|(key, millis)| Step::Expire { key, millis }),
        key.clone().prop_map(Step::Persist),
        key.clone().prop_map(Step::Incr),
        key.clone().prop_map(Step::Ttl),
        (key, value).prop_map(|(key, value)| Step::Release { key, value }),
        (0..30_u16).prop_map(Step::Pass),
    ];
    proptest::collection::vec(step, 1..60)
}

proptest! {
    #[test]
    fn keys_and_the_script_of_release_are_as_a_simpler_model_has_them(steps in steps()) {
        let settings = picklock_redis::ServerConfig {
            active_expiry: false,
            ..picklock_redis::ServerConfig::default()
        };
        let mut redis = Bench::with(settings);
        let mut simple = Simple {
            now: WALL / 1_000,
            ..Simple::default()
        };
        for step in &steps {
            prop_assert_eq!(real(&mut redis, step), simple.answer(step), "{:?}", step);
        }
    }

    #[test]
    fn a_copy_of_a_server_goes_its_own_way(steps in steps()) {
        let mut redis = Bench::new();
        for step in &steps {
            real(&mut redis, step);
        }
        // Whatever expires has done so: nothing else changes from one look at all keys to the next.
        redis.pass(100);
        let mut copy = Bench::new();
        copy.machine = redis.machine.clone();
        let before = redis.on(2, "KEYS *");
        let flush = picklock_redis::Input::Received {
            connection: picklock_redis::ConnectionId(3),
            command: picklock_clients::redis::Command::new("FLUSHALL"),
        };
        copy.input(flush);
        prop_assert_eq!(redis.on(2, "KEYS *"), before);
    }
}
