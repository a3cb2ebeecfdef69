//! What a server that cannot serve refuses: without memory, disk, replicas, or its primary, or while it reads its keys.
//!
//! In each of these states it is asked the same: to read, to write, to run scripts that say of themselves what they do
//! and others, and to do transactions.

use std::time::Duration;

use picklock_redis::{Fsync, Persistence, SavePoint};

use super::recorder::{Case, Observed, PRIMARY, REPLICA, Recorder};
use super::{FailoverBackend, Setup};
use crate::harness::error::Result;

/// What there is before.
const BEFORE: &[&str] = &[
    "SET lock mine",
    "HSET hash f 2",
    "RPUSH list a b",
    "SET counter 5",
];

/// What every server is asked.
const ASKED: &[&str] = &[
    "GET lock",
    "HGETALL hash",
    "EXISTS lock none",
    "TYPE lock",
    "PTTL lock",
    "DBSIZE",
    "KEYS none",
    "SET lock other NX",
    "SET lock mine",
    "SET counter 6 XX",
    "INCR counter",
    "HINCRBY hash f -1",
    "HDEL hash none",
    "PEXPIRE none 60000",
    "DEL none",
    "RPUSH list c",
    "LPOP list",
    "FLUSHALL",
    "PING",
    "PING text",
    "ECHO text",
    "SELECT 0",
    "CLIENT GETNAME",
    "PUBLISH channel text",
    "WAIT 0 10",
    "NOSUCH",
    "GET",
    "SCRIPT EXISTS ffffffffffffffffffffffffffffffffffffffff",
    "SCRIPT LOAD return(7)",
    "EVAL return(1) 0",
    "EVAL return(redis.call('GET',KEYS[1])) 1 lock",
    "EVAL return(redis.call('SET',KEYS[1],1)) 1 new",
    "EVAL return(redis.pcall('SET',KEYS[1],1)) 1 new",
    "EVAL return(redis.call('DEL',KEYS[1])) 1 none",
    "EVAL redis.call('DEL',KEYS[1])return(redis.call('SET',KEYS[1],1)) 1 new",
    "EVAL return(redis.call('PUBLISH',KEYS[1],1)) 1 channel",
    "EVAL_RO return(redis.call('GET',KEYS[1])) 1 lock",
    "EVAL_RO return(redis.call('SET',KEYS[1],1)) 1 new",
    "EVALSHA ffffffffffffffffffffffffffffffffffffffff 0",
    "EVALSHA short 0",
    "EVAL #!lua|return(1) 0",
    "EVAL #!lua|return(redis.call('GET',KEYS[1])) 1 lock",
    "EVAL #!lua|return(redis.call('SET',KEYS[1],1)) 1 new",
    "EVAL_RO #!lua|return(redis.call('GET',KEYS[1])) 1 lock",
    "EVAL #!lua~flags=no-writes|return(redis.call('GET',KEYS[1])) 1 lock",
    "EVAL #!lua~flags=no-writes|return(redis.call('SET',KEYS[1],1)) 1 new",
    "EVAL_RO #!lua~flags=no-writes|return(redis.call('GET',KEYS[1])) 1 lock",
    "EVAL #!lua~flags=allow-oom|return(redis.call('GET',KEYS[1])) 1 lock",
    "EVAL #!lua~flags=allow-oom|return(redis.call('SET',KEYS[1],1)) 1 new",
    "EVAL #!lua~flags=allow-stale|return(redis.call('GET',KEYS[1])) 1 lock",
    "EVAL #!lua~flags=allow-stale,no-writes|return(1) 0",
    "EVAL #!lua~flags=allow-stale,no-writes|return(redis.call('GET',KEYS[1])) 1 lock",
    "EVAL #!lua~flags=allow-stale,no-writes|return(redis.call('PUBLISH','a','b')) 0",
    "EVAL #!lua~flags=no-cluster,no-writes|return(1) 0",
    "EVAL #!lua~flags=nothing|return(1) 0",
    "EVAL #!lua~flag=no-writes|return(1) 0",
    "EVAL #!python|return(1) 0",
    "EVAL #!lua 0",
    "MULTI",
    "GET lock",
    "EXEC",
    "MULTI",
    "SET lock mine",
    "GET lock",
    "EXEC",
    "MULTI",
    "DEL none",
    "EXEC",
    "MULTI",
    "EVAL return(redis.call('SET',KEYS[1],1)) 1 new",
    "EVAL #!lua|return(redis.call('SET',KEYS[1],1)) 1 new",
    "EXEC",
    "MULTI",
    "PING",
    "DISCARD",
    "MULTI",
    "EXEC",
    "WATCH lock",
    "UNWATCH",
    "EXEC",
    "DISCARD",
];

/// All cases, with the servers that they need.
pub(super) fn cases() -> Vec<(&'static str, Setup, Case)> {
    // After a second, if there were three changes.
    let snapshots = Persistence::Snapshots(vec![SavePoint {
        after: Duration::from_secs(1),
        changes: 3,
    }]);
    let alone = Setup {
        relayed: false,
        ..Setup::of(0)
    };
    let saves = Setup {
        persistence: snapshots,
        ..alone.clone()
    };
    let logs = Setup {
        persistence: Persistence::Log(Fsync::Never),
        ..alone.clone()
    };
    let loads = Setup {
        reads_slowly: true,
        ..saves.clone()
    };
    vec![
        ("no memory", alone.clone(), no_memory as Case),
        ("no disk", saves, no_disk),
        ("no disk for the log", logs, no_disk_for_log),
        ("no replicas", alone, no_replicas),
        ("no primary", Setup::of(1), no_primary),
        ("keys are read", loads, reads),
    ]
}

impl Recorder<'_> {
    /// Everything, twice: the second time the scripts are known.
    fn ask_twice(&mut self, server: usize) -> Result<()> {
        self.ask_all(server, ASKED)?;
        self.ask_all(server, ASKED)
    }

    /// A transaction that was begun before is to be ended now.
    fn ends(&mut self, server: usize) -> Result<()> {
        self.ask_all(server, &["EXEC", "GET lock"])
    }
}

/// What a transaction holds that is begun while nothing is wrong.
const BEGUN: &[&str] = &["MULTI", "SET lock begun", "INCR counter"];

fn no_memory(backend: &mut dyn FailoverBackend) -> Result<Observed> {
    let mut recorder = Recorder::of(backend);
    recorder.ask_all(PRIMARY, BEFORE)?;
    recorder.ask_all(PRIMARY, ASKED)?;
    recorder.ask_all(PRIMARY, BEFORE)?;
    recorder.ask_all(PRIMARY, BEGUN)?;
    recorder
        .backend
        .ask_once(PRIMARY, &["CONFIG", "SET", "maxmemory", "1"])?;
    recorder.ends(PRIMARY)?;
    recorder.ask_twice(PRIMARY)?;
    recorder
        .backend
        .ask_once(PRIMARY, &["CONFIG", "SET", "maxmemory", "0"])?;
    recorder.ask_all(PRIMARY, ASKED)?;
    Ok(recorder.observed)
}

fn no_replicas(backend: &mut dyn FailoverBackend) -> Result<Observed> {
    let mut recorder = Recorder::of(backend);
    recorder.ask_all(PRIMARY, BEFORE)?;
    recorder.ask_all(PRIMARY, BEGUN)?;
    let least = ["CONFIG", "SET", "min-replicas-to-write", "1"];
    recorder.backend.ask_once(PRIMARY, &least)?;
    recorder.ends(PRIMARY)?;
    recorder.ask_twice(PRIMARY)?;
    let least = ["CONFIG", "SET", "min-replicas-to-write", "0"];
    recorder.backend.ask_once(PRIMARY, &least)?;
    recorder.ask_all(PRIMARY, ASKED)?;
    Ok(recorder.observed)
}

fn no_disk(backend: &mut dyn FailoverBackend) -> Result<Observed> {
    let mut recorder = Recorder::of(backend);
    recorder.backend.fill_disk(PRIMARY, true)?;
    recorder.ask_all(PRIMARY, BEFORE)?;
    recorder.ask_all(PRIMARY, BEGUN)?;
    recorder.pass(3_500)?;
    recorder.ends(PRIMARY)?;
    recorder.ask_twice(PRIMARY)?;
    recorder.backend.fill_disk(PRIMARY, false)?;
    // It is tried again after a while.
    recorder.pass(9_000)?;
    recorder.ask_all(PRIMARY, ASKED)?;
    Ok(recorder.observed)
}

fn no_disk_for_log(backend: &mut dyn FailoverBackend) -> Result<Observed> {
    let mut recorder = Recorder::of(backend);
    recorder.ask_all(PRIMARY, BEFORE)?;
    recorder.ask_all(PRIMARY, BEGUN)?;
    recorder.backend.fill_disk(PRIMARY, true)?;
    // It is answered before the server notices.
    recorder
        .backend
        .ask_once(PRIMARY, &["SET", "lock", "lost"])?;
    recorder.ends(PRIMARY)?;
    recorder.ask_twice(PRIMARY)?;
    recorder.backend.fill_disk(PRIMARY, false)?;
    recorder.pass(1_000)?;
    recorder.ask_all(PRIMARY, ASKED)?;
    Ok(recorder.observed)
}

fn no_primary(backend: &mut dyn FailoverBackend) -> Result<Observed> {
    let mut recorder = Recorder::of(backend);
    recorder.ask_all(PRIMARY, BEFORE)?;
    recorder.until(REPLICA, "counter", "5")?;
    recorder.ask_all(
        REPLICA,
        &["CONFIG SET replica-serve-stale-data no", "GET lock"],
    )?;
    recorder.ask_all(REPLICA, &["MULTI", "GET lock"])?;
    recorder.backend.kill(PRIMARY);
    recorder.pass(500)?;
    recorder.ask_all(REPLICA, &["EXEC"])?;
    recorder.ask_twice(REPLICA)?;
    recorder.ask_all(REPLICA, &["CONFIG SET replica-serve-stale-data yes"])?;
    recorder.ask_all(REPLICA, ASKED)?;
    Ok(recorder.observed)
}

/// So many keys a server reads, a while each.
const MANY: u32 = 150;

fn reads(backend: &mut dyn FailoverBackend) -> Result<Observed> {
    let mut recorder = Recorder::of(backend);
    recorder.ask_all(PRIMARY, BEFORE)?;
    for number in 0..MANY {
        let key = format!("many:{number}");
        recorder
            .backend
            .ask(PRIMARY, &["SET", &key, &"x".repeat(1_100)])?;
    }
    recorder.pass(3_000)?;
    recorder.backend.kill(PRIMARY);
    recorder.backend.restart(PRIMARY)?;
    recorder.backend.connect(PRIMARY)?;
    recorder.ask_all(PRIMARY, ASKED)?;
    recorder.until(PRIMARY, "counter", "5")?;
    recorder.ask_all(PRIMARY, ASKED)?;
    Ok(recorder.observed)
}
