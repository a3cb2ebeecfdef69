//! Commands, as clients send them: words that may hold any bytes.

use std::fmt;
use std::rc::Rc;

use smallvec::SmallVec;

/// A name of at most eight letters as one word: the same for capital and small letters. Comparing words costs less than
/// comparing names.
pub const fn short_name(name: &[u8]) -> Option<u64> {
    // A name that begins with a zero byte is not the one behind it.
    if name.len() > 8 || matches!(name.first(), Some(0)) {
        return None;
    }
    let (mut word, mut index) = (0, 0);
    while index < name.len() {
        word = word << 8 | name[index].to_ascii_lowercase() as u64;
        index += 1;
    }
    Some(word)
}

/// A command and its arguments. Cloning shares it.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Command(Rc<Words>);

#[derive(Clone, Default, PartialEq, Eq, Hash)]
struct Words {
    bytes: Vec<u8>,
    /// Where each word ends.
    ends: SmallVec<[u32; 8]>,
}

impl Words {
    fn push(&mut self, word: &[u8]) {
        self.bytes.extend_from_slice(word);
        self.ends.push(self.bytes.len() as u32);
    }
}

impl Command {
    /// A command without arguments.
    pub fn new(name: &str) -> Self {
        let mut words = Words {
            bytes: Vec::with_capacity(64),
            ends: SmallVec::new(),
        };
        words.push(name.as_bytes());
        Self(Rc::new(words))
    }

    /// The command with one more argument.
    #[must_use]
    pub fn arg(mut self, word: impl AsRef<[u8]>) -> Self {
        Rc::make_mut(&mut self.0).push(word.as_ref());
        self
    }

    /// The command with more arguments.
    #[must_use]
    pub fn args<W: AsRef<[u8]>>(mut self, more: impl IntoIterator<Item = W>) -> Self {
        let words = Rc::make_mut(&mut self.0);
        for word in more {
            words.push(word.as_ref());
        }
        self
    }

    /// The command with a number as one more argument.
    #[must_use]
    pub fn number(self, number: impl itoa::Integer) -> Self {
        self.arg(itoa::Buffer::new().format(number))
    }

    /// The command of these words; `None` if there are none.
    pub fn of<W: AsRef<[u8]>>(words: impl IntoIterator<Item = W>) -> Option<Self> {
        let command = Self(Rc::default()).args(words);
        (!command.is_empty()).then_some(command)
    }

    /// How many words there are, the name included.
    pub fn len(&self) -> usize {
        self.0.ends.len()
    }

    /// Whether there are no words.
    pub fn is_empty(&self) -> bool {
        self.0.ends.is_empty()
    }

    /// The word at this place; the name is at zero.
    pub fn word(&self, index: usize) -> Option<&[u8]> {
        let end = *self.0.ends.get(index)? as usize;
        let start = match index {
            0 => 0,
            _ => self.0.ends[index - 1] as usize,
        };
        Some(&self.0.bytes[start..end])
    }

    /// All words, the name first.
    pub fn words(&self) -> impl Iterator<Item = &[u8]> {
        (0..self.len()).filter_map(|index| self.word(index))
    }

    /// The name, as it was written.
    pub fn name(&self) -> &[u8] {
        self.word(0).unwrap_or_default()
    }

    /// Whether this is the name, in capital letters or not.
    pub fn is(&self, name: &str) -> bool {
        self.name().eq_ignore_ascii_case(name.as_bytes())
    }

    /// How many bytes it takes on the wire (RESP: an array of bulk strings).
    pub fn wire_bytes(&self) -> u64 {
        let mut bytes = digits(self.len()) + 3 + self.0.bytes.len();
        let mut start = 0;
        for end in &self.0.ends {
            bytes += digits((end - start) as usize) + 5;
            start = *end;
        }
        bytes as u64
    }
}

fn digits(number: usize) -> usize {
    match number {
        0..10 => 1,
        10..100 => 2,
        more => more.ilog10() as usize + 1,
    }
}

impl fmt::Debug for Command {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, out)
    }
}

/// The words, with spaces between them, as a person would type them.
impl fmt::Display for Command {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, word) in self.words().enumerate() {
            if index > 0 {
                out.write_str(" ")?;
            }
            let plain = !word.is_empty() && word.iter().all(u8::is_ascii_graphic);
            if plain {
                out.write_str(&String::from_utf8_lossy(word))?;
            } else {
                write!(out, "\"{}\"", word.escape_ascii())?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_gives_back_the_words_it_was_made_of() {
        let command = Command::new("set").arg("a").arg(b"\r\n").number(30_000);
        assert_eq!(command.len(), 4);
        assert!(command.is("SET"));
        let words: Vec<&[u8]> = command.words().collect();
        assert_eq!(words, [&b"set"[..], b"a", b"\r\n", b"30000"]);
        assert_eq!(command.to_string(), r#"set a "\r\n" 30000"#);
        assert_eq!(Command::of(command.words()), Some(command));
    }

    #[test]
    fn its_length_on_the_wire_is_that_of_an_array_of_bulk_strings() {
        let wire = "*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$12\r\nabcdefghijkl\r\n";
        let command = Command::new("SET").arg("k").arg("abcdefghijkl");
        assert_eq!(command.wire_bytes(), wire.len() as u64);
    }

    #[test]
    fn names_of_at_most_eight_letters_are_told_apart_by_a_word() {
        assert_eq!(short_name(b"SET"), short_name(b"set"));
        assert_ne!(short_name(b"set"), short_name(b"get"));
        assert_ne!(short_name(b"set"), short_name(b"setnx"));
        assert_eq!([short_name(b"\0set"), short_name(b"subscribe")], [None; 2]);
    }

    #[test]
    fn no_words_are_no_command() {
        assert_eq!(Command::of::<&str>([]), None);
    }
}
