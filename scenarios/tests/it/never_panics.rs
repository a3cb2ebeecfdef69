//! No text makes the parser panic, and every mistake it reports can be shown.

use picklock_scenarios::{BUILT_IN, Catalogue, parse};
use proptest::prelude::*;

fn survives(text: &str) {
    match parse("any/thing", text, &Catalogue::EVERYTHING) {
        Ok(scenario) => assert!(!scenario.cases.is_empty()),
        Err(mistakes) => {
            assert!(!mistakes.is_empty());
            for mistake in mistakes {
                let plain = mistake.render(false);
                assert!(plain.contains(&mistake.path), "{plain}");
                assert!(!mistake.render(true).is_empty());
            }
        }
    }
}

/// Words that a scenario may hold where another word would be right.
const WORDS: &[&str] = &[
    "0",
    "-1",
    "99999999999999999999",
    "1.5",
    "nan",
    "true",
    "[]",
    "{}",
    "\"\"",
    "\"ä\"",
    "\"-5s\"",
    "\"0s\"",
    "\"9999999999999h\"",
    "\"1ms..\"",
    "\"..\"",
    "\"contender-0\"",
    "\"contender-99999999999\"",
    "\"follower-1\"",
    "\"server-of-\"",
    "\"server-of-contender-1\"",
    "1979-05-27",
    "[[fault]]",
    "[case]",
    "\"\"\"",
    "=",
    ".",
    "\"leader\"",
    "pause",
    "\u{feff}",
    "\r",
    "\"\\u0000\"",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_survived(text in any::<String>()) {
        survives(&text);
    }

    #[test]
    fn any_bytes_are_survived(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        survives(&String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn a_scenario_with_a_hole_is_survived(
        which in 0..BUILT_IN.len(),
        from in any::<prop::sample::Index>(),
        length in 0..80_usize,
        filling in prop::sample::select(WORDS),
    ) {
        let text: Vec<char> = BUILT_IN[which].1.chars().collect();
        let from = from.index(text.len());
        let to = (from + length).min(text.len());
        let before: String = text[..from].iter().collect();
        let after: String = text[to..].iter().collect();
        survives(&format!("{before}{filling}{after}"));
    }

    #[test]
    fn a_scenario_with_another_word_is_survived(
        which in 0..BUILT_IN.len(),
        place in any::<prop::sample::Index>(),
        word in prop::sample::select(WORDS),
    ) {
        let words: Vec<&str> = BUILT_IN[which].1.split_inclusive([' ', '\n']).collect();
        let place = place.index(words.len());
        let end = if words[place].ends_with('\n') { "\n" } else { " " };
        let other = format!("{word}{end}");
        let mut changed = words.clone();
        changed[place] = &other;
        survives(&changed.concat());
    }
}
