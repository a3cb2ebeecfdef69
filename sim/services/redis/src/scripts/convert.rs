//! Answers as scripts see them, and what scripts return as answers.

use mlua::{Lua, Table, Value as LuaValue};
use picklock_clients::redis::Value;

use crate::numbers::float_text;

/// An answer as a script sees it: nothing is `false`, a status or an error is a table with one field.
pub(super) fn to_lua(lua: &Lua, value: &Value, resp3: bool) -> mlua::Result<LuaValue> {
    let string = |bytes: &[u8]| lua.create_string(bytes).map(LuaValue::String);
    match value {
        Value::Nil | Value::NilArray if resp3 => Ok(LuaValue::Nil),
        Value::Nil | Value::NilArray => Ok(LuaValue::Boolean(false)),
        Value::Integer(number) => Ok(LuaValue::Number(*number as f64)),
        Value::Bulk(bytes) => string(bytes),
        Value::Status(word) => field(lua, "ok", string(word.as_bytes())?),
        Value::Error(error) => field(lua, "err", string(error.text().as_bytes())?),
        Value::Boolean(yes) if resp3 => Ok(LuaValue::Boolean(*yes)),
        Value::Boolean(yes) => Ok(LuaValue::Number(f64::from(u8::from(*yes)))),
        Value::Double(number) if resp3 => field(lua, "double", LuaValue::Number(*number)),
        Value::Double(number) => string(float_text(*number).as_bytes()),
        Value::BigNumber(digits) if resp3 => field(lua, "big_number", string(digits)?),
        Value::BigNumber(digits) => string(digits),
        Value::Map(pairs) if resp3 => {
            let map = lua.create_table()?;
            for pair in pairs.chunks_exact(2) {
                map.raw_set(to_lua(lua, &pair[0], resp3)?, to_lua(lua, &pair[1], resp3)?)?;
            }
            field(lua, "map", LuaValue::Table(map))
        }
        Value::Set(members) if resp3 => {
            let set = lua.create_table()?;
            for member in members.iter() {
                set.raw_set(to_lua(lua, member, resp3)?, true)?;
            }
            field(lua, "set", LuaValue::Table(set))
        }
        Value::Array(values) | Value::Push(values) | Value::Map(values) | Value::Set(values) => {
            let table = lua.create_table_with_capacity(values.len(), 0)?;
            for (at, value) in (1..).zip(values.iter()) {
                table.raw_seti(at, to_lua(lua, value, resp3)?)?;
            }
            Ok(LuaValue::Table(table))
        }
    }
}

fn field(lua: &Lua, name: &str, value: LuaValue) -> mlua::Result<LuaValue> {
    let table = lua.create_table_with_capacity(0, 1)?;
    table.raw_set(name, value)?;
    Ok(LuaValue::Table(table))
}

/// What a script has returned, as an answer. `resp3` says that it had asked for the newer protocol.
pub(super) fn answer_of(value: &LuaValue, resp3: bool) -> Value {
    match value {
        LuaValue::String(text) => Value::bulk(text.as_bytes()),
        LuaValue::Integer(number) => Value::Integer(*number),
        LuaValue::Number(number) => Value::Integer(truncated(*number)),
        LuaValue::Boolean(yes) if resp3 => Value::Boolean(*yes),
        LuaValue::Boolean(true) => Value::Integer(1),
        LuaValue::Table(table) => answer_of_table(table, resp3),
        _ => Value::Nil,
    }
}

/// A number without its fraction; what does not fit becomes the least number, as the processor has it.
fn truncated(number: f64) -> i64 {
    const LIMIT: f64 = 9_223_372_036_854_775_808.0;
    if (-LIMIT..LIMIT).contains(&number) {
        number as i64
    } else {
        i64::MIN
    }
}

fn one_line(text: &mlua::LuaString) -> String {
    text.to_string_lossy().replace(['\r', '\n'], " ")
}

fn answer_of_table(table: &Table, resp3: bool) -> Value {
    let get = |name: &str| table.raw_get::<LuaValue>(name).unwrap_or(LuaValue::Nil);
    if let LuaValue::String(text) = get("err") {
        return Value::error(one_line(&text));
    }
    if let LuaValue::String(text) = get("ok") {
        return Value::Status(one_line(&text).into());
    }
    match get("double") {
        LuaValue::Number(number) => return Value::Double(number),
        LuaValue::Integer(number) => return Value::Double(number as f64),
        _ => {}
    }
    if let LuaValue::Table(pairs) = get("map") {
        return Value::Map(entries(&pairs, |name, value| {
            vec![answer_of(&name, resp3), answer_of(&value, resp3)]
        }));
    }
    if let LuaValue::Table(members) = get("set") {
        return Value::Set(entries(&members, |name, _| vec![answer_of(&name, resp3)]));
    }
    if let LuaValue::String(digits) = get("big_number") {
        return Value::BigNumber(one_line(&digits).into_bytes().into());
    }
    if let LuaValue::Table(verbatim) = get("verbatim_string")
        && let Ok(LuaValue::String(text)) = verbatim.raw_get("string")
    {
        return Value::bulk(text.as_bytes());
    }
    let mut values = Vec::new();
    for at in 1.. {
        match table.raw_get::<LuaValue>(at) {
            // What comes after the first hole is lost.
            Ok(LuaValue::Nil) | Err(_) => break,
            Ok(value) => values.push(answer_of(&value, resp3)),
        }
    }
    Value::array(values)
}

fn entries(table: &Table, of: impl Fn(LuaValue, LuaValue) -> Vec<Value>) -> std::rc::Rc<[Value]> {
    let pairs = table.pairs::<LuaValue, LuaValue>().flatten();
    pairs.flat_map(|(name, value)| of(name, value)).collect()
}
