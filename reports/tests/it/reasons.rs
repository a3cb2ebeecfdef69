//! What a report says of why a contender waits in vain.

use crate::common;

use common::{history, story, two_inside, witness};
use picklock_checker::service_event::MessageLoss;
use picklock_checker::{ContenderId, ServiceEvent, ServiceEventKind, VirtualTime};
use picklock_reports::style::Style;
use picklock_reports::timeline::Detail;

const STYLE: Style = Style {
    color: false,
    ascii: false,
    width: None,
};

const PUBLISHER: ContenderId = ContenderId(0);
const WAITER: ContenderId = ContenderId(1);

fn subscribed() -> ServiceEventKind {
    ServiceEventKind::Subscribed {
        by: WAITER,
        channel: "free".to_owned(),
    }
}

fn published(to: &[ContenderId]) -> ServiceEventKind {
    ServiceEventKind::Published {
        by: Some(PUBLISHER),
        channel: "free".to_owned(),
        to: to.to_vec(),
    }
}

fn lost(why: MessageLoss) -> ServiceEventKind {
    ServiceEventKind::MessageLost {
        to: WAITER,
        channel: "free".to_owned(),
        why,
    }
}

/// The causes that a report gives if contender-2 waits from 5 ms on in vain, and the service did this, each before so
/// many events.
fn causes(service: &[(usize, ServiceEventKind)]) -> String {
    let history = history(
        2,
        &[],
        "0      enters 1
         5      acquire 2
         50     leaves 1
         60     released 1
         90     acquire 1
         80000  bound
         80000  waits 2 1",
    );
    let told = witness(
        80_000,
        "contender-2 waits",
        &[1, 6],
        &[("however", "contender-2 waits")],
    );
    let mut told = story("progress", told, history);
    for (after, what) in service {
        told.history.service.push(ServiceEvent {
            at: told.history.events[*after].at,
            after: *after,
            machine: "server-1".to_owned(),
            what: what.clone(),
        });
    }
    let text = picklock_reports::story::story(&told, Detail::Full, &STYLE);
    let words: Vec<&str> = text.split_whitespace().collect();
    let text = words.join(" ");
    let causes = text.split_once("Cause ").map_or("", |(_, after)| after);
    let (causes, _) = causes.split_once(" Hash").unwrap_or((causes, ""));
    causes.to_owned()
}

#[test]
fn a_lost_message_names_its_publisher_its_time_and_the_reason() {
    let service = |why| [(2, subscribed()), (3, published(&[WAITER])), (3, lost(why))];
    assert_eq!(
        causes(&service(MessageLoss::OnItsWay)),
        "The message that A published on free at 0.060 s never reached B: it was lost on its way."
    );
    let gone = causes(&service(MessageLoss::ConnectionGone));
    assert!(
        gone.ends_with("never reached B: its connection was gone."),
        "{gone}"
    );
}

#[test]
fn a_message_before_the_subscription_never_reaches_who_subscribes_too_late() {
    assert_eq!(
        causes(&[(3, published(&[])), (4, subscribed())]),
        "The message that A published on free at 0.060 s never reached B: it subscribed only at 0.090 s."
    );
}

#[test]
fn a_message_reaches_no_interrupted_subscription() {
    let service = [(2, subscribed()), (3, published(&[])), (4, subscribed())];
    let cause = causes(&service);
    let end = "its connection was gone, and it subscribed again only at 0.090 s.";
    assert!(cause.ends_with(end), "{cause}");
}

#[test]
fn a_contender_that_is_inside_waits_for_no_message() {
    let mut told = two_inside();
    told.history.service.push(ServiceEvent {
        at: told.history.events[0].at,
        after: 1,
        machine: "server-1".to_owned(),
        what: subscribed(),
    });
    let text = picklock_reports::story::story(&told, Detail::Full, &STYLE);
    assert!(!text.contains("Cause"), "{text}");
}

#[test]
fn a_message_that_arrives_is_no_cause() {
    assert_eq!(causes(&[(2, subscribed()), (3, published(&[WAITER]))]), "");
    // A contender that never subscribes waits for no message.
    assert_eq!(causes(&[(3, published(&[]))]), "");
}

#[test]
fn no_client_hears_of_a_node_that_goes_while_its_watcher_is_away() {
    let history = history(
        2,
        &[],
        "0      acquire 1
         3      queued 1 0
         5      acquire 2
         9      queued 2 1
         50     disconnected 2
         100    unqueued 1 0
         200    reconnected 2
         80000  bound
         80000  waits 2 1",
    );
    let argument = [("however", "contender-2 still waits")];
    let told = witness(80_000, "contender-2 waits", &[2, 8], &argument);
    let mut told = story("progress", told, history);
    let fired = ServiceEventKind::WatchFired {
        event: "NodeCreated".to_owned(),
        path: "/locks/stock/lock-0000000001".to_owned(),
        to: Some(WAITER),
    };
    let service = [(4, fired), (4, ServiceEventKind::ClientGone { of: WAITER })];
    for (after, what) in service {
        told.history.service.push(ServiceEvent {
            at: told.history.events[after].at,
            after,
            machine: "server-1".to_owned(),
            what,
        });
    }
    let text = picklock_reports::story::story(&told, Detail::Full, &STYLE);
    let words: Vec<&str> = text.split_whitespace().collect();
    let cause = "No watch of B fired when a node went at 0.100 s, or later: server-1 had lost its \
                 connection at 0.050 s and forgotten its watches, and B was connected again only at \
                 0.200 s.";
    assert!(words.join(" ").contains(cause), "{text}");
}

/// The causes that are given if contender-2 waits in vain since 100 ms, of a run that ends at 80 s: its queue, and the
/// watches that fired, each after so many events and milliseconds.
fn causes_of_a_wait(queue: &str, fired: &[(usize, u64, ContenderId)]) -> String {
    let history = history(2, &[], queue);
    let last = history.events.len() - 1;
    let told = witness(
        80_000,
        "contender-2 waits",
        &[0, last],
        &[("however", "contender-2 waits")],
    );
    let mut told = story("progress", told, history);
    for &(after, millis, to) in fired {
        told.history.service.push(ServiceEvent {
            at: VirtualTime::from_micros(millis * 1_000),
            after,
            machine: "server-1".to_owned(),
            what: ServiceEventKind::WatchFired {
                event: "NodeDeleted".to_owned(),
                path: "/locks/stock/lock-0000000001".to_owned(),
                to: Some(to),
            },
        });
    }
    let text = picklock_reports::story::story(&told, Detail::Full, &STYLE);
    let words: Vec<&str> = text.split_whitespace().collect();
    let causes = words.join(" ");
    causes
        .find("Cause")
        .map_or_else(String::new, |at| causes[at..].to_owned())
}

#[test]
fn a_watch_that_may_still_be_on_its_way_is_no_cause() {
    let goes = |millis: u64| {
        format!(
            "3      queued 1 0
             100    acquire 2
             105    queued 2 1
             200    unqueued 1 0
             300    queued 1 2
             {millis} unqueued 1 2
             80000  bound
             80000  waits 2 1 2"
        )
    };
    // A watch took 4 ms after the first node went; the last goes 3 ms or 5 ms before the end.
    let fired = [(4, 204, WAITER)];
    assert_eq!(causes_of_a_wait(&goes(79_997), &fired), "");
    let cause = "Cause No watch of B fired when a node went at 79.995 s, or later.";
    let causes = causes_of_a_wait(&goes(79_995), &fired);
    assert!(causes.starts_with(cause), "{causes}");
}

#[test]
fn who_waits_behind_another_to_the_end_has_missed_no_watch() {
    let waits = |behind: &str| {
        format!(
            "3      queued 1 0
             4      queued 1 2
             100    acquire 2
             105    queued 2 1
             200    unqueued 1 0
             80000  bound
             80000  waits 2 {behind}"
        )
    };
    let fired = [(4, 106, PUBLISHER)];
    assert_eq!(causes_of_a_wait(&waits("2 1"), &fired), "");
    assert!(causes_of_a_wait(&waits("1 2"), &fired).starts_with("Cause No watch of"));
}
