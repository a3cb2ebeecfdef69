//! `cjson`: values as JSON. [`json_text`](super::json_text) reads it.

use mlua::{Lua, LuaString, MultiValue, Table, Value as LuaValue};

use super::{Arguments, DEPTH_MAX, json_text};
use crate::numbers::general_text;
use crate::scripts::redis_call::{bad_argument, raise, type_of};

/// How many digits numbers have.
const DIGITS: usize = 14;
/// A list whose greatest index is not above this may have as many holes as it wants, and any other may have so many
/// places for each that is taken.
const SPARSE_SAFE: usize = 10;
const SPARSE_RATIO: usize = 2;

/// The functions of `cjson`.
pub(super) fn library(lua: &Lua) -> mlua::Result<Table> {
    let cjson = lua.create_table()?;
    cjson.set("encode", lua.create_function(encode)?)?;
    cjson.set("decode", lua.create_function(decode)?)?;
    cjson.set("null", LuaValue::NULL)?;
    cjson.set("_NAME", "cjson")?;
    cjson.set("_VERSION", "2.1.0")?;
    Ok(cjson)
}

fn only(lua: &Lua, words: &MultiValue) -> mlua::Result<LuaValue> {
    match words.front() {
        Some(value) if words.len() == 1 => Ok(value.clone()),
        _ => bad_argument(lua, 1, "expected 1 argument"),
    }
}

fn encode(lua: &Lua, words: MultiValue) -> mlua::Result<LuaString> {
    let value = only(lua, &words)?;
    let mut writer = Writer {
        lua,
        text: Vec::new(),
    };
    writer.add(&value, 0)?;
    lua.create_string(&writer.text)
}

fn decode(lua: &Lua, words: MultiValue) -> mlua::Result<LuaValue> {
    only(lua, &words)?;
    let given = Arguments::new(lua, words);
    json_text::read(lua, &given.bytes(1)?)
}

struct Writer<'a> {
    lua: &'a Lua,
    text: Vec<u8>,
}

impl Writer<'_> {
    fn refuse<T>(&self, what: &LuaValue, why: &str) -> mlua::Result<T> {
        let kind = type_of(what);
        raise(self.lua, &format!("Cannot serialise {kind}: {why}"))
    }

    fn add(&mut self, value: &LuaValue, depth: usize) -> mlua::Result<()> {
        match value {
            LuaValue::Nil => self.text.extend(b"null"),
            LuaValue::LightUserData(null) if null.0.is_null() => self.text.extend(b"null"),
            LuaValue::Boolean(yes) => self.text.extend(yes.to_string().as_bytes()),
            LuaValue::Integer(_) | LuaValue::Number(_) => self.add_number(value)?,
            LuaValue::String(text) => self.add_string(&text.as_bytes()),
            LuaValue::Table(table) => self.add_table(value, table, depth + 1)?,
            _ => return self.refuse(value, "type not supported"),
        }
        Ok(())
    }

    fn add_number(&mut self, value: &LuaValue) -> mlua::Result<()> {
        let number = match value {
            LuaValue::Integer(number) => *number as f64,
            LuaValue::Number(number) => *number,
            _ => 0.0,
        };
        if !number.is_finite() {
            return self.refuse(value, "must not be NaN or Inf");
        }
        self.text.extend(general_text(number, DIGITS).as_bytes());
        Ok(())
    }

    fn add_string(&mut self, bytes: &[u8]) {
        self.text.push(b'"');
        for &byte in bytes {
            match byte {
                b'"' | b'\\' | b'/' => self.text.extend([b'\\', byte]),
                b'\x08' => self.text.extend(b"\\b"),
                b'\t' => self.text.extend(b"\\t"),
                b'\n' => self.text.extend(b"\\n"),
                b'\x0c' => self.text.extend(b"\\f"),
                b'\r' => self.text.extend(b"\\r"),
                0..=31 | 127 => self.text.extend(format!("\\u{byte:04x}").as_bytes()),
                byte => self.text.push(byte),
            }
        }
        self.text.push(b'"');
    }

    fn add_table(&mut self, value: &LuaValue, table: &Table, depth: usize) -> mlua::Result<()> {
        if depth > DEPTH_MAX {
            let text = format!("Cannot serialise, excessive nesting ({depth})");
            return raise(self.lua, &text);
        }
        match self.length(value, table)? {
            Some(length) => self.add_list(table, length, depth),
            None => self.add_object(table, depth),
        }
    }

    /// How long a list is; nothing if it is none, or empty.
    fn length(&self, value: &LuaValue, table: &Table) -> mlua::Result<Option<usize>> {
        let (mut greatest, mut taken) = (0, 0);
        for pair in table.pairs::<LuaValue, LuaValue>() {
            match pair?.0 {
                LuaValue::Integer(index) if index >= 1 => {
                    greatest = greatest.max(usize::try_from(index).unwrap_or(usize::MAX));
                    taken += 1;
                }
                _ => return Ok(None),
            }
        }
        if greatest > taken * SPARSE_RATIO && greatest > SPARSE_SAFE {
            return self.refuse(value, "excessively sparse array");
        }
        Ok((greatest > 0).then_some(greatest))
    }

    fn add_list(&mut self, table: &Table, length: usize, depth: usize) -> mlua::Result<()> {
        self.text.push(b'[');
        for index in 1..=length {
            if index > 1 {
                self.text.push(b',');
            }
            self.add(&table.raw_get(index)?, depth)?;
        }
        self.text.push(b']');
        Ok(())
    }

    fn add_object(&mut self, table: &Table, depth: usize) -> mlua::Result<()> {
        self.text.push(b'{');
        for (index, pair) in table.pairs::<LuaValue, LuaValue>().enumerate() {
            let (name, value) = pair?;
            if index > 0 {
                self.text.push(b',');
            }
            match &name {
                LuaValue::Integer(_) | LuaValue::Number(_) => {
                    self.text.push(b'"');
                    self.add_number(&name)?;
                    self.text.push(b'"');
                }
                LuaValue::String(text) => self.add_string(&text.as_bytes()),
                _ => return self.refuse(&name, "table key must be a number or string"),
            }
            self.text.push(b':');
            self.add(&value, depth)?;
        }
        self.text.push(b'}');
        Ok(())
    }
}
