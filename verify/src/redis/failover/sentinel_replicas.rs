//! What a Sentinel tells clients of the replicas (`SENTINEL REPLICAS`): those that read from them go by it.

use std::time::Duration;

use picklock_clients::redis::Value;

use super::replication::{Story, Witness};
use super::{FailoverBackend, LOOK, Observed, Setup, text};
use crate::harness::error::VerifyError;

/// All stories, with the towns that they happen in.
pub(super) fn stories() -> Vec<(&'static str, Setup, Story)> {
    let watched = Setup {
        sentinels: 3,
        relayed: false,
        ..Setup::of(2)
    };
    vec![("clients ask who the replicas are", watched, tell as Story)]
}

/// The replica that things happen to. The other one is well all the time.
const REPLICA: usize = 1;

/// What clients look at, of what is said of each replica.
const FIELDS: [&str; 5] = [
    "flags",
    "role-reported",
    "master-link-status",
    "master-host",
    "slave-priority",
];

/// The fields of a replica, and which server it is.
fn row(town: &dyn FailoverBackend, value: &Value) -> Option<(usize, Vec<(String, String)>)> {
    let words = value.values()?.iter();
    let words: Vec<String> = words
        .map(|word| Some(String::from_utf8_lossy(word.bytes()?).into_owned()))
        .collect::<Option<_>>()?;
    let fields: Vec<_> = words
        .chunks_exact(2)
        .map(|pair| (pair[0].clone(), pair[1].clone()))
        .collect();
    let field = |name: &str| fields.iter().find(|(known, _)| known == name);
    let (_, host) = field("ip")?;
    let (_, port) = field("port")?;
    let place = town.place_of(host, port.parse().ok()?)?;
    let kept = FIELDS.iter().map(|name| {
        let (name, value) = field(name)?;
        // Servers have other addresses on the other side.
        let value = match name.as_str() {
            "master-host" => {
                let (_, port) = field("master-port")?;
                let primary = town.place_of(value, port.parse().ok()?);
                primary.map_or_else(|| value.clone(), |it| format!("server {it}"))
            }
            _ => value.clone(),
        };
        Some((name.clone(), value))
    });
    Some((place, kept.collect::<Option<_>>()?))
}

/// What the first Sentinel says of its replicas, in the order of their places.
fn said(town: &mut dyn FailoverBackend) -> Result<Vec<Vec<(String, String)>>, VerifyError> {
    let value = town.ask_sentinel(&["SENTINEL", "REPLICAS", "mymaster"])?;
    let rows = value.as_ref().and_then(Value::values).unwrap_or_default();
    let mut rows: Vec<_> = rows.iter().filter_map(|value| row(town, value)).collect();
    rows.sort();
    Ok(rows.into_iter().map(|(_, fields)| fields).collect())
}

/// Waits until a Sentinel says this of the replica, and writes down what it says of both then, or at last.
fn until(witness: &mut Witness, flags: &str, link: &str) -> Result<(), VerifyError> {
    const MOST: Duration = Duration::from_secs(30);
    let start = witness.town.passed();
    loop {
        let rows = said(witness.town)?;
        let is = |name: &str, value: &str| {
            let fields = rows.get(REPLICA - 1).into_iter().flatten();
            fields
                .into_iter()
                .any(|(known, it)| known == name && it == value)
        };
        let fits = is("flags", flags) && is("master-link-status", link);
        if fits || witness.town.passed() - start > MOST {
            let words = rows.iter().map(|fields| {
                let words = fields.iter().map(|(name, value)| format!("{name} {value}"));
                words.collect::<Vec<_>>().join(", ")
            });
            let words: Vec<String> = words.collect();
            witness.note(format!("SENTINEL REPLICAS until {flags}"), words.join("; "));
            return Ok(());
        }
        witness.town.pass(LOOK)?;
    }
}

fn tell(town: &mut dyn FailoverBackend) -> Result<Observed, VerifyError> {
    let mut witness = Witness::of(town);
    until(&mut witness, "slave", "ok")?;
    for line in ["SENTINEL REPLICAS other", "SENTINEL SLAVES other"] {
        let words: Vec<&str> = line.split(' ').collect();
        let answer = text(witness.town.ask_sentinel(&words)?);
        witness.note(line, answer);
    }
    // It stands still, and its kernel takes connections; it is dead, and nobody does.
    witness.town.stop(REPLICA)?;
    until(&mut witness, "s_down,slave", "ok")?;
    witness.town.go_on(REPLICA)?;
    until(&mut witness, "slave", "ok")?;
    witness.town.kill(REPLICA);
    until(&mut witness, "s_down,slave,disconnected", "ok")?;
    witness.town.restart(REPLICA)?;
    until(&mut witness, "slave", "ok")?;
    Ok(witness.seen)
}
