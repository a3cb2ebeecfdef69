//! Scripted commands: what random ones hardly ever come upon.

mod blocking;
mod collections;
mod databases;
mod functions;
mod keys;
mod libraries;
mod lua;
mod newer;
mod transactions_pubsub;

use picklock_redis::ServerVersion;

/// Steps that belong together.
#[derive(Clone, Copy, Debug)]
pub(super) struct Case {
    pub(super) name: &'static str,
    /// One step in each line.
    pub(super) steps: &'static str,
    /// The versions that have what it asks for; all, if empty.
    pub(super) needs: &'static [ServerVersion],
}

impl Case {
    /// Its steps. A line that begins with a bar goes on with the line before it.
    pub(super) fn lines(&self) -> Vec<String> {
        let mut lines: Vec<String> = Vec::new();
        for line in self.steps.lines().map(str::trim) {
            match (line.strip_prefix('|'), lines.last_mut()) {
                (Some(rest), Some(last)) => last.push_str(rest),
                _ if line.is_empty() => {}
                _ => lines.push(line.to_owned()),
            }
        }
        lines
    }
}

const fn case(name: &'static str, steps: &'static str) -> Case {
    let needs = &[];
    Case { name, steps, needs }
}

/// All of them.
pub(super) const CASES: &[Case] = &[
    keys::STRINGS,
    keys::EXPIRY,
    collections::HASHES,
    collections::LISTS,
    collections::SORTED,
    keys::OTHERS,
    keys::RANDOM_KEY,
    transactions_pubsub::TRANSACTIONS,
    transactions_pubsub::WATCHES,
    transactions_pubsub::MESSAGES,
    transactions_pubsub::NEWER_PROTOCOL,
    transactions_pubsub::CONNECTIONS,
    lua::ERRORS,
    lua::VALUES,
    lua::SANDBOX,
    lua::EFFECTS,
    lua::LOCKS,
    functions::FUNCTIONS,
    functions::BAD_LIBRARIES,
    functions::CALLS,
    functions::LOCK,
    libraries::BITS,
    libraries::JSON,
    libraries::MESSAGE_PACK,
    libraries::STRUCTURES,
    blocking::BLOCKING,
    blocking::WAITING,
    databases::DATABASES,
    databases::EVENTS,
    newer::COMPARE_AND_SET,
    newer::COMPARE_AND_DELETE,
    newer::DELIFEQ,
    newer::WAITAOF,
    newer::FIELD_EXPIRY,
    blocking::BUSY,
];

/// What leaves a server behind that nothing can be done with any more.
pub(super) const LAST: Case = blocking::UNKILLABLE;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::redis::step::Step;

    #[test]
    fn every_line_is_a_step() {
        for case in CASES.iter().chain([&LAST]) {
            for line in case.lines() {
                assert!(Step::parse(&line).is_some(), "{}: {line}", case.name);
            }
        }
    }
}
