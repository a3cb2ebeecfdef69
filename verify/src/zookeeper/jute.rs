//! Jute, the encoding of ZooKeeper's protocol: numbers with the high byte first, strings and lists with their length
//! before them.

use std::rc::Rc;

use crate::harness::error::Garbled;

/// A message that is being written. Its length stands before it.
#[derive(Debug)]
pub struct Writer {
    bytes: Vec<u8>,
}

impl Default for Writer {
    fn default() -> Self {
        Self::new()
    }
}

impl Writer {
    /// An empty message.
    pub fn new() -> Self {
        Self { bytes: vec![0; 4] }
    }

    /// Adds a byte that is one or zero.
    pub fn bool(&mut self, value: bool) -> &mut Self {
        self.bytes.push(u8::from(value));
        self
    }

    /// Adds four bytes.
    pub fn int(&mut self, value: i32) -> &mut Self {
        self.bytes.extend_from_slice(&value.to_be_bytes());
        self
    }

    /// Adds eight bytes.
    pub fn long(&mut self, value: i64) -> &mut Self {
        self.bytes.extend_from_slice(&value.to_be_bytes());
        self
    }

    /// Adds bytes, and their number before them.
    pub fn buffer(&mut self, value: &[u8]) -> &mut Self {
        self.int(i32::try_from(value.len()).unwrap_or(i32::MAX));
        self.bytes.extend_from_slice(value);
        self
    }

    /// Adds bytes, or that there are none at all: `null`.
    pub fn nullable(&mut self, value: Option<&[u8]>) -> &mut Self {
        match value {
            Some(bytes) => self.buffer(bytes),
            None => self.int(-1),
        }
    }

    /// Adds a string.
    pub fn text(&mut self, value: &str) -> &mut Self {
        self.buffer(value.as_bytes())
    }

    /// Adds a list of strings.
    pub fn texts<'a>(&mut self, values: impl ExactSizeIterator<Item = &'a str>) -> &mut Self {
        self.int(i32::try_from(values.len()).unwrap_or(i32::MAX));
        for value in values {
            self.text(value);
        }
        self
    }

    /// The message with its length.
    pub fn finish(mut self) -> Vec<u8> {
        let length = u32::try_from(self.bytes.len() - 4).unwrap_or(u32::MAX);
        self.bytes[..4].copy_from_slice(&length.to_be_bytes());
        self.bytes
    }
}

/// A message that is being read, without its length.
#[derive(Clone, Copy, Debug)]
pub struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    /// From the first byte.
    pub fn new(message: &'a [u8]) -> Self {
        Self { rest: message }
    }

    fn take(&mut self, length: usize) -> Result<&'a [u8], Garbled> {
        let (taken, rest) = self.rest.split_at_checked(length).ok_or(Garbled::Short)?;
        self.rest = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Garbled> {
        let (taken, rest) = self.rest.split_first_chunk().ok_or(Garbled::Short)?;
        self.rest = rest;
        Ok(*taken)
    }

    /// A byte that is one or zero.
    pub fn bool(&mut self) -> Result<bool, Garbled> {
        Ok(self.array::<1>()? != [0])
    }

    /// Four bytes.
    pub fn int(&mut self) -> Result<i32, Garbled> {
        Ok(i32::from_be_bytes(self.array()?))
    }

    /// Eight bytes.
    pub fn long(&mut self) -> Result<i64, Garbled> {
        Ok(i64::from_be_bytes(self.array()?))
    }

    /// Bytes; `null` is taken for none.
    pub fn buffer(&mut self) -> Result<&'a [u8], Garbled> {
        Ok(self.nullable()?.unwrap_or_default())
    }

    /// Bytes, or `null`, which is written as a length of -1.
    pub fn nullable(&mut self) -> Result<Option<&'a [u8]>, Garbled> {
        let length = self.int()?;
        usize::try_from(length)
            .ok()
            .map(|length| self.take(length))
            .transpose()
    }

    /// A string.
    pub fn text(&mut self) -> Result<Rc<str>, Garbled> {
        let bytes = self.buffer()?;
        match std::str::from_utf8(bytes) {
            Ok(text) => Ok(Rc::from(text)),
            Err(_) => halves(bytes).map(Rc::from),
        }
    }

    /// A list of strings.
    pub fn texts(&mut self) -> Result<Vec<Rc<str>>, Garbled> {
        let length = self.int()?;
        (0..length).map(|_| self.text()).collect()
    }

    /// Whether everything was read.
    pub fn end(self) -> Result<(), Garbled> {
        if self.rest.is_empty() {
            Ok(())
        } else {
            Err(Garbled::Long(self.rest.len()))
        }
    }
}

/// A string as ZooKeeper writes letters of more than 16 bits: both halves by themselves.
fn halves(bytes: &[u8]) -> Result<String, Garbled> {
    let mut units = Vec::new();
    let mut rest = bytes;
    while let [first, after @ ..] = rest {
        let (length, value) = match first {
            0..0x80 => (0, u16::from(*first)),
            0xc0..0xe0 => (1, u16::from(first & 0x1f)),
            0xe0..0xf0 => (2, u16::from(first & 0x0f)),
            0x80..0xc0 | 0xf0.. => return Err(Garbled::Text),
        };
        let (tail, after) = after.split_at_checked(length).ok_or(Garbled::Text)?;
        units.push(
            tail.iter()
                .fold(value, |value, byte| value << 6 | u16::from(byte & 0x3f)),
        );
        rest = after;
    }
    String::from_utf16(&units).map_err(|_| Garbled::Text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_is_read() {
        let mut writer = Writer::new();
        writer.bool(true).int(-2).long(1 << 40).text("/a");
        writer.texts(["x", ""].into_iter());
        let bytes = writer.finish();
        assert_eq!(bytes[..4], (bytes.len() as u32 - 4).to_be_bytes());
        let mut reader = Reader::new(&bytes[4..]);
        assert_eq!(reader.bool(), Ok(true));
        assert_eq!(reader.int(), Ok(-2));
        assert_eq!(reader.long(), Ok(1 << 40));
        assert_eq!(reader.text(), Ok(Rc::from("/a")));
        assert_eq!(reader.texts(), Ok(vec![Rc::from("x"), Rc::from("")]));
        assert_eq!(reader.end(), Ok(()));
    }

    #[test]
    fn long_letters_may_come_in_halves() {
        let bytes = [b'/', 0xc3, 0xbc, 0xed, 0xa0, 0x80, 0xed, 0xbd, 0x88];
        assert_eq!(halves(&bytes).as_deref(), Ok("/\u{fc}\u{10348}"));
        assert_eq!(halves(&[0xff]), Err(Garbled::Text));
    }

    #[test]
    fn a_message_that_ends_too_early_is_garbled() {
        assert_eq!(Reader::new(&[0, 0, 0]).int(), Err(Garbled::Short));
        assert_eq!(
            Reader::new(&[0, 0, 0, 9, 1]).buffer().map(<[u8]>::len),
            Err(Garbled::Short)
        );
        assert_eq!(Reader::new(&[1]).end(), Err(Garbled::Long(1)));
    }
}
