//! `cmsgpack`: values as MessagePack. [`msgpack_bytes`](super::msgpack_bytes) reads it.

use mlua::{Lua, LuaString, MultiValue, Table, Value as LuaValue};

use super::{Arguments, msgpack_bytes};
use crate::scripts::redis_call::{bad_argument, raise};

/// How deep tables may be nested; those below become nothing.
const NESTING_MAX: usize = 16;

/// The functions of `cmsgpack`.
pub(super) fn library(lua: &Lua) -> mlua::Result<Table> {
    let cmsgpack = lua.create_table()?;
    cmsgpack.set("pack", lua.create_function(pack)?)?;
    cmsgpack.set("unpack", lua.create_function(unpack)?)?;
    cmsgpack.set("unpack_one", lua.create_function(unpack_one)?)?;
    cmsgpack.set("unpack_limit", lua.create_function(unpack_limit)?)?;
    cmsgpack.set("_NAME", "cmsgpack")?;
    cmsgpack.set("_VERSION", "lua-cmsgpack 0.4.0")?;
    Ok(cmsgpack)
}

fn pack(lua: &Lua, words: MultiValue) -> mlua::Result<LuaString> {
    if words.is_empty() {
        return bad_argument(lua, 0, "MessagePack pack needs input.");
    }
    let mut bytes = Vec::new();
    for value in &words {
        add(&mut bytes, value, 0)?;
    }
    lua.create_string(&bytes)
}

fn unpack(lua: &Lua, words: MultiValue) -> mlua::Result<MultiValue> {
    let given = Arguments::new(lua, words);
    let bytes = given.bytes(1)?;
    let mut values = Vec::new();
    msgpack_bytes::read(lua, &bytes, usize::MAX, &mut values)?;
    Ok(values.into_iter().collect())
}

fn unpack_one(lua: &Lua, words: MultiValue) -> mlua::Result<MultiValue> {
    let given = Arguments::new(lua, words);
    let offset = given.number_or(2, 0.0)?;
    some(&given, 1.0, offset)
}

fn unpack_limit(lua: &Lua, words: MultiValue) -> mlua::Result<MultiValue> {
    let given = Arguments::new(lua, words);
    let limit = given.number(2)?;
    let offset = given.number_or(3, 0.0)?;
    some(&given, limit, offset)
}

/// Some values, behind where the next one begins.
fn some(given: &Arguments, limit: f64, offset: f64) -> mlua::Result<MultiValue> {
    let bytes = given.bytes(1)?;
    let (limit, offset, length) = (limit as i32, offset as i32, bytes.len());
    let (Ok(most), Ok(from)) = (usize::try_from(limit), usize::try_from(offset)) else {
        let text =
            format!("Invalid request to unpack with offset of {offset} and limit of {length}.");
        return raise(given.lua, &text);
    };
    let Some(rest) = bytes.get(from..) else {
        let text = format!("Start offset {offset} greater than input length {length}.");
        return raise(given.lua, &text);
    };
    // Without a limit and from the beginning on, the answer does not say where the next one begins.
    let all = most == 0 && from == 0;
    let mut values = Vec::new();
    let most = if all { usize::MAX } else { most };
    let left = msgpack_bytes::read(given.lua, rest, most, &mut values)?;
    let next = if left == 0 {
        -1
    } else {
        (length - left) as i64
    };
    let next = (!all).then_some(LuaValue::Integer(next));
    Ok(next.into_iter().chain(values).collect())
}

fn add(bytes: &mut Vec<u8>, value: &LuaValue, depth: usize) -> mlua::Result<()> {
    match value {
        LuaValue::Boolean(yes) => bytes.push(0xc2 + u8::from(*yes)),
        LuaValue::Integer(number) => add_whole(bytes, *number),
        LuaValue::Number(number) => add_number(bytes, *number),
        LuaValue::String(text) => {
            let text = text.as_bytes();
            add_length(
                bytes,
                text.len(),
                (0xa0, 31),
                [Some(0xd9), Some(0xda), Some(0xdb)],
            );
            bytes.extend(&*text);
        }
        LuaValue::Table(table) if depth < NESTING_MAX => add_table(bytes, table, depth + 1)?,
        _ => bytes.push(0xc0),
    }
    Ok(())
}

fn add_number(bytes: &mut Vec<u8>, number: f64) {
    const LIMIT: f64 = 9_223_372_036_854_775_808.0;
    let narrow = number as f32;
    if number == number.trunc() && (-LIMIT..LIMIT).contains(&number) {
        add_whole(bytes, number as i64);
    } else if f64::from(narrow) == number {
        bytes.push(0xca);
        bytes.extend(narrow.to_be_bytes());
    } else {
        bytes.push(0xcb);
        bytes.extend(number.to_be_bytes());
    }
}

fn add_whole(bytes: &mut Vec<u8>, number: i64) {
    let mut add = |kind: u8, width: usize| {
        bytes.push(kind);
        bytes.extend(&number.to_be_bytes()[8 - width..]);
    };
    match number {
        -32..=127 => bytes.push(number as u8),
        128..=0xff => add(0xcc, 1),
        0x100..=0xffff => add(0xcd, 2),
        0x1_0000..=0xffff_ffff => add(0xce, 4),
        0x1_0000_0000.. => add(0xcf, 8),
        -0x80..=-33 => add(0xd0, 1),
        -0x8000..=-0x81 => add(0xd1, 2),
        -0x8000_0000..=-0x8001 => add(0xd2, 4),
        _ => add(0xd3, 8),
    }
}

/// Writes a length: in one byte with the type, if it is short, or in one, two, or four behind that.
fn add_length(
    bytes: &mut Vec<u8>,
    length: usize,
    (short, most): (u8, usize),
    [one, two, four]: [Option<u8>; 3],
) {
    let be = (length as u32).to_be_bytes();
    if length <= most {
        bytes.push(short | length as u8);
    } else if let Some(kind) = one.filter(|_| length <= 0xff) {
        bytes.extend([kind, be[3]]);
    } else if let Some(kind) = two.filter(|_| length <= 0xffff) {
        bytes.push(kind);
        bytes.extend(&be[2..]);
    } else if let Some(kind) = four {
        bytes.push(kind);
        bytes.extend(be);
    }
}

fn add_table(bytes: &mut Vec<u8>, table: &Table, depth: usize) -> mlua::Result<()> {
    let (mut greatest, mut number, mut is_list) = (0, 0, true);
    let pairs: Vec<(LuaValue, LuaValue)> = table.pairs().collect::<mlua::Result<_>>()?;
    for (name, _) in &pairs {
        match name {
            LuaValue::Integer(index) if *index > 0 => {
                greatest = greatest.max(*index);
                number += 1;
            }
            _ => is_list = false,
        }
    }
    if is_list && greatest == number {
        add_length(
            bytes,
            pairs.len(),
            (0x90, 15),
            [None, Some(0xdc), Some(0xdd)],
        );
        for index in 1..=number {
            add(bytes, &table.raw_get(index)?, depth)?;
        }
    } else {
        add_length(
            bytes,
            pairs.len(),
            (0x80, 15),
            [None, Some(0xde), Some(0xdf)],
        );
        for (name, value) in &pairs {
            add(bytes, name, depth)?;
            add(bytes, value, depth)?;
        }
    }
    Ok(())
}
