//! Networks and faults that cannot be: each is answered with the place, and with what would be right.

use crate::common::slips;

use picklock_sim::plan::{Ensemble, FaultKind, Service};
use slips::{Slip, refused, said};

const GOOD: &str = r#"faults.any = { at-most = 2 }

[network]
latency = "1ms..5ms"

[workload]
contenders = 3

[[fault]]
when.acquired = { by = "contender-1" }
inject.pause = { target = "contender-1", for = "20s" }

[[case]]
algorithm = "zk-predecessor-watch"
"#;

const ANY: &str = "{ at-most = 2 }";

const PAUSE: &str = "pause = { target = \"contender-1\", for = \"20s\" }";

const FAULT: &str = "when.acquired = { by = \"contender-1\" }
inject.pause = { target = \"contender-1\", for = \"20s\" }";

const ALGORITHM: &str = "zk-predecessor-watch";

const LATENCY: &str = "latency = \"1ms..5ms\"";

const SLIPS: &[Slip] = &[
    ("unknown_kind_left_out", ANY, "{ except = [\"pauze\"] }"),
    (
        "kinds_and_except",
        ANY,
        "{ kinds = [\"cut\"], except = [\"pause\"] }",
    ),
    (
        "except_of_what_is_not_drawn",
        ANY,
        "{ except = [\"partition\"] }",
    ),
    (
        "loss_of_an_answer_that_is_there",
        FAULT,
        "when.received = { request = \"create\", by = \"contender-1\" }
         inject.lose-reply = { target = \"contender-1\" }",
    ),
    (
        "drawn_regions_without_a_latency",
        LATENCY,
        "regions = \"1..3\"",
    ),
    (
        "one_drawn_region",
        LATENCY,
        "regions = 1\nbetween = \"20ms\"",
    ),
    (
        "drawn_regions_and_latencies_of_others",
        LATENCY,
        "regions = \"1..3\"\nbetween.us.eu = \"20ms\"",
    ),
    (
        "loss_of_everything",
        PAUSE,
        "lose-packets = { target = \"contender-1\", rate = \"100%\", for = \"1s\" }",
    ),
    (
        "loss_of_nothing",
        PAUSE,
        "lose-packets = { target = \"contender-1\", rate = \"0%\", for = \"1s\" }",
    ),
    (
        "loss_without_percent",
        PAUSE,
        "lose-packets = { target = \"contender-1\", rate = 5, for = \"1s\" }",
    ),
    (
        "loss_too_fine",
        PAUSE,
        "lose-packets = { target = \"contender-1\", rate = \"0.00001%\", for = \"1s\" }",
    ),
    (
        "loss_for_good",
        PAUSE,
        "lose-packets = { target = \"contender-1\", rate = \"5%\" }",
    ),
    (
        "flap_without_its_phases",
        PAUSE,
        "flap = { target = \"contender-1\", for = \"1s\" }",
    ),
    (
        "flap_of_nothing",
        PAUSE,
        "flap = { target = \"contender-1\", up = \"0s\", down = \"0s..1s\", for = \"9s\" }",
    ),
    ("except_of_nothing", ANY, "{ except = [] }"),
    (
        "cancel_of_an_unknown_call",
        PAUSE,
        "cancel = { target = \"contender-1\", call = \"renew\" }",
    ),
    (
        "between_without_regions",
        LATENCY,
        "between.us.eu = \"40ms\"",
    ),
    ("region_alone", LATENCY, "regions.us = [\"server-1\"]"),
    ("region_without_members", LATENCY, "regions.us = []"),
    ("region_in_capitals", LATENCY, "regions.US = [\"server-1\"]"),
    (
        "regions_without_a_latency",
        LATENCY,
        "regions = { us = [\"server-1\"], eu = [\"server-2\"], asia = [\"server-3\"] }\n\
         between.us.eu = \"40ms\"",
    ),
    (
        "region_of_those_who_are_not_there",
        LATENCY,
        "regions = { us = [\"server-4\", \"leader\", \"contender-9\"], eu = [\"server-1\", \"server-1\"] }",
    ),
    (
        "latency_to_an_unknown_region",
        LATENCY,
        "regions = { us = [\"server-1\"], eu = [\"server-2\"] }\n\
         between = { us = { euu = \"1ms\" }, eu = { us = \"40ms..1ms\" } }",
    ),
    (
        "two_latencies_of_two_regions",
        LATENCY,
        "regions = { us = [\"server-1\"], eu = [\"server-2\"] }\n\
         between = { us = { eu = \"1ms\" }, eu = { us = \"1ms\" } }",
    ),
    (
        "region_of_one_with_a_latency_of_its_own",
        LATENCY,
        "regions = { us = [\"contender-1\"], eu = [\"server-2\"] }\nbetween.us.eu = \"1ms\"\n\
         [[contender]]\nname = \"contender-1\"\nlatency = \"9ms\"",
    ),
    (
        "except_of_another_service",
        ANY,
        "{ except = [\"evict-key\"] }",
    ),
];

#[test]
fn what_the_slips_begin_with_is_right() {
    assert_eq!(said(GOOD), "");
}

#[test]
fn every_slip_is_answered_with_its_place_and_what_would_be_right() {
    for (name, said) in refused(GOOD, SLIPS) {
        insta::assert_snapshot!(name, said);
    }
}

#[test]
fn an_except_that_leaves_nothing_is_refused() {
    let service = Service::ZooKeeper(Ensemble::default());
    let mut all = FaultKind::unasked();
    all.retain(|kind| kind.can_strike(&service));
    let except = |kinds: &[FaultKind]| {
        let names = kinds.iter().map(|kind| format!("{:?}", kind.name()));
        let names: Vec<String> = names.collect();
        said(&GOOD.replace(ANY, &format!("{{ except = [{}] }}", names.join(", "))))
    };
    assert!(except(&all).contains("`except` leaves no kind of fault"));
    assert_eq!(except(&all[1..]), "");
}

#[test]
fn a_recipe_that_nothing_drops_cannot_be_cancelled() {
    let on_redis = GOOD.replace(ALGORITHM, "redisson-lock");
    for (inject, any) in [
        ("cancel = { target = \"contender-1\" }", ANY),
        (PAUSE, "{ kinds = [\"cancel\"] }"),
    ] {
        let cancels = |file: &str| said(&file.replace(PAUSE, inject).replace(ANY, any));
        assert_eq!(cancels(GOOD), "");
        let redisson = cancels(&on_redis);
        assert!(
            redisson.contains("nothing drops a pending call of `redisson-lock`"),
            "{redisson}"
        );
        insta::assert_snapshot!(redisson);
    }
    // Where others are drawn as well, this one is not.
    let both = on_redis.replace(ANY, "{ kinds = [\"cancel\", \"cut\"] }");
    assert_eq!(said(&both), "");
}

/// A file on Redis whose round trip of 6 s is longer than its clients wait.
const LATE: &str = "[service.redis]\n[network]\nlatency = \"3s\"\n[workload]\ncontenders = 1\n\
     [[case]]\nalgorithm = \"redis-compare-and-delete\"\n";

#[test]
fn a_latency_with_which_no_answer_is_in_time_is_refused() {
    insta::assert_snapshot!(said(LATE));
    let tells = |from: &str, to: &str, wanted: &[&str]| {
        let said = said(&LATE.replace(from, to));
        for wanted in wanted {
            assert!(said.contains(wanted), "{to}: {said}");
        }
    };
    // A client of a library waits as long as that does, and what is not a time-out is not named.
    tells(
        "redis-compare-and-delete\"",
        "redis-compare-and-delete\"\nclient = \"redis-py\"",
        &[
            "test.toml:3:11",
            "`timeout` is 5s, and `connect-timeout` is 5s",
        ],
    );
    tells(
        "[network]",
        "timeout = \"6s\"\n[network]",
        &[
            "but `connect-timeout` is 1s",
            "write a `latency` of at most 500ms, or in",
        ],
    );
    // A list is refused for what it may draw, and a contender for what it has for itself.
    tells(
        "\"3s\"",
        "[\"1ms\", \"251ms..4s\"]",
        &["test.toml:3:19", "502ms or longer"],
    );
    let own = "[\"1ms\"]\n[[contender]]\nname = \"contender-1\"\nlatency = \"300ms\"";
    tells("\"3s\"", own, &["test.toml:6:11", "`timeout` is 500ms"]);
    let any = own.replace("contender-1", "any");
    tells("\"3s\"", &any, &["test.toml:6:11"]);
    // The usual latency can be too long for a time-out that is written.
    let short = "timeout = \"1ms\"\n[network]\n#";
    tells("[network]\n", short, &["test.toml:2:11", "2ms or longer"]);
    let lease = LATE.replace("[service.redis]", "[service.lease-server]");
    let lease = said(&lease.replace("redis-compare-and-delete", "lease-lock"));
    assert!(
        lease.contains("or in [service.lease-server] a `timeout` of"),
        "{lease}"
    );
}

#[test]
fn a_latency_with_which_some_answer_is_in_time_is_not_refused() {
    for (from, to) in [
        // Half of the time-out, to the microsecond; a range whose lower end is.
        ("\"3s\"", "\"250ms\""),
        ("\"3s\"", "\"1ms..3s\""),
        (
            "[network]",
            "timeout = \"6s\"\nconnect-timeout = \"6s\"\n[network]",
        ),
        // A session of ZooKeeper lasts longer.
        ("[service.redis]", "[service.zookeeper]"),
        // The only contender has a latency of its own, or lies in a region.
        (
            "[workload]",
            "[[contender]]\nname = \"contender-1\"\nlatency = \"1ms\"\n[workload]",
        ),
        (
            "[workload]",
            "regions = { us = [\"server-1\", \"contender-1\"], eu = [\"resource\"] }\n\
             between = { us = { us = \"1ms\", eu = \"3s\" } }\n[workload]",
        ),
    ] {
        let text = LATE.replace(from, to);
        let text = match to.contains("zookeeper") {
            true => text.replace("redis-compare-and-delete", "zk-predecessor-watch"),
            false => text,
        };
        assert_eq!(said(&text), "", "{to}");
    }
}
