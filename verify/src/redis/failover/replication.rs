//! A primary and a replica without Sentinels: what replicas answer, what they are sent, and what disks keep.

use std::time::Duration;

use picklock_redis::{Fsync, Persistence, SavePoint};

use super::{FailoverBackend, Flow, Observed, Setup, text, until};
use crate::harness::error::VerifyError;

/// What happens in a town, and what is seen of it.
pub(super) type Story = fn(&mut dyn FailoverBackend) -> Result<Observed, VerifyError>;

/// All stories, with the towns that they happen in.
pub(super) fn stories() -> Vec<(&'static str, Setup, Story)> {
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
        ("a replica is read", Setup::of(1), read as Story),
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

pub(super) const PRIMARY: usize = 0;
pub(super) const REPLICA: usize = 1;

/// A town, and what is written down of it.
pub(super) struct Witness<'a> {
    pub(super) town: &'a mut dyn FailoverBackend,
    pub(super) seen: Observed,
}

impl<'a> Witness<'a> {
    pub(super) fn of(town: &'a mut dyn FailoverBackend) -> Self {
        let seen = Vec::new();
        Self { town, seen }
    }

    pub(super) fn note(&mut self, what: impl Into<String>, seen: String) {
        self.seen.push((what.into(), seen));
    }

    /// Asks, and writes the answer down.
    fn ask(&mut self, server: usize, line: &str) -> Result<(), VerifyError> {
        let words: Vec<&str> = line.split(' ').collect();
        let answer = text(self.town.ask(server, &words)?);
        self.note(line, answer);
        Ok(())
    }

    /// Waits until a server has this value of a key, and writes down whether it ever had.
    pub(super) fn until(
        &mut self,
        server: usize,
        key: &str,
        value: &str,
    ) -> Result<(), VerifyError> {
        let wanted = format!("\"{value}\"");
        let found = until(self.town, server, &["GET", key], |it| it == wanted)?;
        self.note(
            format!("GET {key} until {value}"),
            found.is_some().to_string(),
        );
        Ok(())
    }

    /// What a server has sent since the first number was taken.
    fn copied(&mut self, server: usize, before: (u64, u64)) -> Result<(), VerifyError> {
        let (all, rest) = self.town.copied(server)?;
        let (all, rest) = (all - before.0, rest - before.1);
        self.note("resynchronisations", format!("{all} full, {rest} partial"));
        Ok(())
    }

    pub(super) fn pass(&mut self, millis: u64) -> Result<(), VerifyError> {
        self.town.pass(Duration::from_millis(millis))
    }
}

fn read(town: &mut dyn FailoverBackend) -> Result<Observed, VerifyError> {
    let mut it = Witness::of(town);
    for line in [
        "SET lock mine PX 60000",
        "HSET hash field 1",
        "RPUSH list a b",
        "SET brief v PX 4000",
        "SET last 1",
    ] {
        it.ask(PRIMARY, line)?;
    }
    it.until(REPLICA, "last", "1")?;
    for line in [
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
    ] {
        it.ask(REPLICA, line)?;
    }
    it.pass(4_500)?;
    // Its time is over, nobody has asked for it at the primary, and nobody has told the replica.
    for line in [
        "GET brief",
        "EXISTS brief",
        "TTL brief",
        "PTTL brief",
        "DBSIZE",
    ] {
        it.ask(REPLICA, line)?;
    }
    it.ask(PRIMARY, "GET brief")?;
    it.ask(PRIMARY, "SET last 2")?;
    it.until(REPLICA, "last", "2")?;
    it.ask(REPLICA, "DBSIZE")?;
    it.town.flow(Flow::Cut);
    it.pass(300)?;
    // It answers though it has lost its primary.
    it.ask(REPLICA, "GET lock")?;
    it.ask(REPLICA, "SET lock another NX")?;
    Ok(it.seen)
}

fn wait(town: &mut dyn FailoverBackend) -> Result<Observed, VerifyError> {
    let mut it = Witness::of(town);
    it.ask(PRIMARY, "SET first 1")?;
    it.until(REPLICA, "first", "1")?;
    it.ask(PRIMARY, "SET lock mine NX PX 60000")?;
    it.ask(PRIMARY, "WAIT 1 2000")?;
    it.ask(PRIMARY, "WAIT 2 100")?;
    it.town.flow(Flow::Held);
    it.ask(PRIMARY, "SET lock another NX PX 60000")?;
    // What failed wrote nothing, and there is nothing to wait for.
    it.ask(PRIMARY, "WAIT 1 100")?;
    it.ask(PRIMARY, "SET held mine NX PX 60000")?;
    it.ask(PRIMARY, "WAIT 1 150")?;
    it.ask(PRIMARY, "GET held")?;
    it.ask(REPLICA, "GET held")?;
    // One that has written nothing has nothing to wait for.
    it.town.connect(PRIMARY)?;
    it.ask(PRIMARY, "WAIT 1 100")?;
    it.ask(PRIMARY, "MULTI")?;
    it.ask(PRIMARY, "SET within 1")?;
    it.ask(PRIMARY, "WAIT 1 100")?;
    it.ask(PRIMARY, "EXEC")?;
    it.town.flow(Flow::Free);
    it.until(REPLICA, "held", "mine")?;
    it.ask(PRIMARY, "WAIT 1 2000")?;
    Ok(it.seen)
}

/// A mebibyte is kept for those who come back: five of these fit into it, and six do not.
fn much(it: &mut Witness, times: usize) -> Result<(), VerifyError> {
    let much = "x".repeat(200_000);
    for number in 0..times {
        let key = format!("much:{number}");
        let answer = text(it.town.ask(PRIMARY, &["SET", &key, &much])?);
        it.note("SET much", answer);
    }
    Ok(())
}

fn resynchronise(town: &mut dyn FailoverBackend) -> Result<Observed, VerifyError> {
    let mut it = Witness::of(town);
    it.ask(PRIMARY, "SET a 1")?;
    it.until(REPLICA, "a", "1")?;
    for (part, times) in [("little", 0), ("within", 5), ("beyond", 6)] {
        let before = it.town.copied(PRIMARY)?;
        it.town.flow(Flow::Cut);
        it.pass(300)?;
        it.ask(PRIMARY, &format!("SET {part} 1"))?;
        much(&mut it, times)?;
        it.ask(REPLICA, &format!("GET {part}"))?;
        it.town.flow(Flow::Free);
        it.until(REPLICA, part, "1")?;
        it.copied(PRIMARY, before)?;
        it.ask(REPLICA, "DBSIZE")?;
    }
    Ok(it.seen)
}

fn promote(town: &mut dyn FailoverBackend) -> Result<Observed, VerifyError> {
    let mut it = Witness::of(town);
    it.ask(PRIMARY, "SET lock mine PX 60000")?;
    it.ask(PRIMARY, "INCR token")?;
    it.until(REPLICA, "token", "1")?;
    it.ask(REPLICA, "REPLICAOF NO ONE")?;
    it.ask(REPLICA, "SET lock another NX")?;
    let before = it.town.copied(REPLICA)?;
    // It has written nothing of its own since: what it has is the beginning of what the other one has.
    let answer = text(it.town.follow(PRIMARY, REPLICA)?);
    it.note("REPLICAOF", answer);
    it.ask(REPLICA, "INCR token")?;
    it.until(PRIMARY, "token", "2")?;
    it.copied(REPLICA, before)?;
    it.ask(PRIMARY, "INCR token")?;
    // Now both write, and one of them has to give up what it has.
    it.ask(PRIMARY, "REPLICAOF NO ONE")?;
    it.ask(PRIMARY, "INCR token")?;
    it.ask(PRIMARY, "INCR token")?;
    it.ask(PRIMARY, "SET alone 1")?;
    it.ask(REPLICA, "INCR token")?;
    it.ask(REPLICA, "SET other 1")?;
    let before = it.town.copied(REPLICA)?;
    let answer = text(it.town.follow(PRIMARY, REPLICA)?);
    it.note("REPLICAOF", answer);
    it.until(PRIMARY, "other", "1")?;
    it.copied(REPLICA, before)?;
    it.ask(PRIMARY, "GET alone")?;
    it.ask(PRIMARY, "GET token")?;
    it.ask(PRIMARY, "SET alone 2")?;
    Ok(it.seen)
}

fn restart(town: &mut dyn FailoverBackend) -> Result<Observed, VerifyError> {
    let mut it = Witness::of(town);
    it.ask(PRIMARY, "SET lock mine PX 60000")?;
    it.ask(PRIMARY, "SET brief mine PX 3000")?;
    it.ask(PRIMARY, "INCR token")?;
    it.pass(2_500)?;
    it.ask(PRIMARY, "SET late 1")?;
    it.until(REPLICA, "late", "1")?;
    it.town.kill(PRIMARY);
    it.pass(1_000)?;
    it.town.restart(PRIMARY)?;
    it.town.connect(PRIMARY)?;
    for line in [
        "GET lock",
        "GET brief",
        "GET late",
        "INCR token",
        "SET new 1",
    ] {
        it.ask(PRIMARY, line)?;
    }
    it.until(REPLICA, "new", "1")?;
    it.copied(PRIMARY, (0, 0))?;
    for line in ["GET lock", "GET brief", "GET late", "GET token"] {
        it.ask(REPLICA, line)?;
    }
    Ok(it.seen)
}
