//! The locks that tutorials, posts, and older versions of libraries have published: each defect that is known of one is
//! found by the promise that it breaks, within a few seeds, and shrinks to what a person reads at a glance.
//!
//! That all waiters are woken by each release breaks no promise; `zookeeper/herd` counts it.

use std::sync::atomic::AtomicBool;

use picklock::checker::invariants;
use picklock::scenarios::Catalogue;
use picklock::scenarios::shrink::{Budget, SearchLimit, shrink};
use picklock::sources;

/// Within so many seeds, where the faults of a scenario are aimed at the defect.
const SEEDS: u64 = 5;

/// More than on a screen: each call gives up, and the next one comes, until the end.
const GIVES_UP_AGAIN: [&str; 1] = ["zk-timed-out-waiter"];

/// A defect: the scenario that shows it, the recipe that has it, and the promise that it breaks.
type Defect = (&'static str, &'static str, &'static str);

/// Looks for each defect, and shrinks the run that shows it.
fn assert_found(defects: &[Defect]) {
    let library = sources::library(&Catalogue::EVERYTHING).expect("it has no mistakes");
    let no_stop = AtomicBool::new(false);
    for (name, recipe, promise) in defects {
        let what = format!("{name} {recipe} {promise}");
        let scenario = library.iter().find(|found| found.name == *name);
        let mut cases = scenario.expect(&what).cases.iter();
        let case = cases.find(|found| found.name == *recipe).expect(&what);
        let invariant = invariants::find(promise).expect(&what);
        let limit = SearchLimit::until(&no_stop);
        let shrunk = (0..SEEDS)
            .find_map(|seed| shrink(case, seed, invariant, Budget::default(), &limit))
            .unwrap_or_else(|| panic!("{what}: not found"));
        let size = shrunk.to;
        assert!(shrunk.cut.is_none(), "{what}: {size:?}");
        assert!(size.contenders <= 3, "{what}: {size:?}");
        assert!(size.faults <= 3, "{what}: {size:?}");
        let fits = size.operations <= 12 || GIVES_UP_AGAIN.contains(recipe);
        assert!(fits, "{what}: {size:?}");
    }
}

/// Posts keep "free" or "held" as the data of a node that stays, or make the places of a queue nodes that stay.
#[test]
fn a_lock_that_is_a_flag_or_a_persistent_node() {
    assert_found(&[
        // Two read "free", and both write "held"; the first that releases it releases what is another's.
        (
            "zookeeper/read-then-write",
            "zk-read-then-write",
            "mutual-exclusion",
        ),
        (
            "zookeeper/read-then-write",
            "zk-read-then-write",
            "own-release-only",
        ),
        // Its holder dies, and nothing ends what it has written.
        ("zookeeper/holder-crash", "zk-read-then-write", "progress"),
        (
            "zookeeper/persistent-nodes",
            "zk-conditional-set",
            "progress",
        ),
        (
            "zookeeper/persistent-nodes",
            "zk-persistent-queue",
            "progress",
        ),
        // The answer to a conditional write was lost: its writer is told that the version is another.
        (
            "zookeeper/lost-set-data-reply",
            "zk-conditional-set-anonymous",
            "progress",
        ),
    ]);
}

/// Tutorials make one node of one name, and sleep, or watch it, while it is there.
#[test]
fn a_lock_that_is_one_node_of_one_name() {
    assert_found(&[
        // Its own node is taken for another's, when the answer to the create was lost.
        (
            "zookeeper/own-node-exists",
            "zk-same-name-polling-blind",
            "progress",
        ),
        // The `return` is missing behind the create, as the listing is printed.
        (
            "zookeeper/own-node-exists",
            "zk-same-name-polling-printed",
            "progress",
        ),
        (
            "zookeeper/failed-unlock",
            "zk-same-name-polling-blind",
            "progress",
        ),
        // It is unfair: a contender that asks at the right moment comes first, however long others have waited.
        (
            "zookeeper/bounded-bypass",
            "zk-same-name-polling",
            "bounded-bypass",
        ),
        ("zookeeper/bounded-bypass", "zk-same-name", "bounded-bypass"),
        (
            "zookeeper/recreated-while-away",
            "zk-same-name-deleted-only",
            "progress",
        ),
        // A release deletes the node of the next holder: it is of the same name, and of the same version.
        (
            "zookeeper/lost-delete-reply",
            "zk-blind-unlock",
            "own-release-only",
        ),
        (
            "zookeeper/reopened-session",
            "zk-reopened-session",
            "own-release-only",
        ),
    ]);
}

/// Posts watch the node ahead with a latch, and go on when it opens.
#[test]
fn a_queue_whose_waiters_do_not_look_again() {
    assert_found(&[
        (
            "zookeeper/waiter-death",
            "zk-no-recheck",
            "mutual-exclusion",
        ),
        (
            "zookeeper/waiter-blip",
            "zk-latch-any-event",
            "mutual-exclusion",
        ),
        ("zookeeper/late-latch", "zk-late-latch", "progress"),
        // Any exception counts as acquired.
        (
            "zookeeper/lost-create-in-lock",
            "zk-error-is-acquired",
            "mutual-exclusion",
        ),
        // A waiter whose time is over leaves its node; an unlock closes the session.
        (
            "zookeeper/timed-out-waiter",
            "zk-timed-out-waiter",
            "progress",
        ),
        (
            "zookeeper/two-locks-one-session",
            "zk-unlock-closes-session",
            "mutual-exclusion",
        ),
    ]);
}

/// A tutorial's lock object takes its place in the constructor, and asks every few milliseconds who is ahead.
#[test]
fn a_queue_that_is_polled() {
    assert_found(&[
        (
            "zookeeper/place-in-constructor",
            "zk-polling-queue-constructor",
            "progress",
        ),
        (
            "zookeeper/polling-queue",
            "zk-polling-queue-constructor",
            "mutual-exclusion",
        ),
        // As it is printed: it compares its own number with itself, and searches from zero.
        (
            "zookeeper/polling-queue",
            "zk-polling-queue-printed",
            "mutual-exclusion",
        ),
        (
            "zookeeper/polling-queue",
            "zk-polling-queue-from-one",
            "mutual-exclusion",
        ),
    ]);
}

/// A static counter of entries for all locks; and a node that is known by the guid of its client, whichever thread has
/// made it.
#[test]
fn re_entry_by_a_static_counter_or_by_a_guid() {
    assert_found(&[
        (
            "zookeeper/counter-of-all-locks",
            "zk-counter-of-all-locks",
            "mutual-exclusion",
        ),
        (
            "zookeeper/counter-not-set",
            "zk-counter-not-set",
            "progress",
        ),
        (
            "zookeeper/shared-session",
            "zk-guid-reentry",
            "mutual-exclusion",
        ),
    ]);
}

/// ZooKeeper's documentation: a create whose answer was lost, shared locks, and locks that are given back on request.
#[test]
fn the_recipes_of_the_documentation_read_in_haste() {
    assert_found(&[
        ("zookeeper/lost-create-reply", "zk-no-guid", "progress"),
        // A guid, and a look-up without `sync`.
        (
            "zookeeper/lookup-without-sync",
            "zk-predecessor-watch",
            "progress",
        ),
        // The rules of readers and of writers, swapped; and names that are sorted as text, or not at all.
        (
            "zookeeper/shared-locks",
            "zk-shared-locks-writers-only",
            "mutual-exclusion",
        ),
        (
            "zookeeper/shared-locks",
            "zk-shared-locks-later-writers",
            "progress",
        ),
        (
            "incidents/zookeeper-2931",
            "zk-sorted-by-name",
            "mutual-exclusion",
        ),
        (
            "zookeeper/unsorted-children",
            "zk-unsorted",
            "mutual-exclusion",
        ),
        (
            "zookeeper/revoked-early",
            "zk-revocable-shared-locks-no-look",
            "progress",
        ),
        (
            "zookeeper/revoked-waiter",
            "zk-revocable-shared-locks-held-watch",
            "progress",
        ),
    ]);
}

/// Curator's mutex up to 2.12, which posts about ZooKeeper's locks take apart.
#[test]
fn curators_mutex_before_its_corrections() {
    assert_found(&[
        // CURATOR-498: a node of an older session is taken for its own.
        (
            "incidents/curator-498",
            "curator-mutex-any-session",
            "mutual-exclusion",
        ),
        // CURATOR-45 and CURATOR-79: a contender that gives up does not look for what it has created.
        (
            "incidents/curator-45",
            "curator-mutex-no-search",
            "progress",
        ),
        (
            "incidents/curator-79",
            "curator-mutex-no-search",
            "no-orphan",
        ),
    ]);
}
