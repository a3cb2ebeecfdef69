//! What is done to both backends.

use std::fmt;

use picklock_clients::redis::Command;

use crate::harness::pair;

/// One thing that is done to both backends.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Step {
    /// A command is sent over a connection, and what comes of it is read.
    Ask { client: usize, command: Command },
    /// A command is sent over a connection, whose answer may come much later: [`Hear`](Self::Hear) reads it.
    Send { client: usize, command: Command },
    /// One thing that comes over a connection on which something was only sent is read.
    Hear { client: usize },
    /// A command is sent, its one answer is read, and nothing else is asked: not everything is answered now.
    Alone { client: usize, command: Command },
    /// Time passes.
    Pass { millis: u64 },
    /// A connection is closed and replaced.
    Renew { client: usize },
}

impl Step {
    /// The step of a line of a case: `1 SET k v`, `1 ~ BLPOP k 0` (only sent), `hear 1`, `1 ! GET k` (asked alone),
    /// `pass 20`, or `renew 1`. Words in single quotes may have spaces.
    pub(super) fn parse(line: &str) -> Option<Self> {
        let (first, rest) = line.trim().split_once(' ')?;
        match first {
            "pass" => Some(Self::Pass {
                millis: rest.trim().parse().ok()?,
            }),
            "renew" => Some(Self::Renew {
                client: rest.trim().parse().ok()?,
            }),
            "hear" => Some(Self::Hear {
                client: rest.trim().parse().ok()?,
            }),
            client => {
                let client = client.parse().ok()?;
                let (how, rest) = rest.split_once(' ').unwrap_or((rest, ""));
                Some(match how {
                    "~" => Self::Send {
                        client,
                        command: Command::of(words(rest))?,
                    },
                    "!" => Self::Alone {
                        client,
                        command: Command::of(words(rest))?,
                    },
                    _ => Self::Ask {
                        client,
                        command: Command::of(words(line.trim().split_once(' ')?.1))?,
                    },
                })
            }
        }
    }
}

fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    for (index, part) in text.split('\'').enumerate() {
        if index % 2 == 1 {
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
            Self::Send { client, command } => write!(out, "{client} ~ {command}"),
            Self::Alone { client, command } => write!(out, "{client} ! {command}"),
            Self::Hear { client } => write!(out, "hear {client}"),
            Self::Pass { millis } => write!(out, "pass {millis}"),
            Self::Renew { client } => write!(out, "renew {client}"),
        }
    }
}

impl pair::Step for Step {
    fn requests(&self) -> Vec<String> {
        match self {
            Self::Ask { command, .. }
            | Self::Send { command, .. }
            | Self::Alone { command, .. } => {
                vec![name(command)]
            }
            Self::Hear { .. } | Self::Pass { .. } | Self::Renew { .. } => Vec::new(),
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
