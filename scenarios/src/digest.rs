//! Digests of texts.

/// A digest of a text: FNV-1a with 64 bits. It tells apart what differs by accident.
pub(crate) fn digest(text: &str) -> String {
    let digest = text
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |digest, byte| {
            (digest ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
    format!("{digest:016x}")
}
