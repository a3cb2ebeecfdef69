//! Faults and triggers, each with an example as a scenario file writes it.

/// A thing and how to write it.
pub struct Example {
    /// Its name.
    pub name: &'static str,
    /// What it is, one sentence.
    pub meaning: &'static str,
    /// A line of a `[[fault]]`.
    pub example: &'static str,
}

const fn row(name: &'static str, meaning: &'static str, example: &'static str) -> Example {
    Example {
        name,
        meaning,
        example,
    }
}

/// What can break, in the order of the format.
pub const FAULTS: &[Example] = &[
    row(
        "pause",
        "The contender's process stands still, as in a garbage collection.",
        r#"inject.pause = { target = "contender-1", for = "20s" }"#,
    ),
    row(
        "block-events",
        "A callback of the contender does not return: events wait, all else goes on (ZooKeeper).",
        r#"inject.block-events = { target = "contender-1", for = "20s" }"#,
    ),
    row(
        "crash",
        "The contender's process dies: for good, unless it comes back, with nothing in memory.",
        r#"inject.crash = { target = "contender-1", restart-after = "5s" }"#,
    ),
    row(
        "cancel",
        "The contender drops its pending acquire at the await point where it is.",
        r#"inject.cancel = { target = "contender-2" }"#,
    ),
    row(
        "expire-session",
        "The service closes the contender's session, as if it had not heard from it.",
        r#"inject.expire-session = { target = "contender-1" }"#,
    ),
    row(
        "cut",
        "The contender's connection breaks, and both sides learn of it at once.",
        r#"inject.cut = { target = "contender-1" }"#,
    ),
    row(
        "black-hole",
        "Nothing gets through between the contender and the service, and nobody is told.",
        r#"inject.black-hole = { target = "contender-1", direction = "to-server", for = "20s" }"#,
    ),
    row(
        "slow-link",
        "Every message between the contender and the service takes longer.",
        r#"inject.slow-link = { target = "contender-1", by = "200ms", for = "20s" }"#,
    ),
    row(
        "lose-request",
        "The request that the trigger speaks of never arrives: the connection breaks under it.",
        r#"inject.lose-request = { target = "contender-1" }"#,
    ),
    row(
        "lose-reply",
        "The answer that the trigger speaks of is lost: the connection breaks under it.",
        r#"inject.lose-reply = { target = "contender-1" }"#,
    ),
    row(
        "swallow-reply",
        "The answer that the trigger speaks of never comes, and its connection stays (ZooKeeper).",
        r#"inject.swallow-reply = { target = "contender-1" }"#,
    ),
    row(
        "lose-message",
        "The message of a channel that the trigger speaks of is lost, and nobody is told (Redis).",
        r#"inject.lose-message = { target = "contender-1" }"#,
    ),
    row(
        "delay-request",
        "The request that the trigger speaks of is held up, and all that follow it.",
        r#"inject.delay-request = { target = "contender-1", by = "200ms" }"#,
    ),
    row(
        "delay-reply",
        "The answer that the trigger speaks of is held up, and all that follow it.",
        r#"inject.delay-reply = { target = "contender-1", by = "200ms" }"#,
    ),
    row(
        "clock-jump",
        "The contender's wall clock jumps, forward or back.",
        r#"inject.clock-jump = { target = "contender-1", by = "-5s" }"#,
    ),
    row(
        "clock-drift",
        "The contender's clocks run fast, or slow if negative, for three times a lease or session, or `for` so long.",
        r#"inject.clock-drift = { target = "contender-1", parts-per-million = 200 }"#,
    ),
    row(
        "crash-server",
        "The server dies: for good, unless it comes back, with what was safe on its disk.",
        r#"inject.crash-server = { target = "leader", restart-after = "5s" }"#,
    ),
    row(
        "power-loss",
        "The server's machine loses its power, for good or not: what is not on its disk is lost, untold (Redis).",
        r#"inject.power-loss = { target = "server-1", restart-after = "5s" }"#,
    ),
    row(
        "hang-server",
        "The server stands still, and its connections stay open.",
        r#"inject.hang-server = { target = "follower-1", for = "20s" }"#,
    ),
    row(
        "isolate-server",
        "The server is cut off from the other servers, and clients still reach it.",
        r#"inject.isolate-server = { target = "server-of-contender-1", for = "20s" }"#,
    ),
    row(
        "partition",
        "The network falls in two: these servers and contenders have each other, and not the others.",
        r#"inject.partition = { servers = ["server-1"], contenders = ["contender-1"], for = "20s" }"#,
    ),
    row(
        "hold-link",
        "Messages from some servers to another wait, and go on in order when it is over.",
        r#"inject.hold-link = { from = ["follower-1"], to = "leader", for = "5s" }"#,
    ),
    row(
        "lag-server",
        "The server learns of commits later.",
        r#"inject.lag-server = { target = "follower-1", by = "200ms", for = "20s" }"#,
    ),
    row(
        "slow-disk",
        "Log writes of the server take long.",
        r#"inject.slow-disk = { target = "leader", fsync = "200ms", for = "20s" }"#,
    ),
    row(
        "server-clock-jump",
        "The server's wall clock jumps (Redis: keys expire by it).",
        r#"inject.server-clock-jump = { target = "server-1", by = "40s" }"#,
    ),
    row(
        "promote",
        "The replica becomes the primary, as in a failover, with what it has heard so far (Redis).",
        r#"inject.promote = { target = "server-2" }"#,
    ),
    row(
        "full-memory",
        "The server uses all the memory that it may, and refuses what could take more: OOM (Redis).",
        r#"inject.full-memory = { target = "server-1", for = "20s" }"#,
    ),
    row(
        "full-disk",
        "Nothing can be written to the disk of the server, and it refuses to write: MISCONF (Redis).",
        r#"inject.full-disk = { target = "server-1", for = "20s" }"#,
    ),
    row(
        "move-slot",
        "The slot of the lock's key moves to another primary, its keys one by one: ASK, then MOVED (Redis Cluster).",
        r#"inject.move-slot = { to = "server-1", for = "4s" }"#,
    ),
    row(
        "evict-key",
        "The lock's key goes from the server: evicted, or deleted by an operator (Redis).",
        r#"inject.evict-key = { target = "server-1" }"#,
    ),
    row(
        "delete-node",
        "An operator deletes a contender's node in the queue.",
        r#"inject.delete-node = { of = "contender-2" }"#,
    ),
    row(
        "recreate-lock",
        "An operator deletes the lock's own node with all below it, and makes it anew.",
        "inject.recreate-lock = {}",
    ),
];

/// What a fault can wait for, in the order of the format.
pub const TRIGGERS: &[Example] = &[
    row("at", "The run has lasted this long.", r#"when.at = "2s""#),
    row(
        "acquiring",
        "A contender calls acquire; for the nth time, if that is given.",
        r#"when.acquiring = { by = "contender-1" }"#,
    ),
    row(
        "queued",
        "The service has put a contender in the queue, first in it or not.",
        r#"when.queued = { by = "contender-3" }"#,
    ),
    row(
        "waiting",
        "A contender has found that another is ahead of it.",
        r#"when.waiting = { by = "contender-2" }"#,
    ),
    row(
        "acquired",
        "A contender's acquire has returned the lock.",
        r#"when.acquired = { by = "contender-1", nth = 2 }"#,
    ),
    row(
        "writing",
        "A contender is about to send a write to the resource.",
        r#"when.writing = { by = "contender-1" }"#,
    ),
    row(
        "releasing",
        "A contender calls release.",
        r#"when.releasing = { by = "contender-1" }"#,
    ),
    row(
        "released",
        "A contender's release has returned.",
        r#"when.released = { by = "contender-1" }"#,
    ),
    row(
        "sent",
        "A contender's client puts a request on the wire.",
        r#"when.sent = { request = "create", by = "contender-1" }"#,
    ),
    row(
        "proposed",
        "The leader has proposed a contender's write to its followers.",
        r#"when.proposed = { request = "create", by = "contender-1" }"#,
    ),
    row(
        "committed",
        "A contender's write is committed.",
        r#"when.committed = { request = "delete", by = "contender-1" }"#,
    ),
    row(
        "answered",
        "A server sends the answer to a contender's request.",
        r#"when.answered = { request = "create", by = "contender-1" }"#,
    ),
    row(
        "streamed",
        "The primary has sent its replicas what a contender's request changed (Redis).",
        r#"when.streamed = { request = "set", by = "contender-1" }"#,
    ),
    row(
        "applied",
        "A contender's write has come to a server that follows.",
        r#"when.applied = { request = "create", by = "contender-1", at = "server-2" }"#,
    ),
    row(
        "told",
        "A server sends a contender a message of a channel (Redis).",
        r#"when.told = { by = "contender-1" }"#,
    ),
    row(
        "session-expired",
        "The service has expired a contender's session (ZooKeeper).",
        r#"when.session-expired = { by = "contender-1" }"#,
    ),
    row(
        "disconnected",
        "A contender's client has lost its connection, or given it up (ZooKeeper).",
        r#"when.disconnected = { by = "contender-1" }"#,
    ),
    row(
        "reconnected",
        "A contender's client is connected again, in the same session (ZooKeeper).",
        r#"when.reconnected = { by = "contender-1" }"#,
    ),
    row(
        "session-lost",
        "A contender's client has learned that its session is gone (ZooKeeper).",
        r#"when.session-lost = { by = "contender-1" }"#,
    ),
    row(
        "elected",
        "Another server has come to lead, or to be the primary; for the nth time, if that is given.",
        r#"when.elected = {}"#,
    ),
    row(
        "fired",
        "An earlier fault of the file has fired.",
        "when.fired = { fault = 1 }",
    ),
];

#[cfg(test)]
mod tests {
    use crate::scenarios::{Catalogue, Diagnostic, Scenario, parse};

    use super::*;

    /// On ZooKeeper, or, if it is of Redis alone, on Redis, or on a cluster.
    fn read(when: &str, inject: &str) -> Result<Scenario, Vec<Diagnostic>> {
        let on = |service, algorithm| read_on(service, algorithm, when, inject);
        on("zookeeper]\nservers = 3", "zk-predecessor-watch").or_else(|mistakes| {
            let redis = "redis]\nreplicas = 1\npersistence = \"rdb\"";
            let cluster = "redis]\ncluster = { primaries = 3 }";
            let others = [redis, cluster].map(|service| on(service, "redis-compare-and-delete"));
            others
                .into_iter()
                .find(Result::is_ok)
                .unwrap_or(Err(mistakes))
        })
    }

    fn read_on(
        service: &str,
        algorithm: &str,
        when: &str,
        inject: &str,
    ) -> Result<Scenario, Vec<Diagnostic>> {
        let text = format!(
            r#"
claim = "Things break."
because = "They do."
source = "A test"
[service.{service}
[workload]
contenders = 3
[[fault]]
when.at = "1s"
inject.cut = {{ target = "contender-1" }}
[[fault]]
{when}
{inject}
[[case]]
algorithm = "{algorithm}"
"#
        );
        parse("example", &text, &Catalogue::EVERYTHING)
    }

    /// A trigger that suits a fault: one that strikes a request needs one that speaks of a request.
    fn trigger_for(fault: &str) -> &'static str {
        match fault {
            "lose-request" | "delay-request" => {
                r#"when.sent = { request = "create", by = "contender-1" }"#
            }
            "lose-reply" | "swallow-reply" | "delay-reply" => {
                r#"when.answered = { request = "create", by = "contender-1" }"#
            }
            "lose-message" => r#"when.told = { by = "contender-1" }"#,
            _ => r#"when.at = "2s""#,
        }
    }

    #[test]
    fn every_example_can_be_read() {
        for fault in FAULTS {
            let read = read(trigger_for(fault.name), fault.example);
            assert!(read.is_ok(), "{:?}", read.err());
            let inject = format!("inject.{} = ", fault.name);
            assert!(fault.example.starts_with(&inject));
        }
        for trigger in TRIGGERS {
            let read = read(
                trigger.example,
                r#"inject.cut = { target = "contender-1" }"#,
            );
            assert!(read.is_ok(), "{:?}", read.err());
            let when = format!("when.{} = ", trigger.name);
            assert!(trigger.example.starts_with(&when));
        }
    }

    #[test]
    fn nothing_that_can_be_written_is_missing() {
        let names = |rows: &[Example]| {
            let names: Vec<_> = rows.iter().map(|row| row.name).collect();
            names.join(", ")
        };
        let told = |when, inject| {
            let mistakes = read(when, inject).err().unwrap_or_default();
            mistakes[0]
                .help
                .join(" ")
                .replace('`', "")
                .replace(" or ", " ")
        };
        let faults = told(r#"when.at = "2s""#, "inject.xyzxyz = {}");
        assert!(faults.contains(&names(FAULTS)), "{faults}");
        let triggers = told("when.xyzxyz = {}", "inject.recreate-lock = {}");
        assert!(triggers.contains(&names(TRIGGERS)), "{triggers}");
    }
}
