//! The values of the file, as the options take them.

use clap::{Arg, ArgAction, Command};
use toml::de::DeValue;

/// The key of what a command takes without an option: `paths` of scenarios.
pub(super) const PATHS: &str = "paths";

/// What an option is given.
pub(super) enum Value {
    /// A switch: on, or as if nothing had been said.
    Switch(bool),
    /// One word, or several for an option that may be given several times.
    Words(Vec<String>),
}

impl Value {
    /// The value of an option.
    ///
    /// # Errors
    ///
    /// What is expected instead.
    pub(super) fn read(argument: &Arg, value: &DeValue<'_>) -> Result<Self, String> {
        if matches!(argument.get_action(), ArgAction::SetTrue) {
            return match value {
                DeValue::Boolean(on) => Ok(Self::Switch(*on)),
                _ => Err("expected true or false".to_owned()),
            };
        }
        let word = |value: &DeValue<'_>| match value {
            DeValue::String(text) => Some(text.to_string()),
            DeValue::Integer(number) => Some(number.to_string()),
            DeValue::Float(number) => Some(number.to_string()),
            DeValue::Boolean(_) | DeValue::Datetime(_) | DeValue::Array(_) | DeValue::Table(_) => {
                None
            }
        };
        let several = matches!(argument.get_action(), ArgAction::Append);
        let words = match value {
            DeValue::Array(items) if several => {
                items.iter().map(|item| word(item.get_ref())).collect()
            }
            one => word(one).map(|word| vec![word]),
        };
        let expected = match several {
            true => "expected a text, or a list of texts",
            false => "expected a text or a number",
        };
        words.map(Self::Words).ok_or_else(|| expected.to_owned())
    }
}

/// The argument that a key stands for: an option of the command or of all commands, or its paths.
pub(super) fn argument<'u>(usage: &'u Command, command: &'u Command, key: &str) -> Option<&'u Arg> {
    let mut arguments = command.get_arguments().chain(usage.get_arguments());
    arguments.find(|argument| is_called(argument, key))
}

/// Whether a key stands for this argument.
pub(super) fn is_called(argument: &Arg, key: &str) -> bool {
    let is_paths = key == PATHS && argument.is_positional() && argument.get_id() == PATHS;
    is_paths || argument.get_long() == Some(key)
}

/// Every key that the table of a command may have.
pub(super) fn keys(usage: &Command, command: &Command) -> Vec<String> {
    let arguments = command.get_arguments().chain(usage.get_arguments());
    let keys = arguments.filter_map(|argument| match argument.get_long() {
        Some(long) => Some(long.to_owned()),
        None => (argument.is_positional() && argument.get_id() == PATHS).then(|| PATHS.to_owned()),
    });
    let mut keys: Vec<String> = keys
        .filter(|key| key != "help" && key != "version")
        .collect();
    keys.sort_unstable();
    keys.dedup();
    keys
}
