//! Functions: to load libraries of them, and to call them.

use picklock_clients::redis::{Command, ErrorReply, Value};

use super::options::{is, word};
use super::{Outcome, Row, Run, Traits, wrong_number};
use crate::Server;
use crate::db::Core;
use crate::errors::{Reply, refuse};
use crate::functions::{Function, Functions, Library};
use crate::glob::fits;
use crate::numbers;
use crate::scripts::{ScriptLimits, load_library};

const TRAITS: Traits = Traits::NO_SCRIPT.and(Traits::MAY_REPLICATE);

pub(super) const ROWS: &[Row] = &[
    Row {
        name: "fcall",
        arity: -3,
        traits: TRAITS,
        run: Run::Connection(|server, _, command| call(server, command, false)),
        since: None,
    },
    Row {
        name: "fcall_ro",
        arity: -3,
        traits: TRAITS,
        run: Run::Connection(|server, _, command| call(server, command, true)),
        since: None,
    },
    Row {
        name: "function",
        arity: -2,
        traits: TRAITS,
        run: Run::Keys(function),
        since: None,
    },
];

fn call(server: &mut Server, command: &Command, read_only: bool) -> Result<Outcome, ErrorReply> {
    let Some(function) = server.core.functions.find(word(command, 1)) else {
        return refuse("ERR Function not found");
    };
    let Some(keys) = numbers::integer(word(command, 2)) else {
        return refuse("ERR Bad number of keys provided");
    };
    if keys > command.len() as i64 - 3 {
        return refuse("ERR Number of keys can't be greater than number of args");
    }
    let Ok(keys) = usize::try_from(keys) else {
        return refuse("ERR Number of keys can't be negative");
    };
    server.core.allows(function.declared, read_only)?;
    let limits = ScriptLimits {
        read_only: read_only || function.declared.no_writes,
        allow_oom: function.declared.allow_oom,
    };
    let answer = server.run_function(&function, command, keys, limits);
    // One without an end is cut, and its error has to do: `FUNCTION KILL` is not modelled.
    server.core.cut_script = None;
    answer.map(Outcome::Answer)
}

/// How many words a part of `FUNCTION` takes, at the least and at the most.
const PARTS: &[(&str, usize, usize)] = &[
    ("DELETE", 3, 3),
    ("DUMP", 2, 2),
    ("FLUSH", 2, usize::MAX),
    ("HELP", 2, 2),
    ("KILL", 2, 2),
    ("LIST", 2, usize::MAX),
    ("LOAD", 3, usize::MAX),
    ("RESTORE", 3, usize::MAX),
    ("STATS", 2, 2),
];

fn function(core: &mut Core, command: &Command) -> Reply {
    let Some((part, least, most)) = PARTS.iter().find(|(part, ..)| is(command, 1, part)) else {
        let given = String::from_utf8_lossy(word(command, 1));
        return refuse(format!(
            "ERR unknown subcommand '{given}'. Try FUNCTION HELP."
        ));
    };
    if !(*least..=*most).contains(&command.len()) {
        let name = part.to_ascii_lowercase();
        return Err(wrong_number(&format!("function|{name}")));
    }
    match *part {
        "LOAD" => load(core, command),
        "DELETE" if core.functions.delete(word(command, 2)) => changed(core, Value::OK),
        "DELETE" => refuse("ERR Library not found"),
        "FLUSH" => flush(core, command),
        "LIST" => list(core, command),
        "STATS" => Ok(stats(core)),
        "KILL" => refuse("NOTBUSY No scripts in execution right now."),
        other => refuse(format!("ERR not modelled: FUNCTION {other}")),
    }
}

/// The libraries are data: replicas and the disk are told of a change.
fn changed(core: &mut Core, answer: Value) -> Reply {
    core.effects.dirty += 1;
    Ok(answer)
}

fn load(core: &mut Core, command: &Command) -> Reply {
    let code = command.len() - 1;
    let mut replace = false;
    for index in 2..code {
        if !is(command, index, "REPLACE") {
            let given = String::from_utf8_lossy(word(command, index));
            return refuse(format!("ERR Unknown option given: {given}"));
        }
        replace = true;
    }
    let budget = core.settings.script_budget;
    let name = load_library(&mut core.functions, word(command, code), replace, budget)?;
    changed(core, Value::bulk(name))
}

fn flush(core: &mut Core, command: &Command) -> Reply {
    match command.len() {
        2 => {}
        3 if is(command, 2, "SYNC") || is(command, 2, "ASYNC") => {}
        3 => return refuse("ERR FUNCTION FLUSH only supports SYNC|ASYNC option"),
        _ => {
            let given = String::from_utf8_lossy(word(command, 1));
            return refuse(format!(
                "ERR unknown subcommand or wrong number of arguments for '{given}'. Try FUNCTION HELP."
            ));
        }
    }
    core.functions = Functions::default();
    changed(core, Value::OK)
}

fn map(pairs: impl IntoIterator<Item = (&'static str, Value)>) -> Value {
    let pairs = pairs.into_iter();
    Value::Map(
        pairs
            .flat_map(|(name, value)| [Value::bulk(name), value])
            .collect(),
    )
}

fn list(core: &Core, command: &Command) -> Reply {
    let (mut with_code, mut pattern) = (false, None);
    let mut index = 2;
    while index < command.len() {
        if is(command, index, "WITHCODE") && !with_code {
            with_code = true;
        } else if is(command, index, "LIBRARYNAME") && pattern.is_none() {
            index += 1;
            pattern = command.word(index);
            if pattern.is_none() {
                return refuse("ERR library name argument was not given");
            }
        } else {
            let given = String::from_utf8_lossy(word(command, index));
            return refuse(format!("ERR Unknown argument {given}"));
        }
        index += 1;
    }
    let fits = |library: &&Library| {
        let name = library.name.to_ascii_lowercase();
        pattern.is_none_or(|pattern| fits(&pattern.to_ascii_lowercase(), name.as_bytes()))
    };
    let libraries = core.functions.libraries().filter(fits);
    Ok(Value::array(
        libraries.map(|library| library_row(library, with_code)),
    ))
}

fn library_row(library: &Library, with_code: bool) -> Value {
    let functions = library
        .functions
        .values()
        .map(|function| function_row(function));
    let row = [
        ("library_name", Value::bulk(&library.name)),
        ("engine", Value::bulk("LUA")),
        ("functions", Value::array(functions)),
    ];
    let code = with_code.then(|| ("library_code", Value::bulk(&library.code)));
    map(row.into_iter().chain(code))
}

fn function_row(function: &Function) -> Value {
    let description = function.description.as_ref();
    let flags = function.flags.iter().cloned();
    let flags = flags.map(|flag| Value::Status(flag.into()));
    map([
        ("name", Value::bulk(&function.name)),
        ("description", description.map_or(Value::Nil, Value::bulk)),
        ("flags", Value::Set(flags.collect())),
    ])
}

fn stats(core: &Core) -> Value {
    let libraries = core.functions.libraries();
    let number = |count: usize| Value::Integer(count as i64);
    let lua = map([
        ("libraries_count", number(libraries.len())),
        (
            "functions_count",
            number(libraries.map(|library| library.functions.len()).sum()),
        ),
    ]);
    map([
        ("running_script", Value::Nil),
        ("engines", map([("LUA", lua)])),
    ])
}
