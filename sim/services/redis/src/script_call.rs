//! Runs scripts, and the commands that these call. Scripts know no command by themselves, and the commands that run
//! scripts know no other: here the two meet, as in `scriptCall` of `script.c`.

use picklock_clients::redis::Command;

use crate::command_table::{Run, Traits};
use crate::commands::{self, ping_value};
use crate::errors::{NO_MEMORY, Reply, refuse};
use crate::functions::Function;
use crate::scripts::{self, RunningScript, Script, ScriptLimits};
use crate::{Output, Server, resp};

impl Server {
    /// Runs a script for a command, of which so many words from the fourth on are keys.
    pub(crate) fn run_script(
        &mut self,
        script: &Script,
        command: &Command,
        keys: usize,
        limits: ScriptLimits,
    ) -> Reply {
        scripts::run(&mut self.core, script, command, keys, limits, call)
    }

    /// Runs a function for a command, of which so many words from the fourth on are keys.
    pub(crate) fn run_function(
        &mut self,
        function: &Function,
        command: &Command,
        keys: usize,
        limits: ScriptLimits,
    ) -> Reply {
        scripts::run_function(&mut self.core, function, command, keys, (limits, call))
    }
}

/// Runs a command that a script calls, or says why not.
fn call(script: &mut RunningScript, command: &Command) -> Reply {
    let Some(row) = commands::find(command.name()) else {
        return refuse("ERR Unknown Redis command called from script");
    };
    if !row.is_of(script.core.settings.version) {
        return refuse("ERR Unknown Redis command called from script");
    }
    if !row.takes(command.len()) {
        return refuse("ERR Wrong number of args calling Redis command from script");
    }
    if row.traits.has(Traits::NO_SCRIPT) {
        return refuse("ERR This Redis command is not allowed from script");
    }
    if script.core.degraded.stale && !row.runs_when_stale(command) {
        return refuse("ERR Can not execute the command on a stale replica");
    }
    if row.may_replicate() && script.limits.read_only {
        return refuse("ERR Write commands are not allowed from read-only scripts.");
    }
    if row.traits.has(Traits::WRITE) && !script.has_written {
        // Asked once only: a script that has begun to write may go on.
        if let Some(refusal) = script.core.refusal_in_script() {
            return refuse(refusal);
        }
        if script.core.degraded.memory_is_full && row.takes_memory() && !script.limits.allow_oom {
            return refuse(NO_MEMORY);
        }
        script.has_written = true;
    }
    if let Some(cluster) = &script.core.cluster {
        let command = std::iter::once((row, command));
        let (keys, now) = (&script.core.keys, script.core.wall_millis());
        let elsewhere = cluster.redirection(command, keys, now, script.core.flags);
        if let Some(elsewhere) = elsewhere {
            return refuse(elsewhere.in_script());
        }
    }
    let dirty = script.core.effects.dirty;
    let reply = match row.run {
        Run::Keys(run) => run(&mut script.core, command),
        Run::Connection(_) if row.name == "ping" => ping_value(command),
        Run::Connection(_) => {
            let name = row.name.to_ascii_uppercase();
            refuse(format!("ERR not modelled: {name} in a script"))
        }
        Run::Not => refuse(format!(
            "ERR not modelled: {}",
            row.name.to_ascii_uppercase()
        )),
    };
    script.core.effects.ran(dirty, command);
    if let Err(error) = &reply
        && let Some(what) = resp::not_modelled(error)
    {
        let what = what.to_owned();
        script.core.out.push(Output::NotModelled { what });
    }
    reply
}
