//! Words that are to go, counted: each count may fall, and none may rise.
//!
//! A sentence with such a word hides its subject: "no contender waits" says more than that no one does. There are too
//! many to mend at once, so the table below holds how many are left. A change that mends some lowers it.

use std::collections::{BTreeMap, BTreeSet};

use crate::tidy::tree::{File, Tree};

/// The words, in pieces, or this file would have them.
const WORDS: [&str; 6] = [
    concat!("no", "body"),
    concat!("some", "body"),
    concat!("who", "ever"),
    concat!("wh", "om"),
    concat!("a", "new"),
    // Behind "how".
    concat!("man", "ieth"),
];

/// Pages and scenario files count by themselves, wherever they lie.
const PAGES: &str = "*.md";
const SCENARIOS: &str = "*.toml";

/// How many of the words are left: in pages, in scenario files, and in all else of each crate, by its folder. What lies
/// in no folder of a crate belongs to the one at the root.
const TABLE: &[(&str, usize)] = &[
    ("*.md", 194),
    ("*.toml", 313),
    (".", 153),
    ("algorithms", 232),
    ("algorithms/clients", 57),
    ("checker", 125),
    ("reports", 64),
    ("scenarios", 247),
    ("sim", 238),
    ("sim/services/lease_server", 2),
    ("sim/services/redis", 228),
    ("sim/services/zookeeper", 70),
    ("sim/testkit", 5),
    ("tools/mutants", 10),
    ("verify", 63),
];

/// How many of the words a text has, in sentences and in names that are made of words, such as those of tests.
fn words_of(text: &str) -> usize {
    let words = text.split(|c: char| !c.is_alphanumeric());
    let is_one = |word: &&str| WORDS.iter().any(|one| word.eq_ignore_ascii_case(one));
    words.filter(is_one).count()
}

/// Where a file counts.
fn place_of<'a>(file: &File, crates: &[&'a str]) -> &'a str {
    if file.path.ends_with(".md") {
        return PAGES;
    }
    if file.path.ends_with(".toml") && file.stem() != "Cargo" {
        return SCENARIOS;
    }
    let holds = |folder: &&&str| {
        let below = file.path.strip_prefix(**folder);
        below.is_some_and(|rest| rest.starts_with('/'))
    };
    let innermost = crates.iter().filter(holds);
    let innermost = innermost.max_by_key(|folder| folder.len());
    innermost.copied().unwrap_or(".")
}

/// How many of the words each place has, if it has any.
fn counts(tree: &Tree) -> BTreeMap<&str, usize> {
    let paths = tree.files.iter().map(|file| file.path.as_str());
    let crates = paths.filter_map(|path| path.strip_suffix("/Cargo.toml"));
    let crates: Vec<&str> = crates.collect();
    // Licences say what they say.
    let ours = tree.files.iter();
    let ours = ours.filter(|file| !file.path.starts_with("LICENSE-"));
    let mut counts = BTreeMap::new();
    for (file, words) in ours.map(|file| (file, words_of(&file.text))) {
        if words > 0 {
            *counts.entry(place_of(file, &crates)).or_default() += words;
        }
    }
    counts
}

/// Where the table says something else than the tree. It may not say more, either: words that were mended could come
/// back unseen.
fn differences(tree: &Tree, table: &[(&str, usize)]) -> Vec<String> {
    let counts = counts(tree);
    let table: BTreeMap<&str, usize> = table.iter().copied().collect();
    let places: BTreeSet<&str> = counts.keys().chain(table.keys()).copied().collect();
    let number = |of: &BTreeMap<&str, usize>, place| of.get(place).copied().unwrap_or(0);
    let mut found = Vec::new();
    for place in places {
        let (is, may) = (number(&counts, place), number(&table, place));
        if is > may {
            let words = WORDS.join(", ");
            found.push(format!(
                "{place}: has {is} of the words {words}, and may have {may}: say who or what it is that acts"
            ));
        }
        if is < may {
            found.push(format!(
                "{place}: has {is} such words left: lower its row in tests/it/tidy/ratchet.rs from {may} to {is}"
            ));
        }
    }
    found
}

#[test]
fn words_that_hide_the_subject_become_fewer() {
    let found = differences(&Tree::of_repository(), TABLE);
    assert!(found.is_empty(), "\n\n{}\n", found.join("\n"));
}

#[test]
fn a_table_of_words_that_says_more_or_less_is_found() {
    let [one, two, ..] = WORDS;
    let file = |path: &str, text: String| File {
        path: path.to_owned(),
        text,
    };
    let tree = Tree {
        files: vec![
            file("a/Cargo.toml", String::new()),
            file("a/b/Cargo.toml", String::new()),
            file(
                "a/src/lib.rs",
                format!("// {one} waits.\nlet text = \"{two}'s\";"),
            ),
            file(
                "a/b/src/lib.rs",
                format!("fn {one}_waits() {{}} // {one}ies"),
            ),
            file("a/library/one.toml", format!("claim = \"{two}.\"")),
            file(
                "README.md",
                format!("Ask {}, or {one}.", two.to_uppercase()),
            ),
            file("LICENSE-MIT", two.to_owned()),
            file("src/main.rs", "// No word of them.".to_owned()),
        ],
    };
    let right = [("*.md", 2), ("*.toml", 1), ("a", 2), ("a/b", 1)];
    assert!(differences(&tree, &right).is_empty(), "{:?}", counts(&tree));
    let wrong = [("*.md", 1), ("*.toml", 2), ("a", 2), ("a/b", 1), ("c", 3)];
    let found = differences(&tree, &wrong);
    let [more, fewer, gone] = &found[..] else {
        panic!("{found:?}");
    };
    assert!(more.starts_with("*.md: has 2 of the words"), "{more}");
    assert!(fewer.ends_with("from 2 to 1"), "{fewer}");
    assert!(gone.ends_with("from 3 to 0"), "{gone}");
}
