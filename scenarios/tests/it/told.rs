//! Runs that are told to people say what the servers did and found.

use picklock_checker::service_event::{
    DataFound, KeyLoss, KeySource, MessageLoss, Promoter, ServiceEventKind, SyncMode,
};
use picklock_checker::{ContenderId, History, ServerId};
use picklock_scenarios::runner::{self, told_again};
use picklock_scenarios::{BUILT_IN, Case, Catalogue, parse};

const A: ContenderId = ContenderId(0);

fn library(scenario: &str, case: &str) -> Case {
    let found = BUILT_IN.iter().find(|(name, _)| *name == scenario);
    let (name, text) = found.expect("it comes with picklock");
    cases(name, text, case)
}

fn cases(name: &str, text: &str, case: &str) -> Case {
    let parsed = parse(name, text, &Catalogue::EVERYTHING);
    let parsed = parsed.unwrap_or_else(|mistakes| panic!("{}", mistakes[0]));
    let mut cases = parsed.cases.into_iter();
    cases
        .find(|found| found.name == case)
        .expect("found is there")
}

/// A run of which servers tell, which is the same run as if they did not.
fn told(case: &Case) -> History {
    let quiet = runner::simulated(case, 0);
    let told = runner::told(case, 0);
    assert_eq!(told.hash, quiet.hash);
    assert_eq!(told.run.history.events, quiet.run.history.events);
    assert_eq!(quiet.run.history.service, []);
    let again = told_again(&case.plan_for(0), &quiet);
    assert_eq!(again.run.history, told.run.history);
    told.run.history
}

fn has(history: &History, machine: &str, what: impl Fn(&ServiceEventKind) -> bool) -> bool {
    let mut events = history.service.iter();
    events.any(|event| event.machine == machine && what(&event.what))
}

fn on(servers: &[u32]) -> Vec<ServerId> {
    servers.iter().copied().map(ServerId).collect()
}

/// A contender's world on a service, with what else there is.
fn world(service: &str, fault: &str, algorithm: &str) -> Case {
    let text = format!(
        r#"claim = "It is told."
because = "A test wants to know."
source = "Here"

[service.{service}

[workload]
contenders = 2
arrive = "in-order"
hold = "5s"

{fault}

[[case]]
algorithm = "{algorithm}"
expect.mutual-exclusion.unchecked = {{ because = "it is not the point" }}
expect.exclusive-ownership.unchecked = {{ because = "it is not the point" }}
"#
    );
    cases("redis/test", &text, algorithm)
}

#[test]
fn a_failover_by_sentinels_says_who_decided_and_who_had_the_key() {
    let history = told(&library(
        "redis/sentinel-failover",
        "redis-compare-and-delete",
    ));
    let set = |what: &ServiceEventKind| match what {
        ServiceEventKind::KeySet { of, by, holders } => {
            (*of, *by) == (A, KeySource::Client) && holders.on == on(&[0]) && holders.of == 3
        }
        _ => false,
    };
    assert!(has(&history, "server-1", set));
    let logs = |line: &str| {
        history.service.iter().any(|event| match &event.what {
            ServiceEventKind::SentinelLog { line: logged, .. } => {
                logged == line && event.machine.starts_with("sentinel-")
            }
            _ => false,
        })
    };
    assert!(logs("+sdown master mymaster server-1 6379"));
    assert!(logs("+odown master mymaster server-1 6379 #quorum 2/2"));
    let elected = [
        "+elected-leader master mymaster server-1 6379",
        "+failover-state-select-slave master mymaster server-1 6379",
        "+selected-slave slave server-3:6379 server-3 6379 @ mymaster server-1 6379",
        "+failover-state-send-slaveof-noone slave server-3:6379 server-3 6379 @ mymaster server-1 6379",
        "+failover-state-wait-promotion slave server-3:6379 server-3 6379 @ mymaster server-1 6379",
        "+promoted-slave slave server-3:6379 server-3 6379 @ mymaster server-1 6379",
        "+failover-state-reconf-slaves master mymaster server-1 6379",
    ];
    assert!(elected.into_iter().all(logs));
    let promoted = "slave server-3:6379 server-3 6379 @ mymaster server-1 6379";
    assert!(logs(&format!(
        "-role-change {promoted} new reported role is master"
    )));
    let from_leader = |what: &ServiceEventKind| match what {
        ServiceEventKind::SentinelLog { line, .. } => {
            line.starts_with("+config-update-from sentinel ")
                && line.ends_with(" sentinel-3 26379 @ mymaster server-1 6379")
        }
        _ => false,
    };
    assert!(has(&history, "sentinel-1", from_leader));
    assert!(logs("+switch-master mymaster server-1 6379 server-3 6379"));
    assert!(logs("+failover-end master mymaster server-1 6379"));
    let by_sentinel = |what: &ServiceEventKind| match what {
        ServiceEventKind::Promoted { by, key_of: None } => {
            matches!(by, Promoter::Sentinel { name, epoch: 1 } if name.starts_with("sentinel-"))
        }
        _ => false,
    };
    assert!(has(&history, "server-3", by_sentinel));
}

/// A primary that stood still gives the lock away although it was replaced. Ten seconds later it is told to follow.
#[test]
fn a_primary_that_was_replaced_says_what_it_throws_away() {
    let name = "redis/sentinel-resumed-primary";
    let found = BUILT_IN.iter().find(|(known, _)| *known == name);
    let (_, text) = found.expect("it comes with picklock");
    let longer = text.replace("hold = \"3s\"", "hold = \"12s\"");
    let history = told(&cases(name, &longer, "redis-compare-and-delete"));
    let follows = |what: &ServiceEventKind| match what {
        ServiceEventKind::Demoted { follows } => follows.as_deref() == Some("server-3"),
        _ => false,
    };
    assert!(has(&history, "server-1", follows));
    // Its SET alone: what Sentinels say in the stream is no write.
    let discards = ServiceEventKind::FullSync {
        primary: ServerId(2),
        discarded: Some(1),
        discarded_key_of: Some(ContenderId(1)),
    };
    assert!(has(&history, "server-1", |what| *what == discards));
    let gone = |what: &ServiceEventKind| match what {
        ServiceEventKind::KeyGone { of, why, .. } => {
            (*of, *why) == (ContenderId(1), KeyLoss::Resynchronised)
        }
        _ => false,
    };
    assert!(has(&history, "server-1", gone));
    let continues = ServiceEventKind::PartialSync {
        primary: ServerId(2),
    };
    assert!(has(&history, "server-2", |what| *what == continues));
}

#[test]
fn an_operator_and_a_cluster_promote_too() {
    let history = told(&library("redis/failover", "redis-compare-and-delete"));
    let promoted = |what: &ServiceEventKind, expected: &Promoter| match what {
        ServiceEventKind::Promoted { by, key_of: None } => by == expected,
        _ => false,
    };
    let operator = |what: &ServiceEventKind| promoted(what, &Promoter::Operator);
    assert!(has(&history, "server-2", operator));
    let history = told(&library(
        "redis/cluster-failover",
        "redis-compare-and-delete",
    ));
    let election = Promoter::Election { epoch: 7 };
    let elected = |what: &ServiceEventKind| promoted(what, &election);
    assert!(has(&history, "server-5", elected));
    let failed = |what: &ServiceEventKind| match what {
        ServiceEventKind::NodeFailed { node } => *node == ServerId(1),
        _ => false,
    };
    assert!(has(&history, "server-5", failed));
}

#[test]
fn a_server_of_redis_is_back_with_what_its_disk_has() {
    let restarts = |scenario: &str, is_it: &dyn Fn(DataFound, Option<ContenderId>) -> bool| {
        let history = told(&library(scenario, "redis-compare-and-delete"));
        has(&history, "server-1", |what| match what {
            ServiceEventKind::Restarted {
                data,
                without_key_of,
                ..
            } => is_it(*data, *without_key_of),
            _ => false,
        })
    };
    let nothing = |data, without| (data, without) == (DataFound::Nothing, Some(A));
    assert!(restarts("redis/restart", &nothing));
    let aof = |data, without| matches!((data, without), (DataFound::Aof { keys: 1, .. }, None));
    assert!(restarts("redis/restart-aof", &aof));
    let lost = |data, without| {
        let is_aof = matches!(data, DataFound::Aof { keys: 0, up_to, .. } if up_to.micros() == 0);
        is_aof && without == Some(A)
    };
    assert!(restarts("redis/power-loss", &lost));
}

#[test]
fn an_rdb_is_as_old_as_it_is() {
    let crash = r#"[[fault]]
when.acquired = { by = "contender-1" }
after = "3s"
inject.crash-server = { target = "server-1", restart-after = "500ms" }"#;
    let service = "redis]\nlease = \"15s\"\npersistence = \"rdb\"";
    let history = told(&world(service, crash, "redis-compare-and-delete"));
    let never_saved = |what: &ServiceEventKind| match what {
        ServiceEventKind::Restarted { data, .. } => {
            matches!(data, DataFound::Rdb { saved, keys: 0, .. } if saved.micros() == 0)
        }
        _ => false,
    };
    assert!(has(&history, "server-1", never_saved));
}

#[test]
fn a_key_that_goes_says_why() {
    let gone = |case: &Case, expected: KeyLoss| {
        let history = told(case);
        has(&history, "server-1", |what| match what {
            ServiceEventKind::KeyGone { of, why, .. } => (*of, *why) == (A, expected),
            _ => false,
        })
    };
    let crash = r#"[[fault]]
when.acquired = { by = "contender-1" }
inject.crash = { target = "contender-1", restart-after = "20s" }"#;
    let dies = world("redis]\nlease = \"3s\"", crash, "redis-compare-and-delete");
    assert!(gone(&dies, KeyLoss::Expired));
    let evicted = library("redis/eviction", "redis-compare-and-delete");
    assert!(gone(&evicted, KeyLoss::Deleted));
    let empty = library("redis/restart", "redis-compare-and-delete");
    assert!(gone(&empty, KeyLoss::NotOnDisk));
}

#[test]
fn a_server_that_is_down_expires_nothing_and_loads_no_key_that_is_over() {
    let history = told(&library("redis/expired-event", "redis-keyspace-event-only"));
    let gone = |what: &ServiceEventKind| matches!(what, ServiceEventKind::KeyGone { .. });
    assert!(!has(&history, "server-1", gone));
    let empty = |what: &ServiceEventKind| match what {
        ServiceEventKind::Restarted { data, .. } => {
            matches!(
                data,
                DataFound::Aof {
                    keys: 0,
                    expired: 1,
                    ..
                }
            )
        }
        _ => false,
    };
    assert!(has(&history, "server-1", empty));
}

#[test]
fn a_message_that_never_arrives_says_who_published_it_and_why_it_did_not() {
    let history = told(&library("redis/lost-message", "redisson-message-only"));
    let waiter = ContenderId(1);
    let on_channel = |channel: &String| channel == "redisson_lock__channel:{lock:a}";
    let expected = |what: &ServiceEventKind| match what {
        ServiceEventKind::Subscribed { by, channel } => on_channel(channel) && *by == waiter,
        ServiceEventKind::Published { by, channel, to } => {
            on_channel(channel) && *by == Some(A) && *to == [waiter]
        }
        ServiceEventKind::MessageLost { to, channel, why } => {
            on_channel(channel) && (*to, *why) == (waiter, MessageLoss::OnItsWay)
        }
        _ => false,
    };
    let order = |what: &ServiceEventKind| match what {
        ServiceEventKind::Subscribed { .. } => 1,
        ServiceEventKind::Published { .. } => 2,
        _ => 3,
    };
    let found = history.service.iter().map(|event| &event.what);
    let found: Vec<u8> = found.filter(|what| expected(what)).map(order).collect();
    assert_eq!(found, [1, 2, 3]);
}

#[test]
fn a_fault_that_waits_for_a_request_says_at_which_it_strikes() {
    let history = told(&library("incidents/redisson-4871", "redisson-no-latch"));
    let at = "when its 5th script is committed".to_owned();
    assert_eq!(history.fault_requests, [Some(at)]);
    let resent = |what: &ServiceEventKind| match what {
        ServiceEventKind::Resent { by, request } => *by == A && request.starts_with("EVAL "),
        _ => false,
    };
    assert!(has(&history, "server-1", resent));
    let none = told(&library("redis/expired-event", "redis-keyspace-event-only"));
    assert_eq!(none.fault_requests, []);
}

#[test]
fn a_refusal_is_an_error_of_the_server_or_a_refused_connection() {
    let errors = |scenario: &str| {
        let history = told(&library(scenario, "redis-compare-and-delete"));
        let errors = history
            .service
            .into_iter()
            .filter_map(|event| match event.what {
                ServiceEventKind::ErrorReply { error, .. } => Some(error),
                _ => None,
            });
        errors.collect::<std::collections::BTreeSet<String>>()
    };
    assert!(errors("redis/full-memory").contains("OOM"));
    let loading = errors("redis/restart-loading");
    assert!(loading.contains("LOADING") && loading.contains("connection refused"));
}

#[test]
fn a_session_that_a_contender_has_given_up_ends_after_the_next_one_began() {
    let history = told(&library("incidents/curator-498", "curator-mutex"));
    let of = |event: &picklock_checker::ServiceEvent| match &event.what {
        ServiceEventKind::SessionEstablished { session, by } if *by == A => {
            Some((true, session.clone()))
        }
        ServiceEventKind::SessionExpired {
            session,
            of: Some(A),
        } => Some((false, session.clone())),
        _ => None,
    };
    let sessions: Vec<(bool, String)> = history.service.iter().filter_map(of).collect();
    let [(true, old), (true, new), (false, ended)] = sessions.as_slice() else {
        panic!("{sessions:?}");
    };
    assert!(old != new && ended == old, "{sessions:?}");
}

#[test]
fn an_election_says_the_epoch_and_who_led_before() {
    let history = told(&library("zookeeper/leader-crash", "zk-hardened"));
    let leads = |what: &ServiceEventKind| match what {
        ServiceEventKind::Leading { epoch, previous } => {
            (*epoch, *previous) == (2, Some(ServerId(2)))
        }
        _ => false,
    };
    assert!(has(&history, "server-2", leads));
    let follows = |what: &ServiceEventKind| match what {
        ServiceEventKind::Following { leader, epoch } => (*leader, *epoch) == (ServerId(1), 2),
        _ => false,
    };
    assert!(has(&history, "server-1", follows) && has(&history, "server-3", follows));
    let log = |what: &ServiceEventKind| match what {
        ServiceEventKind::Restarted { data, .. } => {
            matches!(data, DataFound::Log { up_to } if up_to >> 32 == 1)
        }
        _ => false,
    };
    assert!(has(&history, "server-3", log));
    let synced = |what: &ServiceEventKind| match what {
        ServiceEventKind::Synced { how, up_to, .. } => *how == SyncMode::Diff && up_to >> 32 == 2,
        _ => false,
    };
    assert!(has(&history, "server-3", synced));
    let fired = |what: &ServiceEventKind| match what {
        ServiceEventKind::WatchFired { event, path, to } => {
            event == "NodeDeleted" && path.starts_with("/locks/a/") && to.is_some()
        }
        _ => false,
    };
    assert!(history.service.iter().any(|event| fired(&event.what)));
}

/// The leader logs a proposal that no follower hears of, and others lead meanwhile.
#[test]
fn a_leader_that_was_cut_off_forgets_what_only_it_had() {
    let isolate = r#"[[fault]]
when.sent = { request = "create", by = "contender-2" }
inject.partition = { servers = ["leader"], contenders = ["contender-2"], for = "15s" }"#;
    let case = world("zookeeper]\nservers = 3", isolate, "zk-hardened");
    let mut truncated = Vec::new();
    for event in told(&case).service {
        if let ServiceEventKind::Synced {
            how: SyncMode::Trunc,
            truncated: lost,
            ..
        } = event.what
        {
            assert_eq!(event.machine, "server-3");
            truncated.extend(lost);
        }
    }
    assert!(
        truncated.iter().any(|txn| txn.contains("create /locks/a/")),
        "{truncated:?}"
    );
}

#[test]
fn a_session_that_ends_is_named_with_its_leader() {
    let crash = r#"[[fault]]
when.acquired = { by = "contender-1" }
inject.crash = { target = "contender-1", restart-after = "60s" }"#;
    let case = world("zookeeper]\nservers = 3", crash, "zk-hardened");
    let expired = |what: &ServiceEventKind| match what {
        ServiceEventKind::SessionExpired { session, of } => {
            session.starts_with("0x") && *of == Some(A)
        }
        _ => false,
    };
    assert!(has(&told(&case), "server-3", expired));
}

#[test]
fn the_lease_server_forgets_nothing() {
    let history = told(&library("lease-server/restart", "lease-lock"));
    let all = |what: &ServiceEventKind| match what {
        ServiceEventKind::Restarted { data, .. } => *data == DataFound::Everything,
        _ => false,
    };
    assert!(has(&history, "server-1", all));
}
