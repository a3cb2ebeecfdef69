//! The replies of a Redis server.

use std::borrow::Cow;
use std::fmt;
use std::rc::Rc;

/// Any bytes. Cloning shares them.
pub type Bytes = Rc<[u8]>;

/// An answer, or a part of one. What RESP2 cannot say is said as RESP2 says it, unless the connection speaks RESP3.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Nothing: the null bulk string of RESP2, and the null of RESP3.
    Nil,
    /// Nothing where there would be an array: what `EXEC` answers when a watched key was touched.
    NilArray,
    /// A whole number.
    Integer(i64),
    /// A string of any bytes.
    Bulk(Bytes),
    /// A short word, as in `OK` and `QUEUED`.
    Status(Cow<'static, str>),
    /// What went wrong. Within an array it stands for the one command that failed.
    Error(ErrorReply),
    /// Several values.
    Array(Rc<[Value]>),
    /// A value that is no answer to a command (RESP3), or a message of a subscription (RESP2: an array).
    Push(Rc<[Value]>),
    /// Yes or no (RESP3).
    Boolean(bool),
    /// A floating-point number (RESP3).
    Double(f64),
    /// Names and values, in turn (RESP3).
    Map(Rc<[Value]>),
    /// Values without an order (RESP3).
    Set(Rc<[Value]>),
    /// A big number (RESP3), its digits.
    BigNumber(Bytes),
}

/// A value in words, as traces and comparisons show it.
impl fmt::Display for Value {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all = |values: &[Self]| {
            let values: Vec<String> = values.iter().map(Self::to_string).collect();
            values.join(" ")
        };
        match self {
            Self::Nil => write!(out, "nil"),
            Self::NilArray => write!(out, "nil-array"),
            Self::Integer(number) => write!(out, "integer {number}"),
            Self::Bulk(bytes) => write!(out, "\"{}\"", bytes.escape_ascii()),
            Self::Status(word) => write!(out, "status {word}"),
            Self::Error(error) => write!(out, "error {error}"),
            Self::Array(values) => write!(out, "[{}]", all(values)),
            Self::Push(values) => write!(out, "push [{}]", all(values)),
            Self::Boolean(yes) => write!(out, "{yes}"),
            Self::Double(number) => write!(out, "double {number}"),
            Self::Map(values) => write!(out, "map [{}]", all(values)),
            Self::Set(values) => write!(out, "set [{}]", all(values)),
            Self::BigNumber(digits) => write!(out, "big {}", digits.escape_ascii()),
        }
    }
}

/// An error as the server words it.
#[derive(Clone, PartialEq, Eq)]
pub struct ErrorReply(Cow<'static, str>);

impl ErrorReply {
    /// An error of this text, which begins with its code: `WRONGTYPE Operation against …`.
    pub fn new(text: impl Into<Cow<'static, str>>) -> Self {
        Self(text.into())
    }

    /// Its first word: `ERR`, `NOSCRIPT`, `READONLY` …
    pub fn code(&self) -> &str {
        self.0.split(' ').next().unwrap_or_default()
    }

    /// The whole text.
    pub fn text(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for ErrorReply {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.text(), out)
    }
}

impl fmt::Display for ErrorReply {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.text())
    }
}

impl Value {
    /// `OK`.
    pub const OK: Self = Self::Status(Cow::Borrowed("OK"));

    /// A string of these bytes.
    pub fn bulk(bytes: impl AsRef<[u8]>) -> Self {
        Self::Bulk(bytes.as_ref().into())
    }

    /// An error of this text.
    pub fn error(text: impl Into<Cow<'static, str>>) -> Self {
        Self::Error(ErrorReply::new(text))
    }

    /// Several values.
    pub fn array(values: impl IntoIterator<Item = Self>) -> Self {
        Self::Array(values.into_iter().collect())
    }

    /// The number, if it is one.
    pub fn integer(&self) -> Option<i64> {
        match self {
            Self::Integer(number) => Some(*number),
            _ => None,
        }
    }

    /// The bytes, if it is a string.
    pub fn bytes(&self) -> Option<&[u8]> {
        match self {
            Self::Bulk(bytes) => Some(bytes),
            Self::Status(word) => Some(word.as_bytes()),
            _ => None,
        }
    }

    /// Whether it is `OK`.
    pub fn is_ok(&self) -> bool {
        matches!(self, Self::Status(word) if word == "OK")
    }

    /// Whether it is nothing.
    pub fn is_nil(&self) -> bool {
        matches!(self, Self::Nil | Self::NilArray)
    }

    /// The values, if there are several.
    pub fn values(&self) -> Option<&[Self]> {
        match self {
            Self::Array(values) | Self::Push(values) | Self::Set(values) | Self::Map(values) => {
                Some(values)
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_begins_with_its_code() {
        let error = ErrorReply::new("NOSCRIPT No matching script. Please use EVAL.");
        assert_eq!(error.code(), "NOSCRIPT");
    }

    #[test]
    fn a_value_is_read_as_what_it_is() {
        assert!(Value::OK.is_ok());
        assert!(Value::NilArray.is_nil());
        assert_eq!(Value::Integer(3).integer(), Some(3));
        assert_eq!(Value::bulk("a").bytes(), Some(&b"a"[..]));
        assert_eq!(Value::Nil.bytes(), None);
        assert_eq!(Value::array([Value::Nil]).values(), Some(&[Value::Nil][..]));
    }
}
