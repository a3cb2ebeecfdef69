//! Calls over HTTP/1.0, and streams over web sockets.

use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use crate::harness::network::connect;

/// How long connecting and writing may take.
const TIMEOUT: Duration = Duration::from_secs(5);

/// A connection, and what has come over it.
struct Connection {
    stream: TcpStream,
    read: Vec<u8>,
}

impl Connection {
    fn open(port: u16, request: &str) -> io::Result<Self> {
        let mut stream = connect(port, TIMEOUT)?;
        stream.write_all(request.as_bytes())?;
        let read = Vec::new();
        Ok(Self { stream, read })
    }

    /// Reads what has come, and waits no longer than this; answers whether the other side has closed.
    fn read(&mut self, wait: Duration) -> io::Result<bool> {
        let mut bytes = [0; 16_384];
        self.stream.set_read_timeout(Some(wait))?;
        match self.stream.read(&mut bytes) {
            Ok(0) => Ok(true),
            Ok(count) => {
                self.read.extend_from_slice(&bytes[..count]);
                Ok(false)
            }
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                Ok(false)
            }
            Err(error) => Err(error),
        }
    }
}

/// A call that is on its way.
pub(super) struct Call(Connection);

impl Call {
    /// Sends a request with these lines of its header, each of which ends.
    pub(super) fn begin(port: u16, path: &str, header: &str, body: &str) -> io::Result<Self> {
        let length = body.len();
        let request =
            format!("POST {path} HTTP/1.0\r\n{header}Content-Length: {length}\r\n\r\n{body}");
        Connection::open(port, &request).map(Self)
    }

    /// The body of the answer, if it has come; it is waited for no longer than this.
    pub(super) fn poll(&mut self, wait: Duration) -> io::Result<Option<String>> {
        if !self.0.read(wait)? {
            return Ok(None);
        }
        let text = String::from_utf8_lossy(&self.0.read);
        let body = text.split_once("\r\n\r\n").map_or("", |(_, body)| body);
        Ok(Some(body.to_owned()))
    }
}

/// A stream of messages in both directions.
pub(super) struct WebSocket(Connection);

/// The first byte of a frame that is a whole text, and the bit of the second that says that it is masked.
const TEXT: u8 = 0x81;
const MASKED: u8 = 0x80;
/// A length that two bytes follow, which have it.
const LENGTH_FOLLOWS: u8 = 126;

impl WebSocket {
    /// Opens one.
    pub(super) fn open(port: u16, path: &str) -> io::Result<Self> {
        let request = format!(
            "GET {path} HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
             Sec-WebSocket-Key: cGlja2xvY2stdmVyaWZ5IQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"
        );
        let mut connection = Connection::open(port, &request)?;
        const END: &[u8] = b"\r\n\r\n";
        while !connection.read.ends_with(END) {
            if connection.read(TIMEOUT)? {
                return Err(ErrorKind::UnexpectedEof.into());
            }
        }
        connection.read.clear();
        Ok(Self(connection))
    }

    /// Sends a text.
    pub(super) fn send(&mut self, text: &str) -> io::Result<()> {
        let mut frame = vec![TEXT];
        match u8::try_from(text.len()) {
            Ok(length) if length < LENGTH_FOLLOWS => frame.push(MASKED | length),
            _ => {
                let length = u16::try_from(text.len()).map_err(|_| ErrorKind::InvalidInput)?;
                frame.push(MASKED | LENGTH_FOLLOWS);
                frame.extend(length.to_be_bytes());
            }
        }
        // A mask of zeros leaves the text as it is.
        frame.extend([0; 4]);
        frame.extend(text.as_bytes());
        self.0.stream.write_all(&frame)
    }

    /// The texts that have come; the first is waited for no longer than this.
    pub(super) fn poll(&mut self, wait: Duration) -> io::Result<Vec<String>> {
        self.0.read(wait)?;
        let mut texts = Vec::new();
        while let Some((text, rest)) = frame(&self.0.read) {
            texts.push(text);
            self.0.read = self.0.read.split_off(rest);
        }
        Ok(texts)
    }
}

/// The text of the first frame, and where the next begins.
fn frame(bytes: &[u8]) -> Option<(String, usize)> {
    let (length, begin) = match *bytes.get(1)? {
        LENGTH_FOLLOWS => {
            let length = bytes.get(2..4)?.try_into().ok()?;
            (usize::from(u16::from_be_bytes(length)), 4)
        }
        length if length > LENGTH_FOLLOWS => {
            let length = bytes.get(2..10)?.try_into().ok()?;
            (usize::try_from(u64::from_be_bytes(length)).ok()?, 10)
        }
        length => (usize::from(length), 2),
    };
    let end = begin + length;
    let text = String::from_utf8_lossy(bytes.get(begin..end)?);
    Some((text.into_owned(), end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_of_all_lengths_are_read() {
        for length in [0, 5, 125, 126, 65_535, 65_536] {
            let text = "x".repeat(length);
            let mut bytes = vec![TEXT];
            match length {
                0..126 => bytes.push(length as u8),
                126..65_536 => {
                    bytes.push(126);
                    bytes.extend((length as u16).to_be_bytes());
                }
                _ => {
                    bytes.push(127);
                    bytes.extend((length as u64).to_be_bytes());
                }
            }
            bytes.extend(text.as_bytes());
            assert_eq!(frame(&bytes), Some((text, bytes.len())));
            bytes.pop();
            assert_eq!(frame(&bytes), None, "it is not whole");
        }
    }
}
