//! Records and random rounds on both clusters.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use picklock_etcd::Version;
use picklock_etcd::testkit::RECORDS;
use picklock_etcd::testkit::replay::Replay;
use serde_json::{Map, Value, json};

use super::Compared;
use super::random::Random;
use crate::harness::clock;
use crate::harness::comparison::Line;
use crate::harness::error::{Result, unless_stopped};

/// Records of our own: members that are killed.
const MORE_RECORDS: &str = include_str!("records.jsonl");
/// Steps of a round.
const ROUND: u64 = 250;
/// Seconds that may be over of a lease of which nothing is said to be over.
const PASSED: i64 = 200;

/// What the model has answered, and real members should.
pub(super) struct Awaited {
    /// How many messages over streams.
    pub(super) events: usize,
    /// How many calls that wait.
    pub(super) answered: usize,
    /// The revision of each member that runs.
    pub(super) revisions: Vec<Option<i64>>,
}

/// The members that the model is compared with.
pub(super) trait Members {
    /// Begins with a fresh store and as many members as the record says.
    fn begin(&mut self, record: &Value) -> Result<()>;
    /// Does a step, and waits a while for what should come of it. Answers as [`Replay::step`] does, with the
    /// `revisions` besides.
    fn perform(&mut self, step: &Value, awaited: &Awaited) -> Result<Map<String, Value>>;
}

/// Both clusters, and what came of comparing them so far.
pub(super) struct Pair<R> {
    pub(super) real: R,
    pub(super) compared: Compared,
    version: Version,
    model: Option<Replay>,
    began: Instant,
    part: String,
    members: u8,
    stopped: BTreeSet<u8>,
}

/// A number that is there, or 0.
pub(super) fn number(value: &Value) -> i64 {
    value.as_i64().unwrap_or_default()
}

/// A step, as it is named in a difference.
struct Shown<'a>(&'a Value);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let server = number(&self.0["server"]);
        write!(
            out,
            "member {server}: {} {}",
            text(&self.0["op"]),
            self.0["args"]
        )
    }
}

impl<R: Members> Pair<R> {
    /// Both, without members.
    pub(super) fn of(real: R, version: Version) -> Self {
        Self {
            real,
            compared: Compared::default(),
            version,
            model: None,
            began: clock::now(),
            part: String::new(),
            members: 0,
            stopped: BTreeSet::new(),
        }
    }

    /// Does all records.
    pub(super) fn records(&mut self, stop: &AtomicBool) -> Result<()> {
        let mut goes_on = false;
        for line in RECORDS.lines().chain(MORE_RECORDS.lines()) {
            unless_stopped(stop)?;
            let Ok(line) = serde_json::from_str::<Value>(line) else {
                unreachable!("a line of a record that is no JSON: {line}");
            };
            if line["type"] == "scenario" {
                self.begin(&line)?;
                goes_on = true;
            } else if goes_on {
                goes_on = self.step(&line)?;
            }
        }
        Ok(())
    }

    /// Does random steps with so many members.
    pub(super) fn random(
        &mut self,
        seed: u64,
        (members, operations): (u8, u64),
        stop: &AtomicBool,
        progress: &dyn Fn(u64),
    ) -> Result<()> {
        let mut random = Random::new(seed, members);
        let mut goes_on = false;
        for done in 0..operations {
            unless_stopped(stop)?;
            if done % ROUND == 0 {
                let name = format!("random steps from {done} on, members: {members}");
                self.begin(&json!({"scenario": name, "members": members, "election_ms": 1000}))?;
                random.begin();
                goes_on = true;
            }
            if goes_on {
                let revision = self.model.as_ref().map_or(0, |model| model.revision(0));
                let step = random.step(revision);
                goes_on = self.step(&step)?;
                random.note(&step);
            }
            progress(done + 1);
        }
        Ok(())
    }

    fn begin(&mut self, record: &Value) -> Result<()> {
        self.part = record["scenario"].as_str().unwrap_or_default().to_owned();
        self.members = number(&record["members"]) as u8;
        self.stopped.clear();
        self.real.begin(record)?;
        self.model = Some(Replay::new(record, self.version));
        self.began = clock::now();
        Ok(())
    }

    /// Does a step on both. Whether they agree: what follows a difference says nothing.
    fn step(&mut self, step: &Value) -> Result<bool> {
        let Some(model) = &mut self.model else {
            return Ok(false);
        };
        let before = self.compared.differences.len();
        model.catch_up(clock::now() - self.began);
        let mut found = model.step(step);
        let operation = step["op"].as_str().unwrap_or_default();
        let server = number(&step["args"]["server"]) as u8;
        match operation {
            "pause" | "kill" => self.stopped.insert(server),
            "resume" | "start" => self.stopped.remove(&server),
            _ => false,
        };
        let runs = |member: &u8| !self.stopped.contains(member);
        let revisions = 0..self.members;
        let revisions: Vec<Option<i64>> = revisions
            .map(|member| runs(&member).then(|| model.revision(member)))
            .collect();
        let length = |name: &str| {
            found
                .get(name)
                .and_then(Value::as_array)
                .map_or(0, Vec::len)
        };
        let awaited = Awaited {
            events: length("events"),
            answered: length("answered"),
            revisions: revisions.clone(),
        };
        found.insert("revisions".into(), revisions.into());
        let real = self.real.perform(step, &awaited)?;
        self.compared.operations += 1;
        self.compared.count_request(operation);
        let (real, model) = (lines(step, &real), lines(step, &found));
        let names: BTreeSet<&String> = real.keys().chain(model.keys()).collect();
        for name in names {
            let answers = [&real, &model].map(|of| of.get(name).map_or(&[][..], Vec::as_slice));
            self.compared
                .compare(&self.part, &Shown(step), name, answers);
        }
        Ok(self.compared.differences.len() == before)
    }
}

/// What came of a step, by where it came, in a form on which two clusters can agree.
fn lines(step: &Value, found: &Map<String, Value>) -> BTreeMap<String, Vec<Line>> {
    let mut lines: BTreeMap<String, Vec<Line>> = BTreeMap::new();
    let mut result = found.get("result").cloned().unwrap_or_default();
    normalize(step, &mut result);
    let revisions = found.get("revisions").cloned().unwrap_or_default();
    lines.insert("the call".into(), vec![result.to_string().into()]);
    lines.insert(
        "the stores".into(),
        vec![format!("revisions {revisions}").into()],
    );
    let list = |name: &str| {
        let all = found.get(name).and_then(Value::as_array);
        all.cloned().unwrap_or_default()
    };
    let mut events = list("events");
    // Watches of one stream have no order between them.
    events.sort_by_key(|event| number(&event["watch_id"]));
    for event in events {
        let name = format!("stream {}", event["stream"]);
        lines
            .entry(name)
            .or_default()
            .push(event.to_string().into());
    }
    for ended in list("answered") {
        let name = format!("call {}", ended["call"]);
        lines
            .entry(name)
            .or_default()
            .push(ended["result"].to_string().into());
    }
    lines
}

/// What is left of a lease depends on the moment, and what a map has, has no order.
fn normalize(step: &Value, result: &mut Value) {
    let Some(fields) = result.as_object_mut() else {
        return;
    };
    if step["op"] == "timetolive" && step["args"]["keys"] != true {
        fields.remove("keys");
    }
    for name in ["keys", "ids"] {
        if let Some(list) = fields.get_mut(name).and_then(Value::as_array_mut) {
            list.sort_by_key(Value::to_string);
        }
    }
    let field = |name: &str| fields.get(name).map(number);
    if let (Some(ttl), Some(granted)) = (field("ttl"), field("granted"))
        && ttl >= 0
        && (granted - PASSED..=granted).contains(&ttl)
    {
        fields.insert("ttl".into(), "most of it".into());
    }
}
