//! What a path may be.

use picklock_algorithms::clients::zookeeper::ZkError;

use super::txn::last_slash;

/// The node that is to be above this one.
pub(super) fn above(path: &str) -> Result<&str, ZkError> {
    match last_slash(path) {
        None => Err(ZkError::BadArguments),
        Some(0) => Ok("/"),
        Some(slash) => Ok(&path[..slash]),
    }
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
    let is_plain = |byte: u8| byte.is_ascii_graphic() || byte == b' ';
    name.bytes()
        .fold(true, |plain, byte| plain & is_plain(byte))
        || !name.chars().any(is_refused)
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
