//! `bit`: operations on numbers of 32 bits.

use mlua::{Lua, MultiValue, Table};

use super::Arguments;

/// The functions of `bit`.
pub(super) fn library(lua: &Lua) -> mlua::Result<Table> {
    let bit = lua.create_table()?;
    let add = |name: &str, rule: fn(&Arguments) -> mlua::Result<u32>| -> mlua::Result<()> {
        let function = lua.create_function(move |lua, words: MultiValue| {
            // What comes back has a sign.
            Ok(f64::from(rule(&Arguments::new(lua, words))? as i32))
        })?;
        bit.set(name, function)
    };
    add("tobit", |given| bits_of(given, 1))?;
    add("bnot", |given| Ok(!bits_of(given, 1)?))?;
    add("bswap", |given| Ok(bits_of(given, 1)?.swap_bytes()))?;
    add("band", |given| fold(given, |a, b| a & b))?;
    add("bor", |given| fold(given, |a, b| a | b))?;
    add("bxor", |given| fold(given, |a, b| a ^ b))?;
    add("lshift", |given| shift(given, |a, by| a << by))?;
    add("rshift", |given| shift(given, |a, by| a >> by))?;
    add("arshift", |given| {
        shift(given, |a, by| ((a as i32) >> by) as u32)
    })?;
    add("rol", |given| shift(given, u32::rotate_left))?;
    add("ror", |given| shift(given, u32::rotate_right))?;
    bit.set("tohex", lua.create_function(hexadecimal)?)?;
    Ok(bit)
}

/// The lowest 32 bits of a number, rounded to the nearest whole one.
fn bits_of(given: &Arguments, index: usize) -> mlua::Result<u32> {
    /// What pushes the fraction of a number out of its mantissa.
    const ROUNDING: f64 = 6_755_399_441_055_744.0;
    Ok((given.number(index)? + ROUNDING).to_bits() as u32)
}

/// Takes all together, the last ones first.
fn fold(given: &Arguments, rule: fn(u32, u32) -> u32) -> mlua::Result<u32> {
    let mut result = bits_of(given, 1)?;
    for index in (2..=given.len()).rev() {
        result = rule(result, bits_of(given, index)?);
    }
    Ok(result)
}

fn shift(given: &Arguments, rule: fn(u32, u32) -> u32) -> mlua::Result<u32> {
    let bits = bits_of(given, 1)?;
    Ok(rule(bits, bits_of(given, 2)? & 31))
}

fn hexadecimal(lua: &Lua, words: MultiValue) -> mlua::Result<String> {
    let given = Arguments::new(lua, words);
    let bits = bits_of(&given, 1)?;
    let digits = match given.get(2) {
        None => 8,
        Some(_) => bits_of(&given, 2)? as i32,
    };
    let shown = usize::try_from(digits.unsigned_abs().min(8)).unwrap_or(8);
    let text = if digits < 0 {
        format!("{bits:08X}")
    } else {
        format!("{bits:08x}")
    };
    Ok(text[8 - shown..].to_owned())
}
