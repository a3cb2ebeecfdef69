//! How a shell calls this program, for the commands that it shows.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::Command;

use crate::scenarios::replay_command::quoted;

/// What is known of a call besides its words: what Cargo says, and where it was made.
#[derive(Default)]
struct Invocation {
    /// The package that `cargo run` runs, if it does.
    package: Option<String>,
    /// Its folder.
    manifest: Option<PathBuf>,
    /// The folder in which the program was called.
    folder: PathBuf,
    is_release: bool,
}

/// How to call this program again: through Cargo if Cargo has called it, so that what has changed since is built.
pub fn of_this_program(arguments: &[OsString]) -> String {
    let word = arguments.first().map(PathBuf::from).unwrap_or_default();
    call(
        &word,
        &Invocation {
            package: env::var("CARGO_PKG_NAME").ok(),
            manifest: env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from),
            folder: env::current_dir().unwrap_or_default(),
            is_release: !cfg!(debug_assertions),
        },
    )
}

fn call(word: &Path, around: &Invocation) -> String {
    let stem = word.file_stem().unwrap_or_default().to_string_lossy();
    if stem.is_empty() || stem == "picklock" {
        return "picklock".to_owned();
    }
    let (Some(package), Some(manifest)) = (&around.package, &around.manifest) else {
        return quoted(&word.display().to_string());
    };
    let mut call = "cargo run".to_owned();
    if around.is_release {
        call.push_str(" --release");
    }
    if !around.folder.starts_with(manifest) {
        call.push_str(&format!(" -p {}", quoted(package)));
    }
    let is_example = word
        .parent()
        .is_some_and(|folder| folder.ends_with("examples"));
    if is_example {
        call.push_str(&format!(" --example {}", quoted(&stem)));
    } else if stem != *package || manifest.join("src/bin").is_dir() {
        call.push_str(&format!(" --bin {}", quoted(&stem)));
    }
    call + " --"
}

/// The same command line with another name of the program in its usage and its examples.
pub fn renamed(command: Command, program: &str) -> Command {
    let verbs: Vec<String> = command
        .get_subcommands()
        .map(|verb| verb.get_name().to_owned())
        .collect();
    let command = command.bin_name(program);
    if program == "picklock" {
        return command;
    }
    let renamed = |text: &clap::builder::StyledStr| {
        let mut text = text.to_string();
        for verb in &verbs {
            text = text.replace(&format!("picklock {verb}"), &format!("{program} {verb}"));
        }
        text
    };
    in_all(command, &renamed)
}

fn in_all(mut command: Command, renamed: &impl Fn(&clap::builder::StyledStr) -> String) -> Command {
    if let Some(examples) = command.get_after_help().map(renamed) {
        command = command.after_help(examples);
    }
    let command = command.mut_args(|mut argument| {
        if let Some(help) = argument.get_help().map(renamed) {
            argument = argument.help(help);
        }
        argument
    });
    command.mut_subcommands(|verb| in_all(verb, renamed))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn by_cargo(folder: &str) -> Invocation {
        Invocation {
            package: Some("our-locks".to_owned()),
            manifest: Some(PathBuf::from("us/our-locks")),
            folder: PathBuf::from(folder),
            is_release: false,
        }
    }

    #[test]
    fn picklock_is_called_picklock_wherever_it_was_built() {
        let inside = by_cargo("us/our-locks");
        assert_eq!(
            call(Path::new("target/debug/picklock"), &inside),
            "picklock"
        );
        assert_eq!(
            call(Path::new("picklock"), &Invocation::default()),
            "picklock"
        );
    }

    #[test]
    fn the_program_of_a_user_is_called_as_it_was() {
        let called = |word: &str| call(Path::new(word), &Invocation::default());
        assert_eq!(called("our-locks"), "our-locks");
        assert_eq!(called("./our locks"), "'./our locks'");
    }

    #[test]
    fn what_cargo_has_run_is_run_by_cargo_again() {
        let inside = by_cargo("us/our-locks/scenarios");
        let called = |word: &str| call(Path::new(word), &inside);
        assert_eq!(called("target/debug/our-locks"), "cargo run --");
        assert_eq!(called("target/debug/other"), "cargo run --bin other --");
        assert_eq!(
            called("target/debug/examples/small"),
            "cargo run --example small --"
        );
        let elsewhere = Invocation {
            is_release: true,
            ..by_cargo("us")
        };
        assert_eq!(
            call(Path::new("target/release/our-locks"), &elsewhere),
            "cargo run --release -p our-locks --"
        );
    }
}
