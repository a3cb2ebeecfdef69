//! The interpreter: one for each thread, shared by all servers there, because scripts leave nothing behind in it.

use std::cell::RefCell;
use std::fmt::Display;
use std::ops::Range;

use indexmap::IndexMap;
use mlua::{Function as LuaFunction, HookTriggers, Lua, Table, Value as LuaValue, VmState};
use picklock_clients::redis::{Command, ErrorReply};
use rustc_hash::FxBuildHasher;

use super::convert::answer_of;
use super::globals::{LIBRARY, LuaEnvironment, SCRIPT};
use super::running_script::{Call, LENT, Random, ScriptLimits};
use super::{Script, Sha};
use crate::Output;
use crate::busy_script::EndlessScript;
use crate::db::Core;
use crate::errors::{Reply, refuse};
use crate::functions::Function;
use crate::script_flags::ScriptFlags;

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
    compiled: IndexMap<Sha, LuaFunction, FxBuildHasher>,
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
        let run = || machine.surroundings.run.call(function);
        machine.run(core, (&script.sha, SCRIPT), run, (limits, call))
    })
}

/// The same of a function, which is given its keys and arguments instead of finding them around it.
pub(crate) fn run_function(
    core: &mut Box<Core>,
    function: &Function,
    command: &Command,
    keys: usize,
    (limits, call): (ScriptLimits, Call),
) -> Reply {
    with(|machine| {
        let middle = WORDS + keys;
        let words = [WORDS..middle, middle..command.len()];
        let [keys, arguments] = words.map(|indices| machine.words(command, indices));
        let keys = keys.map_err(|error| broken(&error))?;
        let arguments = arguments.map_err(|error| broken(&error))?;
        machine.hide_words().map_err(|error| broken(&error))?;
        let callback = function.callback.clone();
        let run = || machine.surroundings.call.call((callback, keys, arguments));
        machine.run(core, (&function.name, LIBRARY), run, (limits, call))
    })
}

/// Runs the code of a library. Answers the functions that it registers.
pub(super) fn registered_functions(code: &[u8], budget: u64) -> Result<Vec<Function>, ErrorReply> {
    with(|machine| {
        let code = machine.compiled(code, LIBRARY);
        let code = code.or_else(|text| refuse(format!("ERR Error compiling function: {text}")))?;
        let failed = |text: &str| refuse(format!("ERR Error registering functions: {text}"));
        match machine.load(code, budget).map_err(|error| broken(&error))? {
            None => failed("ERR FUNCTION LOAD timeout"),
            Some((true, LuaValue::Table(registered))) => {
                let rows = registered.sequence_values::<Table>();
                rows.map(|row| function_of(&row.map_err(|error| broken(&error))?))
                    .collect()
            }
            Some((_, error)) => {
                let text = error.as_string().map(|text| text.to_string_lossy());
                failed(&text.unwrap_or_default())
            }
        }
    })
}

/// A function, as the table says that it was registered with.
fn function_of(row: &Table) -> Result<Function, ErrorReply> {
    let read = || -> mlua::Result<_> {
        let description: Option<mlua::LuaString> = row.get("description")?;
        let description = description.map(|text| (&*text.as_bytes()).into());
        Ok((
            row.get("name")?,
            description,
            row.get("flags")?,
            row.get("callback")?,
        ))
    };
    let (name, description, flags, callback) = read().map_err(|error| broken(&error))?;
    let flags: Vec<String> = flags;
    let mut declared = ScriptFlags::default();
    for flag in &flags {
        declared.set(flag)?;
    }
    Ok(Function {
        name,
        description,
        flags,
        declared,
        callback,
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

    fn function(&mut self, script: &Script) -> Result<LuaFunction, ErrorReply> {
        if let Some(function) = self.compiled.get(&script.sha) {
            return Ok(function.clone());
        }
        let function = self.compiled(&script.text[script.begins..], SCRIPT);
        let function = function
            .or_else(|text| refuse(format!("ERR Error compiling script (new function): {text}")))?;
        if self.compiled.len() >= KEPT {
            self.compiled.clear();
        }
        self.compiled.insert(script.sha, function.clone());
        Ok(function)
    }

    /// Code as a function, or why it does not compile.
    fn compiled(&self, code: &[u8], name: &str) -> Result<LuaFunction, String> {
        let chunk = self.surroundings.lua.load(code).set_name(name);
        let chunk = chunk.set_mode(mlua::chunk::ChunkMode::Text);
        chunk.into_function().map_err(|error| match error {
            mlua::Error::SyntaxError { message, .. } => message,
            other => other.to_string(),
        })
    }

    /// Sets `KEYS` and `ARGV`.
    fn set_words(&self, command: &Command, from: usize, keys: usize) -> mlua::Result<()> {
        let middle = from + keys;
        for (name, indices) in [("KEYS", from..middle), ("ARGV", middle..command.len())] {
            let table = self.words(command, indices)?;
            self.surroundings.globals.raw_set(name, table)?;
        }
        Ok(())
    }

    /// Some words of a command, in a table.
    fn words(&self, command: &Command, indices: Range<usize>) -> mlua::Result<Table> {
        let lua = &self.surroundings.lua;
        let table = lua.create_table_with_capacity(indices.len(), 0)?;
        for (at, index) in (1..).zip(indices) {
            let word = lua.create_string(command.word(index).unwrap_or_default())?;
            table.raw_seti(at, word)?;
        }
        Ok(table)
    }

    /// Libraries find no `KEYS` and no `ARGV` around them, whatever script ran before.
    fn hide_words(&self) -> mlua::Result<()> {
        let globals = &self.surroundings.globals;
        globals.raw_set("KEYS", LuaValue::Nil)?;
        globals.raw_set("ARGV", LuaValue::Nil)
    }

    /// Runs the code of a library: whether it succeeded, and what it has registered; `None` if it was cut.
    fn load(&self, code: LuaFunction, budget: u64) -> mlua::Result<Option<(bool, LuaValue)>> {
        let LuaEnvironment {
            lua,
            surround,
            load,
            ..
        } = &self.surroundings;
        self.hide_words()?;
        LENT.with_borrow_mut(|loan| (loan.budget, loan.cut) = (budget, None));
        surround.call::<()>(true)?;
        let answer = load.call(code);
        let is_cut = LENT.with_borrow(|loan| loan.cut.is_some());
        if is_cut {
            set_budget_hook(lua, STEP)?;
            LENT.with_borrow_mut(|loan| loan.budget = budget);
        }
        surround.call::<()>(false)?;
        if is_cut { Ok(None) } else { answer.map(Some) }
    }

    /// Runs what has this name, in code of this name.
    fn run(
        &self,
        core: &mut Box<Core>,
        (name, code): (&dyn Display, &str),
        run: impl FnOnce() -> mlua::Result<(bool, LuaValue)>,
        (limits, call): (ScriptLimits, Call),
    ) -> Reply {
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
        let answer = run();
        let (cut, has_written) = LENT.with_borrow_mut(|loan| {
            std::mem::swap(&mut loan.core, core);
            (loan.cut, loan.has_written)
        });
        let script_resp3 = std::mem::replace(&mut core.resp3, resp3);
        if let Some(line) = cut {
            let lua = &self.surroundings.lua;
            set_budget_hook(lua, STEP).map_err(|error| broken(&error))?;
            let script = name.to_string();
            let text = format!(
                "ERR cut after {} instructions script: {script}, on {code}:{line}.",
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
            Ok((false, error)) => refuse(explained(name, &error)),
            Err(error) => refuse(format!("ERR {error} script: {name}")),
        }
    }
}

/// The text of an error that has reached the top, with the script and its line.
fn explained(name: &dyn Display, error: &LuaValue) -> String {
    let text = error.as_string().map(|text| text.to_string_lossy());
    let text = text.unwrap_or_else(|| "ERR unknown error".to_owned());
    let (text, index) = text.rsplit_once('\n').unwrap_or((&text, "@user_script:0"));
    let text = text.replace(['\r', '\n'], " ");
    format!("{text} script: {name}, on {index}.")
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
