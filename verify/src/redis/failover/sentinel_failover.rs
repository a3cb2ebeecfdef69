//! A primary that is watched by Sentinels dies, or stands still: when it is replaced, and what becomes of a lock.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use super::recorder::{Observed, PRIMARY, REPLICA, Recorder};
use super::{
    FailoverBackend, Failovers, Flow, LOOK, Resumed, Setup, compare_lines, model, real, until,
};
use crate::harness::clock;
use crate::harness::comparison::Answer;
use crate::harness::error::{Result, unless_stopped};
use crate::harness::timing::Span;
use crate::redis::real::Installed;

/// How often each is done with real servers, and how often with the model.
const REAL_DEATHS: u64 = 2;
const REAL_PAUSES: u64 = 3;
const MODEL_TRIES: u64 = 60;

/// How many steps [`compare`] has.
pub(super) const STEPS: u64 = REAL_DEATHS * WAYS.len() as u64 + REAL_PAUSES;

/// How what the primary said last fares.
#[derive(Clone, Copy, PartialEq)]
enum LastWrite {
    /// It arrives.
    Arrives,
    /// It waits on the way, and dies with the primary.
    Held,
    /// It waits in the buffer of the replica, which stands still.
    Buffered,
    /// It waits at the replica, which is paused (`CLIENT PAUSE`), and is lost with the connection.
    Paused,
}

const WAYS: [(&str, LastWrite); 4] = [
    (
        "a primary dies, and the replica has heard of the lock",
        LastWrite::Arrives,
    ),
    (
        "a primary dies with what it has to say of the lock",
        LastWrite::Held,
    ),
    (
        "a primary dies while the replica stands still",
        LastWrite::Buffered,
    ),
    (
        "a primary dies while the replica is paused",
        LastWrite::Paused,
    ),
];

/// How long one waits for a failover.
const LONGEST: Duration = Duration::from_secs(10);

/// What Sentinels write into their logs, and what that is called here.
const EVENTS: [(&str, &str); 5] = [
    ("+sdown master", "until one Sentinel finds it down"),
    ("+odown", "until enough of them do"),
    ("+elected-leader", "until one is elected"),
    ("+promoted-slave", "until a replica is the primary"),
    ("+switch-master", "until clients are told"),
];

/// How long things took.
type Taken = Vec<(&'static str, Duration)>;

fn timeline(backend: &mut dyn FailoverBackend, from: Duration, taken: &mut Taken) {
    for (event, name) in EVENTS {
        if let Some(at) = backend.logged(event, from) {
            taken.push((name, at - from));
        }
    }
}

fn watched(replicas: usize, relayed: bool) -> Setup {
    Setup {
        sentinels: 3,
        relayed,
        ..Setup::of(replicas)
    }
}

/// A primary dies with a lock.
fn die(backend: &mut dyn FailoverBackend, way: LastWrite, taken: &mut Taken) -> Result<Observed> {
    let mut recorder = Recorder::of(backend);
    recorder.ask(PRIMARY, "SET before 1")?;
    until(recorder.backend, REPLICA, &["GET", "before"], |said| {
        said == "\"1\""
    })?;
    match way {
        LastWrite::Arrives => {}
        LastWrite::Held => recorder.backend.flow(Flow::Held),
        LastWrite::Buffered => recorder.backend.stop(REPLICA)?,
        // Not for so long that Sentinels find it down: then it may or may not be promoted.
        LastWrite::Paused => recorder.ask(REPLICA, "CLIENT PAUSE 700 ALL")?,
    }
    recorder.ask(PRIMARY, "SET lock mine NX PX 30000")?;
    if way == LastWrite::Held {
        recorder.ask(PRIMARY, "WAIT 1 150")?;
        recorder.ask(PRIMARY, "GET lock")?;
    } else {
        recorder.pass(100)?;
    }
    let from = recorder.backend.elapsed();
    recorder.backend.kill(PRIMARY);
    if way == LastWrite::Buffered {
        recorder.pass(50)?;
        recorder.backend.go_on(REPLICA)?;
    }
    // Sentinel closes the connections of clients when it promotes, and tells them a little later.
    let left = LONGEST.saturating_sub(recorder.backend.elapsed() - from);
    clock::until(recorder.backend, (left, LOOK), |backend| {
        Ok(backend.logged("+switch-master", from).is_some())
    })?;
    recorder.backend.connect(REPLICA)?;
    recorder.ask(REPLICA, "GET lock")?;
    recorder.ask(REPLICA, "SET lock another NX PX 30000")?;
    if matches!(way, LastWrite::Arrives | LastWrite::Held) {
        timeline(recorder.backend, from, taken);
    }
    Ok(recorder.observed)
}

/// A primary stands still, is replaced, and goes on.
fn resume(backend: &mut dyn FailoverBackend, taken: &mut Taken) -> Result<(Observed, Resumed)> {
    const PAUSE: Duration = Duration::from_millis(4_400);
    const BETWEEN: Duration = Duration::from_millis(20);
    const MOST: Duration = Duration::from_secs(25);
    let mut recorder = Recorder::of(backend);
    recorder.ask(PRIMARY, "SET lock first")?;
    recorder.pass(500)?;
    let from = recorder.backend.elapsed();
    recorder.backend.stop(PRIMARY)?;
    recorder.backend.pass(PAUSE)?;
    recorder.backend.go_on(PRIMARY)?;
    let resumed = recorder.backend.elapsed();
    let mut writes = 0;
    let mut last = String::new();
    while recorder.backend.elapsed() - resumed < MOST {
        let key = format!("write:{writes}");
        last = recorder
            .backend
            .ask(PRIMARY, &["SET", &key, "value"])?
            .text();
        if last != "status OK" {
            break;
        }
        writes += 1;
        recorder.backend.pass(BETWEEN)?;
    }
    let during = recorder.backend.elapsed() - resumed;
    recorder.note("SET until it is refused", last);
    timeline(recorder.backend, from, taken);
    if let Some(at) = recorder.backend.logged("+slave-reconf-done", from) {
        taken.push(("until the other replica follows it", at - from));
    }
    if let Some(at) = recorder.backend.logged("+convert-to-slave", resumed) {
        let name = "the old primary goes on: until it is made a replica";
        taken.push((name, at - resumed));
    }
    taken.push(("and until it takes no more writes", during));
    recorder.pass(2_000)?;
    recorder.backend.connect(PRIMARY)?;
    let mut kept = 0;
    for number in 0..writes {
        let key = format!("write:{number}");
        if recorder.backend.ask(PRIMARY, &["EXISTS", &key])?.text() != "integer 0" {
            kept += 1;
        }
    }
    recorder.ask_all(PRIMARY, &["GET lock", "DBSIZE", "SET lock again"])?;
    let resumed = Resumed {
        writes,
        during,
        kept,
    };
    Ok((recorder.observed, resumed))
}

/// Adds what was taken to the spans, by their names.
fn add(spans: &mut Vec<Span>, part: &'static str, taken: Taken, is_real: bool) {
    for (what, time) in taken {
        let what = format!("{part}: {what}");
        let index = spans.iter().position(|span| span.what == what);
        let index = index.unwrap_or_else(|| {
            spans.push(Span::of(what));
            spans.len() - 1
        });
        let span = &mut spans[index];
        let times = if is_real {
            &mut span.real
        } else {
            &mut span.model
        };
        times.all.push(time);
    }
}

/// A case: what is seen, how long things took, and what became of an old primary.
type Run<'a> =
    dyn Fn(&mut dyn FailoverBackend, &mut Taken) -> Result<(Observed, Option<Resumed>)> + 'a;

/// A case that is run often on both sides.
struct Runs<'a> {
    part: &'a str,
    /// What how long things took is named after.
    span: &'static str,
    setup: Setup,
    real_runs: u64,
    run: &'a Run<'a>,
}

/// Compares failovers by Sentinels.
pub(super) fn compare(
    installed: &Installed,
    stop: &AtomicBool,
    failovers: &mut Failovers,
    step: &mut dyn FnMut() -> Result<()>,
) -> Result<()> {
    for (part, way) in WAYS {
        let runs = Runs {
            part,
            span: "a primary dies",
            setup: watched(1, true),
            real_runs: REAL_DEATHS,
            run: &|backend, taken| Ok((die(backend, way, taken)?, None)),
        };
        runs.compare(installed, stop, failovers, step)?;
    }
    let runs = Runs {
        part: "a primary stands still, is replaced, and goes on",
        span: "a primary stands still",
        setup: Setup {
            failover_timeout: Duration::from_secs(6),
            ..watched(2, false)
        },
        real_runs: REAL_PAUSES,
        run: &|backend, taken| {
            let (observed, resumed) = resume(backend, taken)?;
            Ok((observed, Some(resumed)))
        },
    };
    runs.compare(installed, stop, failovers, step)
}

impl Runs<'_> {
    fn compare(
        &self,
        installed: &Installed,
        stop: &AtomicBool,
        failovers: &mut Failovers,
        step: &mut dyn FnMut() -> Result<()>,
    ) -> Result<()> {
        let mut as_model = Vec::new();
        for seed in 0..MODEL_TRIES {
            unless_stopped(stop)?;
            let mut taken = Vec::new();
            let mut backend = model::ModelBackend::of(&self.setup, seed);
            let (observed, resumed) = (self.run)(&mut backend, &mut taken)?;
            as_model = observed;
            failovers.resumed.1.extend(resumed);
            add(&mut failovers.spans, self.span, taken, false);
        }
        for _ in 0..self.real_runs {
            let mut taken = Vec::new();
            let mut backend = real::RealBackend::start(installed, &self.setup, stop)?;
            let (as_real, resumed) = (self.run)(&mut backend, &mut taken)?;
            failovers.resumed.0.extend(resumed);
            add(&mut failovers.spans, self.span, taken, true);
            compare_lines(&mut failovers.compared, self.part, &as_real, &as_model);
            step()?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is left of the lock in the model, and whether another gets it, whatever the seed.
    fn left(way: LastWrite) -> [String; 2] {
        let mut all: Vec<_> = (0..20)
            .map(|seed| {
                let mut backend = model::ModelBackend::of(&watched(1, true), seed);
                let seen =
                    die(&mut backend, way, &mut Vec::new()).expect("the model does not fail");
                let last = &seen[seen.len() - 2..];
                [last[0].text.clone(), last[1].text.clone()]
            })
            .collect();
        all.dedup();
        assert_eq!(all.len(), 1, "chance decides what is left: {all:?}");
        all.remove(0)
    }

    #[test]
    fn a_lock_is_lost_where_its_bytes_are_and_nowhere_else() {
        let (kept, lost) = (["\"mine\"", "nil"], ["nil", "status OK"]);
        assert_eq!(left(LastWrite::Arrives), kept);
        assert_eq!(left(LastWrite::Buffered), kept);
        assert_eq!(left(LastWrite::Held), lost);
        assert_eq!(left(LastWrite::Paused), lost);
    }

    #[test]
    fn an_old_primary_takes_writes_for_ten_seconds_and_loses_them() {
        let setup = Setup {
            failover_timeout: Duration::from_secs(6),
            ..watched(2, false)
        };
        let mut backend = model::ModelBackend::of(&setup, 7);
        let (_, resumed) = resume(&mut backend, &mut Vec::new()).expect("the model does not fail");
        assert!((450..550).contains(&resumed.writes), "{resumed}");
        assert_eq!(resumed.kept, 0);
    }
}
