//! What makes a build long, counted: it may grow, but not unnoticed.

use crate::tidy::tree::{File, Tree};

/// What is counted, how, and how many there may be.
type Limit = (&'static str, fn(&Tree) -> usize, usize);

/// What is counted, how, and how many there may be. Each test program is linked, and each package is built.
const LIMITS: &[Limit] = &[
    ("test programs", test_programs, 13),
    // libm is one: the logarithm of a drawn number must be the same on every machine.
    ("packages in Cargo.lock", packages, 298),
];

/// Files of which cargo makes a program each, and entries of manifests that name another one.
fn test_programs(tree: &Tree) -> usize {
    let manifests = || {
        let files = tree.files.iter();
        files.filter_map(|file| Some((file.path.strip_suffix("Cargo.toml")?, file.text.as_str())))
    };
    let is_program =
        |file: &&File| manifests().any(|(folder, _)| is_test_program(&file.path, folder));
    let files = tree.rust().filter(is_program).count();
    let entries = manifests().flat_map(|(_, text)| text.lines());
    files + entries.filter(|line| line.trim() == "[[test]]").count()
}

/// Whether it is `tests/name.rs` or `tests/name/main.rs` of the crate in a folder.
fn is_test_program(path: &str, folder: &str) -> bool {
    let below = path
        .strip_prefix(folder)
        .and_then(|path| path.strip_prefix("tests/"));
    let name = below.and_then(|name| name.strip_suffix("/main.rs").or(name.strip_suffix(".rs")));
    name.is_some_and(|name| !name.contains('/'))
}

fn packages(tree: &Tree) -> usize {
    let lines = tree.text("Cargo.lock").lines();
    lines.filter(|line| *line == "[[package]]").count()
}

/// What there is more of than there may be, or less.
fn differences(tree: &Tree, limits: &[Limit]) -> Vec<String> {
    let counted = limits
        .iter()
        .map(|(what, count, may)| (what, count(tree), *may));
    let differ = counted.filter(|(_, is, may)| is != may);
    let told = differ.map(|(what, is, may)| {
        let remedy = match is > may {
            true => {
                "do without the new ones, or say why they are worth it where you raise the limit"
            }
            false => "lower the limit",
        };
        format!("{is} {what}, and LIMITS in tests/it/tidy/build_size.rs has {may}: {remedy}")
    });
    told.collect()
}

#[test]
fn a_build_does_not_grow_unnoticed() {
    let found = differences(&Tree::of_repository(), LIMITS);
    assert!(found.is_empty(), "\n\n{}\n", found.join("\n"));
}

#[test]
fn a_test_program_or_a_package_more_or_less_is_found() {
    let file = |path: &str, text: &str| File {
        path: path.to_owned(),
        text: text.to_owned(),
    };
    let tree = Tree {
        files: vec![
            file(
                "Cargo.lock",
                "[[package]]\nname = \"a\"\n\n[[package]]\nname = \"b\"\n",
            ),
            file(
                "a/Cargo.toml",
                "[[test]]\nname = \"c\"\npath = \"elsewhere.rs\"\n",
            ),
            file("Cargo.toml", ""),
            file("a/b/Cargo.toml", ""),
            file("tests/it/main.rs", ""),
            file("tests/it/part.rs", ""),
            file("a/b/tests/alone.rs", ""),
            file("a/b/src/tests/alone.rs", ""),
        ],
    };
    let limits = |programs, of_lock| -> [Limit; 2] {
        [
            ("programs", test_programs, programs),
            ("packages", packages, of_lock),
        ]
    };
    assert_eq!(differences(&tree, &limits(3, 2)), Vec::<String>::new());
    let found = differences(&tree, &limits(2, 3));
    let [more, fewer] = &found[..] else {
        panic!("{found:?}");
    };
    assert!(more.starts_with("3 programs"), "{more}");
    assert!(fewer.ends_with("lower the limit"), "{fewer}");
}
