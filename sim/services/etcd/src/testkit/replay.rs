//! Steps of a record, done by members in virtual time.

use std::collections::BTreeMap;
use std::time::Duration;

use picklock_machines::ConnectionId;
use serde_json::{Map, Value, json};

use super::cluster::Cluster;
use super::recorded::{answer_text, is_set, number, request, watch_request, watch_text};
use crate::rpc::{ClientBody, LeaseId, Revision, ServerBody};
use crate::{Settings, Version};

/// The connection of calls with one answer; streams and calls that wait have others.
const CALLS: u32 = 1;
const PENDING: u32 = 2;
const STREAMS: u32 = 3;
/// How long after an answer what follows from it may arrive.
const SETTLE: Duration = Duration::from_millis(150);
/// The same, where nothing waits.
const BRIEF: Duration = Duration::from_millis(5);
/// How long a member that has started needs at most to know a leader, and to be as far as the others.
const START: Duration = Duration::from_secs(2);

/// The cluster of a record, and what its calls and streams are called.
pub struct Replay {
    cluster: Cluster,
    calls: u32,
    streams: BTreeMap<u32, String>,
    pending: BTreeMap<u32, String>,
}

impl Replay {
    /// A fresh cluster of this version, as a record says it is.
    pub fn new(scenario: &Value, version: Version) -> Self {
        let settings = Settings {
            members: number(scenario, "members") as u8,
            election_timeout: Duration::from_millis(number(scenario, "election_ms") as u64),
            version,
            ..Settings::default()
        };
        Self {
            cluster: Cluster::new(settings),
            calls: 0,
            streams: BTreeMap::new(),
            pending: BTreeMap::new(),
        }
    }

    fn new_call(&mut self) -> u32 {
        self.calls += 1;
        self.calls
    }

    /// The revision of a member's store.
    pub fn revision(&self, member: u8) -> Revision {
        self.cluster.member(member).store().revision()
    }

    /// Time goes on until so much has passed since the beginning, if it has not.
    pub fn catch_up(&mut self, elapsed: Duration) {
        let passed = self.cluster.now.since_start();
        self.cluster.run(elapsed.saturating_sub(passed));
    }

    /// Does a step. Answers its `result`, the `events` of streams, and calls that were `answered`.
    pub fn step(&mut self, step: &Value) -> Map<String, Value> {
        let (operation, args) = (step["op"].as_str().unwrap_or_default(), &step["args"]);
        let server = number(step, "server") as u8;
        let mut found = Map::new();
        found.insert("result".into(), json!({}));
        if let Some(request) = watch_request(operation, args) {
            let stream = self.stream(args);
            let body = ClientBody::Watch(request);
            self.cluster.call(server, STREAMS, stream, body);
        } else if operation == "close" {
            let stream = self.stream(args);
            self.streams.remove(&stream);
            self.cluster
                .call(server, STREAMS, stream, ClientBody::Cancel);
        } else if let Some(name) = args["call"].as_str() {
            self.waiting_call(operation, args, (server, name));
        } else {
            match operation {
                "sleep" => {
                    let time = Duration::from_millis(number(args, "ms") as u64);
                    self.cluster.run(time.saturating_sub(SETTLE));
                }
                "pause" => self.cluster.pause(number(args, "server") as u8),
                "resume" => self.cluster.resume(number(args, "server") as u8),
                "kill" => self.cluster.kill(number(args, "server") as u8),
                "start" => {
                    self.cluster.start(number(args, "server") as u8);
                    self.cluster.run(START);
                }
                _ => {
                    found.insert("result".into(), self.ask(operation, args, server));
                }
            }
        }
        let waits = !self.streams.is_empty() || !self.pending.is_empty();
        self.cluster.run(if waits { SETTLE } else { BRIEF });
        self.collect(&mut found);
        found
    }

    /// The number of a stream, which is made if it is new.
    fn stream(&mut self, args: &Value) -> u32 {
        let name = args["stream"].as_str().unwrap_or_default();
        let known = self.streams.iter().find(|(_, of)| *of == name);
        let stream = known.map(|(call, _)| *call);
        let stream = stream.unwrap_or_else(|| self.new_call());
        self.streams.insert(stream, name.to_owned());
        stream
    }

    /// A call that may wait begins, or is given up.
    fn waiting_call(&mut self, operation: &str, args: &Value, (server, name): (u8, &str)) {
        if operation == "giveup" {
            let given_up = self.pending.iter().find(|(_, of)| *of == name);
            if let Some(number) = given_up.map(|(number, _)| *number) {
                self.pending.remove(&number);
                self.cluster
                    .call(server, PENDING, number, ClientBody::Cancel);
            }
        } else if let Some(request) = request(operation, args) {
            let number = self.new_call();
            self.pending.insert(number, name.to_owned());
            self.cluster
                .call(server, PENDING, number, ClientBody::Unary(request));
        }
    }

    fn ask(&mut self, operation: &str, args: &Value, server: u8) -> Value {
        let call = self.new_call();
        let body = match request(operation, args) {
            Some(request) => ClientBody::Unary(request),
            None => ClientBody::LeaseKeepAlive(LeaseId(number(args, "id"))),
        };
        let requires_leader = is_set(args, "hasleader");
        self.cluster
            .call_requiring(server, CALLS, (call, requires_leader), body);
        let answer = self.cluster.wait(CALLS, call, Duration::from_secs(20));
        let mut shown = answer.as_ref().map_or(json!("no answer"), answer_text);
        if operation == "timetolive" && !is_set(args, "keys") {
            shown.as_object_mut().and_then(|shown| shown.remove("keys"));
        }
        shown
    }

    /// Shows events and ended calls.
    fn collect(&mut self, found: &mut Map<String, Value>) {
        let (mut events, mut answered) = (Vec::new(), Vec::new());
        for (connection, call, body) in std::mem::take(&mut self.cluster.told) {
            match &body {
                ServerBody::Watch(response) => {
                    events.push(watch_text(&self.streams[&call], response));
                }
                ServerBody::Unary(..) | ServerBody::Error(_) | ServerBody::LeaseKeepAlive(..) => {
                    assert_eq!(
                        connection,
                        ConnectionId(PENDING),
                        "a second answer: {body:?}"
                    );
                    let name = self.pending.remove(&call);
                    answered.push(json!({"call": name, "result": answer_text(&body)}));
                }
            }
        }
        if !events.is_empty() {
            found.insert("events".into(), by_stream(events).into());
        }
        if !answered.is_empty() {
            answered.sort_by_key(|entry| entry["call"].to_string());
            found.insert("answered".into(), answered.into());
        }
    }
}

/// Events are in order per stream, and within it, per revision and watch.
fn by_stream(mut events: Vec<Value>) -> Vec<Value> {
    events.sort_by_key(|event| event["stream"].to_string());
    events
}
