//! The store against a list of all its states.

use std::collections::BTreeMap;

use picklock_etcd::Store;
use picklock_etcd::rpc::{Bytes, Event, EventType, KeyRange, KeyValue, LeaseId, RangeRequest};
use picklock_etcd::rpctypes;
use proptest::collection::vec;
use proptest::prelude::*;

type State = BTreeMap<Bytes, KeyValue>;

#[derive(Clone, Debug)]
enum Change {
    Put(u8, u8),
    Delete(u8, u8),
}

#[derive(Clone, Debug)]
enum Step {
    Transaction(Vec<Change>),
    /// So far back from the newest revision.
    Compact(i64),
}

fn change() -> impl Strategy<Value = Change> {
    let key = 0..6u8;
    prop_oneof![
        3 => (key.clone(), 0..3u8).prop_map(|(key, value)| Change::Put(key, value)),
        1 => (key, 1..4u8).prop_map(|(key, count)| Change::Delete(key, count)),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => vec(change(), 1..4).prop_map(Step::Transaction),
        1 => (0..6i64).prop_map(Step::Compact),
    ]
}

/// Every state that there was, by revision.
struct Reference {
    states: Vec<State>,
    compacted: i64,
}

impl Reference {
    fn newest(&self) -> i64 {
        self.states.len() as i64 - 1
    }

    fn at(&self, revision: i64) -> &State {
        &self.states[revision as usize]
    }

    fn transact(&mut self, store: &mut Store, changes: &[Change]) {
        let mut state = self.at(self.newest()).clone();
        let mod_revision = self.newest() + 1;
        let (mut changed, mut touched) = (false, Vec::new());
        for change in changes {
            match change {
                // A transaction changes a key once.
                Change::Put(key, _) if touched.contains(key) => {}
                Change::Put(key, value) => {
                    touched.push(*key);
                    let (key, value): (Bytes, Bytes) = ([*key].into(), [*value].into());
                    let former = state.get(&key);
                    let pair = KeyValue {
                        key: key.clone(),
                        create_revision: former.map_or(mod_revision, |pair| pair.create_revision),
                        mod_revision,
                        version: former.map_or(0, |pair| pair.version) + 1,
                        value: value.clone(),
                        lease: LeaseId(7),
                    };
                    store.put(key.clone(), value, LeaseId(7));
                    state.insert(key, pair);
                    changed = true;
                }
                Change::Delete(key, count) => {
                    let keys = KeyRange::of(&[*key], &[key + count]);
                    if touched.iter().any(|touched| keys.contains(&[*touched])) {
                        continue;
                    }
                    let deleted = store.delete_range(&keys);
                    let is_in = |pair: &&KeyValue| keys.contains(&pair.key);
                    let expected: Vec<KeyValue> = state.values().filter(is_in).cloned().collect();
                    state.retain(|key, _| !keys.contains(key));
                    assert_eq!(deleted, expected);
                    touched.extend(*key..key + count);
                    changed |= !expected.is_empty();
                }
            }
        }
        assert_eq!(store.end(), changed, "a revision is made by what changes");
        if changed {
            self.states.push(state);
        }
    }

    fn compact(&mut self, store: &mut Store, back: i64) {
        let at = self.newest() - back;
        let expected = if at <= self.compacted {
            Err(rpctypes::COMPACTED)
        } else {
            self.compacted = at;
            Ok(())
        };
        assert_eq!(store.compact(at), expected);
    }

    /// Every revision reads as it was, and the events lead from each to the next.
    fn check(&self, store: &Store) {
        assert_eq!(store.revision(), self.newest());
        for revision in 1..=self.newest() + 1 {
            let mut request = RangeRequest::get(&[0]);
            request.keys = KeyRange::of(&[0], &[0]);
            request.revision = revision;
            let found = store.range(&request);
            if revision > self.newest() {
                assert_eq!(found, Err(rpctypes::FUTURE_REVISION));
            } else if revision < self.compacted {
                assert_eq!(found, Err(rpctypes::COMPACTED));
            } else {
                let expected: Vec<KeyValue> = self.at(revision).values().cloned().collect();
                let found = found.map(|found| (found.count, found.kvs));
                assert_eq!(found, Ok((expected.len() as i64, expected)));
            }
        }
        let first = self.compacted.max(1);
        let mut state = self.at(first).clone();
        for event in store.events_from(first + 1) {
            let before = (event.kv.mod_revision > first).then(|| store.before(event));
            assert_eq!(before, Some(state.get(&event.kv.key).cloned()));
            apply(&mut state, event);
        }
        assert_eq!(&state, self.at(self.newest()));
    }
}

fn apply(state: &mut State, event: &Event) {
    match event.kind {
        EventType::Put => state.insert(event.kv.key.clone(), event.kv.clone()),
        EventType::Delete => state.remove(&event.kv.key),
    };
}

proptest! {
    #[test]
    fn the_store_is_as_a_list_of_all_its_states(steps in vec(step(), 1..30), keeps: bool) {
        let mut store = Store::new(keeps);
        let states = vec![State::new(), State::new()];
        let mut reference = Reference { states, compacted: -1 };
        for step in &steps {
            match step {
                Step::Transaction(changes) => reference.transact(&mut store, changes),
                Step::Compact(back) => reference.compact(&mut store, *back),
            }
            reference.check(&store);
        }
    }

    #[test]
    fn limit_and_filters_keep_what_they_say(
        puts in vec((0..8u8, 0..3u8), 1..20), limit in 0..5i64, bounds in (0..12i64, 0..12i64),
    ) {
        let mut store = Store::new(true);
        for (key, value) in &puts {
            store.put([*key].into(), [*value].into(), LeaseId(0));
            store.end();
        }
        let all = RangeRequest { keys: KeyRange::prefix(b""), ..RangeRequest::default() };
        let filtered = RangeRequest {
            limit,
            min_mod_revision: bounds.0,
            max_create_revision: bounds.1,
            ..all.clone()
        };
        let (all, found) = (store.range(&all).unwrap(), store.range(&filtered).unwrap());
        let passes = |pair: &&KeyValue| {
            pair.mod_revision >= bounds.0 && (bounds.1 == 0 || pair.create_revision <= bounds.1)
        };
        let kept: Vec<KeyValue> = all.kvs.iter().filter(passes).cloned().collect();
        let limit = if limit == 0 { kept.len() } else { limit as usize };
        prop_assert_eq!(found.count, all.count);
        prop_assert_eq!(found.more, kept.len() > limit);
        prop_assert_eq!(found.kvs, kept.into_iter().take(limit).collect::<Vec<_>>());
    }
}

/// How many events there are of the revision that a compaction keeps, where the key was deleted at that revision.
fn events_of_compacted_deletion(keeps: bool) -> usize {
    let mut store = Store::new(keeps);
    store.put([1].into(), [1].into(), LeaseId(0));
    store.end();
    store.delete_range(&KeyRange::one(&[1]));
    store.end();
    store
        .compact(3)
        .expect("a revision that is not compacted yet");
    store.events_from(3).count()
}

#[test]
fn a_deletion_at_the_compacted_revision_is_kept_since_3_4_36() {
    assert_eq!(events_of_compacted_deletion(true), 1);
    assert_eq!(events_of_compacted_deletion(false), 0);
}

#[test]
fn a_prefix_ends_before_its_last_byte_is_greater() {
    assert_eq!(KeyRange::prefix(b"a/"), KeyRange::of(b"a/", b"a0"));
    assert_eq!(KeyRange::prefix(b"a\xff"), KeyRange::of(b"a\xff", b"b"));
    assert_eq!(KeyRange::prefix(b"\xff"), KeyRange::of(b"\xff", b"\0"));
    assert_eq!(KeyRange::prefix(b""), KeyRange::of(b"\0", b"\0"));
}
