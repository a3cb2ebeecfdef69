//! SHA1, by which scripts are named.

use std::fmt;

use data_encoding::{HEXLOWER, HEXLOWER_PERMISSIVE};

/// The SHA1 of a script.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Sha([u8; 20]);

impl Sha {
    /// The one that these 40 hexadecimal digits name.
    pub(crate) fn parse(digits: &[u8]) -> Option<Self> {
        let mut sha = [0; 20];
        if digits.len() != 2 * sha.len() {
            return None;
        }
        HEXLOWER_PERMISSIVE.decode_mut(digits, &mut sha).ok()?;
        Some(Self(sha))
    }
}

impl fmt::Display for Sha {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        HEXLOWER.encode_display(&self.0).fmt(out)
    }
}

impl fmt::Debug for Sha {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, out)
    }
}

/// The SHA1 of these bytes.
pub(crate) fn sha_of(bytes: &[u8]) -> Sha {
    Sha(sha1_smol::Sha1::from(bytes).digest().bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_texts_have_their_known_sums() {
        let sum = |text: &str| sha_of(text.as_bytes()).to_string();
        assert_eq!(sum(""), "da39a3ee5e6b4b0d3255bfef95601890afd80709");
        assert_eq!(sum("abc"), "a9993e364706816aba3e25717850c26c9cd0d89d");
        let long = "return foo";
        assert_eq!(sum(long), "47e30a5d10d5694f99208f9adc4fe3bf2450edbd");
        let digits = sum(&"a".repeat(200));
        assert_eq!(
            Sha::parse(digits.to_uppercase().as_bytes()),
            Some(sha_of(&[b'a'; 200]))
        );
        assert_eq!(Sha::parse(b"abc"), None);
    }
}
