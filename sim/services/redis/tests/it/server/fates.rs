//! What a server says of a key that is observed: why it went, and by which client; and which has written it.

use picklock_redis::{
    Caller, ConnectionId, KeyChanges, KeyRemoval, KeyWriter, Persistence, ProcessEnd,
    RemovalReason, ServerConfig,
};

use crate::server::bench::Bench;
use crate::server::cluster::cluster;
use crate::server::group::Group;

const HOLDER: u32 = 1;
const OTHER: u32 = 2;

fn following(settings: ServerConfig) -> Bench {
    let mut redis = Bench::with(settings);
    redis.machine.follow_key(b"lock");
    redis
}

/// A server whose first client has set the key, for five seconds.
fn locked() -> Bench {
    let mut redis = following(ServerConfig::default());
    redis.on(HOLDER, "SET lock mine PX 5000");
    let written = Some(KeyWriter::Client(caller(HOLDER)));
    assert_eq!(
        redis.machine.key_changes(),
        KeyChanges {
            gone: None,
            written
        }
    );
    redis
}

/// A client whose command is the only one that is run.
fn caller(connection: u32) -> Caller {
    Caller {
        connection: ConnectionId(connection),
        outputs_before: 0,
    }
}

fn gone(why: RemovalReason, serving: Option<u32>) -> Option<KeyRemoval> {
    let serving = serving.map(caller);
    Some(KeyRemoval { why, serving })
}

#[test]
fn a_command_removes_a_key_and_its_caller_and_reason_are_noted() {
    let table = [
        ("DEL lock", RemovalReason::Deleted),
        ("UNLINK other lock", RemovalReason::Deleted),
        ("GETDEL lock", RemovalReason::Deleted),
        (
            "EVAL 'return redis.call(\"DEL\", KEYS[1])' 1 lock",
            RemovalReason::Deleted,
        ),
        ("PEXPIRE lock -1", RemovalReason::Deleted),
        ("RENAME lock other", RemovalReason::Deleted),
        ("FLUSHALL", RemovalReason::Flushed),
        ("SET lock yours", RemovalReason::Overwritten),
        ("RENAME other lock", RemovalReason::Overwritten),
        ("COPY other lock REPLACE", RemovalReason::Overwritten),
    ];
    for (command, why) in table {
        let mut redis = locked();
        redis.on(HOLDER, "SET other thing");
        redis.on(OTHER, command);
        let fate = redis.machine.key_changes();
        assert_eq!(fate.gone, gone(why, Some(OTHER)), "{command}");
        let writer = KeyWriter::Client(caller(OTHER));
        let written = (why == RemovalReason::Overwritten).then_some(writer);
        assert_eq!(fate.written, written, "{command}");
    }
}

#[test]
fn what_is_emptied_is_deleted_and_what_is_changed_is_there() {
    let mut redis = following(ServerConfig::default());
    redis.on(HOLDER, "HSET lock a 1 b 1");
    redis.machine.key_changes();
    redis.on(OTHER, "HDEL lock a");
    let written = Some(KeyWriter::Client(caller(OTHER)));
    let fate = KeyChanges {
        gone: None,
        written,
    };
    assert_eq!(redis.machine.key_changes(), fate);
    redis.on(HOLDER, "HDEL lock b");
    let fate = redis.machine.key_changes();
    assert_eq!(fate.gone, gone(RemovalReason::Deleted, Some(HOLDER)));
}

#[test]
fn nothing_is_noted_of_readers_or_of_other_keys() {
    let mut redis = locked();
    for command in [
        "GET lock",
        "SET other thing",
        "DEL other",
        "SET lock no NX",
        "FOO",
    ] {
        redis.on(OTHER, command);
        assert_eq!(
            redis.machine.key_changes(),
            KeyChanges::default(),
            "{command}"
        );
    }
}

#[test]
fn a_key_whose_time_is_over_has_expired_for_any_command() {
    for command in [
        "GET lock",
        "SET lock yours NX",
        "SET lock yours",
        "DEL lock",
    ] {
        let mut redis = locked();
        redis.pass_unseen(5_001);
        redis.on(OTHER, command);
        let fate = redis.machine.key_changes();
        assert_eq!(
            fate.gone,
            gone(RemovalReason::Expired, Some(OTHER)),
            "{command}"
        );
        let writer = KeyWriter::Client(caller(OTHER));
        let written = command.starts_with("SET").then_some(writer);
        assert_eq!(fate.written, written, "{command}");
    }
}

#[test]
fn a_key_in_its_last_millisecond_goes_by_a_delete_or_by_itself() {
    for (command, why) in [
        ("DEL lock", RemovalReason::Deleted),
        ("GET lock", RemovalReason::Expired),
    ] {
        let mut redis = locked();
        redis.pass_unseen(5_000);
        let answer = redis.on(OTHER, command);
        assert_ne!(answer, "nil");
        let fate = redis.machine.key_changes().gone.expect("it is gone");
        assert_eq!(fate.why, why, "{command}");
    }
}

#[test]
fn a_key_without_a_reader_expires_while_no_command_runs() {
    let mut redis = locked();
    redis.pass(5_001);
    assert_eq!(
        redis.machine.key_changes().gone,
        gone(RemovalReason::Expired, None)
    );
}

#[test]
fn a_command_that_has_waited_is_that_of_its_sender() {
    let mut redis = locked();
    redis.on(3, "CLIENT PAUSE 500 WRITE");
    redis.on(OTHER, "DEL lock");
    assert_eq!(redis.machine.key_changes(), KeyChanges::default());
    redis.pass(600);
    let fate = redis.machine.key_changes();
    assert_eq!(fate.gone, gone(RemovalReason::Deleted, Some(OTHER)));
}

#[test]
fn a_restart_takes_what_is_on_no_disk_and_what_has_expired() {
    let saves = || ServerConfig {
        persistence: Persistence::default_save_points(),
        ..ServerConfig::default()
    };
    let table = [
        (
            ServerConfig::default(),
            ProcessEnd::Kill,
            100,
            gone(RemovalReason::Forgotten, None),
        ),
        (saves(), ProcessEnd::Shutdown, 100, None),
        (
            saves(),
            ProcessEnd::Shutdown,
            6_000,
            gone(RemovalReason::Expired, None),
        ),
    ];
    for (settings, end, millis, expected) in table {
        let mut redis = following(settings);
        redis.on(HOLDER, "SET lock mine PX 5000");
        redis.machine.key_changes();
        redis.pass_unseen(millis);
        redis.restart(end);
        assert_eq!(
            redis.machine.key_changes().gone,
            expected,
            "after {millis} ms"
        );
    }
}

#[test]
fn a_replica_hears_from_its_primary_and_throws_away_what_it_had() {
    let mut group = Group::of(1);
    group.server_mut(1).follow_key(b"lock");
    let fate = |group: &mut Group| group.server_mut(1).key_changes();
    let written = Some(KeyWriter::Peer);
    group.on(0, HOLDER, "SET lock mine");
    assert_eq!(
        fate(&mut group),
        KeyChanges {
            gone: None,
            written
        }
    );
    group.on(0, HOLDER, "DEL lock");
    assert_eq!(fate(&mut group).gone, gone(RemovalReason::Deleted, None));
    // What it was told by a client of its own is nothing to its primary.
    group.on(1, HOLDER, "REPLICAOF NO ONE");
    group.on(1, HOLDER, "SET lock mine");
    fate(&mut group);
    group.on(1, OTHER, "REPLICAOF server 0");
    group.pass(2_000);
    assert_eq!(
        fate(&mut group).gone,
        gone(RemovalReason::Synchronised, None)
    );
}

#[test]
fn a_migrated_key_is_gone_and_has_no_writer_at_its_new_node() {
    let mut group = cluster(3, 0, 0);
    group.on(0, 1, "SET {b}1 here");
    for node in [0, 1] {
        group.server_mut(node).follow_key(b"{b}1");
    }
    let ids = [0, 1].map(|node| group.on(node, 1, "CLUSTER MYID"));
    group.on(1, 9, &format!("CLUSTER SETSLOT 3300 IMPORTING {}", ids[0]));
    group.on(0, 9, &format!("CLUSTER SETSLOT 3300 MIGRATING {}", ids[1]));
    group.on(0, OTHER, "MIGRATE server 1 {b}1 0 1000");
    let by = group.connections[&(0, OTHER)].0;
    let [source, target] = [0, 1].map(|node| group.server_mut(node).key_changes());
    assert_eq!(source.gone, gone(RemovalReason::Migrated, Some(by)));
    let written = Some(KeyWriter::Peer);
    assert_eq!(
        target,
        KeyChanges {
            gone: None,
            written
        }
    );
}
