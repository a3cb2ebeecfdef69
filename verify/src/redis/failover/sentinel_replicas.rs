//! What a Sentinel tells clients of the replicas (`SENTINEL REPLICAS`): those that read from them go by it.

use std::time::Duration;

use picklock_clients::redis::Value;

use super::recorder::{Case, Observed, REPLICA, Recorder};
use super::{FailoverBackend, LOOK, Setup};
use crate::harness::clock;
use crate::harness::comparison::Answer;
use crate::harness::error::Result;

/// All cases, with the servers that they need.
pub(super) fn cases() -> Vec<(&'static str, Setup, Case)> {
    let watched = Setup {
        sentinels: 3,
        relayed: false,
        ..Setup::of(2)
    };
    vec![(
        "clients ask who the replicas are",
        watched,
        report_replicas as Case,
    )]
}

/// The fields of each replica that clients read.
const FIELDS: [&str; 5] = [
    "flags",
    "role-reported",
    "master-link-status",
    "master-host",
    "slave-priority",
];

/// The fields of a replica, and which server it is.
fn row(backend: &dyn FailoverBackend, value: &Value) -> Option<(usize, Vec<(String, String)>)> {
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
    let index = backend.server_index(host, port.parse().ok()?)?;
    let kept = FIELDS.iter().map(|name| {
        let (name, value) = field(name)?;
        // Servers have other addresses on the other side.
        let value = match name.as_str() {
            "master-host" => {
                let (_, port) = field("master-port")?;
                let primary = backend.server_index(value, port.parse().ok()?);
                primary.map_or_else(|| value.clone(), |index| format!("server {index}"))
            }
            _ => value.clone(),
        };
        Some((name.clone(), value))
    });
    Some((index, kept.collect::<Option<_>>()?))
}

/// What the first Sentinel says of its replicas, in the order of their places.
fn reported_replicas(backend: &mut dyn FailoverBackend) -> Result<Vec<Vec<(String, String)>>> {
    let value = backend.ask_sentinel(&["SENTINEL", "REPLICAS", "mymaster"])?;
    let rows = value.as_ref().and_then(Value::values).unwrap_or_default();
    let mut rows: Vec<_> = rows
        .iter()
        .filter_map(|value| row(backend, value))
        .collect();
    rows.sort();
    Ok(rows.into_iter().map(|(_, fields)| fields).collect())
}

/// Waits until a Sentinel says this of the first replica, and writes down what it says of both then, or at last. The
/// other one is well all the time.
fn until(recorder: &mut Recorder, flags: &str, link: &str) -> Result<()> {
    const MOST: Duration = Duration::from_secs(30);
    let mut rows = Vec::new();
    clock::until(recorder.backend, (MOST, LOOK), |backend| {
        rows = reported_replicas(backend)?;
        let fields: &[(String, String)] = rows.get(REPLICA - 1).map_or(&[], |row| row);
        let is = |name: &str, value: &str| {
            let mut fields = fields.iter();
            fields.any(|(known, text)| known == name && text == value)
        };
        Ok(is("flags", flags) && is("master-link-status", link))
    })?;
    let rows = rows.iter().map(|fields| {
        let words = fields.iter().map(|(name, value)| format!("{name} {value}"));
        words.collect::<Vec<_>>().join(", ")
    });
    let rows: Vec<String> = rows.collect();
    recorder.note(format!("SENTINEL REPLICAS until {flags}"), rows.join("; "));
    Ok(())
}

fn report_replicas(backend: &mut dyn FailoverBackend) -> Result<Observed> {
    let mut recorder = Recorder::of(backend);
    until(&mut recorder, "slave", "ok")?;
    for line in ["SENTINEL REPLICAS other", "SENTINEL SLAVES other"] {
        let words: Vec<&str> = line.split(' ').collect();
        let answer = recorder.backend.ask_sentinel(&words)?;
        recorder.note(line, answer.text());
    }
    // It stands still, and its kernel takes connections; it is dead, and its port is closed.
    recorder.backend.stop(REPLICA)?;
    until(&mut recorder, "s_down,slave", "ok")?;
    recorder.backend.go_on(REPLICA)?;
    until(&mut recorder, "slave", "ok")?;
    recorder.backend.kill(REPLICA);
    until(&mut recorder, "s_down,slave,disconnected", "ok")?;
    recorder.backend.restart(REPLICA)?;
    until(&mut recorder, "slave", "ok")?;
    Ok(recorder.observed)
}
