//! The libraries that Redis gives to scripts besides Lua's own: `bit`, `cjson`, `cmsgpack`, and `struct`.
//!
//! They answer as those of Redis 7.0.15 do, errors included. What would set one of them for later scripts, too, is not
//! modelled.

mod bits;
mod json;
mod json_text;
mod msgpack;
mod msgpack_bytes;
mod numbers;
mod packing;

use mlua::{Lua, MultiValue, Table, Value as LuaValue};

use super::redis_call::wrong_type;

/// How deep values may be nested that a library builds or takes apart.
const DEPTH_MAX: usize = 1_000;

/// All of them, by their names.
pub(super) fn all(lua: &Lua) -> mlua::Result<Table> {
    let all = lua.create_table()?;
    all.set("bit", bits::library(lua)?)?;
    all.set("cjson", json::library(lua)?)?;
    all.set("cmsgpack", msgpack::library(lua)?)?;
    all.set("struct", packing::library(lua)?)?;
    Ok(all)
}

/// What a library is given, by places from one.
struct Arguments<'a> {
    lua: &'a Lua,
    words: MultiValue,
}

impl<'a> Arguments<'a> {
    fn new(lua: &'a Lua, words: MultiValue) -> Self {
        Self { lua, words }
    }

    fn len(&self) -> usize {
        self.words.len()
    }

    fn get(&self, index: usize) -> Option<&LuaValue> {
        self.words.get(index.checked_sub(1)?)
    }

    /// A number, or a string that can be read as one.
    fn number(&self, index: usize) -> mlua::Result<f64> {
        let given = self.get(index);
        let number = match given {
            Some(value) => self.lua.coerce_number(value.clone())?,
            None => None,
        };
        match number {
            Some(number) => Ok(number),
            None => wrong_type(self.lua, index, "number", given),
        }
    }

    /// A number, or what it is if nothing is given.
    fn number_or(&self, index: usize, fallback: f64) -> mlua::Result<f64> {
        match self.get(index) {
            None | Some(LuaValue::Nil) => Ok(fallback),
            Some(_) => self.number(index),
        }
    }

    /// A string, or a number, which is written as one.
    fn bytes(&self, index: usize) -> mlua::Result<Vec<u8>> {
        let given = self.get(index);
        let text = match given {
            Some(LuaValue::String(text)) => return Ok(text.as_bytes().to_vec()),
            Some(value @ (LuaValue::Integer(_) | LuaValue::Number(_))) => {
                self.lua.coerce_string(value.clone())?
            }
            _ => None,
        };
        match text {
            Some(text) => Ok(text.as_bytes().to_vec()),
            None => wrong_type(self.lua, index, "string", given),
        }
    }
}
