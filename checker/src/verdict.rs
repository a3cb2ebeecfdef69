//! Verdicts: three answers, never two.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::{History, VirtualTime};

/// What a check says of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The promise was put to the test, and kept.
    Holds,
    /// The promise was broken, and this shows it.
    Violated(Box<Witness>),
    /// The run cannot tell, for this reason. Never read it as "holds".
    Undecided(String),
}

/// The part of a history that contradicts a promise, and why it does.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Witness {
    /// One sentence: which contender did what.
    pub summary: String,
    /// When the promise was broken.
    pub at: VirtualTime,
    /// For an overlap, how long it lasted.
    pub overlap: Option<Duration>,
    /// The events that make the argument, by their place in [`History::events`](crate::History::events), ascending.
    pub events: Vec<usize>,
    /// The argument, one sentence each: first what follows from the events ("Then"), last what contradicts it
    /// ("However").
    pub argument: Vec<Step>,
}

impl Witness {
    /// Of the events that make the argument, those up to when the promise was broken, by their places: what comes later
    /// did not lead to it.
    pub fn events_until_broken(&self, history: &History) -> Vec<usize> {
        let events = self.events.iter().copied();
        let until_broken = |index: &usize| {
            let event = history.events.get(*index);
            event.is_some_and(|event| event.at <= self.at)
        };
        events.filter(until_broken).collect()
    }

    /// The argument with a `#` for each word that has a number in it: names, times, tokens; and each sentence once, of
    /// however many the same is said. Two runs of which it is the same break the promise in the same way: five that
    /// wait in a circle are as stuck as three.
    pub fn kind(&self) -> String {
        let mut sentences: Vec<String> = Vec::with_capacity(self.argument.len());
        for step in &self.argument {
            let (Step::Then(text) | Step::However(text)) = step;
            let sentence = nameless(text);
            if !sentences.contains(&sentence) {
                sentences.push(sentence);
            }
        }
        sentences.join("\n")
    }
}

/// A text with a `#` for each word that has a number in it, and one for a list of them, however long.
fn nameless(text: &str) -> String {
    let mut words: Vec<&str> = Vec::new();
    for word in text.split_whitespace() {
        let named = word.contains(|letter: char| letter.is_ascii_digit());
        match (named, words.as_slice()) {
            (false, _) => words.push(word),
            (true, [.., "#", "and"]) => words.truncate(words.len() - 1),
            (true, [.., "#"]) => {}
            (true, _) => words.push("#"),
        }
    }
    words.join(" ").replace("owners were #", "owner was #")
}

#[cfg(test)]
mod tests {
    use super::nameless;

    #[test]
    fn a_list_of_names_is_of_the_kind_of_one_name() {
        let one = nameless("contender-2 is inside; the owner was contender-1.");
        assert_eq!(one, "# is inside; the owner was #");
        for more in [
            "contender-2 is inside; the owners were contender-1 and contender-3.",
            "contender-2 is inside; the owners were contender-1, contender-4, and contender-3.",
        ] {
            assert_eq!(nameless(more), one);
        }
    }
}

/// A step of an argument.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Step {
    /// What follows.
    Then(String),
    /// What contradicts it.
    However(String),
}

impl Verdict {
    /// The witness, if the promise was broken.
    pub fn witness(&self) -> Option<&Witness> {
        match self {
            Self::Violated(witness) => Some(witness),
            Self::Holds | Self::Undecided(_) => None,
        }
    }

    /// The same, to keep.
    pub fn into_witness(self) -> Option<Witness> {
        match self {
            Self::Violated(witness) => Some(*witness),
            Self::Holds | Self::Undecided(_) => None,
        }
    }
}
