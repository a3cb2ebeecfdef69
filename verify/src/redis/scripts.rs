//! Scripted commands: what random ones hardly ever come upon.

mod collections;
mod keys;
mod libraries;
mod lua;
mod rest;

/// Steps that belong together.
#[derive(Clone, Copy, Debug)]
pub(super) struct Script {
    pub(super) name: &'static str,
    /// One step in each line.
    pub(super) steps: &'static str,
}

impl Script {
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

const fn script(name: &'static str, steps: &'static str) -> Script {
    Script { name, steps }
}

/// All of them.
pub(super) const SCRIPTS: &[Script] = &[
    keys::STRINGS,
    keys::EXPIRY,
    collections::HASHES,
    collections::LISTS,
    collections::SORTED,
    keys::OTHERS,
    rest::TRANSACTIONS,
    rest::WATCHES,
    rest::MESSAGES,
    rest::NEWER_PROTOCOL,
    rest::CONNECTIONS,
    lua::ERRORS,
    lua::VALUES,
    lua::SANDBOX,
    lua::EFFECTS,
    lua::LOCKS,
    libraries::BITS,
    libraries::JSON,
    libraries::MESSAGE_PACK,
    libraries::STRUCTURES,
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::redis::step::Step;

    #[test]
    fn every_line_is_a_step() {
        for script in SCRIPTS {
            for line in script.lines() {
                assert!(Step::parse(&line).is_some(), "{}: {line}", script.name);
            }
        }
    }
}
