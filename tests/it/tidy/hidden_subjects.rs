//! Words that hide the subject of a sentence: "no contender waits" says more than that no one does. They are banned in
//! comments, strings, pages, scenario files, and names of tests; and a name that says nothing is banned in code.

use crate::tidy::scan::code_of;
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

/// A name for a value that does not say which.
const NAME: &str = "it";

/// Each line that has one of the words, in sentences and in names that are made of words.
fn breaches(tree: &Tree) -> Vec<String> {
    // Licences say what they say.
    let ours = tree.files.iter();
    let ours = ours.filter(|file| !file.stem().starts_with("LICENSE"));
    ours.flat_map(breaches_of).collect()
}

fn breaches_of(file: &File) -> Vec<String> {
    let code = match file.path.ends_with(".rs") {
        true => code_of(&file.text),
        false => String::new(),
    };
    let code = code.lines().chain(std::iter::repeat(""));
    let lines = (1..).zip(file.text.lines().zip(code));
    let has_word = |line: &str| {
        let mut words = line.split(|letter: char| !letter.is_alphanumeric());
        words.any(|word| WORDS.iter().any(|one| word.eq_ignore_ascii_case(one)))
    };
    let has_name = |code: &str| {
        let mut names = code.split(|letter: char| !letter.is_alphanumeric() && letter != '_');
        names.any(|name| name == NAME)
    };
    let found = lines.filter(|(_, (line, code))| has_word(line) || has_name(code));
    let shown = found.map(|(number, (line, _))| {
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
            file(
                "a/src/name.rs",
                "// A lock: it waits.\nfn f() { g(|it| it.x, \"it\") }".to_owned(),
            ),
        ],
    };
    let found = breaches(&tree);
    let [line, name, page, closure] = &found[..] else {
        panic!("{found:?}");
    };
    assert!(line.starts_with("a/src/lib.rs:2: "), "{line}");
    assert!(name.starts_with("a/src/it.rs:1: "), "{name}");
    assert!(page.starts_with("README.md:1: "), "{page}");
    assert!(closure.starts_with("a/src/name.rs:2: "), "{closure}");
}
