//! Where results go, and how they look there.

use std::ffi::OsString;
use std::io::{self, IsTerminal, Write};
use std::sync::OnceLock;

use crate::reports::fit::fitted;
use crate::reports::style::Style;
use crate::reports::words::harmless;
use crate::scenarios::{Scenario, program};
use clap::ValueEnum;

use crate::cli::failure::Failure;

/// How output looks.
#[derive(Clone, Copy, Debug, clap::Args)]
pub struct OutputArgs {
    /// When to use colour: only on a terminal and without NO_COLOR, always, or never.
    #[arg(
        long,
        global = true,
        value_name = "WHEN",
        default_value = "auto",
        hide_possible_values = true,
        help_heading = "Look"
    )]
    color: When,
    /// Draw with ASCII characters only.
    #[arg(long, global = true, help_heading = "Look")]
    ascii: bool,
    /// Lay out for so many columns [default: those of the terminal, or elsewhere 100, with commands
    /// as long as they are].
    #[arg(
        long,
        global = true,
        value_name = "COLUMNS",
        value_parser = clap::value_parser!(u16).range(40..=1_000),
        help_heading = "Look"
    )]
    width: Option<u16>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum When {
    Auto,
    Always,
    Never,
}

impl OutputArgs {
    /// The style for standard output.
    pub fn stdout(&self) -> Style {
        Style {
            color: self.colored(io::stdout().is_terminal()),
            ascii: self.ascii,
            width: self.width(),
        }
    }

    /// How many columns standard output has, if that was said or it is a terminal.
    pub fn width(&self) -> Option<usize> {
        let there = || {
            let size = terminal_size::terminal_size_of(io::stdout());
            size.map(|(width, _)| width.0)
        };
        self.width.or_else(there).map(usize::from)
    }

    /// Text in lines that are no wider than standard output is, if that is known.
    pub fn fitted(&self, text: &str) -> String {
        fitted(text, self.width(), program::command())
    }

    /// Whether to use colours on standard error.
    pub fn colored_stderr(&self) -> bool {
        self.colored(io::stderr().is_terminal())
    }

    fn colored(&self, terminal: bool) -> bool {
        match self.color {
            When::Always => true,
            When::Never => false,
            When::Auto => {
                let refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
                let dumb = std::env::var_os("TERM").is_some_and(|value| value == "dumb");
                terminal && !refused && !dumb
            }
        }
    }
}

/// Writes results to standard output.
///
/// # Errors
///
/// [`Failure::NobodyReads`] if the other end of a pipe is closed, [`Failure::Output`] for anything
/// else.
pub fn print(text: &str) -> Result<(), Failure> {
    let mut stdout = io::stdout().lock();
    let written = stdout.write_all(text.as_bytes());
    written.and_then(|()| stdout.flush()).map_err(|error| {
        if error.kind() == io::ErrorKind::BrokenPipe {
            Failure::NobodyReads
        } else {
            Failure::Output(error)
        }
    })
}

/// Whether a reader takes what was printed. Where results are more than text, a reader who goes away
/// does not make them good: the exit code must still tell.
///
/// # Errors
///
/// [`Failure::Output`], as [`print`].
pub fn shown(printed: Result<(), Failure>) -> Result<bool, Failure> {
    match printed {
        Ok(()) => Ok(true),
        Err(Failure::NobodyReads) => Ok(false),
        Err(other) => Err(other),
    }
}

/// How many columns messages have: those of `--width`, wherever it stands, or of the terminal.
static MESSAGES: OnceLock<Option<usize>> = OnceLock::new();

/// The width that the command line asks for, before clap has read it: clap's own texts keep to it, too.
pub fn width_asked(arguments: &[OsString]) -> Option<usize> {
    let words = arguments.iter().filter_map(|word| word.to_str());
    let after = words.clone().zip(words.clone().skip(1));
    let apart = after
        .filter(|(word, _)| *word == "--width")
        .map(|pair| pair.1);
    let joined = words.filter_map(|word| word.strip_prefix("--width="));
    let width: usize = apart.chain(joined).next()?.parse().ok()?;
    (40..=1_000).contains(&width).then_some(width)
}

/// Sets how wide messages are: as wide as was asked for, or as standard error is.
pub fn begin_messages(asked: Option<usize>) {
    let there = || {
        let size = terminal_size::terminal_size_of(io::stderr())?;
        Some(usize::from(size.0.0))
    };
    MESSAGES.get_or_init(|| asked.or_else(there));
}

/// How many columns messages have, if that is known.
pub fn message_width() -> Option<usize> {
    MESSAGES.get().copied().flatten()
}

/// Writes a message to standard error. An error while writing is ignored: it is no reason to stop.
pub fn print_message(text: &str) {
    let text = fitted(text, message_width(), program::command());
    let _ = io::stderr().write_all(text.as_bytes());
}

/// A document for machines, ended by a line break.
///
/// # Errors
///
/// [`Failure::Output`], which is a bug: whatever we write has a form in JSON.
pub fn json(document: &impl serde::Serialize) -> Result<String, Failure> {
    let text = serde_json::to_string_pretty(document);
    text.map(|text| text + "\n")
        .map_err(|error| Failure::Output(error.into()))
}

/// The heading of a report on a scenario: its name and its claim.
pub fn heading(scenario: &Scenario) -> String {
    let (name, claim) = (harmless(&scenario.name), harmless(&scenario.claim));
    format!("{name}\n  {claim}\n\n")
}

/// The text in lines that are no wider than this, broken at spaces.
pub fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let longer = |line: &String| line.chars().count() + 1 + word.chars().count();
        match lines.last_mut() {
            Some(line) if line.is_empty() => line.push_str(word),
            Some(line) if longer(line) <= width => {
                line.push(' ');
                line.push_str(word);
            }
            Some(_) | None => lines.push(word.to_owned()),
        }
    }
    lines
}
