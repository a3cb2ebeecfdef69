//! MySQL's protocol, version 10: queries as text.

use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use super::wire::{Bytes, Wire};
use crate::harness::network;

/// What the client can do: the protocol of version 4.1, transactions, and secure connections.
const CAPABILITIES: u32 = 0x0000_0200 | 0x0000_2000 | 0x0000_8000;

/// How far an answer is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    First,
    Columns,
    Rows,
}

/// A connection.
pub(super) struct Connection {
    stream: TcpStream,
    pid: u32,
    buffer: Vec<u8>,
    part: Part,
    rows: Vec<String>,
}

impl Connection {
    pub(super) fn open(port: u16) -> io::Result<Self> {
        let mut connection = Self {
            stream: network::connect(port, Duration::from_secs(5))?,
            pid: 0,
            buffer: Vec::new(),
            part: Part::First,
            rows: Vec::new(),
        };
        let greeting = connection.await_packet()?;
        let mut bytes = Bytes(&greeting);
        if bytes.take(1)? != [10] {
            return Err(io::Error::other("the server refuses the connection"));
        }
        let _version = bytes.text()?;
        connection.pid = u32::from_le_bytes(bytes.take(4)?.try_into().unwrap_or_default());
        let mut response = CAPABILITIES.to_le_bytes().to_vec();
        response.extend(0x00ff_ffff_u32.to_le_bytes());
        response.push(45);
        response.extend([0; 23]);
        response.extend(b"root\0\0");
        connection.write(1, &response)?;
        let welcome = connection.await_packet()?;
        if welcome.first() != Some(&0) {
            return Err(io::Error::other("the server refuses the user"));
        }
        Ok(connection)
    }

    fn write(&mut self, number: u8, body: &[u8]) -> io::Result<()> {
        let length = u32::try_from(body.len()).unwrap_or_default();
        let mut packet = length.to_le_bytes()[..3].to_vec();
        packet.push(number);
        packet.extend(body);
        self.stream.write_all(&packet)
    }

    fn packet(&mut self) -> Option<Vec<u8>> {
        let header = self.buffer.get(..4)?;
        let length = u32::from_le_bytes([header[0], header[1], header[2], 0]) as usize + 4;
        if self.buffer.len() < length {
            return None;
        }
        let packet: Vec<u8> = self.buffer.drain(..length).collect();
        Some(packet[4..].to_vec())
    }

    /// Reads more, if it comes in time.
    fn read(&mut self, within: Duration) -> io::Result<bool> {
        self.stream.set_read_timeout(Some(within))?;
        let mut part = [0; 4_096];
        match self.stream.read(&mut part) {
            Ok(0) => Err(ErrorKind::UnexpectedEof.into()),
            Ok(length) => {
                self.buffer.extend(&part[..length]);
                Ok(true)
            }
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                Ok(false)
            }
            Err(error) => Err(error),
        }
    }

    fn await_packet(&mut self) -> io::Result<Vec<u8>> {
        loop {
            if let Some(packet) = self.packet() {
                return Ok(packet);
            }
            if !self.read(Duration::from_secs(5))? {
                return Err(ErrorKind::TimedOut.into());
            }
        }
    }

    /// Takes a packet in. Answers what has come of the query when it is over.
    fn take_in(&mut self, packet: &[u8]) -> io::Result<Option<String>> {
        let mut bytes = Bytes(packet);
        let first = packet.first().copied().unwrap_or_default();
        match (self.part, first) {
            (_, 0xff) => {
                bytes.take(1)?;
                let code = u16::from_le_bytes(bytes.take(2)?.try_into().unwrap_or_default());
                (self.part, self.rows) = (Part::First, Vec::new());
                Ok(Some(format!("error {code}")))
            }
            (Part::First, 0) => {
                bytes.take(1)?;
                let affected = length_of(&mut bytes)?;
                let _last_id = length_of(&mut bytes)?;
                let status = bytes.take(2)?[0];
                let warnings = bytes.take(2)?[0];
                Ok(Some(ending(format!("{affected} rows"), status, warnings)))
            }
            (Part::First, _) => {
                self.part = Part::Columns;
                Ok(None)
            }
            (Part::Columns, 0xfe) => {
                self.part = Part::Rows;
                Ok(None)
            }
            (Part::Columns, _) => Ok(None),
            (Part::Rows, 0xfe) if packet.len() < 9 => {
                let (warnings, status) = (packet[1], packet[3]);
                self.part = Part::First;
                let rows = std::mem::take(&mut self.rows).join(" ");
                Ok(Some(ending(format!("answered {rows}"), status, warnings)))
            }
            (Part::Rows, _) => {
                let mut values = Vec::new();
                while let Some(next) = bytes.0.first() {
                    if *next == 0xfb {
                        bytes.take(1)?;
                        values.push("NULL".to_owned());
                        continue;
                    }
                    let length = length_of(&mut bytes)?;
                    values.push(String::from_utf8_lossy(bytes.take(length)?).into_owned());
                }
                self.rows.push(format!("({})", values.join(", ")));
                Ok(None)
            }
        }
    }
}

/// A number that says by its first byte how long it is.
fn length_of(bytes: &mut Bytes) -> io::Result<usize> {
    let first = bytes.take(1)?[0];
    let more = match first {
        0xfc => 2,
        0xfd => 3,
        0xfe => 8,
        short => return Ok(short.into()),
    };
    let taken = bytes.take(more)?.iter().rev();
    Ok(taken.fold(0, |number, byte| number << 8 | usize::from(*byte)))
}

/// Whether the session is in a transaction, and how many warnings there are, behind an answer.
fn ending(answer: String, status: u8, warnings: u8) -> String {
    let status = if status & 1 == 1 { "T" } else { "I" };
    match warnings {
        0 => format!("{answer} [{status}]"),
        some => format!("{answer} [{status}]; {some} warnings"),
    }
}

impl Wire for Connection {
    fn send(&mut self, sql: &str) -> io::Result<()> {
        let mut body = vec![3];
        body.extend(sql.as_bytes());
        self.write(0, &body)
    }

    fn answer(&mut self, within: Duration) -> io::Result<Option<String>> {
        loop {
            while let Some(packet) = self.packet() {
                if let Some(answer) = self.take_in(&packet)? {
                    return Ok(Some(answer));
                }
            }
            if !self.read(within)? {
                return Ok(None);
            }
        }
    }

    fn pid(&self) -> u32 {
        self.pid
    }
}
