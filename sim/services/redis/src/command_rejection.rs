//! Commands that a server rejects while it cannot serve, and the errors that it answers.

use picklock_clients::redis::{Command, ErrorReply};

use crate::Server;
use crate::command_table::{Row, Traits};
use crate::commands;
use crate::db::Core;
use crate::errors::{LOADING, MASTER_DOWN, NO_MEMORY, NO_REPLICAS, refuse};
use crate::script_flags::ScriptFlags;
use crate::settings::Persistence;

impl Core {
    /// Why a script that says this of itself must not run now. `read_only` says that it was called by a command for
    /// such scripts.
    pub(crate) fn allows(&self, script: ScriptFlags, read_only: bool) -> Result<(), ErrorReply> {
        if script.no_cluster && self.cluster.is_some() {
            return refuse("ERR Can not run script on cluster, 'no-cluster' flag is set.");
        }
        if self.degraded.stale && !script.allow_stale {
            return refuse(
                "MASTERDOWN Link with MASTER is down, replica-serve-stale-data is set to 'no' and 'allow-stale' \
                 flag is not set.",
            );
        }
        if script.writes() {
            if self.is_replica {
                return refuse(
                    "READONLY You can not run script with write flag on readonly replica.",
                );
            }
            let persistence = &self.settings.persistence;
            if self.degraded.misconfigured(persistence).is_some() {
                return refuse(unsaved_script(persistence));
            }
            if read_only {
                return refuse("ERR Can not execute a script with write flag using *_ro command.");
            }
            if self.lacks_replicas {
                return refuse(NO_REPLICAS);
            }
        }
        if self.degraded.memory_is_full && script.takes_memory() {
            return refuse(
                "OOM allow-oom flag is not set on the script, can not run it when used memory > 'maxmemory'",
            );
        }
        Ok(())
    }
}

/// What a part of `FUNCTION` that changes libraries would say of itself: only `LOAD` takes memory.
fn changes_libraries(part: &[u8]) -> Option<ScriptFlags> {
    let is = |name: &&str| part.eq_ignore_ascii_case(name.as_bytes());
    let changes = ["LOAD", "DELETE", "FLUSH", "RESTORE"]
        .iter()
        .find(|name| is(name))?;
    Some(ScriptFlags {
        allow_oom: *changes != "LOAD",
        ..ScriptFlags::default()
    })
}

/// Why a script that may write is refused if what was to be saved could not be.
fn unsaved_script(persistence: &Persistence) -> &'static str {
    match persistence {
        Persistence::None | Persistence::Snapshots(_) => {
            "MISCONF Redis is configured to save RDB snapshots, but it's currently unable to persist to disk. \
             Writable scripts are blocked. Use 'no-writes' flag for read only scripts."
        }
        Persistence::Log(_) => {
            "MISCONF Redis is configured to persist data to AOF, but it's currently unable to persist to disk. \
             Writable scripts are blocked. Use 'no-writes' flag for read only scripts. AOF error: No space left on \
             device"
        }
    }
}

impl Server {
    /// Whether there is nothing that could speak against a command of any client.
    pub(crate) fn is_at_ease(&self) -> bool {
        let core = &self.core;
        self.busy.is_none()
            && !core.degraded.is_any()
            && core.refusal().is_none()
            && core.subscriptions.is_empty()
    }

    /// Why a command is refused before it is looked at whether it may write: there is no memory for it, or no disk.
    /// With those that a transaction holds, if it is `EXEC`.
    pub(crate) fn refused_early(
        &self,
        row: &Row,
        command: &Command,
        queue: Option<&[Command]>,
    ) -> Option<&'static str> {
        let degraded = &self.core.degraded;
        if !degraded.is_any() {
            return None;
        }
        let ends = ["exec", "discard", "multi", "quit", "watch", "reset"];
        let queues = queue.is_some() && !ends.contains(&row.name);
        let script = self.declared(command);
        let takes_memory = script.is_some_and(ScriptFlags::takes_memory);
        let takes_memory = takes_memory || queues || row.is_or_runs(queue, Row::takes_memory);
        if degraded.memory_is_full && takes_memory {
            return Some(NO_MEMORY);
        }
        let misconfigured = degraded.misconfigured(&self.core.settings.persistence);
        let writes = row.is_or_runs(queue, Row::writes) || script.is_some_and(ScriptFlags::writes);
        misconfigured.filter(|_| writes || row.name == "ping")
    }

    /// What a script or a function that a command runs says of itself, if it does. A change of the libraries of
    /// functions is as good as a script that writes.
    fn declared(&self, command: &Command) -> Option<ScriptFlags> {
        if command.is("FCALL") || command.is("FCALL_RO") {
            let function = self.core.functions.find(command.word(1)?)?;
            return Some(function.declared);
        }
        if command.is("FUNCTION") {
            return changes_libraries(command.word(1)?);
        }
        self.scripts.declared(command)
    }

    /// Whether a command runs a script that says of itself that it may write.
    pub(crate) fn declares_writes(&self, command: &Command) -> bool {
        let script = self.declared(command);
        script.is_some_and(ScriptFlags::writes)
    }

    /// Why a command is refused after that: its keys are old, or not there yet.
    pub(crate) fn refused_late(
        &self,
        row: &Row,
        command: &Command,
        queue: Option<&[Command]>,
    ) -> Option<&'static str> {
        let degraded = &self.core.degraded;
        if !degraded.stale && degraded.loading.is_none() {
            return None;
        }
        let held = queue.filter(|_| row.name == "exec").into_iter().flatten();
        let held = held.filter_map(|held| Some((commands::find(held.name())?, held)));
        let all: Vec<(&Row, &Command)> = held.chain([(row, command)]).collect();
        let script = self.declared(command);
        let waits = script.is_some_and(|script| !script.allow_stale);
        let runs = |(row, command): &(&Row, &Command)| row.runs_when_stale(command);
        if degraded.stale && (waits || !all.iter().all(runs)) {
            return Some(MASTER_DOWN);
        }
        let loads = degraded.loading.is_some();
        (loads && !all.iter().all(|(row, _)| row.runs_while_loading())).then_some(LOADING)
    }

    /// Whether it is a replica that is not to serve what it has, because it does not hear its primary.
    pub(crate) fn is_stale(&self) -> bool {
        let primary = self.replication.primary.as_ref();
        !self.core.serves_stale_data && primary.is_some_and(|primary| !primary.is_link_up())
    }
}

impl Row {
    /// Whether it writes to keys.
    pub(crate) fn writes(&self) -> bool {
        self.traits.has(Traits::WRITE)
    }

    /// Whether replicas may hear of it.
    pub(crate) fn may_replicate(&self) -> bool {
        self.writes() || self.traits.has(Traits::MAY_REPLICATE)
    }

    /// Whether it is such a command, or `EXEC` of a transaction that holds one.
    pub(crate) fn is_or_runs(
        &self,
        queue: Option<&[Command]>,
        wanted: impl Fn(&Self) -> bool,
    ) -> bool {
        let held = queue.filter(|_| self.name == "exec").into_iter().flatten();
        let mut held = held.filter_map(|held| commands::find(held.name()));
        wanted(self) || held.any(wanted)
    }
}
