//! The rules for paths.

use picklock_clients::zookeeper::ZkError;

use super::txn::last_slash;

/// The node that is to be above this one.
pub(super) fn above(path: &str) -> Result<&str, ZkError> {
    match last_slash(path) {
        None => Err(ZkError::BadArguments),
        Some(0) => Ok("/"),
        Some(slash) => Ok(&path[..slash]),
    }
}

/// Whether a node of this name may hold the quota of another, or its counts.
pub(super) fn is_of_quota(name: &str) -> bool {
    matches!(name, "zookeeper_limits" | "zookeeper_stats")
}

/// What is wrong if nothing was found at a path: a zero in it is looked for before anything else.
pub(super) fn of_path(path: &str) -> impl FnOnce(ZkError) -> ZkError {
    move |error| {
        if path.contains('\0') {
            ZkError::BadArguments
        } else {
            error
        }
    }
}

/// Whether this may be a component of a path.
pub(super) fn is_valid_name(name: &str) -> bool {
    if matches!(name, "" | "." | "..") {
        return false;
    }
    is_plain(name.as_bytes()) || !name.chars().any(is_refused)
}

/// Whether these are letters, digits, and whatever else ASCII has to be seen, or blanks. Eight are looked at at a time;
/// if there are more, the last eight may overlap with others.
fn is_plain(bytes: &[u8]) -> bool {
    const EACH: u64 = 0x0101_0101_0101_0101;
    let (eights, rest) = bytes.as_chunks::<8>();
    match bytes.last_chunk::<8>() {
        None => rest
            .iter()
            .all(|byte| byte.is_ascii_graphic() || *byte == b' '),
        Some(last) => {
            let others = eights.iter().chain([last]).fold(0, |others, eight| {
                let eight = u64::from_le_bytes(*eight);
                // Each of these has the highest bit where a byte is none of those. Where the first two do not, no byte
                // borrows from the next or adds to it.
                others | eight | eight.wrapping_sub(EACH * 0x20) | eight.wrapping_add(EACH)
            });
            others & (EACH * 0x80) == 0
        }
    }
}

/// Whether no name may have this letter. ZooKeeper looks at the halves of what has more than 16 bits, and refuses them.
fn is_refused(letter: char) -> bool {
    letter.is_control() || matches!(letter, '\u{e000}'..='\u{f8ff}' | '\u{fff0}'..)
}

pub(super) fn is_valid_path(path: &str) -> bool {
    path == "/"
        || path
            .strip_prefix('/')
            .is_some_and(|names| names.split('/').all(is_valid_name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_bytes_are_those_that_are_seen_and_blanks() {
        for length in [1, 7, 8, 9, 16, 20] {
            for index in 0..length {
                for byte in 0..=u8::MAX {
                    for others in [b' ', b'~'] {
                        let mut bytes = vec![others; length];
                        bytes[index] = byte;
                        assert_eq!(is_plain(&bytes), (b' '..=b'~').contains(&byte));
                    }
                }
            }
        }
    }
}
