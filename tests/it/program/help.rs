//! Everything that `--help` says.

use std::path::Path;

use super::common::picklock;
use picklock::scenarios::Catalogue;
use picklock::sources;

fn help(arguments: &[&str]) -> String {
    let done = picklock(arguments);
    assert_eq!(done.code, Some(0), "{done:?}");
    assert_eq!(done.stderr, "");
    for line in done.stdout.lines() {
        assert!(line.chars().count() <= 100, "{line}");
    }
    done.stdout
}

#[test]
fn help_of_the_program() {
    insta::assert_snapshot!(help(&["--help"]));
}

#[test]
fn help_of_run() {
    insta::assert_snapshot!(help(&["run", "--help"]));
}

#[test]
fn help_of_validate() {
    insta::assert_snapshot!(help(&["validate", "--help"]));
}

#[test]
fn help_of_schema() {
    insta::assert_snapshot!(help(&["schema", "--help"]));
}

#[test]
fn help_of_replay() {
    insta::assert_snapshot!(help(&["replay", "--help"]));
}

#[test]
fn help_of_shrink() {
    insta::assert_snapshot!(help(&["shrink", "--help"]));
}

#[test]
fn help_of_why() {
    insta::assert_snapshot!(help(&["why", "--help"]));
}

#[test]
fn help_of_merge() {
    insta::assert_snapshot!(help(&["merge", "--help"]));
}

#[test]
fn help_of_hunt() {
    insta::assert_snapshot!(help(&["hunt", "--help"]));
}

#[test]
fn help_of_plan() {
    insta::assert_snapshot!(help(&["plan", "--help"]));
}

#[test]
fn help_of_yield() {
    insta::assert_snapshot!(help(&["yield", "--help"]));
}

#[test]
fn help_of_list() {
    insta::assert_snapshot!(help(&["list", "--help"]));
}

#[test]
fn help_of_matrix() {
    insta::assert_snapshot!(help(&["matrix", "--help"]));
}

#[test]
fn help_of_herd() {
    insta::assert_snapshot!(help(&["herd", "--help"]));
}

#[test]
fn help_of_explain() {
    insta::assert_snapshot!(help(&["explain", "--help"]));
}

#[test]
fn a_word_is_explained_by_what_shows_it() {
    let told = |word| picklock(&["explain", word]);
    let done = told("zk-no-recheck");
    assert_eq!(done.code, Some(0), "{done:?}");
    for shown in [
        "zk-no-recheck: an algorithm",
        "flaw: ",
        "picklock run zookeeper/waiter-death --case zk-no-recheck",
    ] {
        assert!(done.stdout.contains(shown), "{shown}: {}", done.stdout);
    }
    assert!(told("pause").stdout.contains("inject.pause = "));
    assert!(told("calm").stdout.contains("everything heals"));
    let unknown = told("timly-loss");
    assert_eq!(unknown.code, Some(2), "{unknown:?}");
    assert!(unknown.stderr.contains("did you mean `timely-loss`?"));
}

#[test]
fn a_word_that_is_several_things_is_explained_as_each_and_words_may_be_of_two() {
    let pause = picklock(&["explain", "pause"]).stdout;
    assert!(pause.starts_with("pause: a fault\n"), "{pause}");
    assert!(pause.contains("\n\npause: a class of faults\n"), "{pause}");
    insta::assert_snapshot!(picklock(&["explain", "near", "miss"]).stdout);
}

#[test]
fn an_invariant_is_explained_by_the_guide_and_by_scenarios() {
    insta::assert_snapshot!(picklock(&["explain", "timely-loss"]).stdout);
}

#[test]
fn names_that_have_a_part_in_common_with_an_unknown_word_are_suggested() {
    let unknown = picklock(&["explain", "recheck"]);
    assert_eq!(unknown.code, Some(2), "{unknown:?}");
    insta::assert_snapshot!(unknown.stderr);
}

#[test]
fn help_of_cost() {
    insta::assert_snapshot!(help(&["cost", "--help"]));
}

#[test]
fn help_of_compare() {
    insta::assert_snapshot!(help(&["compare", "--help"]));
}

#[test]
fn help_of_envelope() {
    insta::assert_snapshot!(help(&["envelope", "--help"]));
}

#[test]
fn help_of_bench() {
    insta::assert_snapshot!(help(&["bench", "--help"]));
}

#[test]
fn help_of_verify() {
    insta::assert_snapshot!(help(&["verify", "--help"]));
}

#[test]
fn help_of_new() {
    insta::assert_snapshot!(help(&["new", "scenario", "--help"]));
}

#[test]
fn help_of_help() {
    insta::assert_snapshot!(help(&["help", "--help"]));
}

#[test]
fn help_of_completions() {
    insta::assert_snapshot!(help(&["completions", "--help"]));
}

#[test]
fn help_of_man() {
    insta::assert_snapshot!(help(&["man", "--help"]));
}

#[test]
fn without_arguments_there_is_help() {
    assert!(help(&[]).contains("Usage: picklock"));
}

#[test]
fn the_version_is_that_of_the_package() {
    let version = format!("picklock {}\n", env!("CARGO_PKG_VERSION"));
    assert_eq!(help(&["--version"]), version);
}

#[test]
fn lists_have_one_line_for_each_thing() {
    for what in ["algorithms", "invariants", "metrics", "scenarios"] {
        let done = picklock(&["list", what]);
        assert_eq!(done.code, Some(0), "{done:?}");
        assert!(done.stdout.lines().count() > 4, "{what}");
        for line in done.stdout.lines() {
            assert!(line.ends_with('.'), "{what}: {line}");
        }
        let json = picklock(&["list", what, "--json"]).stdout;
        let document: serde_json::Value = serde_json::from_str(&json).unwrap_or_default();
        let rows = document[what].as_array().map_or(0, Vec::len);
        assert_eq!(rows, done.stdout.lines().count(), "{what}");
    }
}

#[test]
fn a_family_or_a_kind_is_shown_with_all_that_is_known_of_each() {
    let only = [
        "list",
        "algorithms",
        "--family",
        "zookeeper",
        "--kind",
        "read-write",
    ];
    let done = picklock(&only);
    assert_eq!(done.code, Some(0), "{done:?}");
    for shown in [
        "curator-read-write-lock  ",
        "kind: read-write; order: first come, first served",
        "claims: mutual-exclusion, ",
        "source: ",
    ] {
        assert!(done.stdout.contains(shown), "{shown}: {}", done.stdout);
    }
    assert!(!done.stdout.contains("zk-hardened  "), "{}", done.stdout);
    for (arguments, said) in [
        (
            ["list", "algorithms", "--kind", "read-writ"],
            "did you mean `read-write`?",
        ),
        (
            ["list", "algorithms", "--family", "hazelcast"],
            "zookeeper, redis, lease-server, etcd, sql, memcached, consul, chubby",
        ),
        (
            ["list", "faults", "--match", "xyzzy"],
            "nothing in this list matches --match",
        ),
        (
            ["list", "scenarios", "--fault", "pauze"],
            "did you mean `pause`?",
        ),
        (
            ["list", "faults", "--family", "redis"],
            "--family is for lists of algorithms and scenarios",
        ),
    ] {
        let refused = picklock(&arguments);
        assert_eq!(refused.code, Some(2), "{refused:?}");
        assert!(refused.stderr.contains(said), "{said}: {}", refused.stderr);
    }
}

#[test]
fn lists_are_filtered_by_what_stands_in_them_and_by_what_is_known_of_each() {
    let told = |arguments: &[&str]| {
        let done = picklock(&[&["list"], arguments].concat());
        assert_eq!(done.code, Some(0), "{done:?}");
        done.stdout
    };
    let of_pauses = told(&[
        "scenarios",
        "--fault",
        "pause",
        "--invariant",
        "no-stale-effect",
    ]);
    assert!(of_pauses.contains("zookeeper/gc-pause "), "{of_pauses}");
    assert!(of_pauses.contains("source: Kleppmann"), "{of_pauses}");
    assert!(!of_pauses.contains("zookeeper/herd "), "{of_pauses}");
    let of_redis = told(&["scenarios", "--family", "redis", "--source", "kleppmann"]);
    let names = of_redis.lines().filter(|line| !line.starts_with(' '));
    let names: Vec<_> = names
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    assert!(names.contains(&"redis/pause"), "{of_redis}");
    assert!(
        names.iter().all(|name| name.starts_with("redis/")),
        "{names:?}"
    );
    let late = told(&[
        "algorithms",
        "--fault",
        "pause",
        "--invariant",
        "own-release-only",
    ]);
    assert!(late.contains("redis-set-nx-px-del "), "{late}");
    assert!(late.contains(" under pause (redis/late-release)"), "{late}");
    let barriers = told(&["scenarios", "--match", "BARRIER"]);
    assert!(
        barriers
            .lines()
            .all(|line| line.to_lowercase().contains("barrier")),
        "{barriers}"
    );
    insta::assert_snapshot!(told(&["faults", "--match", "clock"]));
}

/// Of the library, that is: the other files are the reader's.
#[test]
fn the_scenarios_and_cases_of_all_examples_are_there() {
    const COMMANDS: [&str; 17] = [
        "run", "merge", "replay", "shrink", "why", "hunt", "plan", "yield", "list", "explain",
        "herd", "cost", "compare", "envelope", "bench", "verify", "help",
    ];
    let mut looked_at = 0;
    for command in COMMANDS {
        let help = help(&[command, "--help"]);
        let examples = help.lines().filter(|line| line.starts_with("  picklock "));
        for example in examples {
            let words: Vec<&str> = example.split_whitespace().collect();
            let of_library =
                |word: &&&str| word.starts_with("zookeeper") || word.starts_with("redis");
            let Some(scenario) = words[2..]
                .iter()
                .find(of_library)
                .filter(|_| command != "verify")
            else {
                continue;
            };
            let found = sources::find(Path::new(scenario), &Catalogue::EVERYTHING);
            let found = found.unwrap_or_else(|_| panic!("{example}"));
            let case = words.iter().skip_while(|word| **word != "--case").nth(1);
            let mut cases = found.iter().flat_map(|scenario| &scenario.cases);
            assert!(
                case.is_none_or(|name| cases.any(|own| own.name == *name)),
                "{example}"
            );
            looked_at += 1;
        }
    }
    assert!(looked_at >= 10, "{looked_at}");
}
