//! The result of a comparison.

use std::collections::BTreeMap;
use std::fmt;

/// An answer on which the two backends differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// In which case, or round of random steps.
    pub part: String,
    /// After what was asked.
    pub asked: String,
    /// Over which connection.
    pub connection: String,
    /// What the real server said.
    pub real: String,
    /// What the model said.
    pub model: String,
}

/// What came of a comparison, with what is counted of its service alone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Compared<C> {
    /// What was asked: requests, and whatever else steps do.
    pub operations: u64,
    /// How often each kind of request was among it.
    pub requests: BTreeMap<String, u64>,
    /// Answers, notifications, and ends of connections.
    pub answers: u64,
    /// How many of them are the same.
    pub agreeing: u64,
    /// The others.
    pub differences: Vec<Difference>,
    /// Cases and rounds that say nothing, because a step took too long.
    pub set_aside: u64,
    /// What is counted of this service alone.
    pub counters: C,
}

/// What came over a connection, as it is compared.
pub(crate) trait Answer {
    /// Whether the model's answer is as good as the real one.
    fn agrees(&self, model: &Self) -> bool;
    /// In a line.
    fn text(&self) -> String;
    /// What it answers, if that is known.
    fn asked(&self) -> Option<&str> {
        None
    }
}

/// An answer that is compared as text.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Line {
    /// What came, in words.
    pub(crate) text: String,
    /// The request that it answers, if it answers one.
    pub(crate) asked: Option<String>,
}

impl<T: Into<String>> From<T> for Line {
    fn from(text: T) -> Self {
        Self {
            text: text.into(),
            asked: None,
        }
    }
}

impl Answer for Line {
    fn agrees(&self, model: &Self) -> bool {
        self.text == model.text
    }

    fn text(&self) -> String {
        self.text.clone()
    }

    fn asked(&self) -> Option<&str> {
        self.asked.as_deref()
    }
}

impl<C> Compared<C> {
    /// Counts a request.
    pub(crate) fn count_request(&mut self, name: &str) {
        let count = self.requests.entry(name.to_ascii_lowercase());
        *count.or_default() += 1;
    }

    /// Compares what came over a connection, one answer after the other.
    pub(crate) fn compare<A: Answer>(
        &mut self,
        part: &str,
        step: &dyn fmt::Display,
        connection: &dyn fmt::Display,
        [real, model]: [&[A]; 2],
    ) {
        for index in 0..real.len().max(model.len()) {
            let (real, model) = (real.get(index), model.get(index));
            self.answers += 1;
            if real
                .zip(model)
                .is_some_and(|(real, model)| real.agrees(model))
            {
                self.agreeing += 1;
                continue;
            }
            let asked = real.or(model).and_then(Answer::asked);
            let text = |answer: Option<&A>| answer.map_or("nothing".to_owned(), Answer::text);
            self.differences.push(Difference {
                part: part.to_owned(),
                asked: asked.map_or_else(|| step.to_string(), str::to_owned),
                connection: connection.to_string(),
                real: text(real),
                model: text(model),
            });
        }
    }
}
