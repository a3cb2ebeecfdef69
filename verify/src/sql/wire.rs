//! What the protocols of all servers share.

use std::io;
use std::time::Duration;

/// A connection to a real server.
pub(super) trait Wire {
    /// Sends a statement.
    fn send(&mut self, sql: &str) -> io::Result<()>;
    /// The answer to it, as the model says it, if it comes in this time.
    fn answer(&mut self, within: Duration) -> io::Result<Option<String>>;
    /// The number by which its statement can be ended.
    fn pid(&self) -> u32;
}

/// Reads a buffer of bytes from the front.
pub(super) struct Bytes<'b>(pub(super) &'b [u8]);

impl<'b> Bytes<'b> {
    pub(super) fn take(&mut self, length: usize) -> io::Result<&'b [u8]> {
        let short = || io::Error::new(io::ErrorKind::UnexpectedEof, "a message is too short");
        let (taken, rest) = self.0.split_at_checked(length).ok_or_else(short)?;
        self.0 = rest;
        Ok(taken)
    }

    /// A text that ends with a zero.
    pub(super) fn text(&mut self) -> io::Result<String> {
        let length = self.0.iter().position(|byte| *byte == 0);
        let text = self.take(length.unwrap_or(self.0.len()))?;
        let text = String::from_utf8_lossy(text).into_owned();
        let _zero = self.take(self.0.len().min(1))?;
        Ok(text)
    }
}
