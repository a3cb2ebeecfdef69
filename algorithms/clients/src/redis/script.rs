//! Lua scripts, known to servers by the SHA1 of their source.

use std::cell::Cell;
use std::rc::Rc;

use sha1_smol::Sha1;

/// A script and its name at the server. Cloning shares it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Script(Rc<Known>);

#[derive(Debug, PartialEq, Eq)]
struct Known {
    source: String,
    sha1: String,
    /// Of a script whose source is sent by the first call alone: whether there was one.
    called: Option<Cell<bool>>,
}

impl Script {
    /// A script of this source.
    pub fn new(source: &str) -> Self {
        Self::of(source, None)
    }

    /// The same, of a client that sends the source with the first call at most, and takes it then that every server
    /// knows the script.
    pub fn sent_once(source: &str) -> Self {
        Self::of(source, Some(Cell::new(false)))
    }

    fn of(source: &str, called: Option<Cell<bool>>) -> Self {
        Self(Rc::new(Known {
            source: source.to_owned(),
            sha1: sha1(source.as_bytes()),
            called,
        }))
    }

    /// Notes a call: whether it sends the source to a server that does not know the script.
    pub(super) fn sends_source(&self) -> bool {
        let called = self.0.called.as_ref();
        called.is_none_or(|called| !called.replace(true))
    }

    /// Its source.
    pub fn source(&self) -> &str {
        &self.0.source
    }

    /// The SHA1 of its source: 40 hexadecimal digits.
    pub fn sha1(&self) -> &str {
        &self.0.sha1
    }
}

/// The SHA1 of these bytes: 40 hexadecimal digits, in small letters.
pub fn sha1(bytes: &[u8]) -> String {
    Sha1::from(bytes).digest().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_is_known_by_its_sha1() {
        // As `redis-cli script load 'return 1'` answers.
        let script = Script::new("return 1");
        assert_eq!(script.sha1(), "e0e1f9fabfc9d4800c877a703b823ac0578ff8db");
    }
}
