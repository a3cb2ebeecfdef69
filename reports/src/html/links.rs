//! Links in the sentences of a story: times and letters lead into the diagram below them.

use std::fmt::Write as _;

use crate::escape::escaped;
use crate::timeline::Column;

/// After these words of a sentence's begin, `A` is a contender and no article.
const VERBS: [&str; 20] = [
    "is",
    "was",
    "has",
    "had",
    "did",
    "does",
    "enters",
    "leaves",
    "believes",
    "waits",
    "holds",
    "owns",
    "took",
    "takes",
    "writes",
    "acquires",
    "releases",
    "releases,",
    "and",
    "could",
];

/// The sentence as HTML, with links to the diagram of this section.
pub(super) fn linked(sentence: &str, columns: &[Column], number: usize) -> String {
    let words: Vec<&str> = sentence.split(' ').collect();
    let mut html = String::new();
    let mut place = 0;
    while let Some(word) = words.get(place) {
        if place > 0 {
            html.push(' ');
        }
        let next = words.get(place + 1).copied().unwrap_or("");
        place += 1;
        if let (Some(micros), Some(rest)) = (micros(word), next.strip_prefix('s')) {
            let is_unit = rest.chars().all(|letter| letter.is_ascii_punctuation());
            if is_unit {
                let rest = escaped(rest);
                let _ = write!(
                    html,
                    "<a class=\"at\" href=\"#diagram-{number}\" data-at=\"{micros}\">{word} s</a>{rest}"
                );
                place += 1;
                continue;
            }
        }
        html.push_str(&named(word, (place == 1, next), columns, number));
    }
    html
}

/// A word, as a link if it is the letter of a contender.
fn named(word: &str, (first, next): (bool, &str), columns: &[Column], number: usize) -> String {
    let end = word.find(|letter: char| !letter.is_ascii_alphanumeric());
    let (letter, rest) = word.split_at(end.unwrap_or(word.len()));
    let is_article = first && letter == "A" && rest.is_empty() && !VERBS.contains(&next);
    match columns.iter().find(|column| column.letter == letter) {
        Some(column) if !is_article => {
            let (id, rest) = (column.contender.0, escaped(rest));
            let color = id % 7;
            format!(
                "<a class=\"name c{color}\" href=\"#diagram-{number}\" data-who=\"{id}\">{letter}</a>{rest}"
            )
        }
        Some(_) | None => escaped(word),
    }
}

/// The microseconds of a time as sentences write it: `8.000`, before its unit.
fn micros(word: &str) -> Option<u64> {
    let (whole, part) = word.split_once('.')?;
    let whole: u64 = whole.replace(',', "").parse().ok()?;
    let is_part = part.len() == 3 && part.chars().all(|digit| digit.is_ascii_digit());
    let part: u64 = part.parse().ok().filter(|_| is_part)?;
    whole.checked_mul(1_000_000)?.checked_add(part * 1_000)
}

#[cfg(test)]
mod tests {
    use super::*;
    use picklock_checker::ContenderId;

    fn link(sentence: &str) -> String {
        let column = Column {
            contender: ContenderId(0),
            name: "contender-1".to_owned(),
            letter: "A".to_owned(),
        };
        linked(sentence, &[column], 1)
    }

    #[test]
    fn times_and_letters_lead_into_the_diagram() {
        let html = link("A is inside until 10.012 s, with <b>.");
        assert!(
            html.starts_with("<a class=\"name c0\" href=\"#diagram-1\" data-who=\"0\">A</a> is")
        );
        assert!(html.contains("data-at=\"10012000\">10.012 s</a>, with &lt;b&gt;."));
    }

    #[test]
    fn an_article_and_a_number_are_no_links() {
        let plain = "A write of 10.5 s took 2.004 seconds.";
        assert_eq!(link(plain), plain);
    }
}
