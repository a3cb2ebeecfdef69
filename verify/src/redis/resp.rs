//! Redis's protocol: commands as they are sent, and answers as they are read.

use std::io::{self, BufRead, ErrorKind};
use std::rc::Rc;

use picklock_clients::redis::{Command, Value};

/// The bytes of a command.
pub fn encode(command: &Command) -> Vec<u8> {
    let mut bytes = format!("*{}\r\n", command.len()).into_bytes();
    for word in command.words() {
        bytes.extend_from_slice(format!("${}\r\n", word.len()).as_bytes());
        bytes.extend_from_slice(word);
        bytes.extend_from_slice(b"\r\n");
    }
    bytes
}

/// Reads an answer or a message.
///
/// # Errors
///
/// What reading has come to; [`ErrorKind::InvalidData`], if it is not of the protocol.
pub fn decode(from: &mut impl BufRead) -> io::Result<Value> {
    let line = line(from)?;
    let Some((&kind, rest)) = line.split_first() else {
        return garbled("an empty line");
    };
    let text = String::from_utf8_lossy(rest).into_owned();
    match kind {
        b'+' => Ok(Value::Status(text.into())),
        b'-' => Ok(Value::error(text)),
        b':' => Ok(Value::Integer(number(&text)?)),
        b'_' => Ok(Value::Nil),
        b'#' => Ok(Value::Boolean(text == "t")),
        b',' => match text.parse() {
            Ok(number) => Ok(Value::Double(number)),
            Err(_) => garbled("a number"),
        },
        b'(' => Ok(Value::BigNumber(rest.into())),
        b'$' => Ok(bytes(from, number(&text)?)?.map_or(Value::Nil, Value::bulk)),
        // A text with its format before it.
        b'=' => Ok(bytes(from, number(&text)?)?.map_or(Value::Nil, |text| {
            Value::bulk(text.get(4..).unwrap_or_default())
        })),
        b'*' if text == "-1" => Ok(Value::NilArray),
        b'*' => Ok(Value::Array(values(from, number(&text)?)?)),
        b'>' => Ok(Value::Push(values(from, number(&text)?)?)),
        b'~' => Ok(Value::Set(values(from, number(&text)?)?)),
        b'%' => Ok(Value::Map(values(from, 2 * number(&text)?)?)),
        _ => garbled("a kind of answer"),
    }
}

fn garbled<T>(what: &str) -> io::Result<T> {
    let text = format!("{what} that is not of the protocol");
    Err(io::Error::new(ErrorKind::InvalidData, text))
}

fn line(from: &mut impl BufRead) -> io::Result<Vec<u8>> {
    let mut line = Vec::new();
    from.read_until(b'\n', &mut line)?;
    if !line.ends_with(b"\r\n") {
        return Err(io::Error::from(ErrorKind::UnexpectedEof));
    }
    line.truncate(line.len() - 2);
    Ok(line)
}

fn number(text: &str) -> io::Result<i64> {
    match text.parse() {
        Ok(number) => Ok(number),
        Err(_) => garbled("a number"),
    }
}

fn bytes(from: &mut impl BufRead, length: i64) -> io::Result<Option<Vec<u8>>> {
    let Ok(length) = usize::try_from(length) else {
        return Ok(None);
    };
    let mut bytes = vec![0; length + 2];
    from.read_exact(&mut bytes)?;
    bytes.truncate(length);
    Ok(Some(bytes))
}

fn values(from: &mut impl BufRead, count: i64) -> io::Result<Rc<[Value]>> {
    (0..count).map(|_| decode(from)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_read_as_what_they_say() {
        let read = |text: &str| decode(&mut text.as_bytes()).unwrap();
        assert_eq!(read("+OK\r\n"), Value::OK);
        assert_eq!(read("$-1\r\n"), Value::Nil);
        assert_eq!(read("*-1\r\n"), Value::NilArray);
        let nested = Value::array([Value::Integer(1), Value::bulk("ab")]);
        assert_eq!(read("*2\r\n:1\r\n$2\r\nab\r\n"), nested);
        assert!(decode(&mut &b"$5\r\nab"[..]).is_err());
        assert!(decode(&mut &b"?\r\n"[..]).is_err());
    }

    #[test]
    fn a_command_is_an_array_of_strings() {
        let bytes = encode(&Command::new("GET").arg("k"));
        assert_eq!(bytes, b"*2\r\n$3\r\nGET\r\n$1\r\nk\r\n");
    }
}
