//! What a script says of itself in its first line: `#!lua flags=no-writes,allow-stale`.

use picklock_clients::redis::ErrorReply;

use crate::errors::refuse;

/// What a script says of itself. One that says nothing is looked at command by command.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ScriptFlags {
    /// It writes nothing.
    pub(crate) no_writes: bool,
    /// It may run when there is no memory left.
    pub(crate) allow_oom: bool,
    /// It may run on a replica that does not hear its primary and is not to serve old keys.
    pub(crate) allow_stale: bool,
    /// It must not run in a cluster.
    pub(crate) no_cluster: bool,
}

impl ScriptFlags {
    /// What the first line of a script says, if it says anything, and where the script itself begins.
    pub(crate) fn read(text: &[u8]) -> Result<(Option<Self>, usize), ErrorReply> {
        if !text.starts_with(b"#!") {
            return Ok((None, 0));
        }
        let Some(end) = text.iter().position(|byte| *byte == b'\n') else {
            return refuse("ERR Invalid script shebang");
        };
        let line = String::from_utf8_lossy(&text[..end]);
        let mut words = line.split_whitespace();
        let engine = words.next().unwrap_or_default();
        if engine != "#!lua" {
            return refuse(format!("ERR Unexpected engine in script shebang: {engine}"));
        }
        let mut declared = Self::default();
        for word in words {
            let Some(flags) = word.strip_prefix("flags=") else {
                return refuse(format!("ERR Unknown lua shebang option: {word}"));
            };
            for flag in flags.split(',') {
                if !declared.set(flag)? {
                    return refuse(format!("ERR Unexpected flag in script shebang: {flag}"));
                }
            }
        }
        Ok((Some(declared), end))
    }

    /// Sets the flag of this name, if there is one.
    pub(crate) fn set(&mut self, flag: &str) -> Result<bool, ErrorReply> {
        match flag {
            "no-writes" => self.no_writes = true,
            "allow-oom" => self.allow_oom = true,
            "allow-stale" => self.allow_stale = true,
            "no-cluster" => self.no_cluster = true,
            "allow-cross-slot-keys" => return refuse("ERR not modelled: allow-cross-slot-keys"),
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Whether it may write.
    pub(crate) fn writes(self) -> bool {
        !self.no_writes
    }

    /// Whether it is refused when there is no memory left.
    pub(crate) fn takes_memory(self) -> bool {
        self.writes() && !self.allow_oom
    }
}
