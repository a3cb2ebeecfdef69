//! SHA1, by which scripts are named.

use std::fmt;

/// The SHA1 of a script.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Sha([u8; 20]);

impl Sha {
    /// The one that these 40 hexadecimal digits name.
    pub(crate) fn parse(digits: &[u8]) -> Option<Self> {
        if digits.len() != 40 {
            return None;
        }
        let mut sha = [0; 20];
        for (byte, pair) in sha.iter_mut().zip(digits.chunks_exact(2)) {
            *byte = value_of(pair[0])? << 4 | value_of(pair[1])?;
        }
        Some(Self(sha))
    }
}

fn value_of(digit: u8) -> Option<u8> {
    (digit as char).to_digit(16).map(|value| value as u8)
}

impl fmt::Display for Sha {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(out, "{byte:02x}"))
    }
}

impl fmt::Debug for Sha {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, out)
    }
}

/// The SHA1 of these bytes (RFC 3174).
pub(crate) fn sha_of(bytes: &[u8]) -> Sha {
    let mut padded = bytes.to_vec();
    padded.push(0x80);
    while padded.len() % 64 != 56 {
        padded.push(0);
    }
    padded.extend_from_slice(&(bytes.len() as u64 * 8).to_be_bytes());
    let mut state = [
        0x6745_2301_u32,
        0xefcd_ab89,
        0x98ba_dcfe,
        0x1032_5476,
        0xc3d2_e1f0,
    ];
    padded
        .chunks_exact(64)
        .for_each(|block| add(&mut state, block));
    let mut sha = [0; 20];
    for (bytes, word) in sha.chunks_exact_mut(4).zip(state) {
        bytes.copy_from_slice(&word.to_be_bytes());
    }
    Sha(sha)
}

fn add(state: &mut [u32; 5], block: &[u8]) {
    let mut words = [0_u32; 80];
    for (word, bytes) in words.iter_mut().zip(block.chunks_exact(4)) {
        *word = bytes
            .iter()
            .fold(0, |word, byte| word << 8 | u32::from(*byte));
    }
    for at in 16..80 {
        let mixed = words[at - 3] ^ words[at - 8] ^ words[at - 14] ^ words[at - 16];
        words[at] = mixed.rotate_left(1);
    }
    let [mut a, mut b, mut c, mut d, mut e] = *state;
    for (at, word) in words.iter().enumerate() {
        let (mix, constant) = match at {
            0..20 => ((b & c) | (!b & d), 0x5a82_7999),
            20..40 => (b ^ c ^ d, 0x6ed9_eba1),
            40..60 => ((b & c) | (b & d) | (c & d), 0x8f1b_bcdc),
            _ => (b ^ c ^ d, 0xca62_c1d6),
        };
        let next = a
            .rotate_left(5)
            .wrapping_add(mix)
            .wrapping_add(e)
            .wrapping_add(constant)
            .wrapping_add(*word);
        (e, d, c, b, a) = (d, c, b.rotate_left(30), a, next);
    }
    for (sum, more) in state.iter_mut().zip([a, b, c, d, e]) {
        *sum = sum.wrapping_add(more);
    }
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
