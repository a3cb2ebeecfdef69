//! `redis.call`, `redis.pcall`, and the other functions by which scripts reach the server.

use std::fmt;

use mlua::{Lua, MultiValue, Value as LuaValue};
use picklock_clients::redis::{Command, ErrorReply, Value};

use super::convert::to_lua;
use super::running_script::LENT;
use super::sha1::sha_of;
use crate::Output;
use crate::errors::{Reply, refuse};
use crate::numbers::float_text;

/// An error that a script has met, and may catch.
#[derive(Debug)]
struct Refused(ErrorReply);

impl fmt::Display for Refused {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, out)
    }
}

impl std::error::Error for Refused {}

fn refused<T>(error: ErrorReply) -> mlua::Result<T> {
    Err(mlua::Error::external(Refused(error)))
}

/// An error of a library, which is no more than its text.
#[derive(Debug)]
struct LuaError(String);

impl fmt::Display for LuaError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

impl std::error::Error for LuaError {}

/// An error as `luaL_error` raises it: the text begins with the line from which the library was called.
pub(super) fn raise<T>(lua: &Lua, text: &str) -> mlua::Result<T> {
    let place = lua.inspect_stack(1, |debug| {
        let line = debug.current_line()?;
        let source = debug.source();
        let name = source.short_src.unwrap_or_default();
        Some(format!("{name}:{line}: "))
    });
    let place = place.flatten().unwrap_or_default();
    raise_alone(&format!("{place}{text}"))
}

/// An error as the interpreter raises it within a library: without a place.
pub(super) fn raise_alone<T>(text: &str) -> mlua::Result<T> {
    Err(mlua::Error::external(LuaError(text.to_owned())))
}

/// An error as `luaL_argerror` raises it: with the name by which the library was called.
pub(super) fn bad_argument<T>(lua: &Lua, place: usize, what: &str) -> mlua::Result<T> {
    let name = lua.inspect_stack(0, |debug| debug.names().name.map(Into::<String>::into));
    let name = name.flatten().unwrap_or_else(|| "?".to_owned());
    raise(lua, &format!("bad argument #{place} to '{name}' ({what})"))
}

/// How Lua 5.1 names the type of a value.
pub(super) fn type_of(value: &LuaValue) -> &'static str {
    match value {
        LuaValue::LightUserData(_) => "userdata",
        LuaValue::Integer(_) => "number",
        value => value.type_name(),
    }
}

/// The same as [`bad_argument`] for a value of the wrong type, or none.
pub(super) fn wrong_type<T>(
    lua: &Lua,
    place: usize,
    wanted: &str,
    given: Option<&LuaValue>,
) -> mlua::Result<T> {
    let given = match given {
        None => "no value",
        Some(value) => type_of(value),
    };
    bad_argument(lua, place, &format!("{wanted} expected, got {given}"))
}

/// The text of an error that a script may catch, and whether it is no more than that text; nothing if the server has
/// cut the script.
pub(super) fn text_of(_: &Lua, error: LuaValue) -> mlua::Result<(Option<String>, bool)> {
    let LuaValue::Error(error) = error else {
        return Ok((None, false));
    };
    if let Some(LuaError(text)) = error.downcast_ref::<LuaError>() {
        return Ok((Some(text.clone()), true));
    }
    let refused = error.downcast_ref::<Refused>();
    let text = refused.map(|Refused(error)| error.text().to_owned());
    Ok((text, false))
}

/// `redis.call`: an error ends the script.
pub(super) fn call(lua: &Lua, words: MultiValue) -> mlua::Result<LuaValue> {
    match reply_to(&words) {
        (Ok(value), resp3) => to_lua(lua, &value, resp3),
        (Err(error), _) => refused(error),
    }
}

/// `redis.pcall`: an error is an answer.
pub(super) fn try_call(lua: &Lua, words: MultiValue) -> mlua::Result<LuaValue> {
    let (reply, resp3) = reply_to(&words);
    to_lua(lua, &reply.unwrap_or_else(Value::Error), resp3)
}

fn reply_to(words: &MultiValue) -> (Reply, bool) {
    LENT.with_borrow_mut(|loan| {
        let call = loan.call;
        let reply = command_of(words).and_then(|command| call(loan, &command));
        (reply, loan.core.resp3)
    })
}

/// `redis.sha1hex`.
pub(super) fn sha1hex(_: &Lua, words: MultiValue) -> mlua::Result<String> {
    if words.len() != 1 {
        return refused(ErrorReply::new("ERR wrong number of arguments"));
    }
    Ok(match words.front() {
        Some(LuaValue::String(text)) => sha_of(&text.as_bytes()).to_string(),
        Some(LuaValue::Integer(number)) => sha_of(number.to_string().as_bytes()).to_string(),
        Some(LuaValue::Number(number)) => sha_of(float_text(*number).as_bytes()).to_string(),
        _ => sha_of(b"").to_string(),
    })
}

/// `redis.log`: there is no log.
pub(super) fn log(_: &Lua, words: MultiValue) -> mlua::Result<()> {
    if words.len() < 2 {
        return refused(ErrorReply::new(
            "ERR redis.log() requires two arguments or more.",
        ));
    }
    match words.front().and_then(LuaValue::as_f64) {
        None => refused(ErrorReply::new(
            "ERR First argument must be a number (log level).",
        )),
        Some(level) if (0.0..=3.0).contains(&level) => Ok(()),
        Some(_) => refused(ErrorReply::new("ERR Invalid log level.")),
    }
}

/// `redis.setresp`.
pub(super) fn set_resp(lua: &Lua, words: MultiValue) -> mlua::Result<()> {
    if words.len() != 1 {
        return refused(ErrorReply::new(
            "ERR redis.setresp() requires one argument.",
        ));
    }
    match number_of(lua, &words)? {
        Some(2) => LENT.with_borrow_mut(|loan| loan.core.resp3 = false),
        Some(3) => LENT.with_borrow_mut(|loan| loan.core.resp3 = true),
        _ => return refused(ErrorReply::new("ERR RESP version must be 2 or 3.")),
    }
    Ok(())
}

/// `redis.set_repl`: everything is replicated here, and nothing else can be asked for.
pub(super) fn set_repl(lua: &Lua, words: MultiValue) -> mlua::Result<()> {
    const ALL: i64 = 3;
    if words.len() != 1 {
        return refused(ErrorReply::new(
            "ERR redis.set_repl() requires one argument.",
        ));
    }
    match number_of(lua, &words)? {
        Some(ALL) => Ok(()),
        _ => not_modelled("redis.set_repl"),
    }
}

fn number_of(lua: &Lua, words: &MultiValue) -> mlua::Result<Option<i64>> {
    let first = words.front().cloned().unwrap_or(LuaValue::Nil);
    lua.coerce_integer(first)
}

/// Refuses what is not modelled, which proves nothing of the script.
pub(super) fn not_modelled<T>(what: &str) -> mlua::Result<T> {
    LENT.with_borrow_mut(|loan| {
        let what = what.to_owned();
        loan.core.out.push(Output::NotModelled { what });
    });
    refused(ErrorReply::new(format!("ERR not modelled: {what}")))
}

fn command_of(words: &MultiValue) -> Result<Command, ErrorReply> {
    let mut command: Option<Command> = None;
    for word in words {
        let text;
        let bytes;
        let word: &[u8] = match word {
            LuaValue::String(string) => {
                bytes = string.as_bytes();
                &bytes
            }
            LuaValue::Integer(number) => {
                text = number.to_string();
                text.as_bytes()
            }
            LuaValue::Number(number) => {
                text = float_text(*number);
                text.as_bytes()
            }
            _ => return refuse("ERR Lua redis lib command arguments must be strings or integers"),
        };
        command = match command {
            Some(command) => Some(command.arg(word)),
            None => Command::of([word]),
        };
    }
    match command {
        Some(command) => Ok(command),
        None => refuse("ERR Please specify at least one argument for this redis lib call"),
    }
}
