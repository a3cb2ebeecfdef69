//! What the file says, as the defaults of a command.

use std::any::TypeId;
use std::path::{Path, PathBuf};

use clap::{Arg, Command};

use super::entries::Entry;
use super::values::{Value, is_called};

impl Entry {
    /// The usage in which the option of a command has this value, if nothing else is said.
    pub(super) fn set(&self, usage: Command, command: &str, folder: &Path) -> Command {
        let of_all = usage.get_arguments().any(|one| is_called(one, &self.key));
        let change = |argument: Arg| self.with_default(argument, folder);
        let key = self.key.clone();
        let id_of = move |command: &Command| {
            let mut arguments = command.get_arguments();
            let found = arguments.find(|argument| is_called(argument, &key));
            found.map(|argument| argument.get_id().to_string())
        };
        let set = |command: Command| match id_of(&command) {
            Some(id) => command.mut_arg(id, change),
            None => command,
        };
        match of_all {
            true => set(usage),
            false => usage.mut_subcommand(command, set),
        }
    }

    fn with_default(&self, argument: Arg, folder: &Path) -> Arg {
        match &self.value {
            Value::Switch(on) => argument.default_value(on.to_string()),
            Value::Words(words) => {
                let is_path = argument.get_value_parser().type_id() == TypeId::of::<PathBuf>();
                let is_input = argument.is_positional();
                let words = words.iter().map(|word| match is_path {
                    true => from_here(folder, word, is_input),
                    false => word.clone(),
                });
                argument.default_values(words.collect::<Vec<_>>())
            }
        }
    }
}

/// A path of the file is one from the folder of the file; what is to be read may be the name of a scenario as well.
fn from_here(folder: &Path, word: &str, is_input: bool) -> String {
    let path = folder.join(word);
    match is_input && !path.exists() {
        true => word.to_owned(),
        false => path.display().to_string(),
    }
}
