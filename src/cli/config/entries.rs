//! What stands in the file, checked: tables of commands, and keys that are options of theirs.

use std::ops::Range;

use clap::Command;
use clap::error::ErrorKind;
use toml::de::{DeTable, DeValue};

use super::values::{self, Value};
use crate::cli::failure::Failure;
use crate::scenarios::{Diagnostic, SourceLocation, nearest};

/// Options that may stand above all tables, for every command that has them.
const FOR_ALL: [&str; 4] = ["jobs", "width", "color", "ascii"];

/// A line of the file.
pub(super) struct Entry {
    /// The command that it is for; every one that has the option, if none.
    pub(super) command: Option<String>,
    /// The option, without its dashes, or `paths`.
    pub(super) key: String,
    pub(super) value: Value,
}

impl Entry {
    /// Whether it is for this command.
    pub(super) fn is_for(&self, command: &str) -> bool {
        self.command.as_deref().is_none_or(|own| own == command)
    }
}

/// The file, as far as it has been read.
struct Reading<'f> {
    path: &'f str,
    text: &'f str,
    usage: &'f Command,
    entries: Vec<Entry>,
    mistakes: Vec<Diagnostic>,
}

/// Reads the file.
///
/// # Errors
///
/// [`Failure::Mistakes`]: all of them, each with its place.
pub(super) fn read(path: &str, text: &str, usage: &Command) -> Result<Vec<Entry>, Failure> {
    let mut reading = Reading {
        path,
        text,
        usage,
        entries: Vec::new(),
        mistakes: Vec::new(),
    };
    let (table, errors) = DeTable::parse_recoverable(text);
    for error in &errors {
        let message = format!("this is not TOML: {}", error.message());
        reading.mistake(error.span().unwrap_or(0..0), message, None);
    }
    // What follows a slip in the syntax is guesswork.
    if errors.is_empty() {
        for (key, value) in table.get_ref() {
            reading.line(key.get_ref(), key.span(), value.get_ref(), value.span());
        }
    }
    let line = |mistake: &Diagnostic| mistake.place.as_ref().map(|at| (at.line, at.column));
    reading.mistakes.sort_by_key(line);
    match reading.mistakes.is_empty() {
        true => Ok(reading.entries),
        false => Err(Failure::Mistakes(reading.mistakes)),
    }
}

impl Reading<'_> {
    /// A line above all tables, or a table.
    fn line(&mut self, key: &str, place: Range<usize>, value: &DeValue<'_>, at: Range<usize>) {
        let names = self.usage.get_subcommands().map(Command::get_name);
        let names: Vec<&str> = names.collect();
        match value {
            DeValue::Table(table) if names.contains(&key) => {
                for (option, value) in table {
                    let place = option.span();
                    self.entry(
                        Some(key),
                        option.get_ref(),
                        place,
                        value.get_ref(),
                        value.span(),
                    );
                }
            }
            DeValue::Table(_) => {
                let near = nearest(key, names.iter().copied());
                let message = format!("there is no command `{key}`");
                self.mistake(
                    place,
                    message,
                    near.map(|near| format!("did you mean `{near}`?")),
                );
            }
            value if FOR_ALL.contains(&key) => self.entry(None, key, place, value, at),
            _ => {
                let help = match nearest(key, FOR_ALL) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => format!(
                        "options of a command stand below its name, such as [run]; for all commands there are {}",
                        FOR_ALL.join(", ")
                    ),
                };
                self.mistake(place, format!("unknown key `{key}`"), Some(help));
            }
        }
    }

    /// An option of a command, or of all that have it.
    fn entry(
        &mut self,
        command: Option<&str>,
        key: &str,
        place: Range<usize>,
        value: &DeValue<'_>,
        at: Range<usize>,
    ) {
        let name = command.unwrap_or("run");
        let Some(of_command) = self.usage.find_subcommand(name) else {
            return;
        };
        let Some(argument) = values::argument(self.usage, of_command, key) else {
            let known = values::keys(self.usage, of_command);
            let help = match nearest(key, known.iter().map(String::as_str)) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("there is: {}", known.join(", ")),
            };
            self.mistake(place, format!("`{name}` has no option `{key}`"), Some(help));
            return;
        };
        let value = match Value::read(argument, value) {
            Ok(value) => value,
            Err(help) => {
                self.mistake(at, format!("`{key}` cannot be this"), Some(help));
                return;
            }
        };
        if let Some(why) = refused(self.usage, name, key, &value) {
            self.mistake(at, why, None);
            return;
        }
        self.entries.push(Entry {
            command: command.map(str::to_owned),
            key: key.to_owned(),
            value,
        });
    }

    fn mistake(&mut self, place: Range<usize>, message: String, help: Option<String>) {
        let mistake = Diagnostic {
            place: Some(SourceLocation::in_text(self.text, place)),
            help: help.into_iter().collect(),
            ..Diagnostic::of_file(self.path, message)
        };
        self.mistakes.push(mistake);
    }
}

/// Why the option cannot have this value, if so: as the command line would say it.
fn refused(usage: &Command, command: &str, key: &str, value: &Value) -> Option<String> {
    let Value::Words(words) = value else {
        return None;
    };
    if key == values::PATHS {
        return None;
    }
    let options = words.iter().map(|word| format!("--{key}={word}"));
    let line = [usage.get_name().to_owned(), command.to_owned()].into_iter();
    let error = usage
        .clone()
        .try_get_matches_from(line.chain(options))
        .err()?;
    // What else the command needs is for the command line to say.
    let is_of_value = matches!(
        error.kind(),
        ErrorKind::InvalidValue | ErrorKind::ValueValidation | ErrorKind::ArgumentConflict
    );
    let said = error.to_string();
    let said = said.lines().next().unwrap_or_default();
    is_of_value.then(|| said.trim_start_matches("error: ").to_owned())
}
