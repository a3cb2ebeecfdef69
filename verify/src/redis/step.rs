//! What is done to both backends.

use std::fmt;

use picklock_clients::redis::Command;

use crate::harness::pair;

/// One thing that is done to both backends.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Step {
    /// A command is sent over a connection, and what comes of it is read.
    Ask { client: usize, command: Command },
    /// Time passes.
    Pass { millis: u64 },
    /// A connection is closed, and made anew.
    Renew { client: usize },
}

impl Step {
    /// The step of a line of a case: `1 SET k v`, `pass 20`, or `renew 1`. Words in single quotes may have spaces.
    pub(super) fn parse(line: &str) -> Option<Self> {
        let (first, rest) = line.trim().split_once(' ')?;
        match first {
            "pass" => Some(Self::Pass {
                millis: rest.trim().parse().ok()?,
            }),
            "renew" => Some(Self::Renew {
                client: rest.trim().parse().ok()?,
            }),
            client => Some(Self::Ask {
                client: client.parse().ok()?,
                command: Command::of(words(rest))?,
            }),
        }
    }
}

fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    for (place, part) in text.split('\'').enumerate() {
        if place % 2 == 1 {
            words.push(part.replace("\\n", "\n").replace('`', "'"));
        } else {
            words.extend(part.split_whitespace().map(str::to_owned));
        }
    }
    words
}

impl fmt::Display for Step {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ask { client, command } => write!(out, "{client} {command}"),
            Self::Pass { millis } => write!(out, "pass {millis}"),
            Self::Renew { client } => write!(out, "renew {client}"),
        }
    }
}

impl pair::Step for Step {
    fn requests(&self) -> Vec<String> {
        match self {
            Self::Ask { command, .. } => vec![name(command)],
            Self::Pass { .. } | Self::Renew { .. } => Vec::new(),
        }
    }
}

/// What a command does.
pub(super) fn name(command: &Command) -> String {
    String::from_utf8_lossy(command.name()).into_owned()
}

/// The command of these words.
pub(super) fn command(words: &[&str]) -> Command {
    let rest = words.iter().skip(1);
    rest.fold(Command::new(words[0]), Command::arg)
}
