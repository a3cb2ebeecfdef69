//! Commands as a trace has them: a script by the first digits of its SHA1, for its text is long and the same each time.

use std::fmt;

use picklock_checker::ContenderId;
use picklock_checker::service_event::ServiceEventKind as What;
use picklock_clients::redis::{Command, Value, sha1};

use super::SimulatedRedis;
use crate::network::ConnectionId;
use crate::world::{ServiceMessage, World};

/// So many digits tell the scripts of a run apart.
pub(super) const DIGITS: usize = 8;

/// A command as a trace has it.
struct CommandText<'c>(pub &'c Command);

/// The text of the script that a command carries, by the place of that word.
fn script(command: &Command) -> Option<(usize, &[u8])> {
    let is_load = |word: &[u8]| word.eq_ignore_ascii_case(b"LOAD");
    let place = if command.is("EVAL") || command.is("EVAL_RO") {
        1
    } else if command.is("SCRIPT") && command.word(1).is_some_and(is_load) {
        2
    } else {
        return None;
    };
    Some((place, command.word(place)?))
}

impl ServiceMessage for Command {
    fn text(&self) -> impl fmt::Display + '_ {
        CommandText(self)
    }
}

impl ServiceMessage for Value {
    fn text(&self) -> impl fmt::Display + '_ {
        self
    }
}

impl fmt::Display for CommandText<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let command = self.0;
        let by_hash = command.is("EVALSHA") || command.is("EVALSHA_RO");
        let short = match script(command) {
            Some((place, text)) => Some((place, sha1(text))),
            None if by_hash => {
                let hash = command.word(1).unwrap_or_default();
                Some((1, String::from_utf8_lossy(hash).into_owned()))
            }
            None => None,
        };
        let Some((place, hash)) = short else {
            return fmt::Display::fmt(command, out);
        };
        let hash = hash.chars().take(DIGITS).collect::<String>();
        let words = command.words().enumerate();
        let words = words.map(|(index, word)| match index == place {
            true => hash.as_bytes(),
            false => word,
        });
        match Command::of(words) {
            Some(command) => fmt::Display::fmt(&command, out),
            None => Ok(()),
        }
    }
}

impl World<SimulatedRedis> {
    /// Keeps what a client library sends again.
    pub(super) fn record_resent(
        &mut self,
        connection: ConnectionId,
        by: ContenderId,
        command: &Command,
    ) {
        if self.records_service_events() {
            let words = if script(command).is_some() || command.is("EVALSHA") {
                2
            } else {
                1
            };
            let text = CommandText(command).to_string();
            let words: Vec<&str> = text.split(' ').take(words).collect();
            let request = words.join(" ");
            let server = self.server_of(connection);
            self.record_service_event(server, What::Resent { by, request });
        }
    }

    /// Keeps the text of a script for the trace.
    #[inline]
    pub(super) fn record_script(&mut self, command: &Command) {
        if self.trace.is_some()
            && let Some((_, text)) = script(command)
        {
            let scripts = &mut self.recorder.history.scripts;
            let text = String::from_utf8_lossy(text).into_owned();
            scripts.entry(sha1(text.as_bytes())).or_insert(text);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_is_called_by_its_hash_however_it_is_run() {
        let text = |command: &Command| CommandText(command).to_string();
        let eval = Command::new("EVAL").arg("return 1").arg("1").arg("lock:a");
        assert_eq!(text(&eval), "EVAL e0e1f9fa 1 lock:a");
        let hash = "e0e1f9fabfc9d4800c877a703b823ac0578ff8db";
        let by_hash = Command::new("EVALSHA").arg(hash).arg("1").arg("lock:a");
        assert_eq!(text(&by_hash), "EVALSHA e0e1f9fa 1 lock:a");
        let load = Command::new("SCRIPT").arg("LOAD").arg("return 1");
        assert_eq!(text(&load), "SCRIPT LOAD e0e1f9fa");
        let set = Command::new("SET").arg("lock:a").arg("return 1");
        assert_eq!(text(&set), set.to_string());
    }
}
