//! Replays what an etcd 3.4.23 has answered.

use picklock_etcd::Version;
use picklock_etcd::testkit::RECORDS;
use picklock_etcd::testkit::replay::Replay;
use serde_json::{Map, Value, json};

/// What a step is expected to answer, but for what is approximate.
fn expected(step: &Value, found: &mut Map<String, Value>) -> Map<String, Value> {
    let mut expected = Map::new();
    for name in ["result", "events", "answered"] {
        if let Some(value) = step.get(name) {
            expected.insert(name.into(), value.clone());
        }
    }
    if let Some(bounds) = step["approx"]["ttl"].as_array() {
        let ttl = found["result"]["ttl"].as_i64();
        let is_near = ttl
            .is_some_and(|ttl| bounds[0].as_i64() <= Some(ttl) && Some(ttl) <= bounds[1].as_i64());
        if is_near {
            found["result"]["ttl"] = expected["result"]["ttl"].clone();
        }
    }
    expected
}

/// Replays all scenarios against members of this version; answers how many steps agree, and those that do not.
fn replay(version: Version) -> (usize, Vec<String>) {
    let (mut agreed, mut differing) = (0, Vec::new());
    let mut replayed = None;
    for line in RECORDS.lines() {
        let line: Value = serde_json::from_str(line).expect("a line of JSON");
        if line["type"] == "scenario" {
            replayed = Some(Replay::new(&line, version));
            continue;
        }
        let replayed = replayed.as_mut().expect("a scenario before its steps");
        let mut found = replayed.step(&line);
        let expected = expected(&line, &mut found);
        if expected == found {
            agreed += 1;
        } else {
            differing.push(format!(
                "{}\n  {}\n  {}",
                line["id"],
                json!(expected),
                json!(found)
            ));
        }
    }
    (agreed, differing)
}

#[test]
fn members_answer_as_etcd_3_4_23_does() {
    let (agreed, differing) = replay(Version::of(3, 4, 23));
    assert_eq!(differing, Vec::<String>::new());
    assert_eq!(agreed, 359);
}

#[test]
fn of_a_later_version_they_differ_where_it_does() {
    let (_, differing) = replay(Version::of(3, 5, 33));
    let steps: Vec<&str> = differing
        .iter()
        .filter_map(|step| step.lines().next())
        .collect();
    // The dead waiter is refused, and two writes without a leader fail with a code of their own.
    let expected = ["\"et-015-009\"", "\"et-020-009\"", "\"et-020-012\""];
    assert_eq!(steps, expected, "{}", differing.join("\n"));
    let refused = r#"{"code":"UNKNOWN","msg":"mutex: session is expired"}"#;
    assert!(differing[0].contains(refused), "{}", differing[0]);
}
