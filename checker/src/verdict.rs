//! Verdicts: three answers, never two.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::VirtualTime;

/// What a check says of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
pub struct Witness {
    /// One sentence: who did what to whom.
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
    /// The argument with a `#` for each word that has a number in it: names, times, tokens; and each sentence once, of
    /// however many the same is said. Two runs of which it is the same break the promise in the same way: five who wait
    /// in a circle are as stuck as three.
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

/// A text with a `#` for each word that has a number in it.
fn nameless(text: &str) -> String {
    let words = text.split_whitespace().map(|word| {
        let named = word.contains(|letter: char| letter.is_ascii_digit());
        if named { "#" } else { word }
    });
    words.collect::<Vec<_>>().join(" ")
}

/// A step of an argument.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
}
