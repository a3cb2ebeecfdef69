//! Every mistake in a scenario file is answered with the place, and with what would be right.

use picklock_algorithms::Recipe;
use picklock_algorithms::registry::RECIPES;
use picklock_scenarios::{Catalogue, Diagnostic, Scenario, load};

/// A few names of each kind, so that an answer does not change whenever another is added.
const ALGORITHMS: [&str; 3] = ["zk-hardened", "zk-predecessor-watch", "zk-same-name"];
const INVARIANTS: [&str; 4] = ["mutual-exclusion", "no-lost-update", "progress", "fifo"];
const METRICS: [&str; 2] = ["wakeups-per-release", "bytes-per-release"];

fn parse(text: &str) -> Result<Scenario, Vec<Diagnostic>> {
    let known = |recipe: &&Recipe| ALGORITHMS.contains(&recipe.name);
    let algorithms: Vec<Recipe> = RECIPES.iter().filter(known).copied().collect();
    let catalogue = Catalogue {
        algorithms: &algorithms,
        invariants: &INVARIANTS,
        metrics: &METRICS,
    };
    picklock_scenarios::parse("zookeeper/test", text, &catalogue)
}

/// A scenario without a mistake.
const GOOD: &str = r#"claim = "A lock is a lock."
because = "It says so."
source = "Nowhere"
resource = "unfenced"

[service.zookeeper]
servers = 3
tick = "2s"
session-timeout = "6s"

[network]
latency = "1ms..5ms"

[workload]
contenders = 3
arrive = "in-order"
rounds = 2
hold = "10ms"
section = "write"

[[fault]]
when.acquired = { by = "contender-1" }
inject.pause = { target = "contender-1", for = "20s" }

[[fault]]
when.fired = { fault = 1 }
after = "1s"
inject.cut = { target = "contender-2" }

[[case]]
algorithm = "zk-predecessor-watch"
expect.mutual-exclusion.violated = { because = "it sleeps", within-seeds = 1 }

[[case]]
algorithm = "zk-same-name"
measure.wakeups-per-release = { at-least = 1, at-most = 2.5 }
"#;

fn mistakes(text: &str) -> Vec<Diagnostic> {
    match parse(text) {
        Ok(_) => panic!("this should not parse:\n{text}"),
        Err(mistakes) => mistakes,
    }
}

fn rendered(mistakes: &[Diagnostic]) -> String {
    let rendered: Vec<String> = mistakes.iter().map(Diagnostic::to_string).collect();
    rendered.join("\n\n")
}

/// The first `right` in the good scenario is replaced by `wrong`.
fn instead(right: &str, wrong: &str) -> String {
    assert!(GOOD.contains(right), "{right}");
    rendered(&mistakes(&GOOD.replacen(right, wrong, 1)))
}

#[test]
fn the_good_scenario_is_good() {
    let scenario = parse(GOOD);
    assert!(scenario.is_ok_and(|scenario| scenario.cases.len() == 2));
}

/// A name for the snapshot, what is replaced, and by what.
const SLIPS: &[(&str, &str, &str)] = &[
    (
        "read_only_alone",
        "servers = 3",
        "servers = 1\nread-only = true",
    ),
    (
        "read_only_of_others",
        "servers = 3",
        "client = \"kazoo\"\nread-only = true",
    ),
    ("blocked_events_of_rust", "tick", "client = \"rust\"\ntick"),
    ("read_only_or_not", "servers = 3", "read-only = 1"),
    ("unknown_algorithm", "zk-same-name", "zk-sane-name"),
    (
        "unknown_strategy",
        "latency = \"1ms..5ms\"",
        "chance = \"evil\"",
    ),
    (
        "strategy_without_its_number",
        "latency = \"1ms..5ms\"",
        "chance = \"delays\"",
    ),
    (
        "unknown_moment",
        "resource = \"unfenced\"",
        "sometimes = [\"two-waits\"]",
    ),
    (
        "moment_twice",
        "resource = \"unfenced\"",
        "sometimes = [\"adopted\", \"adopted\"]",
    ),
    (
        "unknown_choice_of_faults",
        "resource = \"unfenced\"",
        "faults = \"all\"",
    ),
    (
        "unknown_kind_of_fault",
        "resource = \"unfenced\"",
        "faults.any = { kinds = [\"pauze\"] }",
    ),
    (
        "kind_of_fault_twice",
        "resource = \"unfenced\"",
        "faults.any = { kinds = [\"cut\", \"cut\"] }",
    ),
    (
        "kind_of_fault_of_another_service",
        "resource = \"unfenced\"",
        "faults.any = { kinds = [\"cut\", \"evict-key\"] }",
    ),
    (
        "no_kind_of_fault",
        "resource = \"unfenced\"",
        "faults.any = { kinds = [] }",
    ),
    (
        "contenders_backwards",
        "contenders = 3",
        "contenders = \"4..3\"",
    ),
    (
        "contenders_too_many",
        "contenders = 3",
        "contenders = \"2..900000\"",
    ),
    (
        "contenders_unreadable",
        "contenders = 3",
        "contenders = \"many\"",
    ),
    (
        "target_missing_from_some_worlds",
        "contenders = 3",
        "contenders = \"1..3\"",
    ),
    (
        "nothing_to_choose_from",
        "arrive = \"in-order\"",
        "arrive = []",
    ),
    ("one_choice_unknown", "servers = 3", "servers = [3, 4]"),
    ("unknown_fault", "inject.pause", "inject.pauze"),
    ("unknown_trigger", "when.acquired", "when.aquired"),
    (
        "unknown_invariant",
        "expect.mutual-exclusion",
        "expect.mutual-exclusive",
    ),
    (
        "unknown_metric",
        "wakeups-per-release",
        "wake-ups-per-release",
    ),
    (
        "metric_as_invariant",
        "expect.mutual-exclusion",
        "expect.wakeups-per-release",
    ),
    ("unknown_key_of_the_file", "because =", "becuase ="),
    (
        "unknown_key_of_the_service",
        "session-timeout",
        "session_timeout",
    ),
    (
        "unknown_key_of_a_fault",
        "for = \"20s\"",
        "length = \"20s\"",
    ),
    (
        "unknown_service",
        "[service.zookeeper]",
        "[service.zookeper]",
    ),
    ("unknown_unit", "\"20s\"", "\"20sec\""),
    ("no_unit", "\"20s\"", "\"20\""),
    ("several_units", "\"20s\"", "\"1m30s\""),
    ("duration_as_a_number", "\"20s\"", "20"),
    ("negative_duration", "\"20s\"", "\"-20s\""),
    ("endless_duration", "\"20s\"", "\"99999999999999999999h\""),
    ("duration_of_zero", "\"20s\"", "\"0s\""),
    ("duration_too_fine", "\"20s\"", "\"0.5us\""),
    ("range_backwards", "1ms..5ms", "5ms..1ms"),
    (
        "unknown_contender",
        "by = \"contender-1\"",
        "by = \"contendor-1\"",
    ),
    (
        "contender_too_high",
        "target = \"contender-2\"",
        "target = \"contender-4\"",
    ),
    (
        "contender_zero",
        "target = \"contender-2\"",
        "target = \"contender-0\"",
    ),
    (
        "server_too_high",
        "inject.cut = { target = \"contender-2\" }",
        "inject.hang-server = { target = \"server-4\", for = \"1s\" }",
    ),
    (
        "follower_too_high",
        "inject.cut = { target = \"contender-2\" }",
        "inject.crash-server = { target = \"follower-3\" }",
    ),
    (
        "unknown_server",
        "inject.cut = { target = \"contender-2\" }",
        "inject.crash-server = { target = \"leeder\" }",
    ),
    (
        "fault_of_redis",
        "inject.cut = { target = \"contender-2\" }",
        "inject.evict-key = { target = \"server-1\" }",
    ),
    (
        "message_of_zookeeper",
        "when.fired = { fault = 1 }",
        "when.told = { by = \"contender-1\" }",
    ),
    (
        "reply_without_a_request",
        "inject.cut = { target = \"contender-2\" }",
        "inject.lose-reply = { target = \"contender-2\" }",
    ),
    (
        "request_that_has_arrived",
        "when.fired = { fault = 1 }\nafter = \"1s\"\ninject.cut = { target = \"contender-2\" }",
        "when.proposed = { request = \"create\", by = \"contender-2\" }\n\
         inject.lose-request = { target = \"contender-2\" }",
    ),
    (
        "request_of_another",
        "when.fired = { fault = 1 }\nafter = \"1s\"\ninject.cut = { target = \"contender-2\" }",
        "when.sent = { request = \"create\", by = \"contender-1\" }\n\
         inject.lose-reply = { target = \"contender-2\" }",
    ),
    (
        "request_that_is_gone",
        "when.fired = { fault = 1 }\nafter = \"1s\"\ninject.cut = { target = \"contender-2\" }",
        "when.sent = { request = \"create\", by = \"contender-2\" }\nafter = \"1s\"\n\
         inject.lose-reply = { target = \"contender-2\" }",
    ),
    (
        "read_that_is_proposed",
        "when.acquired = { by = \"contender-1\" }",
        "when.proposed = { request = \"get-data\", by = \"contender-1\" }",
    ),
    (
        "link_to_itself",
        "inject.cut = { target = \"contender-2\" }",
        "inject.hold-link = { from = [\"leader\"], to = \"leader\", for = \"1s\" }",
    ),
    (
        "link_from_a_string",
        "inject.cut = { target = \"contender-2\" }",
        "inject.hold-link = { from = \"leader\", to = \"follower-1\", for = \"1s\" }",
    ),
    (
        "jump_of_nothing",
        "inject.cut = { target = \"contender-2\" }",
        "inject.clock-jump = { target = \"contender-2\", by = \"0s\" }",
    ),
    ("fault_that_waits_for_itself", "fault = 1 }", "fault = 2 }"),
    ("fault_that_is_not_there", "fault = 1 }", "fault = 7 }"),
    (
        "fault_that_comes_later",
        "when.acquired = { by = \"contender-1\" }",
        "when.fired = { fault = 2 }",
    ),
    (
        "two_triggers",
        "when.fired = { fault = 1 }",
        "when.fired = { fault = 1 }\nwhen.at = \"1s\"",
    ),
    (
        "fault_without_a_trigger",
        "when.fired = { fault = 1 }\n",
        "",
    ),
    (
        "fault_without_its_fields",
        "inject.cut = { target = \"contender-2\" }",
        "inject = \"cut\"",
    ),
    (
        "claim_without_a_full_stop",
        "A lock is a lock.",
        "A lock is a lock",
    ),
    (
        "claim_of_several_lines",
        "A lock is a lock.",
        "A lock\\nis a lock.",
    ),
    ("empty_reason", "\"It says so.\"", "\"  \""),
    ("source_of_the_wrong_type", "\"Nowhere\"", "[\"Nowhere\"]"),
    ("even_servers", "servers = 3", "servers = 4"),
    ("too_many_servers", "servers = 3", "servers = 9"),
    ("session_too_short", "\"6s\"", "\"3s\""),
    ("session_too_long", "\"6s\"", "\"1m\""),
    ("no_contenders", "contenders = 3", "contenders = 0"),
    (
        "too_many_contenders",
        "contenders = 3",
        "contenders = 100001",
    ),
    (
        "fraction_of_a_contender",
        "contenders = 3",
        "contenders = 2.5",
    ),
    ("unknown_arrival", "\"in-order\"", "\"in-oder\""),
    ("arrival_without_its_duration", "\"in-order\"", "\"within\""),
    ("unknown_hold", "hold = \"10ms\"", "hold = \"setled\""),
    (
        "unknown_section",
        "section = \"write\"",
        "section = \"wirte\"",
    ),
    (
        "stock_is_missing",
        "section = \"write\"",
        "section.sell = {}",
    ),
    ("writes_of_nothing", "when.acquired", "when.writing"),
    ("unknown_resource", "\"unfenced\"", "\"fence\""),
    (
        "cases_of_one_name",
        "algorithm = \"zk-same-name\"",
        "algorithm = \"zk-predecessor-watch\"\nresource = \"fenced\"",
    ),
    (
        "name_with_a_blank",
        "algorithm = \"zk-same-name\"",
        "algorithm = \"zk-same-name\"\nname = \"Same Name\"",
    ),
    (
        "violated_without_a_reason",
        "expect.mutual-exclusion.violated = { because = \"it sleeps\", within-seeds = 1 }",
        "expect.mutual-exclusion = \"violated\"",
    ),
    (
        "expectation_of_another_word",
        "expect.mutual-exclusion.violated = { because = \"it sleeps\", within-seeds = 1 }",
        "expect.mutual-exclusion = \"hold\"",
    ),
    (
        "expectation_that_says_nothing",
        "expect.mutual-exclusion.violated = { because = \"it sleeps\", within-seeds = 1 }",
        "expect.no-lost-update = \"holds\"",
    ),
    ("no_seeds", "within-seeds = 1", "within-seeds = 0"),
    ("bounds_that_cross", "at-least = 1", "at-least = 3"),
    ("bound_that_is_no_number", "at-least = 1", "at-least = nan"),
    ("no_bound", "{ at-least = 1, at-most = 2.5 }", "{}"),
    (
        "two_keys_of_one_name",
        "rounds = 2",
        "rounds = 2\nrounds = 3",
    ),
    ("not_toml", "rounds = 2", "rounds = = 2"),
    ("string_without_an_end", "\"in-order\"", "\"in-order"),
];

#[test]
fn every_slip_is_answered_with_its_place_and_what_would_be_right() {
    for (name, right, wrong) in SLIPS {
        let good = match *name {
            "writes_of_nothing" => GOOD.replace("section = \"write\"", "section = \"nothing\""),
            "blocked_events_of_rust" => GOOD.replace("inject.pause", "inject.block-events"),
            _ => GOOD.to_owned(),
        };
        assert!(good.contains(right), "{name}");
        let found = mistakes(&good.replacen(right, wrong, 1));
        insta::assert_snapshot!(*name, rendered(&found));
    }
}

#[test]
fn no_case_at_all_is_a_mistake() {
    let cases = GOOD.find("[[case]]").unwrap();
    insta::assert_snapshot!("no_case", rendered(&mistakes(&GOOD[..cases])));
}

#[test]
fn a_recorded_run_is_read_as_strictly() {
    let slips = [
        "choices = [0, -1, 4294967296]",
        "choices = 7",
        "hash = \"12\"",
        "choices = []\nhash = \"00c0ffee00c0ffeg\"\nseed = 3",
    ];
    let said = slips.map(|slip| {
        let found = mistakes(&format!("{GOOD}\n[replay]\n{slip}\n"));
        rendered(&found)
    });
    insta::assert_snapshot!("recorded_run", said.join("\n\n"));
}

#[test]
fn an_empty_file_lacks_a_case() {
    insta::assert_snapshot!("empty_file", rendered(&mistakes("")));
}

#[test]
fn all_mistakes_of_a_file_are_reported_together_and_in_order() {
    let text = GOOD
        .replace("servers = 3", "servers = 2")
        .replace("1ms..5ms", "1ms..5")
        .replace("inject.cut", "inject.cot")
        .replace("zk-same-name", "zk-some-name");
    let found = mistakes(&text);
    let lines: Vec<usize> = found
        .iter()
        .filter_map(|one| Some(one.place.as_ref()?.line))
        .collect();
    assert_eq!(lines, [7, 12, 28, 35]);
}

#[test]
fn colours_add_nothing_but_colours() {
    let found = &mistakes(&GOOD.replace("inject.pause", "inject.pauze"))[0];
    assert!(found.render(true).contains("\u{1b}["));
    assert!(!found.render(false).contains('\u{1b}'));
    assert!(found.render(false).contains("did you mean `pause`?"));
}

#[test]
fn names_with_control_characters_do_not_reach_the_terminal() {
    let shown = instead("zk-same-name", "zk-\\u001b[31mred\\u0007");
    assert!(
        !shown.contains('\u{1b}') && !shown.contains('\u{7}'),
        "{shown}"
    );
}

#[test]
fn what_cannot_be_read_is_said_of_the_file() {
    let folder = std::env::temp_dir().join(format!("picklock-mistakes-{}", std::process::id()));
    let empty = folder.join("empty");
    std::fs::create_dir_all(&empty).unwrap();
    std::fs::write(folder.join("latin.toml"), b"claim = \"a\"\n# caf\xe9\n").unwrap();
    let said = |path: &std::path::Path| {
        let found = load(path, &Catalogue::EVERYTHING).err().unwrap_or_default();
        rendered(&found).replace(&folder.display().to_string(), "FOLDER")
    };
    let all = [
        said(&folder.join("nowhere")),
        said(&empty),
        said(&folder.join("latin.toml")),
        said(&folder),
    ];
    std::fs::remove_dir_all(&folder).unwrap();
    insta::assert_snapshot!("files", all.join("\n\n"));
}

const SOME_FAULT: &str = "inject.cut = { target = \"contender-2\" }";

/// What is wrong with a scenario on Redis; its algorithm always is.
fn on_redis(settings: &str, inject: &str) -> String {
    let service = "[service.zookeeper]\nservers = 3\ntick = \"2s\"\nsession-timeout = \"6s\"\n";
    let redis = format!("[service.redis]\n{settings}\n");
    let text = GOOD.replace(service, &redis).replace(SOME_FAULT, inject);
    let text = text.split("[[case]]").next().unwrap_or_default().to_owned();
    rendered(&mistakes(&format!(
        "{text}[[case]]\nalgorithm = \"zk-hardened\"\n"
    )))
}

#[test]
fn a_cluster_has_a_majority_and_replicas_of_its_own_and_elects_its_primaries() {
    let fault = SOME_FAULT;
    let three = "cluster = { primaries = 3, replicas-of-each = 1 }";
    let all = [
        on_redis("cluster = 3", fault),
        on_redis("cluster = { replicas-of-each = 1 }", fault),
        on_redis("cluster = { primaries = 2 }", fault),
        on_redis("cluster = { primaries = 3, replicas = 1 }", fault),
        on_redis("cluster = { primaries = 3, node-timeout = \"0s\" }", fault),
        on_redis(&format!("servers = 3\n{three}"), fault),
        on_redis(&format!("replicas = 1\n{three}"), fault),
        on_redis(&format!("replicas = 1\nsentinels = 3\n{three}"), fault),
        on_redis(three, "inject.promote = { target = \"server-2\" }"),
        on_redis(
            "replicas = 1",
            "inject.move-slot = { to = \"server-2\", for = \"4s\" }",
        ),
        on_redis(three, "inject.move-slot = { target = \"server-2\" }"),
        on_redis(three, "inject.crash-server = { target = \"server-7\" }"),
        on_redis(
            "",
            "inject.isolate-server = { target = \"server-1\", for = \"1s\" }",
        ),
    ];
    insta::assert_snapshot!("cluster", all.join("\n\n"));
}

#[test]
fn keys_of_redis_clients_are_refused_where_they_mean_nothing() {
    let fault = SOME_FAULT;
    let all = [
        on_redis("read-from = \"replicas\"", fault),
        on_redis("cluster = { primaries = 3 }\nread-from = \"any\"", fault),
        on_redis("read-from = \"replica\"", fault),
        on_redis("poll = \"1s\"", fault),
        on_redis("connections = \"pool\"", fault),
        on_redis("connections = { pool = 0 }", fault),
        on_redis("connections = { multiplexed = 1 }", fault),
    ];
    insta::assert_snapshot!("clients", all.join("\n\n"));
}

#[test]
fn a_partition_has_two_sides_and_a_primary_needs_no_more_replicas_than_there_are() {
    let fault = SOME_FAULT;
    let parts = |inside: &str| format!("inject.partition = {{ {inside}, for = \"1s\" }}");
    let three = "servers = 3";
    let both = "servers = [\"server-1\"], contenders = [\"contender-1\", \"contender-1\"]";
    let all = [
        on_redis(
            three,
            "inject.partition = { contenders = [\"contender-1\"] }",
        ),
        on_redis(three, &parts("servers = []")),
        on_redis(three, &parts("servers = \"server-1\", contenders = []")),
        on_redis(three, &parts(both)),
        on_redis("", &parts("servers = [\"server-1\"]")),
        on_redis("min-replicas-to-write = 1", fault),
        on_redis("serve-stale-data = 1", fault),
        on_redis(
            "",
            "inject.full-disk = { target = \"server-1\", for = \"1s\" }",
        ),
        on_redis(
            "replicas = 1\nsentinels = 3",
            "inject.full-memory = { target = \"sentinel-1\", for = \"1s\" }",
        ),
        on_redis("replicas = 1\nmin-replicas-to-write = 2", fault),
        on_redis("replicas = 1\nmin-replicas-max-lag = \"1500ms\"", fault),
    ];
    insta::assert_snapshot!("partition", all.join("\n\n"));
}

#[test]
fn sentinels_need_a_replica_and_decide_alone() {
    let fault = SOME_FAULT;
    let all = [
        on_redis("sentinels = 3", fault),
        on_redis("servers = 3\nsentinels = 3", fault),
        on_redis("replicas = 1\ndown-after = \"1s\"", fault),
        on_redis("replicas = 1\nsentinels = 3\nquorum = 4", fault),
        on_redis(
            "replicas = 1\nsentinels = 3",
            "inject.promote = { target = \"server-2\" }",
        ),
        on_redis(
            "replicas = 1\nsentinels = 3",
            "inject.crash-server = { target = \"sentinel-4\" }",
        ),
    ];
    insta::assert_snapshot!("sentinels", all.join("\n\n"));
}
