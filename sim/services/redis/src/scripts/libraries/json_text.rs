//! Reads JSON as `cjson.decode` does, which takes more for numbers than JSON has.

use mlua::{Lua, Value as LuaValue};

use super::DEPTH_MAX;
use super::numbers::number_at;
use crate::scripts::redis_call::raise;

/// What comes next in a text.
#[derive(Clone, Debug, PartialEq)]
enum Token {
    ObjectBegin,
    ObjectEnd,
    ListBegin,
    ListEnd,
    Text(Vec<u8>),
    Number(f64),
    Boolean(bool),
    Null,
    Colon,
    Comma,
    End,
    /// None: this is wrong.
    Wrong(&'static str),
}

impl Token {
    /// What errors call it.
    fn name(&self) -> &'static str {
        match self {
            Self::ObjectBegin => "T_OBJ_BEGIN",
            Self::ObjectEnd => "T_OBJ_END",
            Self::ListBegin => "T_ARR_BEGIN",
            Self::ListEnd => "T_ARR_END",
            Self::Text(_) => "T_STRING",
            Self::Number(_) => "T_NUMBER",
            Self::Boolean(_) => "T_BOOLEAN",
            Self::Null => "T_NULL",
            Self::Colon => "T_COLON",
            Self::Comma => "T_COMMA",
            Self::End => "T_END",
            Self::Wrong(what) => what,
        }
    }
}

/// The value of a text.
pub(super) fn read(lua: &Lua, text: &[u8]) -> mlua::Result<LuaValue> {
    if text.len() >= 2 && text[..2].contains(&0) {
        return raise(lua, "JSON parser does not support UTF-16 or UTF-32");
    }
    let mut reader = Reader { lua, text, at: 0 };
    let first = reader.next();
    let value = reader.value(first, 0)?;
    match reader.next() {
        (Token::End, _) => Ok(value),
        other => reader.expected("the end", &other),
    }
}

struct Reader<'a> {
    lua: &'a Lua,
    text: &'a [u8],
    at: usize,
}

impl Reader<'_> {
    /// The byte at a place; zero behind the end, which is how the end is told.
    fn byte(&self, at: usize) -> u8 {
        self.text.get(at).copied().unwrap_or(0)
    }

    fn begins(&self, word: &[u8]) -> bool {
        self.text[self.at.min(self.text.len())..].starts_with(word)
    }

    fn expected<T>(&self, what: &str, (found, at): &(Token, usize)) -> mlua::Result<T> {
        let (found, at) = (found.name(), at + 1);
        let text = format!("Expected {what} but found {found} at character {at}");
        raise(self.lua, &text)
    }

    /// The next token, and where it begins, or where it goes wrong.
    fn next(&mut self) -> (Token, usize) {
        while [b' ', b'\t', b'\n', b'\r'].contains(&self.byte(self.at)) {
            self.at += 1;
        }
        let begin = self.at;
        let single = match self.byte(begin) {
            b'{' => Token::ObjectBegin,
            b'}' => Token::ObjectEnd,
            b'[' => Token::ListBegin,
            b']' => Token::ListEnd,
            b':' => Token::Colon,
            b',' => Token::Comma,
            0 => return (Token::End, begin),
            _ => {
                let token = self.longer();
                let wrong = matches!(token, Token::Wrong(_));
                return (token, if wrong { self.at } else { begin });
            }
        };
        self.at += 1;
        (single, begin)
    }

    /// A token of several bytes.
    fn longer(&mut self) -> Token {
        let words = [
            (&b"true"[..], Token::Boolean(true)),
            (b"false", Token::Boolean(false)),
            (b"null", Token::Null),
        ];
        match self.byte(self.at) {
            b'"' => return self.string(),
            b'-' | b'0'..=b'9' => return self.number(),
            _ => {}
        }
        for (word, token) in words {
            if self.begins(word) {
                self.at += word.len();
                return token;
            }
        }
        let plus = self.byte(self.at) == b'+';
        if plus
            || ["inf", "nan"]
                .iter()
                .any(|word| self.starts_with_word(self.at, word))
        {
            return self.number();
        }
        Token::Wrong("invalid token")
    }

    /// Whether this word is there, in whatever letters.
    fn starts_with_word(&self, at: usize, word: &str) -> bool {
        let there = self.text.get(at..at + word.len());
        there.is_some_and(|there| there.eq_ignore_ascii_case(word.as_bytes()))
    }

    fn string(&mut self) -> Token {
        self.at += 1;
        let mut text = Vec::new();
        loop {
            let byte = match self.byte(self.at) {
                b'"' => break,
                0 => return Token::Wrong("unexpected end of string"),
                b'\\' => match self.byte(self.at + 1) {
                    b'u' => {
                        let Some((letter, length)) = self.letter() else {
                            return Token::Wrong("invalid unicode escape code");
                        };
                        text.extend(letter);
                        self.at += length;
                        continue;
                    }
                    escaped => {
                        let Some(meant) = unescaped(escaped) else {
                            return Token::Wrong("invalid escape code");
                        };
                        self.at += 1;
                        meant
                    }
                },
                byte => byte,
            };
            text.push(byte);
            self.at += 1;
        }
        self.at += 1;
        Token::Text(text)
    }

    /// A letter by its number, in UTF-8, and how long that was; two numbers if it is a pair of surrogates.
    fn letter(&self) -> Option<(Vec<u8>, usize)> {
        let high = self.four_digits(self.at + 2)?;
        if high & 0xf800 != 0xd800 {
            return Some((utf8(high), 6));
        }
        if high & 0x400 != 0 || self.byte(self.at + 6) != b'\\' || self.byte(self.at + 7) != b'u' {
            return None;
        }
        let low = self.four_digits(self.at + 8)?;
        (low & 0xfc00 == 0xdc00).then(|| {
            let code = ((high & 0x3ff) << 10 | low & 0x3ff) + 0x1_0000;
            (utf8(code), 12)
        })
    }

    fn four_digits(&self, at: usize) -> Option<u32> {
        let digits = self.text.get(at..at + 4)?;
        digits.iter().try_fold(0, |code, digit| {
            Some(code << 4 | char::from(*digit).to_digit(16)?)
        })
    }

    /// As much as the C library takes for a number.
    fn number(&mut self) -> Token {
        match number_at(&self.text[self.at..]) {
            Some((number, length)) => {
                self.at += length;
                Token::Number(number)
            }
            None => Token::Wrong("invalid number"),
        }
    }

    fn value(&mut self, first: (Token, usize), depth: usize) -> mlua::Result<LuaValue> {
        Ok(match first.0 {
            Token::Text(text) => LuaValue::String(self.lua.create_string(text)?),
            Token::Number(number) => LuaValue::Number(number),
            Token::Boolean(yes) => LuaValue::Boolean(yes),
            Token::Null => LuaValue::NULL,
            Token::ObjectBegin => self.object(depth + 1)?,
            Token::ListBegin => self.list(depth + 1)?,
            _ => return self.expected("value", &first),
        })
    }

    fn descend(&self, depth: usize) -> mlua::Result<()> {
        if depth <= DEPTH_MAX {
            return Ok(());
        }
        let at = self.at;
        let text = format!("Found too many nested data structures ({depth}) at character {at}");
        raise(self.lua, &text)
    }

    fn object(&mut self, depth: usize) -> mlua::Result<LuaValue> {
        self.descend(depth)?;
        let table = self.lua.create_table()?;
        let mut token = self.next();
        if token.0 == Token::ObjectEnd {
            return Ok(LuaValue::Table(table));
        }
        loop {
            let Token::Text(name) = token.0 else {
                return self.expected("object key string", &token);
            };
            let name = self.lua.create_string(name)?;
            token = self.next();
            if token.0 != Token::Colon {
                return self.expected("colon", &token);
            }
            token = self.next();
            table.raw_set(name, self.value(token, depth)?)?;
            token = self.next();
            match token.0 {
                Token::ObjectEnd => return Ok(LuaValue::Table(table)),
                Token::Comma => token = self.next(),
                _ => return self.expected("comma or object end", &token),
            }
        }
    }

    fn list(&mut self, depth: usize) -> mlua::Result<LuaValue> {
        self.descend(depth)?;
        let table = self.lua.create_table()?;
        let mut token = self.next();
        if token.0 == Token::ListEnd {
            return Ok(LuaValue::Table(table));
        }
        for index in 1.. {
            table.raw_seti(index, self.value(token, depth)?)?;
            token = self.next();
            match token.0 {
                Token::ListEnd => break,
                Token::Comma => token = self.next(),
                _ => return self.expected("comma or array end", &token),
            }
        }
        Ok(LuaValue::Table(table))
    }
}

fn unescaped(byte: u8) -> Option<u8> {
    Some(match byte {
        b'"' | b'\\' | b'/' => byte,
        b'b' => b'\x08',
        b'f' => b'\x0c',
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        _ => return None,
    })
}

fn utf8(code: u32) -> Vec<u8> {
    let letter = char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER);
    letter.to_string().into_bytes()
}
