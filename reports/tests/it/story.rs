//! Reports on single runs.

use crate::common;

use std::fmt::Write;
use std::time::Duration;

use common::{history, story, two_inside, witness};
use insta::assert_snapshot;
use picklock_checker::outcome::{ShrunkRun, Story};
use picklock_checker::service_event::{KeyHolders, KeySource, Promoter};
use picklock_checker::{
    ContenderId, ServerId, ServiceEvent, ServiceEventKind, VirtualTime, Vocabulary,
};
use picklock_reports::style::Style;
use picklock_reports::timeline::Detail;

const STYLE: Style = Style {
    color: false,
    ascii: false,
    width: None,
};

fn essential(told: &Story) -> String {
    picklock_reports::story::story(told, Detail::Essential, &STYLE)
}

fn widest(text: &str) -> usize {
    let widths = text.lines().map(|line| line.chars().count());
    widths.max().unwrap_or(0)
}

#[test]
fn a_deadlock_names_who_waits_for_what() {
    let history = history(
        3,
        &["lose the reply to contender-1's create"],
        "0      acquire 1
         3      queued 1 0
         3      fault 1
         1003   disconnected 1
         1200   reconnected 1
         1210   queued 1 1
         1300   acquire 2
         1304   queued 2 2
         20000  healed 1
         20000  calm
         80000  bound
         80000  waits 1 0 1
         80000  waits 2 1 1",
    );
    let argument = [
        ("then", "in the calm every waiter gets the lock within 60 s"),
        (
            "however",
            "contender-1 waits for lock-0000000000, which is its own",
        ),
    ];
    let summary = "2 contenders still wait after 60 s of calm; contender-1 waits for itself";
    let told = witness(80_000, summary, &[1, 5, 9, 11, 12], &argument);
    assert_snapshot!(essential(&story("progress", told, history)));
}

#[test]
fn a_stale_write_is_seen_at_the_resource_and_not_in_belief() {
    let history = history(
        2,
        &["pause contender-1 for 20s"],
        "0      acquire 1
         5      enters 1 33
         6      writing 1 33
         6      fault 1
         6      paused 1
         100    acquire 2
         10006  expired 1
         10010  enters 2 34
         10020  writing 2 34
         10022  accepted 2 34 5 4
         10030  leaves 2
         20006  resumes 1
         20009  accepted 1 33 4 3
         20020  lost 1",
    );
    let argument = [
        (
            "then",
            "the resource accepted token 34 of contender-2 at 10.022 s",
        ),
        (
            "however",
            "The resource accepted token 33 of contender-1 at 20.009 s",
        ),
    ];
    let summary = "contender-1 writes with token 33 after contender-2 wrote with token 34";
    let told = witness(20_009, summary, &[9, 12], &argument);
    assert_snapshot!(essential(&story("no-stale-effect", told, history)));
}

/// The record of it comes when the belief ends.
#[test]
fn since_when_it_could_have_known_stands_at_that_time() {
    let history = |since: u64| {
        let lines = format!(
            "0      acquire 1
             4      owns 1 1
             8      enters 1
             10000  disowned 1 1
             20000  acquire 2
             20004  owns 2 2
             20008  enters 2
             40000  knew 1 {since}
             40000  leaves 1
             50000  leaves 2"
        );
        history(2, &[], &lines)
    };
    let mut told = witness(30_500, "it went on believing", &[0, 2, 3, 7, 8], &[]);
    let late = story("timely-loss", told.clone(), history(30_000));
    assert_snapshot!(essential(&late));
    let full = picklock_reports::story::story(&late, Detail::Full, &STYLE);
    let place =
        |text: &str, what: &str| text.find(what).unwrap_or_else(|| panic!("{what}: {text}"));
    assert!(place(&full, "20.008 s") < place(&full, "30.000 s  ┃"));
    assert_eq!(full.matches("could have known").count(), 1);
    // A contender cannot lose what it has not got yet.
    let early = essential(&story("timely-loss", told.clone(), history(2)));
    assert!(
        early.contains("   0.008 s  ┃         A could have known since 0.002 s"),
        "{early}"
    );
    assert!(early.contains("expired   ◀ believes too long"), "{early}");
    // An overlap breaks where the second enters.
    told.overlap = Some(Duration::from_secs(20));
    told.at = VirtualTime::from_micros(20_008_000);
    told.events.extend([6]);
    told.events.sort_unstable();
    let overlap = essential(&story("mutual-exclusion", told, history(30_000)));
    assert!(overlap.contains("enters  ◀ both inside"), "{overlap}");
}

#[test]
fn a_run_without_a_violation_can_be_looked_at() {
    let mut told = two_inside();
    told.violated = None;
    assert_snapshot!(essential(&told));
}

#[test]
fn an_election_is_told_in_words_of_its_own() {
    let mut told = two_inside();
    told.history.vocabulary = Vocabulary::Election;
    let text = essential(&told);
    for words in ["volunteers", "leads", "steps down", "2 lead"] {
        assert!(text.contains(words), "{words}: {text}");
    }
    for words in ["acquire", "enters", "leaves", "owns it"] {
        assert!(!text.contains(words), "{words}: {text}");
    }
}

#[test]
fn a_barrier_is_told_in_words_of_its_own() {
    let mut told = two_inside();
    told.violated = None;
    told.history = history(
        2,
        &[],
        "1 acquire 1\n2 acquire 2\n3 enters 1 1\n3 enters 2 2\n5 leaves 1\n7 leaves 2\n9 released 1\n9 released 2\n",
    );
    told.history.vocabulary = Vocabulary::DoubleBarrier;
    let text = essential(&told);
    for words in ["comes", "enters", "is done", "leaves"] {
        assert!(text.contains(words), "{words}: {text}");
    }
    for words in ["acquire", "released"] {
        assert!(!text.contains(words), "{words}: {text}");
    }
}

#[test]
fn a_full_report_shows_every_event() {
    let text = picklock_reports::story::story(&two_inside(), Detail::Full, &STYLE);
    assert_snapshot!(text);
}

#[test]
fn a_full_report_of_many_contenders_is_a_list() {
    let mut lines = String::new();
    for contender in 1..=9 {
        writeln!(lines, "{contender} acquire {contender}").unwrap();
        writeln!(lines, "{contender} enters {contender} {contender}").unwrap();
        writeln!(lines, "{contender} leaves {contender}").unwrap();
    }
    let mut told = two_inside();
    told.violated = None;
    told.history = history(9, &[], &lines);
    let text = picklock_reports::story::story(&told, Detail::Full, &STYLE);
    assert_snapshot!(text);
}

/// Many rounds of many contenders, and one overlap at the end.
fn long() -> Story {
    let mut lines = Vec::new();
    let mut now = 0;
    for round in 1..=20 {
        for contender in 1..=8 {
            lines.push(format!("{now} acquire {contender}"));
            lines.push(format!("{} enters {contender} {round}", now + 2));
            lines.push(format!("{} leaves {contender}", now + 5));
            now += 10;
        }
    }
    let events = lines.len();
    lines.push(format!("{now} acquire 7"));
    lines.push(format!("{} enters 7 100", now + 1));
    for hiccup in 0..30 {
        lines.push(format!("{} disconnected 7", now + 10 + hiccup));
        lines.push(format!("{} reconnected 7", now + 10 + hiccup));
    }
    lines.push(format!("{} acquire 8", now + 50));
    lines.push(format!("{} enters 8 101", now + 60));
    lines.push(format!("{} leaves 7", now + 70));
    let argument = [
        ("then", "contender-7 is inside"),
        ("however", "contender-8 enters"),
    ];
    let told = witness(
        now + 60,
        "contender-7 and contender-8 both inside for 10 ms",
        &[events + 1, events + 63, events + 64],
        &argument,
    );
    story("mutual-exclusion", told, history(8, &[], &lines.join("\n")))
}

#[test]
fn a_long_run_is_cut_to_what_matters() {
    assert_snapshot!(essential(&long()));
}

#[test]
fn five_lanes_fit_and_more_contenders_are_only_counted() {
    let mut lines = String::new();
    for contender in 1..=9 {
        writeln!(lines, "{contender} acquire {contender}").unwrap();
        writeln!(lines, "{contender} queued {contender} {contender}").unwrap();
    }
    writeln!(lines, "10 fault 1\n10 crashed 1\n20000 calm\n80000 bound").unwrap();
    let start = lines.lines().count();
    for contender in 2..=9 {
        writeln!(lines, "80000 waits {contender} 1 1").unwrap();
    }
    let events: Vec<usize> = (start..start + 8).collect();
    let argument = [
        ("then", "every waiter gets the lock within 60 s of calm"),
        (
            "however",
            "contender-2, contender-3, and 6 others wait for lock-0000000001 of contender-1, which \
             has crashed and left it behind for everybody who comes after it",
        ),
    ];
    let told = witness(
        80_000,
        "8 contenders still wait after 60 s of calm",
        &events,
        &argument,
    );
    let faults = ["crash contender-1 right after its create is applied"];
    let text = essential(&story("progress", told, history(9, &faults, &lines)));
    assert!(widest(&text) <= 100, "{} columns", widest(&text));
    assert_snapshot!(text);
}

#[test]
fn an_empty_history_is_no_reason_to_panic() {
    let told = witness(0, "nothing is known", &[3, 9], &[]);
    let text = essential(&story("progress", told, history(0, &[], "")));
    assert_snapshot!(text);
}

#[test]
fn every_event_has_words() {
    let mut told = two_inside();
    told.violated = None;
    told.history = history(
        2,
        &["cancel contender-1's acquire", "pause contender-2 for 5ms"],
        "0  acquire 1
         1  cancelled 1
         1  fault 1
         2  acquire 1
         3  fails 1
         4  acquire 1
         5  queued 1 0
         6  owns 1 1
         7  enters 1 1
         8  acquire 1
         9  enters 1 2
         10 leaves 1
         11 released 1
         12 writing 1 1
         13 rejected 1 1 4 4
         14 disconnected 1
         15 reconnected 1
         16 acquire 2
         16 fault 2
         16 paused 2
         17 resumes 2
         18 healed 2
         19 expired 1
         20 disowned 1 1
         21 unqueued 1 0
         22 crashed 1
         23 restarts 1
         24 enters 2
         25 lost 2
         26 calm
         27 bound
         27 waits 1
         27 leftover 2 3",
    );
    let text = picklock_reports::story::story(&told, Detail::Full, &STYLE);
    assert_snapshot!(text);
}

#[test]
fn with_several_locks_each_event_names_its_own() {
    let mut told = two_inside();
    told.history.locks.push("orders".to_owned());
    let text = essential(&told);
    let enters: Vec<&str> = text
        .lines()
        .filter(|line| line.contains("enters"))
        .collect();
    assert_snapshot!(enters.join("\n"));
    // What the service says is in no lane.
    let text = picklock_reports::story::story(&told, Detail::Full, &STYLE);
    let mut queues = text.lines().filter(|line| line.contains(" queues: "));
    assert!(queues.clone().count() > 0, "{text}");
    assert!(queues.all(|line| line.contains("stock: ")), "{text}");
}

#[test]
fn a_shrunk_run_says_so_and_how_to_keep_it() {
    let mut told = two_inside();
    told.smaller = Some(ShrunkRun {
        is_other: true,
        sizes: "5 contenders to 3, 4 faults to 1, 118 events to 8".to_owned(),
        keep: Some("picklock shrink zookeeper/waiter-death --seed 4127".to_owned()),
        events: 8,
        shape: Vec::new(),
        needs: vec!["without fault 1: holds in 200 of 200 runs".to_owned()],
    });
    told.why = Some("picklock why zookeeper/waiter-death --seed 4127".to_owned());
    let text = essential(&told);
    assert!(text.contains("\n    without fault 1: holds in 200 of 200 runs\n"));
    assert!(text.contains("\n  shrunk: 5 contenders to 3, 4 faults to 1, 118 events to 8\n"));
    let end: Vec<&str> = text.lines().rev().take(4).collect();
    assert_eq!(end[3], "  Hash     00c0ffee0badf00d, of the shrunk run");
    assert_eq!(
        end[1],
        "  Why      picklock why zookeeper/waiter-death --seed 4127"
    );
    assert_eq!(
        end[2],
        "  Keep     picklock shrink zookeeper/waiter-death --seed 4127"
    );
    assert!(end[0].starts_with("  Replay   picklock replay "));
}

/// What servers did, one after the other: before how many events, which machine, what.
fn with_service(told: &mut Story, events: Vec<(usize, &str, ServiceEventKind)>) {
    for (after, machine, what) in events {
        let next = told
            .history
            .events
            .get(after.min(told.history.events.len() - 1));
        told.history.service.push(ServiceEvent {
            at: next.expect("there are events").at,
            after,
            machine: machine.to_owned(),
            what,
        });
    }
}

fn holders(on: &[u32]) -> KeyHolders {
    KeyHolders {
        on: on.iter().copied().map(ServerId).collect(),
        of: 3,
    }
}

/// A failover in the middle of a hold: a Sentinel promotes a replica that never had the key.
fn failover() -> Story {
    let history = history(
        2,
        &["crash-server server-1 for good", "cut contender-2"],
        "0     acquire 1
         5     owns 1 1
         8     enters 1
         20    acquire 2
         1000  fault 1
         1000  promoted 2
         1200  owns 2 2
         1210  enters 2
         1300  calm
         5000  leaves 1
         6000  leaves 2",
    );
    let argument = [
        ("then", "contender-1 is inside until 5.000 s"),
        ("however", "contender-2 is inside from 1.210 s"),
    ];
    let mut told = witness(1_210, "both inside", &[2, 7, 9], &argument);
    told.overlap = Some(std::time::Duration::from_millis(3_790));
    let mut story = story("mutual-exclusion", told, history);
    let log = |event: &str, line: &str| ServiceEventKind::SentinelLog {
        event: event.to_owned(),
        line: format!("{event} {line}"),
    };
    let set = |of, on: &[u32]| ServiceEventKind::KeySet {
        of: ContenderId(of),
        by: KeySource::Client,
        holders: holders(on),
    };
    let by = Promoter::Sentinel {
        name: "sentinel-1".to_owned(),
        epoch: 1,
    };
    let odown = "master mymaster server-1 6379";
    with_service(
        &mut story,
        vec![
            (1, "server-1", set(0, &[0])),
            (5, "sentinel-1", log("+sdown", odown)),
            (5, "sentinel-1", log("+odown", odown)),
            (5, "sentinel-2", log("+odown", odown)),
            (
                5,
                "server-2",
                ServiceEventKind::Promoted { by, key_of: None },
            ),
            (6, "server-2", set(1, &[1])),
            (7, "server-3", set(1, &[1, 2])),
        ],
    );
    story
}

#[test]
fn a_failover_is_told_as_sentinels_log_it_and_why_the_key_was_gone() {
    assert_snapshot!(essential(&failover()));
}

#[test]
fn a_full_report_shows_what_every_server_did() {
    let text = picklock_reports::story::story(&failover(), Detail::Full, &STYLE);
    assert!(
        text.contains("sentinel-1: +sdown master mymaster"),
        "{text}"
    );
    assert_eq!(text.matches("+odown").count(), 2, "{text}");
    // What the history knows is said once.
    assert_eq!(text.matches("server-2 is promoted").count(), 1, "{text}");
}

#[test]
fn who_waits_for_a_watch_that_is_lost_is_told_so() {
    let history = history(
        2,
        &[],
        "0      acquire 1
         3      queued 1 0
         5      acquire 2
         9      queued 2 1
         100    unqueued 1 0
         80000  bound
         80000  waits 2 1",
    );
    let lost = |event: &str| ServiceEventKind::WatchLost {
        event: event.to_owned(),
        path: "/locks/stock/lock-0000000000".to_owned(),
        to: Some(ContenderId(1)),
    };
    let argument = [("however", "contender-2 still waits")];
    let told = witness(80_000, "contender-2 waits", &[2, 6], &argument);
    let mut with = story("progress", told, history);
    let mut without = with.clone();
    with_service(&mut with, vec![(5, "server-1", lost("NodeDeleted"))]);
    let text = essential(&with);
    let row = "service: NodeDeleted lock-0000000000 of server-1 to B is lost";
    let cause = "  Cause  At 80.000 s, NodeDeleted /locks/stock/lock-0000000000 of server-1 to ";
    assert!(
        text.contains(row) || text.contains(&row.replace("to B", "to A")),
        "{text}"
    );
    assert!(text.contains(cause), "{text}");
    // A watch fired before, and none when it was to.
    let fired = ServiceEventKind::WatchFired {
        event: "NodeCreated".to_owned(),
        path: "/locks/stock/lock-0000000001".to_owned(),
        to: Some(ContenderId(1)),
    };
    with_service(&mut without, vec![(4, "server-1", fired)]);
    without.history.service[0].at = without.history.events[3].at;
    let text = essential(&without);
    assert!(
        text.contains("fired when a node went at 0.100 s, or later."),
        "{text}"
    );
}

#[test]
fn the_calm_says_which_faults_never_struck_and_which_stay() {
    let text = picklock_reports::story::story(&failover(), Detail::Full, &STYLE);
    let words: Vec<&str> = text
        .split_whitespace()
        .filter(|word| *word != "┃")
        .collect();
    let text = words.join(" ");
    let calm = "the calm begins; fault 1 stays for good; fault 2 never struck";
    assert!(text.contains(calm), "{text}");
}

#[test]
fn tasks_of_one_process_are_said_to_be_that() {
    let mut told = two_inside();
    told.history.tasks_per_process = 2;
    let text = essential(&told);
    let of_one = text.matches("a task of process 1").count();
    assert_eq!(of_one, 2, "{text}");
}
