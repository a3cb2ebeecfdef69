//! The command line, for a program of your own: every verb, with your locks beside those of picklock.
//!
//! ```no_run
//! use std::process::ExitCode;
//!
//! use picklock::algorithms::{Recipe, registry};
//!
//! const OURS: Recipe = Recipe { name: "our-lock", ..registry::RECIPES[0] };
//!
//! fn main() -> ExitCode {
//!     picklock::cli::main(&[OURS])
//! }
//! ```

mod cmd;
mod config;
mod console;
mod exit;
mod failure;
mod invocation;
mod markdown;
mod progress;
mod schemas;
mod seeds;
mod threads;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, FromArgMatches, Parser};

use crate::algorithms::{Recipe, RecipeMistake};
use crate::scenarios::program;
use crate::sim::broken::caught;
use crate::watchdog;
use cmd::Command;
use console::OutputArgs;
use failure::Failure;

/// Runs distributed locks in a simulated world, breaks that world on purpose, and says which
/// promises survive.
///
/// For every promise that does not, there is a seed, a timeline, and the command that shows it
/// again.
#[derive(Debug, Parser)]
#[command(name = "picklock", version, after_help = EXAMPLES, disable_help_subcommand = true)]
struct Cli {
    #[command(flatten)]
    look: OutputArgs,
    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "\
Examples:
  picklock run                                      every scenario that comes with picklock
  picklock run zookeeper/waiter-death my-locks/     one of them, and the files of a folder
  picklock replay zookeeper/waiter-death --case zk-no-recheck --seed 3
  picklock list algorithms

Exit codes: 0 as expected, 1 not as expected, 2 bad usage or file, 3 undecided, 4 not deterministic, 5 \
broken: a run panicked, or would not end. Where several apply, picklock exits with the first of 2, 4, 5, 1, \
3.";

/// Does what the arguments of the program say. Scenarios may name these algorithms beside those of picklock; one that
/// has the name of another takes its place. Commands that are shown call the program as it was called itself.
pub fn main(algorithms: &[Recipe]) -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().collect();
    program::begin(invocation::of_this_program(&arguments), algorithms);
    console::begin_messages(console::width_asked(&arguments));
    let finished = if arguments.len() <= 1 {
        console::print(&usage().render_help().to_string())
            .map(|()| exit::AS_EXPECTED)
            .map_err(|failure| (failure, false))
    } else {
        match parsed(&arguments) {
            Ok(cli) => {
                let color = cli.look.colored_stderr();
                watchdog::start();
                // What runs catches its panics: one that comes here is from anywhere else.
                let done = caught(|| {
                    refuse_mistaken(algorithms)?;
                    cli.command.execute(&cli.look, usage)
                });
                let done = done.unwrap_or_else(|why| Err(Failure::Broken(why.to_string())));
                done.map_err(|failure| (failure, color))
            }
            Err(Refused::Words(error)) => refuse(&error).map_err(|failure| (failure, false)),
            Err(Refused::Config(failure)) => Err((failure, false)),
        }
    };
    let code = finished.unwrap_or_else(|(failure, color)| {
        if let Some(message) = failure.message(color) {
            console::print_message(&message);
        }
        failure.exit()
    });
    ExitCode::from(code)
}

/// Refuses locks of the program that no run could judge.
fn refuse_mistaken(algorithms: &[Recipe]) -> Result<(), Failure> {
    let mut mistakes = algorithms.iter().flat_map(Recipe::mistakes);
    match mistakes.next() {
        None => Ok(()),
        Some(RecipeMistake { problem, help }) => Err(Failure::usage(problem, [help])),
    }
}

/// What the command line may say, in the words of this program.
fn usage() -> clap::Command {
    let usage = invocation::renamed(Cli::command(), program::command());
    match console::message_width() {
        Some(width) => usage.term_width(width),
        None => usage,
    }
}

/// Why a command line cannot be done.
enum Refused {
    /// For its own words.
    Words(clap::Error),
    /// For what `picklock.toml` says.
    Config(Failure),
}

impl From<clap::Error> for Refused {
    fn from(error: clap::Error) -> Self {
        Self::Words(error)
    }
}

/// What the words say, and, where they do not, `picklock.toml`.
fn parsed(arguments: &[OsString]) -> Result<Cli, Refused> {
    let mut plain = usage();
    let mut matches = plain.try_get_matches_from_mut(arguments)?;
    let with_config = config::with_config(usage(), &matches).map_err(Refused::Config)?;
    if let Some(mut usage) = with_config {
        matches = usage.try_get_matches_from_mut(arguments)?;
    }
    Ok(Cli::from_arg_matches(&matches).map_err(|error| error.format(&mut plain))?)
}

/// Shows the help or the version if that was asked for, or else what is wrong with the command
/// line.
fn refuse(error: &clap::Error) -> Result<u8, Failure> {
    let shown = error.render();
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            console::print(&shown.to_string()).map(|()| exit::AS_EXPECTED)
        }
        ErrorKind::InvalidSubcommand => {
            let asked = match error.get(ContextKind::InvalidSubcommand) {
                Some(ContextValue::String(asked)) => asked.as_str(),
                _ => "",
            };
            let usage = usage();
            let names: Vec<&str> = usage
                .get_subcommands()
                .map(|command| command.get_name())
                .collect();
            Err(Failure::unknown("command", asked, &names))
        }
        ErrorKind::UnknownArgument => {
            let mut failure = mistaken(&shown.to_string());
            if let Failure::Usage { hints, .. } = &mut failure {
                hints.splice(0..0, lock_by_option(error));
            }
            Err(failure)
        }
        // The list of kinds is not ours and not closed; all others are mistakes.
        _ => Err(mistaken(&shown.to_string())),
    }
}

/// How to name a lock that stands where a command takes none, if that is the mistake.
fn lock_by_option(error: &clap::Error) -> Option<String> {
    let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidArg) else {
        return None;
    };
    let is_lock = program::algorithms()
        .iter()
        .any(|recipe| recipe.name == *word);
    let shown = error.render().to_string();
    let usage = usage();
    let mut commands = usage.get_subcommands().filter(|command| {
        let mut options = command.get_arguments().filter_map(clap::Arg::get_long);
        options.any(|option| option == "algorithm")
    });
    let is_asked = |command: &clap::Command| {
        shown.contains(&format!(
            "Usage: {} {} ",
            program::command(),
            command.get_name()
        ))
    };
    let takes_locks = commands.any(is_asked);
    (is_lock && takes_locks).then(|| format!("name the lock with an option: --algorithm {word}"))
}

/// What clap says of a mistake, as all others are told: what is wrong, and what would be right.
fn mistaken(told: &str) -> Failure {
    let told = told.strip_prefix("error: ").unwrap_or(told);
    let (mut problem, mut hints) = (String::new(), Vec::new());
    for line in told.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let values = line.strip_prefix("[possible values: ");
        if let Some(tip) = line.strip_prefix("tip: ") {
            hints.push(tip.to_owned());
        } else if let Some(values) = values.and_then(|values| values.strip_suffix(']')) {
            hints.push(format!("there is: {values}"));
        } else if let Some(usage) = line.strip_prefix("Usage: ") {
            hints.push(usage.to_owned());
        } else if line.starts_with("For more information") {
            hints.push("`--help` after the command shows all that it takes".to_owned());
        } else {
            let between = if problem.is_empty() { "" } else { " " };
            problem.push_str(between);
            problem.push_str(line);
        }
    }
    Failure::Usage { problem, hints }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithms::{OwnershipRule, registry};

    #[test]
    fn a_lock_that_no_run_could_judge_is_refused_before_any_verb() {
        let [first, ..] = registry::RECIPES else {
            panic!("there is one");
        };
        assert!(refuse_mistaken(&[*first]).is_ok());
        let by_key = Recipe {
            ownership: OwnershipRule::KEY,
            ..*first
        };
        let refused = refuse_mistaken(&[*first, by_key]).expect_err("it is on ZooKeeper");
        assert_eq!(refused.exit(), exit::BAD_INPUT);
        let told = refused.message(false).unwrap_or_default();
        assert!(
            told.contains("no owner can be read from the lock's key"),
            "{told}"
        );
    }
}
