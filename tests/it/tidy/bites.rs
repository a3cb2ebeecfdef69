//! The rules bite: each finds what is wrong in a tree that is made up.

use crate::tidy::circles::imports_run_one_way;
use crate::tidy::rules::*;
use crate::tidy::scan::{Function, code_of, functions};
use crate::tidy::tree::{Breach, File, Tree};

fn tree(files: &[(&str, &str)]) -> Tree {
    let file = |(path, text): &(&str, &str)| File {
        path: (*path).into(),
        text: (*text).into(),
    };
    Tree {
        files: files.iter().map(file).collect(),
    }
}

/// The places that a rule finds, as `path:line`.
fn found(rule: fn(&Tree) -> Vec<Breach>, files: &[(&str, &str)]) -> Vec<String> {
    rule(&tree(files))
        .iter()
        .map(|breach| format!("{}:{}", breach.path, breach.line))
        .collect()
}

#[test]
fn a_breach_says_where_what_and_what_to_do() {
    let breaches = lines_are_short(&tree(&[("a.rs", &format!("//\n//{}\n", "é".repeat(119)))]));
    let text = "a.rs:2: is 121 characters wide, and may be 120\n    break the line";
    assert_eq!(
        breaches.iter().map(Breach::to_string).collect::<Vec<_>>(),
        [text]
    );
}

#[test]
fn a_row_that_is_in_no_list_is_found() {
    let row = "\npub const RECIPE: Recipe = Recipe {";
    let files = [
        (
            "algorithms/src/registry.rs",
            "    zk::good::RECIPE,\n    // zk::bad::RECIPE,",
        ),
        ("algorithms/src/zookeeper/bad.rs", row),
        ("algorithms/src/zookeeper/good.rs", row),
        ("algorithms/src/zookeeper/helper.rs", ""),
    ];
    assert_eq!(
        found(recipes_in_registry, &files),
        ["algorithms/src/zookeeper/bad.rs:2"]
    );
    let row = "pub const INVARIANT: Invariant = Invariant {";
    let files = [
        ("checker/src/invariants.rs", ""),
        ("checker/src/invariants/bad.rs", row),
    ];
    assert_eq!(
        found(invariants_in_slice, &files),
        ["checker/src/invariants/bad.rs:1"]
    );
}

#[test]
fn a_file_in_no_module_is_found() {
    let files = [
        ("sim/src/lib.rs", "pub mod world;"),
        ("sim/src/world.rs", "mod contenders;"),
        ("sim/src/world/contenders.rs", ""),
        ("sim/src/world/unnamed.rs", ""),
        ("sim/tests/any.rs", ""),
    ];
    assert_eq!(
        found(files_are_modules, &files),
        ["sim/src/world/unnamed.rs:1"]
    );
}

#[test]
fn a_service_that_the_world_knows_is_found() {
    let files = [
        (
            "sim/src/world/faults.rs",
            "\nuse crate::services::redis::Life;",
        ),
        ("sim/src/services/redis.rs", "use picklock_redis::Server;"),
    ];
    assert_eq!(
        found(world_knows_no_service, &files),
        ["sim/src/world/faults.rs:2"]
    );
}

#[test]
fn a_dependency_against_the_picture_is_found() {
    let manifest = "[package]\nname = \"picklock-reports\"\n[dependencies]\npicklock-checker.workspace = true\n\
                    picklock-sim = { path = \"../sim\" }\n[dev-dependencies.picklock-algorithms]\n";
    let files = [
        ("reports/Cargo.toml", manifest),
        ("new/Cargo.toml", "[package]\nname = \"new\"\n"),
    ];
    let places = [
        "reports/Cargo.toml:5",
        "reports/Cargo.toml:6",
        "new/Cargo.toml:1",
    ];
    assert_eq!(found(dependencies_fit_picture, &files), places);
}

#[test]
fn a_scenario_that_is_not_there_is_found() {
    let recipe = "//! Shown by `zookeeper/herd`.\n//! And `zookeeper/lost`, not by\n// `zookeeper/a-comment`.\n";
    let files = [
        ("algorithms/src/zookeeper/a.rs", recipe),
        ("algorithms/src/redis/b.rs", "//! Shown by `redis/lost`.\n"),
        ("scenarios/library/zookeeper/herd.toml", ""),
    ];
    assert_eq!(
        found(named_scenarios_exist, &files),
        [
            "algorithms/src/zookeeper/a.rs:2",
            "algorithms/src/redis/b.rs:1"
        ]
    );
}

#[test]
fn a_flaw_that_is_not_on_record_is_found() {
    let recipe = "    name: \"zk-bad\",\n    flaw: Some(\"wrong\"),\n";
    let files = [
        ("TRACK_RECORD.md", "`zk-badly`"),
        ("algorithms/src/zookeeper/bad.rs", recipe),
    ];
    assert_eq!(
        found(flaws_are_on_record, &files),
        ["algorithms/src/zookeeper/bad.rs:2"]
    );
}

#[test]
fn a_row_of_the_record_that_no_scenario_expects_is_found() {
    let scenario = "[[case]]\nalgorithm = \"a\"\nexpect.fifo.violated = { because = \"\", within-seeds = 1 }\n";
    let row =
        |algorithm, within| format!("| b | w | `{algorithm}` | `z/s` | `fifo` | {within} |\n");
    let record =
        row("a", "1 seed") + &row("a", "10 seeds") + &row("b", "1 seed") + &row("---", "---");
    let files = [
        ("TRACK_RECORD.md", record.as_str()),
        ("scenarios/z/s.toml", scenario),
    ];
    assert_eq!(
        found(record_is_expected, &files),
        ["TRACK_RECORD.md:2", "TRACK_RECORD.md:3"]
    );
}

#[test]
fn length_is_found() {
    let long = "//\n".repeat(401);
    let files = [
        ("sim/src/a.rs", long.as_str()),
        ("sim/src/a/tests.rs", &long),
        ("sim/tests/a.rs", &long),
    ];
    assert_eq!(found(files_are_short, &files), ["sim/src/a.rs:401"]);
    let long = format!(
        "mod a {{\n    fn short() {{}}\n    fn long() {{{}}}\n}}",
        "\n".repeat(70)
    );
    assert_eq!(found(functions_are_short, &[("a.rs", &long)]), ["a.rs:3"]);
}

#[test]
fn a_table_may_be_long_and_one_that_is_not_is_no_exception() {
    let (path, name, _) = TABLES[0];
    let long = format!("fn {name}() {{{}}}", "\n".repeat(FUNCTION));
    assert!(found(functions_are_short, &[(path, &long)]).is_empty());
    let short = format!("fn {name}() {{}}");
    assert_eq!(
        found(functions_are_short, &[(path, &short)]),
        [format!("{path}:1")]
    );
}

#[test]
fn banned_words_are_found_in_code_and_not_in_strings() {
    let text = "// todo!(\nlet a = \"dbg!(\";\ndbg!(a);\n#![allow(x)]\n#[expect(x)]\n";
    assert_eq!(
        found(words_are_allowed, &[("a.rs", text)]),
        ["a.rs:3", "a.rs:4"]
    );
    let text = concat!("// FIX", "ME\n");
    assert_eq!(found(words_are_allowed, &[("a.rs", text)]), ["a.rs:1"]);
}

#[test]
fn a_place_on_somebodys_machine_is_found() {
    let path = concat!("see /ho", "me/me/x\n../ho", "me/x\n");
    assert_eq!(found(paths_are_relative, &[("a.md", path)]), ["a.md:1"]);
}

#[test]
fn an_anchored_ignore_is_found() {
    assert_eq!(
        found(build_output_is_ignored, &[(".gitignore", "/target\n")]),
        [".gitignore:1"]
    );
    assert!(found(build_output_is_ignored, &[(".gitignore", "target/\n")]).is_empty());
}

#[test]
fn code_is_what_is_left_without_comments_and_quotes() {
    for (text, code) in [
        ("a // b\nc", "a     \nc"),
        ("a /* b /* c */ d */ e", "a                   e"),
        (r#"a "b \" c" d"#, "a          d"),
        ("r#\"a\"b\"# c", "         c"),
        ("for r in r\"{\" {", "for r in      {"),
        (r"'{' '\'' '\u{7b}' &'a b", "                  &'a b"),
    ] {
        assert_eq!(code_of(text), code, "{text}");
    }
}

#[test]
fn functions_end_where_their_bodies_end() {
    let code = "trait A { fn a(&self) -> [u8; 2]; }\nfn b<T>(c: fn (T))\nwhere\n{\n    { }\n}\n";
    let b = Function {
        name: "b".into(),
        line: 2,
        lines: 5,
    };
    assert_eq!(functions(code), [b]);
}

#[test]
fn a_circle_of_imports_is_found_through_names_that_are_handed_on() {
    let root = (
        "a/src/lib.rs",
        "mod up;\nmod down;\npub use up::Up;\n#[cfg(test)]\nmod tests;",
    );
    let up = (
        "a/src/up.rs",
        "mod part;\nuse crate::down::{self, Down};\npub struct Up(Down);",
    );
    let part = ("a/src/up/part.rs", "use super::Up;\npub struct Part(Up);");
    let tests = ("a/src/tests.rs", "use crate::up::Up;");
    let straight = (
        "a/src/down.rs",
        "// crate::Up\n#[cfg(test)]\nmod tests { use crate::Up; }",
    );
    assert!(found(imports_run_one_way, &[root, up, part, tests, straight]).is_empty());
    for text in [
        "use crate::{Up as Other};",
        "use super::*;\nfn of(up: super::Up) {}",
        "fn of(up: crate::up::Up) {}",
    ] {
        let text = &format!("{text}\npub struct Down;");
        let back = ("a/src/down.rs", text.as_str());
        let breaches = found(imports_run_one_way, &[root, up, part, tests, back]);
        assert_eq!(breaches, ["a/src/down.rs:1"], "{text}");
    }
    // A part may use what it is a part of, and closes a circle by what its whole uses it for.
    let whole = (
        "a/src/down.rs",
        "mod part;\nuse part::Part;\npub struct Down(Part);",
    );
    for (text, circles) in [("use super::Down;", 0), ("use crate::up::Up;", 1)] {
        let part_of_down = ("a/src/down/part.rs", text);
        let files = [root, up, part, tests, whole, part_of_down];
        assert_eq!(found(imports_run_one_way, &files).len(), circles, "{text}");
    }
}
