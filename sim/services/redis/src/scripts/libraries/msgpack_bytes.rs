//! Reads MessagePack as `cmsgpack.unpack` does, which knows no binary data and no extensions.

use mlua::{Lua, Value as LuaValue};

use super::DEPTH_MAX;
use crate::scripts::redis_call::{not_modelled, raise, raise_alone};

/// Reads so many values at most. Answers how many bytes are left.
pub(super) fn read(
    lua: &Lua,
    bytes: &[u8],
    most: usize,
    values: &mut Vec<LuaValue>,
) -> mlua::Result<usize> {
    let mut reader = Reader { lua, rest: bytes };
    while !reader.rest.is_empty() && values.len() < most {
        values.push(reader.value(0)?);
    }
    Ok(reader.rest.len())
}

struct Reader<'a> {
    lua: &'a Lua,
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    fn take(&mut self, length: usize) -> mlua::Result<&'a [u8]> {
        let Some((taken, rest)) = self.rest.split_at_checked(length) else {
            return raise(self.lua, "Missing bytes in input.");
        };
        self.rest = rest;
        Ok(taken)
    }

    /// A number of so many bytes.
    fn number(&mut self, width: usize) -> mlua::Result<u64> {
        let bytes = self.take(width)?.iter();
        Ok(bytes.fold(0, |number, byte| number << 8 | u64::from(*byte)))
    }

    /// A number with a sign.
    fn signed(&mut self, width: usize) -> mlua::Result<LuaValue> {
        let unused = 64 - 8 * width as u32;
        let number = (self.number(width)? << unused) as i64 >> unused;
        Ok(LuaValue::Number(number as f64))
    }

    fn length(&mut self, width: usize) -> mlua::Result<usize> {
        let length = self.number(width)?;
        Ok(usize::try_from(length).unwrap_or(usize::MAX))
    }

    fn value(&mut self, depth: usize) -> mlua::Result<LuaValue> {
        if depth > DEPTH_MAX {
            return not_modelled("cmsgpack.unpack of so many nested tables");
        }
        let kind = self.take(1)?[0];
        match kind {
            0x00..=0x7f => Ok(LuaValue::Integer(kind.into())),
            0xe0..=0xff => Ok(LuaValue::Integer((kind as i8).into())),
            0xa0..=0xbf => self.text((kind & 0x1f).into()),
            0x90..=0x9f => self.list((kind & 0x0f).into(), depth),
            0x80..=0x8f => self.map((kind & 0x0f).into(), depth),
            0xc0 => Ok(LuaValue::Nil),
            0xc2 | 0xc3 => Ok(LuaValue::Boolean(kind == 0xc3)),
            0xca => {
                let bits = self.number(4)? as u32;
                Ok(LuaValue::Number(f32::from_bits(bits).into()))
            }
            0xcb => Ok(LuaValue::Number(f64::from_bits(self.number(8)?))),
            0xcc..=0xcf => {
                // Of eight bytes, the real one takes the highest bit for a sign.
                let number = self.number(1 << (kind - 0xcc))? as i64;
                Ok(LuaValue::Number(number as f64))
            }
            0xd0..=0xd3 => self.signed(1 << (kind - 0xd0)),
            0xd9..=0xdb => {
                let length = self.length(1 << (kind - 0xd9))?;
                self.text(length)
            }
            0xdc | 0xdd => {
                let length = self.length(2 << (kind - 0xdc))?;
                self.list(length, depth)
            }
            0xde | 0xdf => {
                let length = self.length(2 << (kind - 0xde))?;
                self.map(length, depth)
            }
            _ => raise(self.lua, "Bad data format in input."),
        }
    }

    fn text(&mut self, length: usize) -> mlua::Result<LuaValue> {
        let text = self.take(length)?;
        self.lua.create_string(text).map(LuaValue::String)
    }

    fn list(&mut self, length: usize, depth: usize) -> mlua::Result<LuaValue> {
        let table = self.lua.create_table()?;
        for index in 1..=length {
            table.raw_set(index, self.value(depth + 1)?)?;
        }
        Ok(LuaValue::Table(table))
    }

    fn map(&mut self, length: usize, depth: usize) -> mlua::Result<LuaValue> {
        let table = self.lua.create_table()?;
        for _ in 0..length {
            let name = self.value(depth + 1)?;
            let value = self.value(depth + 1)?;
            match name {
                LuaValue::Nil => return raise_alone("table index is nil"),
                LuaValue::Number(number) if number.is_nan() => {
                    return raise_alone("table index is NaN");
                }
                name => table.raw_set(name, value)?,
            }
        }
        Ok(LuaValue::Table(table))
    }
}
