//! A sequence of steps on one backend, and what is written down of it.

use std::time::Duration;

use super::{FailoverBackend, until};
use crate::harness::comparison::{Answer, Line};
use crate::harness::error::Result;

/// What was asked of one backend, and the answers.
pub(super) type Observed = Vec<Line>;

/// What is done to a backend, and what is seen of it.
pub(super) type Case = fn(&mut dyn FailoverBackend) -> Result<Observed>;

pub(super) const PRIMARY: usize = 0;
pub(super) const REPLICA: usize = 1;

/// A backend, and what is written down of it.
pub(super) struct Recorder<'a> {
    pub(super) backend: &'a mut dyn FailoverBackend,
    pub(super) observed: Observed,
}

impl<'a> Recorder<'a> {
    pub(super) fn of(backend: &'a mut dyn FailoverBackend) -> Self {
        let observed = Vec::new();
        Self { backend, observed }
    }

    pub(super) fn note(&mut self, asked: impl Into<String>, text: impl Into<String>) {
        self.observed.push(Line {
            text: text.into(),
            asked: Some(asked.into()),
        });
    }

    /// Asks, and writes the answer down. A tilde stands for a blank within a word, and a bar for the end of a line.
    pub(super) fn ask(&mut self, server: usize, line: &str) -> Result<()> {
        let word = |word: &str| word.replace('~', " ").replace('|', "\n");
        let words: Vec<String> = line.split(' ').map(word).collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let answer = self.backend.ask(server, &words)?;
        self.note(line, answer.text());
        Ok(())
    }

    pub(super) fn ask_all(&mut self, server: usize, lines: &[&str]) -> Result<()> {
        lines.iter().try_for_each(|line| self.ask(server, line))
    }

    /// Waits until a server has this value of a key, and writes down whether it ever had.
    pub(super) fn until(&mut self, server: usize, key: &str, value: &str) -> Result<()> {
        let wanted = format!("\"{value}\"");
        let found = until(self.backend, server, &["GET", key], |found| found == wanted)?;
        let asked = format!("GET {key} until {value}");
        self.note(asked, found.is_some().to_string());
        Ok(())
    }

    /// What a server has sent since the first number was taken.
    pub(super) fn resynchronisations(&mut self, server: usize, before: (u64, u64)) -> Result<()> {
        let (all, rest) = self.backend.resynchronisations(server)?;
        let (all, rest) = (all - before.0, rest - before.1);
        self.note("resynchronisations", format!("{all} full, {rest} partial"));
        Ok(())
    }

    pub(super) fn pass(&mut self, millis: u64) -> Result<()> {
        self.backend.pass(Duration::from_millis(millis))
    }
}
