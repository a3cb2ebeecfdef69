//! `picklock.toml`: what a project always passes. It is looked for in the current folder and in those above it, and the
//! command line wins.

mod defaults;
mod entries;
mod values;

use std::path::{Path, PathBuf};

use clap::{ArgMatches, Command};

use crate::cli::failure::Failure;
use entries::Entry;

/// The name of the file.
pub const NAME: &str = "picklock.toml";

/// The variable that names another file, or, if it is empty, none.
const VARIABLE: &str = "PICKLOCK_CONFIG";

/// Commands that work whatever is in the file: they say what is wrong with it, or have nothing to do with it.
const WITHOUT: [&str; 4] = ["help", "completions", "man", "new"];

/// The file that counts here, if there is one, as a path from the current folder.
pub fn find() -> Option<PathBuf> {
    match std::env::var_os(VARIABLE) {
        Some(named) if named.is_empty() => None,
        Some(named) => Some(PathBuf::from(named)),
        None => above(&std::env::current_dir().ok()?),
    }
}

/// The file in a folder or in the first above it that has one, as a path from that folder.
fn above(folder: &Path) -> Option<PathBuf> {
    let mut shown = PathBuf::new();
    for folder in folder.ancestors() {
        if folder.join(NAME).is_file() {
            return Some(shown.join(NAME));
        }
        shown.push("..");
    }
    None
}

/// The command line with what the file says wherever the words do not.
///
/// # Errors
///
/// [`Failure`], if the file cannot be read, or has mistakes.
pub fn with_config(usage: Command, given: &ArgMatches) -> Result<Option<Command>, Failure> {
    let Some((command, of_command)) = given.subcommand() else {
        return Ok(None);
    };
    let Some(path) = find().filter(|_| !WITHOUT.contains(&command)) else {
        return Ok(None);
    };
    let text = std::fs::read_to_string(&path).map_err(|error| {
        let problem = format!("cannot read {}: {error}", path.display());
        Failure::usage(problem, [format!("{VARIABLE}= runs without it")])
    })?;
    let entries = entries::read(&path.display().to_string(), &text, &usage)?;
    let folder = path.parent().unwrap_or(Path::new(""));
    let wanted = entries.iter().filter(|entry| entry.is_for(command));
    let mut wanted: Vec<&Entry> = wanted.collect();
    // What stands in the table of a command counts for more than what is for all of them.
    wanted.sort_by_key(|entry| entry.command.is_none());
    let mut usage = usage;
    let mut set: Vec<&str> = Vec::new();
    for entry in wanted {
        let key = entry.key.as_str();
        if set.contains(&key) || !is_free(&usage, command, key, of_command) {
            continue;
        }
        set.push(key);
        usage = entry.set(usage, command, folder);
    }
    Ok(Some(usage))
}

/// Whether the command line says neither this nor what cannot stand beside it.
fn is_free(usage: &Command, command: &str, key: &str, given: &ArgMatches) -> bool {
    let is_given = |id: &str| {
        let known = given.try_contains_id(id).is_ok();
        known && given.value_source(id) == Some(clap::parser::ValueSource::CommandLine)
    };
    let Some(of_command) = usage.find_subcommand(command) else {
        return false;
    };
    let Some(argument) = values::argument(usage, of_command, key) else {
        return false;
    };
    let own = argument.get_id();
    let mut all = of_command.get_arguments();
    let excludes = all.any(|other| {
        let excludes = |one: &clap::Arg, other: &clap::Arg| {
            let mut conflicts = of_command.get_arg_conflicts_with(one).into_iter();
            conflicts.any(|conflict| conflict.get_id() == other.get_id())
        };
        is_given(other.get_id().as_str())
            && (excludes(argument, other) || excludes(other, argument))
    });
    !is_given(own.as_str()) && !excludes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_is_looked_for_in_all_folders_above() {
        let outer = std::env::temp_dir().join(format!("picklock-config-{}", std::process::id()));
        let inner = outer.join("a/b");
        std::fs::create_dir_all(&inner).expect("it can be made");
        assert_eq!(above(&inner), None);
        std::fs::write(outer.join(NAME), "").expect("it can be written");
        assert_eq!(above(&inner), Some(PathBuf::from("../../picklock.toml")));
        assert_eq!(above(&outer), Some(PathBuf::from("picklock.toml")));
        std::fs::remove_dir_all(&outer).expect("it is there");
    }
}
