//! Scripts in a trace: by the first digits of their SHA1 and the commands that they call, and once with their text.

use std::collections::{BTreeMap, BTreeSet};

use crate::checker::History;

/// So many digits stand in a trace.
const DIGITS: usize = 8;
/// No more commands of a script are named than these.
const COMMANDS: usize = 3;

/// What the scripts of a run are called, by the digits that stand in its trace.
pub(super) struct ScriptNames<'h> {
    scripts: BTreeMap<&'h str, &'h str>,
    shown: BTreeSet<&'h str>,
}

impl<'h> ScriptNames<'h> {
    pub(super) fn of(history: &'h History) -> Self {
        let scripts = history.scripts.iter();
        let scripts = scripts.filter_map(|(sha1, text)| Some((sha1.get(..DIGITS)?, text.as_str())));
        Self {
            scripts: scripts.collect(),
            shown: BTreeSet::new(),
        }
    }

    /// The text of a message with what its script calls: `EVALSHA 8f3a1b2c (GET, DEL) 1 lock:a`.
    pub(super) fn named(&self, text: &str) -> String {
        match self.script_of(text) {
            Some((digits, script)) => {
                let name = format!("{digits} ({})", commands(script));
                text.replacen(digits, &name, 1)
            }
            None => text.to_owned(),
        }
    }

    /// The script of a message that is the first one to run it: its digits, and its text as one line.
    pub(super) fn first_use(&mut self, text: &str) -> Option<(&'h str, String)> {
        let (digits, script) = self.script_of(text)?;
        let words: Vec<&str> = script.split_whitespace().collect();
        self.shown.insert(digits).then(|| (digits, words.join(" ")))
    }

    fn script_of(&self, text: &str) -> Option<(&'h str, &'h str)> {
        let mut words = text.split(' ');
        let digits = match words.next()? {
            "EVAL" | "EVALSHA" | "EVAL_RO" | "EVALSHA_RO" => words.next()?,
            "SCRIPT" => words.nth(1)?,
            _ => return None,
        };
        let (digits, script) = self.scripts.get_key_value(digits)?;
        Some((*digits, *script))
    }
}

/// The commands that a script calls, in the order of its text.
fn commands(script: &str) -> String {
    let calls = script.match_indices("call(").map(|(at, call)| {
        let argument = script[at + call.len()..].trim_start();
        let quoted = argument.strip_prefix(['\'', '"']).unwrap_or_default();
        let end = quoted.find(['\'', '"']).unwrap_or(0);
        quoted[..end].to_uppercase()
    });
    let mut names: Vec<String> = Vec::new();
    for name in calls.filter(|name| !name.is_empty()) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let more = if names.len() > COMMANDS { ", …" } else { "" };
    names.truncate(COMMANDS);
    match names.is_empty() {
        true => "calls nothing".to_owned(),
        false => names.join(", ") + more,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn history() -> History {
        let text = "if redis.call('get', KEYS[1]) == ARGV[1] then\n  return redis.call(\"del\", KEYS[1])\nend";
        let scripts = [("8f3a1b2cdeadbeef".to_owned(), text.to_owned())].into();
        History {
            scripts,
            ..History::default()
        }
    }

    #[test]
    fn a_script_is_called_by_its_commands_wherever_it_is_run() {
        let history = history();
        let names = ScriptNames::of(&history);
        assert_eq!(
            names.named("EVALSHA 8f3a1b2c 1 lock:a token"),
            "EVALSHA 8f3a1b2c (GET, DEL) 1 lock:a token"
        );
        assert_eq!(
            names.named("SCRIPT LOAD 8f3a1b2c"),
            "SCRIPT LOAD 8f3a1b2c (GET, DEL)"
        );
        for other in ["EVALSHA 00000000 1 lock:a", "SET lock:a 8f3a1b2c", "PING"] {
            assert_eq!(names.named(other), other);
        }
    }

    #[test]
    fn the_text_of_a_script_is_shown_once() {
        let history = history();
        let mut names = ScriptNames::of(&history);
        let text =
            "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call(\"del\", KEYS[1]) end";
        let first = names.first_use("EVAL 8f3a1b2c 1 lock:a");
        assert_eq!(first, Some(("8f3a1b2c", text.to_owned())));
        assert_eq!(names.first_use("EVAL 8f3a1b2c 1 lock:a"), None);
    }

    #[test]
    fn of_a_long_script_the_first_commands_are_named() {
        let text =
            "redis.call('exists') redis.call('hincrby') redis.call('pexpire') redis.pcall('pttl')";
        assert_eq!(commands(text), "EXISTS, HINCRBY, PEXPIRE, …");
        assert_eq!(commands("return 1"), "calls nothing");
    }
}
