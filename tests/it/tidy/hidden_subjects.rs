//! Words that hide the subject of a sentence: "no contender waits" says more than that no one does. They are banned in
//! comments, strings, pages, scenario files, and names of tests.

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

/// Each line that has one of the words, in sentences and in names that are made of words.
fn breaches(tree: &Tree) -> Vec<String> {
    // Licences say what they say.
    let ours = tree.files.iter();
    let ours = ours.filter(|file| !file.stem().starts_with("LICENSE"));
    ours.flat_map(breaches_of).collect()
}

fn breaches_of(file: &File) -> Vec<String> {
    let lines = (1..).zip(file.text.lines());
    let has_one = |line: &str| {
        let mut words = line.split(|letter: char| !letter.is_alphanumeric());
        words.any(|word| WORDS.iter().any(|one| word.eq_ignore_ascii_case(one)))
    };
    let found = lines.filter(|(_, line)| has_one(line));
    let shown = found.map(|(number, line)| {
        let (path, line) = (&file.path, line.trim());
        format!("{path}:{number}: name who or what acts: {line}")
    });
    shown.collect()
}

#[test]
fn sentences_name_their_subjects() {
    let found = breaches(&Tree::of_repository());
    assert!(found.is_empty(), "\n\n{}\n", found.join("\n"));
}

#[test]
fn a_hidden_subject_is_found_in_sentences_and_in_names() {
    let [one, two, ..] = WORDS;
    let file = |path: &str, text: String| File {
        path: path.to_owned(),
        text,
    };
    let tree = Tree {
        files: vec![
            file("a/src/lib.rs", format!("// Fine.\n// {one} waits.")),
            file("a/src/it.rs", format!("fn {one}_waits() {{}}\n// {one}ies")),
            file(
                "README.md",
                format!("Ask {}, or a contender.", two.to_uppercase()),
            ),
            file("LICENSE-MIT", two.to_owned()),
        ],
    };
    let found = breaches(&tree);
    let [line, name, page] = &found[..] else {
        panic!("{found:?}");
    };
    assert!(line.starts_with("a/src/lib.rs:2: "), "{line}");
    assert!(name.starts_with("a/src/it.rs:1: "), "{name}");
    assert!(page.starts_with("README.md:1: "), "{page}");
}
