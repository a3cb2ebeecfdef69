//! A primary and a replica without Sentinels: what replicas answer, what they are sent, and what disks keep.

use std::time::Duration;

use picklock_redis::{Fsync, Persistence, SavePoint};

use super::recorder::{Case, Observed, PRIMARY, REPLICA, Recorder};
use super::{FailoverBackend, Flow, Setup};
use crate::harness::comparison::Answer;
use crate::harness::error::Result;

/// All cases, with the servers that they need.
pub(super) fn cases() -> Vec<(&'static str, Setup, Case)> {
    let kept = |persistence| Setup {
        persistence,
        ..Setup::of(1)
    };
    // After a second, if there were three changes: one alone is never saved.
    let snapshots = Persistence::Snapshots(vec![SavePoint {
        after: Duration::from_secs(1),
        changes: 3,
    }]);
    vec![
        ("a replica is read", Setup::of(1), read as Case),
        ("WAIT", Setup::of(1), wait),
        ("a link breaks", Setup::of(1), resynchronise),
        ("a replica is promoted", Setup::of(1), promote),
        ("no persistence, killed", kept(Persistence::None), restart),
        ("RDB, killed", kept(snapshots), restart),
        (
            "AOF always, killed",
            kept(Persistence::Log(Fsync::Always)),
            restart,
        ),
        (
            "AOF everysec, killed",
            kept(Persistence::Log(Fsync::EverySecond)),
            restart,
        ),
        (
            "AOF no, killed",
            kept(Persistence::Log(Fsync::Never)),
            restart,
        ),
    ]
}

fn read(backend: &mut dyn FailoverBackend) -> Result<Observed> {
    let mut recorder = Recorder::of(backend);
    recorder.ask_all(
        PRIMARY,
        &[
            "SET lock mine PX 60000",
            "HSET hash field 1",
            "RPUSH list a b",
            "SET brief v PX 4000",
            "SET last 1",
        ],
    )?;
    recorder.until(REPLICA, "last", "1")?;
    recorder.ask_all(
        REPLICA,
        &[
            "GET lock",
            "HGETALL hash",
            "LRANGE list 0 -1",
            "GET brief",
            "DBSIZE",
            "EXISTS missing",
            "SET lock another NX PX 1000",
            "DEL lock",
            "EXPIRE lock 1",
            "INCR counter",
            "EVAL return(redis.call('GET',KEYS[1])) 1 lock",
            "EVAL return(redis.call('DEL',KEYS[1])) 1 lock",
            "EVAL return(redis.pcall('DEL',KEYS[1])) 1 lock",
            "MULTI",
            "GET lock",
            "DEL lock",
            "EXEC",
            "WAIT 1 10",
            "PUBLISH channel text",
        ],
    )?;
    recorder.pass(4_500)?;
    // Its time is over, no command has asked for it at the primary, and the replica got no `DEL`.
    recorder.ask_all(
        REPLICA,
        &[
            "GET brief",
            "EXISTS brief",
            "TTL brief",
            "PTTL brief",
            "DBSIZE",
        ],
    )?;
    recorder.ask(PRIMARY, "GET brief")?;
    recorder.ask(PRIMARY, "SET last 2")?;
    recorder.until(REPLICA, "last", "2")?;
    recorder.ask(REPLICA, "DBSIZE")?;
    recorder.backend.flow(Flow::Cut);
    recorder.pass(300)?;
    // It answers though it has lost its primary.
    recorder.ask(REPLICA, "GET lock")?;
    recorder.ask(REPLICA, "SET lock another NX")?;
    Ok(recorder.observed)
}

fn wait(backend: &mut dyn FailoverBackend) -> Result<Observed> {
    let mut recorder = Recorder::of(backend);
    recorder.ask(PRIMARY, "SET first 1")?;
    recorder.until(REPLICA, "first", "1")?;
    recorder.ask(PRIMARY, "SET lock mine NX PX 60000")?;
    recorder.ask(PRIMARY, "WAIT 1 2000")?;
    recorder.ask(PRIMARY, "WAIT 2 100")?;
    recorder.backend.flow(Flow::Held);
    recorder.ask(PRIMARY, "SET lock another NX PX 60000")?;
    // What failed wrote nothing, and there is nothing to wait for.
    recorder.ask(PRIMARY, "WAIT 1 100")?;
    recorder.ask(PRIMARY, "SET held mine NX PX 60000")?;
    recorder.ask(PRIMARY, "WAIT 1 150")?;
    recorder.ask(PRIMARY, "GET held")?;
    recorder.ask(REPLICA, "GET held")?;
    // One that has written nothing has nothing to wait for.
    recorder.backend.connect(PRIMARY)?;
    recorder.ask(PRIMARY, "WAIT 1 100")?;
    recorder.ask(PRIMARY, "MULTI")?;
    recorder.ask(PRIMARY, "SET within 1")?;
    recorder.ask(PRIMARY, "WAIT 1 100")?;
    recorder.ask(PRIMARY, "EXEC")?;
    recorder.backend.flow(Flow::Free);
    recorder.until(REPLICA, "held", "mine")?;
    recorder.ask(PRIMARY, "WAIT 1 2000")?;
    Ok(recorder.observed)
}

/// A mebibyte is kept for replicas that come back: five of these fit into it, and six do not.
fn much(recorder: &mut Recorder, times: usize) -> Result<()> {
    let much = "x".repeat(200_000);
    for number in 0..times {
        let key = format!("much:{number}");
        let answer = recorder.backend.ask(PRIMARY, &["SET", &key, &much])?;
        recorder.note("SET much", answer.text());
    }
    Ok(())
}

fn resynchronise(backend: &mut dyn FailoverBackend) -> Result<Observed> {
    let mut recorder = Recorder::of(backend);
    recorder.ask(PRIMARY, "SET a 1")?;
    recorder.until(REPLICA, "a", "1")?;
    for (part, times) in [("little", 0), ("within", 5), ("beyond", 6)] {
        let before = recorder.backend.resynchronisations(PRIMARY)?;
        recorder.backend.flow(Flow::Cut);
        recorder.pass(300)?;
        recorder.ask(PRIMARY, &format!("SET {part} 1"))?;
        much(&mut recorder, times)?;
        recorder.ask(REPLICA, &format!("GET {part}"))?;
        recorder.backend.flow(Flow::Free);
        recorder.until(REPLICA, part, "1")?;
        recorder.resynchronisations(PRIMARY, before)?;
        recorder.ask(REPLICA, "DBSIZE")?;
    }
    Ok(recorder.observed)
}

fn promote(backend: &mut dyn FailoverBackend) -> Result<Observed> {
    let mut recorder = Recorder::of(backend);
    recorder.ask(PRIMARY, "SET lock mine PX 60000")?;
    recorder.ask(PRIMARY, "INCR token")?;
    recorder.until(REPLICA, "token", "1")?;
    recorder.ask(REPLICA, "REPLICAOF NO ONE")?;
    recorder.ask(REPLICA, "SET lock another NX")?;
    let before = recorder.backend.resynchronisations(REPLICA)?;
    // It has written nothing of its own since: what it has is the beginning of what the other one has.
    let answer = recorder.backend.follow(PRIMARY, REPLICA)?;
    recorder.note("REPLICAOF", answer.text());
    recorder.ask(REPLICA, "INCR token")?;
    recorder.until(PRIMARY, "token", "2")?;
    recorder.resynchronisations(REPLICA, before)?;
    recorder.ask(PRIMARY, "INCR token")?;
    // Now both write, and one of them has to give up what it has.
    recorder.ask(PRIMARY, "REPLICAOF NO ONE")?;
    recorder.ask(PRIMARY, "INCR token")?;
    recorder.ask(PRIMARY, "INCR token")?;
    recorder.ask(PRIMARY, "SET alone 1")?;
    recorder.ask(REPLICA, "INCR token")?;
    recorder.ask(REPLICA, "SET other 1")?;
    let before = recorder.backend.resynchronisations(REPLICA)?;
    let answer = recorder.backend.follow(PRIMARY, REPLICA)?;
    recorder.note("REPLICAOF", answer.text());
    recorder.until(PRIMARY, "other", "1")?;
    recorder.resynchronisations(REPLICA, before)?;
    recorder.ask(PRIMARY, "GET alone")?;
    recorder.ask(PRIMARY, "GET token")?;
    recorder.ask(PRIMARY, "SET alone 2")?;
    Ok(recorder.observed)
}

fn restart(backend: &mut dyn FailoverBackend) -> Result<Observed> {
    let mut recorder = Recorder::of(backend);
    recorder.ask(PRIMARY, "SET lock mine PX 60000")?;
    recorder.ask(PRIMARY, "SET brief mine PX 3000")?;
    recorder.ask(PRIMARY, "INCR token")?;
    recorder.pass(2_500)?;
    recorder.ask(PRIMARY, "SET late 1")?;
    recorder.until(REPLICA, "late", "1")?;
    recorder.backend.kill(PRIMARY);
    recorder.pass(1_000)?;
    recorder.backend.restart(PRIMARY)?;
    recorder.backend.connect(PRIMARY)?;
    recorder.ask_all(
        PRIMARY,
        &[
            "GET lock",
            "GET brief",
            "GET late",
            "INCR token",
            "SET new 1",
        ],
    )?;
    recorder.until(REPLICA, "new", "1")?;
    recorder.resynchronisations(PRIMARY, (0, 0))?;
    recorder.ask_all(REPLICA, &["GET lock", "GET brief", "GET late", "GET token"])?;
    Ok(recorder.observed)
}
