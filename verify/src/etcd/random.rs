//! Random steps.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use crate::harness::split_mix::SplitMix64;

/// Draws steps.
pub(super) struct Random {
    numbers: SplitMix64,
    members: u8,
    /// The name of the next call that may wait, and those that were made in this round.
    next: u64,
    calls: Vec<String>,
    /// Whether a transaction may delete a range without an end. Then its puts keep no value and no lease: a 3.4.23
    /// panics when the key is gone by then.
    deletes_all: bool,
    /// The streams that are open.
    streams: BTreeSet<&'static str>,
}

// Fewer than thirteen keys in all: so many Go sorts in a way that keeps the order of equals.
const KEYS: &[&str] = &["a", "a/1", "a/2", "b", "c"];
const ENDS: &[&str] = &["", "", "", "a0", "b", "c", "\0"];
const VALUES: &[&str] = &["0", "1", "5", "10", ""];
const STREAMS: &[&str] = &["w", "x"];
const TARGETS: &[&str] = &["VERSION", "CREATE", "MOD", "VALUE", "KEY"];
const FILTERS: &[&str] = &[
    "min_mod_revision",
    "max_mod_revision",
    "min_create_revision",
    "max_create_revision",
];

impl Random {
    pub(super) fn new(seed: u64, members: u8) -> Self {
        Self {
            numbers: SplitMix64(seed ^ u64::from(members) << 32),
            members,
            next: 0,
            calls: Vec::new(),
            deletes_all: false,
            streams: BTreeSet::new(),
        }
    }

    /// A round begins: there is no stream and no call.
    pub(super) fn begin(&mut self) {
        self.calls.clear();
        self.streams.clear();
    }

    fn below(&mut self, most: i64) -> i64 {
        (self.numbers.next() % most.unsigned_abs()) as i64
    }

    /// Whether something happens that does in one of so many cases.
    fn once_in(&mut self, cases: i64) -> bool {
        self.below(cases) == 0
    }

    fn of<'a>(&mut self, list: &[&'a str]) -> &'a str {
        let place = self.below(list.len() as i64);
        list[place as usize]
    }

    fn lease(&mut self) -> i64 {
        1 + self.below(3)
    }

    /// The next step, at about this revision.
    pub(super) fn step(&mut self, revision: i64) -> Value {
        let server = self.below(self.members.into());
        let (operation, args) = match self.below(100) {
            0..25 => ("put", self.put()),
            25..37 => ("range", self.range(revision)),
            37..43 => ("delete", self.delete()),
            43..58 => {
                self.deletes_all = self.once_in(4);
                ("txn", self.txn(revision, 0))
            }
            58..60 => (
                "compact",
                json!({"revision": revision - self.below(12) + 1}),
            ),
            60..67 => {
                let ttl = if self.once_in(20) {
                    9_000_000_001_i64
                } else {
                    1_000
                };
                ("grant", json!({"id": self.lease(), "ttl": ttl}))
            }
            67..70 => ("revoke", json!({"id": self.lease()})),
            70..72 => ("keepalive", json!({"id": self.lease()})),
            72..75 => ("timetolive", json!({"id": self.lease(), "keys": true})),
            75 => ("leases", json!({})),
            76..85 => return self.watch(revision),
            _ => self.turn(revision),
        };
        json!({"op": operation, "args": args, "server": server})
    }

    /// What is of locks and elections.
    fn turn(&mut self, revision: i64) -> (&'static str, Value) {
        let lease = self.lease();
        let leader = json!({
            "name": "e", "key": format!("e/{lease}"), "create": revision - self.below(4),
            "lease": lease,
        });
        match self.below(16) {
            0..5 if self.calls.len() < 40 => {
                let (call, value) = (self.call(), self.of(VALUES));
                match self.below(3) {
                    0 => {
                        let args =
                            json!({"call": call, "name": "e", "lease": lease, "value": value});
                        ("campaign", args)
                    }
                    _ => ("lock", json!({"call": call, "name": "l", "lease": lease})),
                }
            }
            0..8 => ("unlock", json!({"key": format!("l/{lease}")})),
            8..10 => ("leader", json!({"name": "e"})),
            10 | 11 => ("resign", json!({"leader": leader})),
            12 | 13 => (
                "proclaim",
                json!({"leader": leader, "value": self.of(VALUES)}),
            ),
            _ => ("delete", json!({"key": format!("e/{lease}")})),
        }
    }

    fn call(&mut self) -> String {
        self.next += 1;
        let call = format!("call {}", self.next);
        self.calls.push(call.clone());
        call
    }

    /// What is of a stream: it stays at the member where it has begun.
    fn watch(&mut self, revision: i64) -> Value {
        let stream = self.of(STREAMS);
        let server = match stream {
            "w" => 0,
            _ => self.members - 1,
        };
        let is_open = self.streams.contains(stream);
        let (operation, mut args) = match self.below(10) {
            0..3 if is_open => ("watch_cancel", json!({"watch_id": self.below(6)})),
            3 if is_open => ("watch_progress", json!({})),
            4 if is_open && self.once_in(3) => ("close", json!({})),
            _ => {
                let mut args = self.keys();
                args["start_revision"] = match self.below(8) {
                    0..5 => 0.into(),
                    5 | 6 => (revision - self.below(8)).max(0).into(),
                    _ => (revision + 1).into(),
                };
                args["prev_kv"] = self.once_in(3).into();
                if self.once_in(4) {
                    args["filters"] = json!([self.of(&["NOPUT", "NODELETE"])]);
                }
                args["watch_id"] = if self.once_in(3) { self.below(6) } else { 0 }.into();
                ("watch", args)
            }
        };
        args["stream"] = stream.into();
        json!({"op": operation, "args": args, "server": server})
    }

    /// A step was done.
    pub(super) fn note(&mut self, step: &Value) {
        if let Some(stream) = STREAMS.iter().find(|name| step["args"]["stream"] == **name) {
            if step["op"] == "close" {
                self.streams.remove(stream);
            } else {
                self.streams.insert(stream);
            }
        }
    }

    fn keys(&mut self) -> Value {
        match self.below(10) {
            0 => json!({"key": "\0", "range_end": "\0"}),
            1 if self.once_in(5) => json!({"key": ""}),
            _ => json!({"key": self.of(KEYS), "range_end": self.of(ENDS)}),
        }
    }

    fn put(&mut self) -> Value {
        let mut put = json!({"key": self.of(KEYS), "value": self.of(VALUES)});
        if self.once_in(3) {
            put["lease"] = self.lease().into();
        }
        for name in ["prev_kv", "prev_kv", "ignore_value", "ignore_lease"] {
            if self.once_in(8) {
                put[name] = true.into();
                // Most that ignore a value or a lease have none.
                let ignored = name.trim_start_matches("ignore_");
                if ignored != name && !self.once_in(4) {
                    put.as_object_mut()
                        .and_then(|put: &mut Map<_, _>| put.remove(ignored));
                }
            }
        }
        put
    }

    fn delete(&mut self) -> Value {
        let mut delete = self.keys();
        delete["prev_kv"] = self.once_in(2).into();
        delete
    }

    fn range(&mut self, revision: i64) -> Value {
        let mut range = self.keys();
        if self.once_in(3) {
            range["limit"] = (self.below(4) - 1).into();
        }
        if self.once_in(3) {
            range["sort_target"] = self.of(TARGETS).into();
        }
        if self.once_in(3) {
            range["sort_order"] = self.of(&["ASC", "DESC"]).into();
        }
        if self.once_in(4) {
            range["revision"] = (revision - self.below(10) + 1).into();
        }
        if self.once_in(3) {
            let filter = self.of(FILTERS);
            range[filter] = (revision - self.below(10)).into();
        }
        for name in ["serializable", "keys_only", "count_only"] {
            if self.once_in(6) {
                range[name] = true.into();
            }
        }
        range
    }

    fn txn(&mut self, revision: i64, depth: u8) -> Value {
        let compares: Value = (0..self.below(3)).map(|_| self.compare(revision)).collect();
        let then: Value = (0..self.below(4))
            .map(|_| self.operation(revision, depth))
            .collect();
        let or_else: Value = (0..self.below(3))
            .map(|_| self.operation(revision, depth))
            .collect();
        json!({"if": compares, "then": then, "else": or_else})
    }

    fn operation(&mut self, revision: i64, depth: u8) -> Value {
        match self.below(8) {
            0 | 1 => json!(["range", self.range(revision)]),
            2 => {
                let mut delete = self.delete();
                if delete["range_end"] == "\0" && !self.deletes_all {
                    delete["range_end"] = "c".into();
                }
                json!(["delete", delete])
            }
            3 if depth < 2 => json!(["txn", self.txn(revision, depth + 1)]),
            _ => {
                let mut put = self.put();
                if self.deletes_all {
                    put["ignore_value"] = false.into();
                    put["ignore_lease"] = false.into();
                }
                json!(["put", put])
            }
        }
    }

    fn compare(&mut self, revision: i64) -> Value {
        let target = self.of(&["version", "create", "mod", "value", "lease"]);
        let operand: Value = match target {
            "version" | "lease" => self.below(4).into(),
            "value" => self.of(VALUES).into(),
            _ if self.once_in(2) => 0.into(),
            _ => (revision - self.below(6)).into(),
        };
        let mut compare = match self.once_in(6) {
            true => self.keys(),
            false => json!({"key": self.of(KEYS)}),
        };
        compare["target"] = target.into();
        compare["op"] = self.of(&["=", "!=", "<", ">"]).into();
        compare["v"] = operand;
        compare
    }
}
