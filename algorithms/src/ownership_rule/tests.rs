//! Tests of who owns a lock.

use super::*;

struct OneKey(Value);

impl Keys for OneKey {
    fn read(&self, _key: &str) -> Option<Value> {
        Some(self.0.clone())
    }

    fn expires_at(&self, _key: &str) -> Option<i64> {
        None
    }
}

fn bulk(text: &str) -> Value {
    Value::Bulk(text.as_bytes().into())
}

#[test]
fn a_hash_counts_entries_and_a_string_is_one() {
    let entries = |value: &Value| {
        let mut holds = Vec::new();
        value_or_first_field(&OneKey(value.clone()), "lock", &mut holds);
        holds.first().map(|hold| hold.entries)
    };
    let hash = |count: &str| Value::Array([bulk("process:1"), bulk(count)].into());
    assert_eq!(entries(&hash("3")), Some(3));
    assert_eq!(entries(&hash("not a count")), Some(1));
    assert_eq!(entries(&bulk("7")), Some(1));
    assert_eq!(entries(&Value::Nil), None);
}

#[test]
fn readers_own_up_to_the_first_writer() {
    let Owners::OfQueue(Queue { owners, .. }) =
        OwnershipRule::readers_and_writers(every_child).owners
    else {
        panic!("it is a queue");
    };
    let of = |modes: &[Mode]| owners(&mut modes.iter().copied(), 1);
    let (reader, writer) = (Mode::Shared, Mode::Exclusive);
    assert_eq!(of(&[reader, reader, writer, reader]), 2);
    assert_eq!(of(&[writer, reader]), 1);
}
