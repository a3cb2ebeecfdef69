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
    let mut it = Recorder::of(backend);
    it.ask_all(
        PRIMARY,
        &[
            "SET lock mine PX 60000",
            "HSET hash field 1",
            "RPUSH list a b",
            "SET brief v PX 4000",
            "SET last 1",
        ],
    )?;
    it.until(REPLICA, "last", "1")?;
    it.ask_all(
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
    it.pass(4_500)?;
    // Its time is over, no command has asked for it at the primary, and the replica got no `DEL`.
    it.ask_all(
        REPLICA,
        &[
            "GET brief",
            "EXISTS brief",
            "TTL brief",
            "PTTL brief",
            "DBSIZE",
        ],
    )?;
    it.ask(PRIMARY, "GET brief")?;
    it.ask(PRIMARY, "SET last 2")?;
    it.until(REPLICA, "last", "2")?;
    it.ask(REPLICA, "DBSIZE")?;
    it.backend.flow(Flow::Cut);
    it.pass(300)?;
    // It answers though it has lost its primary.
    it.ask(REPLICA, "GET lock")?;
    it.ask(REPLICA, "SET lock another NX")?;
    Ok(it.observed)
}

fn wait(backend: &mut dyn FailoverBackend) -> Result<Observed> {
    let mut it = Recorder::of(backend);
    it.ask(PRIMARY, "SET first 1")?;
    it.until(REPLICA, "first", "1")?;
    it.ask(PRIMARY, "SET lock mine NX PX 60000")?;
    it.ask(PRIMARY, "WAIT 1 2000")?;
    it.ask(PRIMARY, "WAIT 2 100")?;
    it.backend.flow(Flow::Held);
    it.ask(PRIMARY, "SET lock another NX PX 60000")?;
    // What failed wrote nothing, and there is nothing to wait for.
    it.ask(PRIMARY, "WAIT 1 100")?;
    it.ask(PRIMARY, "SET held mine NX PX 60000")?;
    it.ask(PRIMARY, "WAIT 1 150")?;
    it.ask(PRIMARY, "GET held")?;
    it.ask(REPLICA, "GET held")?;
    // One that has written nothing has nothing to wait for.
    it.backend.connect(PRIMARY)?;
    it.ask(PRIMARY, "WAIT 1 100")?;
    it.ask(PRIMARY, "MULTI")?;
    it.ask(PRIMARY, "SET within 1")?;
    it.ask(PRIMARY, "WAIT 1 100")?;
    it.ask(PRIMARY, "EXEC")?;
    it.backend.flow(Flow::Free);
    it.until(REPLICA, "held", "mine")?;
    it.ask(PRIMARY, "WAIT 1 2000")?;
    Ok(it.observed)
}

/// A mebibyte is kept for replicas that come back: five of these fit into it, and six do not.
fn much(it: &mut Recorder, times: usize) -> Result<()> {
    let much = "x".repeat(200_000);
    for number in 0..times {
        let key = format!("much:{number}");
        let answer = it.backend.ask(PRIMARY, &["SET", &key, &much])?;
        it.note("SET much", answer.text());
    }
    Ok(())
}

fn resynchronise(backend: &mut dyn FailoverBackend) -> Result<Observed> {
    let mut it = Recorder::of(backend);
    it.ask(PRIMARY, "SET a 1")?;
    it.until(REPLICA, "a", "1")?;
    for (part, times) in [("little", 0), ("within", 5), ("beyond", 6)] {
        let before = it.backend.resynchronisations(PRIMARY)?;
        it.backend.flow(Flow::Cut);
        it.pass(300)?;
        it.ask(PRIMARY, &format!("SET {part} 1"))?;
        much(&mut it, times)?;
        it.ask(REPLICA, &format!("GET {part}"))?;
        it.backend.flow(Flow::Free);
        it.until(REPLICA, part, "1")?;
        it.resynchronisations(PRIMARY, before)?;
        it.ask(REPLICA, "DBSIZE")?;
    }
    Ok(it.observed)
}

fn promote(backend: &mut dyn FailoverBackend) -> Result<Observed> {
    let mut it = Recorder::of(backend);
    it.ask(PRIMARY, "SET lock mine PX 60000")?;
    it.ask(PRIMARY, "INCR token")?;
    it.until(REPLICA, "token", "1")?;
    it.ask(REPLICA, "REPLICAOF NO ONE")?;
    it.ask(REPLICA, "SET lock another NX")?;
    let before = it.backend.resynchronisations(REPLICA)?;
    // It has written nothing of its own since: what it has is the beginning of what the other one has.
    let answer = it.backend.follow(PRIMARY, REPLICA)?;
    it.note("REPLICAOF", answer.text());
    it.ask(REPLICA, "INCR token")?;
    it.until(PRIMARY, "token", "2")?;
    it.resynchronisations(REPLICA, before)?;
    it.ask(PRIMARY, "INCR token")?;
    // Now both write, and one of them has to give up what it has.
    it.ask(PRIMARY, "REPLICAOF NO ONE")?;
    it.ask(PRIMARY, "INCR token")?;
    it.ask(PRIMARY, "INCR token")?;
    it.ask(PRIMARY, "SET alone 1")?;
    it.ask(REPLICA, "INCR token")?;
    it.ask(REPLICA, "SET other 1")?;
    let before = it.backend.resynchronisations(REPLICA)?;
    let answer = it.backend.follow(PRIMARY, REPLICA)?;
    it.note("REPLICAOF", answer.text());
    it.until(PRIMARY, "other", "1")?;
    it.resynchronisations(REPLICA, before)?;
    it.ask(PRIMARY, "GET alone")?;
    it.ask(PRIMARY, "GET token")?;
    it.ask(PRIMARY, "SET alone 2")?;
    Ok(it.observed)
}

fn restart(backend: &mut dyn FailoverBackend) -> Result<Observed> {
    let mut it = Recorder::of(backend);
    it.ask(PRIMARY, "SET lock mine PX 60000")?;
    it.ask(PRIMARY, "SET brief mine PX 3000")?;
    it.ask(PRIMARY, "INCR token")?;
    it.pass(2_500)?;
    it.ask(PRIMARY, "SET late 1")?;
    it.until(REPLICA, "late", "1")?;
    it.backend.kill(PRIMARY);
    it.pass(1_000)?;
    it.backend.restart(PRIMARY)?;
    it.backend.connect(PRIMARY)?;
    it.ask_all(
        PRIMARY,
        &[
            "GET lock",
            "GET brief",
            "GET late",
            "INCR token",
            "SET new 1",
        ],
    )?;
    it.until(REPLICA, "new", "1")?;
    it.resynchronisations(PRIMARY, (0, 0))?;
    it.ask_all(REPLICA, &["GET lock", "GET brief", "GET late", "GET token"])?;
    Ok(it.observed)
}
