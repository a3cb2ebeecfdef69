//! `struct`: numbers and strings as the bytes of a C structure, by a format.

use mlua::{Lua, LuaString, MultiValue, Table, Value as LuaValue};

use super::Arguments;
use crate::scripts::redis_call::{bad_argument, not_modelled, raise};

/// The most bytes that an integer can have in a format, and the most that it can have here.
const WIDTH_MAX: usize = 32;
const WIDTH_MODELLED: usize = 8;
/// The alignment of a C compiler.
const ALIGNMENT: usize = 8;

/// The functions of `struct`.
pub(super) fn library(lua: &Lua) -> mlua::Result<Table> {
    let library = lua.create_table()?;
    library.set("pack", lua.create_function(pack)?)?;
    library.set("unpack", lua.create_function(unpack)?)?;
    library.set("size", lua.create_function(size)?)?;
    Ok(library)
}

/// A format, and how far it has been read.
struct Format<'a> {
    lua: &'a Lua,
    text: Vec<u8>,
    at: usize,
    big: bool,
    alignment: usize,
}

/// What comes next in a format: its letter, and how many bytes it takes.
#[derive(Clone, Copy)]
struct FormatItem {
    letter: u8,
    size: usize,
}

impl FormatItem {
    fn is_integer(self) -> bool {
        b"bBhHlLTiI".contains(&self.letter)
    }
}

impl<'a> Format<'a> {
    fn new(given: &Arguments<'a>) -> mlua::Result<Self> {
        Ok(Self {
            lua: given.lua,
            text: given.bytes(1)?,
            at: 0,
            big: false,
            alignment: 1,
        })
    }

    fn next(&mut self) -> mlua::Result<Option<FormatItem>> {
        let Some(&letter) = self.text.get(self.at).filter(|letter| **letter != 0) else {
            return Ok(None);
        };
        self.at += 1;
        let size = match letter {
            b'b' | b'B' | b'x' => 1,
            b'h' | b'H' => 2,
            b'f' => 4,
            b'l' | b'L' | b'T' | b'd' => 8,
            b'c' => self.number(1)?,
            b'i' | b'I' => self.width()?,
            _ => 0,
        };
        Ok(Some(FormatItem { letter, size }))
    }

    fn width(&mut self) -> mlua::Result<usize> {
        let width = self.number(4)?;
        if width > WIDTH_MAX {
            let text = format!("integral size {width} is larger than limit of {WIDTH_MAX}");
            return raise(self.lua, &text);
        }
        if !(1..=WIDTH_MODELLED).contains(&width) {
            return not_modelled("integers of no bytes, or of more than eight, in struct");
        }
        Ok(width)
    }

    /// The number that stands here, if one does.
    fn number(&mut self, fallback: usize) -> mlua::Result<usize> {
        let digits = self.text[self.at..].iter();
        let digits: Vec<u8> = digits.copied().take_while(u8::is_ascii_digit).collect();
        self.at += digits.len();
        if digits.is_empty() {
            return Ok(fallback);
        }
        let number = std::str::from_utf8(&digits).ok();
        match number.and_then(|number| number.parse::<i32>().ok()) {
            Some(number) => Ok(usize::try_from(number).unwrap_or(0)),
            None => raise(self.lua, "integral size overflow"),
        }
    }

    /// How many bytes stay empty before a part.
    fn gap(&self, at: usize, part: FormatItem) -> usize {
        if part.size == 0 || part.letter == b'c' {
            return 0;
        }
        let size = part.size.min(self.alignment);
        size.wrapping_sub(at & size.wrapping_sub(1)) & size.wrapping_sub(1)
    }

    /// A part that says how those behind it are to be read.
    fn control(&mut self, letter: u8) -> mlua::Result<()> {
        match letter {
            b' ' => {}
            b'>' => self.big = true,
            b'<' => self.big = false,
            b'!' => {
                let alignment = self.number(ALIGNMENT)?;
                if !alignment.is_power_of_two() {
                    let text = format!("alignment {alignment} is not a power of 2");
                    return raise(self.lua, &text);
                }
                self.alignment = alignment;
            }
            letter => {
                let letter = String::from_utf8_lossy(&[letter]).into_owned();
                let text = format!("invalid format option '{letter}'");
                return bad_argument(self.lua, 1, &text);
            }
        }
        Ok(())
    }

    /// So many bytes of a number, the least one first, in the order that is asked for.
    fn ordered(&self, bytes: &[u8]) -> Vec<u8> {
        let mut bytes = bytes.to_vec();
        if self.big {
            bytes.reverse();
        }
        bytes
    }
}

/// A number without its fraction, in 64 bits.
fn whole(number: f64) -> u64 {
    const HALF: f64 = 9_223_372_036_854_775_808.0;
    if number < 0.0 {
        let fits = number >= -HALF;
        return if fits { number as i64 } else { i64::MIN } as u64;
    }
    number as u64
}

fn pack(lua: &Lua, words: MultiValue) -> mlua::Result<LuaString> {
    let mut given = Arguments::new(lua, words);
    let mut format = Format::new(&given)?;
    // What is missing is nothing, and not no value.
    given.words.push_back(LuaValue::Nil);
    let mut bytes: Vec<u8> = Vec::new();
    let mut index = 2;
    while let Some(part) = format.next()? {
        bytes.resize(bytes.len() + format.gap(bytes.len(), part), 0);
        match part.letter {
            _ if part.is_integer() => {
                let number = whole(given.number(index)?).to_le_bytes();
                bytes.extend(format.ordered(&number[..part.size]));
            }
            b'x' => bytes.push(0),
            b'f' => {
                let number = given.number(index)? as f32;
                bytes.extend(format.ordered(&number.to_le_bytes()));
            }
            b'd' => bytes.extend(format.ordered(&given.number(index)?.to_le_bytes())),
            b'c' | b's' => {
                let text = given.bytes(index)?;
                let size = if part.size == 0 {
                    text.len()
                } else {
                    part.size
                };
                let Some(text) = text.get(..size) else {
                    return bad_argument(lua, index + 1, "string too short");
                };
                bytes.extend(text);
                if part.letter == b's' {
                    bytes.push(0);
                }
            }
            letter => format.control(letter)?,
        }
        if part.is_integer() || b"fdcs".contains(&part.letter) {
            index += 1;
        }
    }
    lua.create_string(&bytes)
}

fn unpack(lua: &Lua, words: MultiValue) -> mlua::Result<MultiValue> {
    let given = Arguments::new(lua, words);
    let mut format = Format::new(&given)?;
    let data = given.bytes(2)?;
    let from = given.number_or(3, 1.0)? as i64;
    if from == 0 {
        return bad_argument(lua, 3, "offset must be 1 or greater");
    }
    // What is less than zero lies far behind the end.
    let mut at = from.wrapping_sub(1) as usize;
    let mut values: Vec<LuaValue> = Vec::new();
    while let Some(part) = format.next()? {
        at = at.saturating_add(format.gap(at, part));
        let field = |size: usize| match at.checked_add(size).and_then(|end| data.get(at..end)) {
            Some(field) => Ok(field),
            None => bad_argument(lua, 2, "data string too short"),
        };
        let bytes = field(part.size)?;
        let mut size = part.size;
        match part.letter {
            _ if part.is_integer() => values.push(integer(part, &format.ordered(bytes))),
            b'x' => {}
            b'f' | b'd' => values.push(float(&format.ordered(bytes))),
            b'c' => {
                if size == 0 {
                    size = previous(lua, &mut values)?;
                }
                values.push(LuaValue::String(lua.create_string(field(size)?)?));
            }
            b's' => {
                let rest = data.get(at..).unwrap_or_default();
                let Some(end) = rest.iter().position(|byte| *byte == 0) else {
                    return raise(lua, "unfinished string in data");
                };
                values.push(LuaValue::String(lua.create_string(&rest[..end])?));
                size = end + 1;
            }
            letter => format.control(letter)?,
        }
        at += size;
    }
    values.push(LuaValue::Integer((at as i64).wrapping_add(1)));
    Ok(values.into_iter().collect())
}

/// The number that was read before says how long the string is.
fn previous(lua: &Lua, values: &mut Vec<LuaValue>) -> mlua::Result<usize> {
    let last = values.pop().unwrap_or(LuaValue::Nil);
    match lua.coerce_number(last)? {
        Some(number) => Ok(number as usize),
        None => raise(lua, "format 'c0' needs a previous size"),
    }
}

/// An integer from its bytes, the least one first. Small letters have a sign.
fn integer(part: FormatItem, bytes: &[u8]) -> LuaValue {
    let number = bytes.iter().rev();
    let number = number.fold(0_u64, |number, byte| number << 8 | u64::from(*byte));
    let unused = 64 - 8 * part.size as u32;
    LuaValue::Number(if part.letter.is_ascii_lowercase() {
        ((number << unused) as i64 >> unused) as f64
    } else {
        number as f64
    })
}

fn float(bytes: &[u8]) -> LuaValue {
    let wide = bytes.try_into().map(f64::from_le_bytes);
    let narrow = bytes.try_into().map(f32::from_le_bytes).map(f64::from);
    LuaValue::Number(wide.or(narrow).unwrap_or(0.0))
}

fn size(lua: &Lua, words: MultiValue) -> mlua::Result<usize> {
    let given = Arguments::new(lua, words);
    let mut format = Format::new(&given)?;
    let mut at = 0;
    while let Some(part) = format.next()? {
        at += format.gap(at, part);
        match part.letter {
            b's' => return bad_argument(lua, 1, "option 's' has no fixed size"),
            b'c' if part.size == 0 => {
                return bad_argument(lua, 1, "option 'c0' has no fixed size");
            }
            letter if letter.is_ascii_alphanumeric() => {}
            letter => format.control(letter)?,
        }
        at += part.size;
    }
    Ok(at)
}
