//! PostgreSQL's protocol, version 3.0: simple queries.

use std::fmt::Write as _;
use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use super::wire::{Bytes, Wire};
use crate::harness::network;

/// A connection.
pub(super) struct Connection {
    stream: TcpStream,
    pid: u32,
    /// What has come of the next message.
    buffer: Vec<u8>,
    /// What has come of the answer.
    rows: String,
    answer: String,
    notices: String,
}

impl Connection {
    pub(super) fn open(port: u16) -> io::Result<Self> {
        let mut stream = network::connect(port, Duration::from_secs(5))?;
        let mut body = 196_608_u32.to_be_bytes().to_vec();
        body.extend(b"user\0picklock\0database\0postgres\0\0");
        let length = u32::try_from(body.len() + 4).unwrap_or_default();
        stream.write_all(&length.to_be_bytes())?;
        stream.write_all(&body)?;
        let mut connection = Self {
            stream,
            pid: 0,
            buffer: Vec::new(),
            rows: String::new(),
            answer: String::new(),
            notices: String::new(),
        };
        match connection.answer(Duration::from_secs(5))? {
            Some(text) if text.starts_with("error") => Err(io::Error::other(text)),
            Some(_) => Ok(connection),
            None => Err(ErrorKind::TimedOut.into()),
        }
    }

    /// The next message that is there in whole.
    fn message(&mut self) -> Option<(u8, Vec<u8>)> {
        let header = self.buffer.get(1..5)?.try_into().ok()?;
        let length = u32::from_be_bytes(header) as usize + 1;
        if self.buffer.len() < length {
            return None;
        }
        let message: Vec<u8> = self.buffer.drain(..length).collect();
        Some((message[0], message[5..].to_vec()))
    }

    /// Takes a message in. Answers what has come of the query when it is over.
    fn take_in(&mut self, kind: u8, body: &[u8]) -> io::Result<Option<String>> {
        let mut bytes = Bytes(body);
        match kind {
            b'K' => self.pid = u32::from_be_bytes(bytes.take(4)?.try_into().unwrap_or_default()),
            b'D' => {
                let columns = bytes.take(2)?;
                let mut values = Vec::new();
                for _ in 0..columns[1] {
                    let length = bytes.take(4)?.try_into().unwrap_or_default();
                    values.push(match usize::try_from(i32::from_be_bytes(length)) {
                        Ok(length) => String::from_utf8_lossy(bytes.take(length)?).into_owned(),
                        Err(_) => "NULL".to_owned(),
                    });
                }
                let _ = write!(self.rows, " ({})", values.join(", "));
            }
            b'C' => self.answer = bytes.text()?,
            b'E' | b'N' => {
                let (mut code, mut text) = (String::new(), String::new());
                while let Some(field) = bytes.take(1)?.first().filter(|field| **field > 0) {
                    match field {
                        b'C' => code = bytes.text()?,
                        b'M' => text = bytes.text()?,
                        _ => drop(bytes.text()?),
                    }
                }
                match kind {
                    b'E' => self.answer = format!("error {code}"),
                    _ => {
                        let _ = write!(self.notices, "; {text}");
                    }
                }
            }
            b'Z' => {
                let status = char::from(bytes.take(1)?[0]);
                let rows = std::mem::take(&mut self.rows);
                let answer = std::mem::take(&mut self.answer);
                let notices = std::mem::take(&mut self.notices);
                let rows = if answer.starts_with("error") {
                    String::new()
                } else {
                    rows
                };
                return Ok(Some(format!("{answer}{rows} [{status}]{notices}")));
            }
            _ => {}
        }
        Ok(None)
    }
}

impl Wire for Connection {
    fn send(&mut self, sql: &str) -> io::Result<()> {
        let length = u32::try_from(sql.len() + 5).unwrap_or_default();
        let mut message = vec![b'Q'];
        message.extend(length.to_be_bytes());
        message.extend(sql.as_bytes());
        message.push(0);
        self.stream.write_all(&message)
    }

    fn answer(&mut self, within: Duration) -> io::Result<Option<String>> {
        self.stream.set_read_timeout(Some(within))?;
        loop {
            while let Some((kind, body)) = self.message() {
                if let Some(answer) = self.take_in(kind, &body)? {
                    return Ok(Some(answer));
                }
            }
            let mut part = [0; 4_096];
            match self.stream.read(&mut part) {
                Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
                Ok(length) => self.buffer.extend(&part[..length]),
                Err(error)
                    if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) =>
                {
                    return Ok(None);
                }
                Err(error) => return Err(error),
            }
        }
    }

    fn pid(&self) -> u32 {
        self.pid
    }
}
