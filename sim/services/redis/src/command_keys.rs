//! Which words of a command are keys.

use picklock_clients::redis::Command;

use crate::cluster::slot_of;
use crate::command_table::{Row, Run, Traits};
use crate::commands;
use crate::numbers;

/// The slot that a client has to ask for, as it sees it: that of the first key that a command names, if it names any.
pub fn slot_of_command(command: &Command) -> Option<u16> {
    let row = commands::find(command.name())?;
    let mut keys = keys_of(row, command);
    keys.next().map(slot_of)
}

/// Whether a command does nothing but read keys, so that a replica can answer it.
pub fn only_reads(command: &Command) -> bool {
    let Some(row) = commands::find(command.name()) else {
        return false;
    };
    let looks = matches!(row.run, Run::Keys(_)) && !row.traits.has(Traits::WRITE);
    let reads = looks || ["eval_ro", "evalsha_ro", "fcall_ro"].contains(&row.name);
    reads && keys_of(row, command).next().is_some()
}

/// The keys that a command names, in order.
pub(crate) fn keys_of<'a>(row: &Row, command: &'a Command) -> impl Iterator<Item = &'a [u8]> {
    let indices = indices(row, command);
    indices.filter_map(|index| command.word(index))
}

fn indices(row: &Row, command: &Command) -> std::iter::StepBy<std::ops::Range<usize>> {
    let words = command.len();
    let (range, step) = match row.name {
        "eval" | "evalsha" | "eval_ro" | "evalsha_ro" | "fcall" | "fcall_ro" => {
            (3..words.min(counted(command, 2).saturating_add(3)), 1)
        }
        "del" | "unlink" | "exists" | "touch" | "mget" | "watch" | "ssubscribe" => (1..words, 1),
        "mset" | "msetnx" => (1..words, 2),
        "rename" | "renamenx" | "copy" | "rpoplpush" | "lmove" | "blmove" | "brpoplpush" => {
            (1..words.min(3), 1)
        }
        "blpop" | "brpop" => (1..words.saturating_sub(1), 1),
        "lmpop" => (2..words.min(counted(command, 1).saturating_add(2)), 1),
        "blmpop" => (3..words.min(counted(command, 2).saturating_add(3)), 1),
        "object" => (2..words.min(3), 1),
        "spublish" | "restore" | "restore-asking" => (1..words.min(2), 1),
        "migrate" => match command.word(3) {
            Some(b"") => (keys_after_the_word(command)..words, 1),
            _ => (3..words.min(4), 1),
        },
        "command" | "dbsize" | "function" | "keys" | "pubsub" | "randomkey" | "scan" | "select"
        | "publish" | "flushall" | "flushdb" | "time" | "echo" => (0..0, 1),
        _ if matches!(row.run, Run::Keys(_)) => (1..words.min(2), 1),
        _ => (0..0, 1),
    };
    range.step_by(step)
}

/// How many keys a command says at a place that it has.
fn counted(command: &Command, index: usize) -> usize {
    let keys = command.word(index).and_then(numbers::integer).unwrap_or(0);
    usize::try_from(keys).unwrap_or(0)
}

/// The place of the first key of `MIGRATE` with several.
fn keys_after_the_word(command: &Command) -> usize {
    let is_it = |word: &[u8]| word.eq_ignore_ascii_case(b"keys");
    let index = command.words().skip(6).position(is_it);
    index.map_or(command.len(), |index| index + 7)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(text: &str) -> String {
        let command = Command::of(text.split(' ')).expect("not empty");
        let row = commands::find(command.name()).expect("known");
        let keys = keys_of(row, &command).map(String::from_utf8_lossy);
        keys.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn only_what_reads_keys_can_be_answered_by_a_replica() {
        let reads = |text: &str| only_reads(&Command::of(text.split(' ')).expect("not empty"));
        for command in [
            "get a",
            "hexists a b",
            "pttl a",
            "exists a",
            "eval_ro x 1 a",
        ] {
            assert!(reads(command), "{command}");
        }
        for command in [
            "set a b",
            "eval x 1 a",
            "eval_ro x 0",
            "watch a",
            "wait 1 0",
            "ping",
            "nonsense a",
        ] {
            assert!(!reads(command), "{command}");
        }
    }

    #[test]
    fn each_command_names_the_keys_that_a_real_server_finds_in_it() {
        // As `COMMAND GETKEYS` of a real server answers.
        for (command, expected) in [
            ("set a 1 px 5", "a"),
            ("mget a b c", "a b c"),
            ("mset a 1 b 2", "a b"),
            ("eval return 2 a b c", "a b"),
            ("evalsha f 0 a", ""),
            ("rename a b", "a b"),
            ("lmove a b left right", "a b"),
            ("blpop a b 0", "a b"),
            ("blmove a b left right 0", "a b"),
            ("brpoplpush a b 0", "a b"),
            ("lmpop 2 a b left", "a b"),
            ("blmpop 0 2 a b left", "a b"),
            ("object freq a", "a"),
            ("publish a b", ""),
            ("spublish a b", "a"),
            ("watch a b", "a b"),
            ("zadd a 1 b", "a"),
            ("migrate h 1 a 0 5", "a"),
            ("migrate h 1 a 0 5 replace", "a"),
            ("ping a", ""),
            ("exec", ""),
        ] {
            assert_eq!(keys(command), expected, "{command}");
        }
    }
}
