//! The interpreter: one for each thread, shared by all servers there, because scripts leave nothing behind in it.

use std::cell::RefCell;

use indexmap::IndexMap;
use mlua::{Function, HookTriggers, Lua, Value as LuaValue, VmState};
use picklock_clients::redis::{Command, ErrorReply};
use rustc_hash::FxBuildHasher;

use super::convert::answer_of;
use super::globals::{LuaEnvironment, SCRIPT};
use super::running_script::{Call, LENT, Random, ScriptLimits};
use super::{Script, Sha};
use crate::Output;
use crate::busy_script::EndlessScript;
use crate::db::Core;
use crate::errors::{Reply, refuse};

/// How many instructions a script may run between two looks at its budget.
const STEP: u32 = 10_000;
/// How many compiled scripts are kept. They are compiled again when they are needed again.
const KEPT: usize = 4_096;

thread_local! {
    static MACHINE: RefCell<Option<Interpreter>> = const { RefCell::new(None) };
}

/// The interpreter of a thread, and the scripts that it has compiled.
struct Interpreter {
    surroundings: LuaEnvironment,
    compiled: IndexMap<Sha, Function, FxBuildHasher>,
}

/// Does something with the interpreter of this thread.
fn with<T>(what: impl FnOnce(&mut Interpreter) -> Result<T, ErrorReply>) -> Result<T, ErrorReply> {
    let spoiled = PanicGuard;
    let done = MACHINE.with_borrow_mut(|machine| {
        let machine = match machine {
            Some(machine) => machine,
            None => machine.insert(Interpreter::new().map_err(|error| broken(&error))?),
        };
        what(machine)
    });
    std::mem::forget(spoiled);
    done
}

/// The interpreter has panicked in the middle of a script: the next one on this thread gets another.
struct PanicGuard;

impl Drop for PanicGuard {
    fn drop(&mut self) {
        // At the end of the thread it is gone already.
        let _ = MACHINE.try_with(RefCell::take);
    }
}

/// The interpreter itself has failed: there is no memory, or worse.
fn broken(error: &mlua::Error) -> ErrorReply {
    ErrorReply::new(format!("ERR Error in the interpreter: {error}"))
}

/// Compiles a script, or says why it does not compile.
pub(super) fn compile(script: &Script) -> Result<(), ErrorReply> {
    with(|machine| machine.function(script).map(|_| ()))
}

/// At which place of a command that runs a script its keys begin; its arguments come after these.
const WORDS: usize = 3;

/// Runs a script for a command, which has so many keys. `call` runs the commands that the script calls.
pub(crate) fn run(
    core: &mut Box<Core>,
    script: &Script,
    command: &Command,
    keys: usize,
    limits: ScriptLimits,
    call: Call,
) -> Reply {
    with(|machine| {
        let function = machine.function(script)?;
        let words = machine.set_words(command, WORDS, keys);
        words.map_err(|error| broken(&error))?;
        machine.run(core, script, function, (limits, call))
    })
}

impl Interpreter {
    fn new() -> mlua::Result<Self> {
        let surroundings = LuaEnvironment::new()?;
        set_budget_hook(&surroundings.lua, STEP)?;
        Ok(Self {
            surroundings,
            compiled: IndexMap::default(),
        })
    }

    fn function(&mut self, script: &Script) -> Result<Function, ErrorReply> {
        if let Some(function) = self.compiled.get(&script.sha) {
            return Ok(function.clone());
        }
        let chunk = self.surroundings.lua.load(&script.text[script.begins..]);
        let chunk = chunk
            .set_name(SCRIPT)
            .set_mode(mlua::chunk::ChunkMode::Text);
        let function = chunk.into_function().map_err(|error| {
            let text = match error {
                mlua::Error::SyntaxError { message, .. } => message,
                other => other.to_string(),
            };
            ErrorReply::new(format!("ERR Error compiling script (new function): {text}"))
        })?;
        if self.compiled.len() >= KEPT {
            self.compiled.clear();
        }
        self.compiled.insert(script.sha, function.clone());
        Ok(function)
    }

    /// Sets `KEYS` and `ARGV`.
    fn set_words(&self, command: &Command, from: usize, keys: usize) -> mlua::Result<()> {
        let LuaEnvironment { lua, globals, .. } = &self.surroundings;
        let middle = from + keys;
        for (name, indices) in [("KEYS", from..middle), ("ARGV", middle..command.len())] {
            let table = lua.create_table_with_capacity(indices.len(), 0)?;
            for (at, index) in (1..).zip(indices) {
                let word = lua.create_string(command.word(index).unwrap_or_default())?;
                table.raw_seti(at, word)?;
            }
            globals.raw_set(name, table)?;
        }
        Ok(())
    }

    fn run(
        &self,
        core: &mut Box<Core>,
        script: &Script,
        function: Function,
        (limits, call): (ScriptLimits, Call),
    ) -> Reply {
        let LuaEnvironment { lua, run, .. } = &self.surroundings;
        let resp3 = core.resp3;
        LENT.with_borrow_mut(|loan| {
            std::mem::swap(&mut loan.core, core);
            loan.core.resp3 = false;
            loan.random = Random::seeded(0);
            loan.limits = limits;
            loan.call = call;
            loan.has_written = false;
            loan.budget = loan.core.settings.script_budget;
            loan.cut = None;
        });
        let answer = run.call::<(bool, LuaValue)>(function);
        let (cut, has_written) = LENT.with_borrow_mut(|loan| {
            std::mem::swap(&mut loan.core, core);
            (loan.cut, loan.has_written)
        });
        let script_resp3 = std::mem::replace(&mut core.resp3, resp3);
        if let Some(line) = cut {
            set_budget_hook(lua, STEP).map_err(|error| broken(&error))?;
            let script = script.sha.to_string();
            let text = format!(
                "ERR cut after {} instructions script: {script}, on @user_script:{line}.",
                core.settings.script_budget
            );
            core.cut_script = Some(EndlessScript {
                sha: script.clone(),
                line,
                has_written,
            });
            core.out.push(Output::ScriptCut { script, line });
            return refuse(text);
        }
        match answer {
            Ok((true, value)) => Ok(answer_of(&value, script_resp3)),
            Ok((false, error)) => refuse(explained(script, &error)),
            Err(error) => refuse(format!("ERR {error} script: {}", script.sha)),
        }
    }
}

/// The text of an error that has reached the top, with the script and its line.
fn explained(script: &Script, error: &LuaValue) -> String {
    let text = error.as_string().map(|text| text.to_string_lossy());
    let text = text.unwrap_or_else(|| "ERR unknown error".to_owned());
    let (text, index) = text.rsplit_once('\n').unwrap_or((&text, "@user_script:0"));
    let text = text.replace(['\r', '\n'], " ");
    format!("{text} script: {}, on {index}.", script.sha)
}

/// Looks at the budget after each so many instructions.
fn set_budget_hook(lua: &Lua, instructions: u32) -> mlua::Result<()> {
    let triggers = HookTriggers::new().every_nth_instruction(instructions);
    lua.set_global_hook(triggers, move |lua, debug| {
        let used_up = LENT.with_borrow_mut(|loan| {
            loan.budget = loan.budget.saturating_sub(u64::from(instructions));
            if loan.budget == 0 && loan.cut.is_none() {
                let line = debug.current_line().unwrap_or(0);
                loan.cut = Some(u32::try_from(line).unwrap_or(0));
            }
            loan.budget == 0
        });
        if !used_up {
            return Ok(VmState::Continue);
        }
        if instructions > 1 {
            // From now on at each, so that no handler of errors goes on with it.
            set_budget_hook(lua, 1)?;
        }
        Err(mlua::Error::runtime("the script is cut"))
    })
}
