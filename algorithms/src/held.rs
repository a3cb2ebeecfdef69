//! What a contender holds.

use std::rc::Rc;
use std::time::Duration;

/// Proof that `acquire` has returned: what the contender needs to write under the lock, and to give it back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Held {
    /// Where the lock is held: the path of our node, the name of our key.
    pub path_or_key: Rc<str>,
    /// The fencing token to send with every write, if this recipe has one.
    pub token: Option<u64>,
    /// Until when the hold is valid by the monotonic clock of the process, if this recipe has a lease that it does not
    /// extend. A contender that believes in it for longer could know better. Without it, a contender can know only from
    /// what it is told.
    pub valid_until: Option<Duration>,
}

impl Held {
    /// A hold of the node of this path, or of the key of this name, with no token and no end.
    pub fn at(path_or_key: Rc<str>) -> Self {
        Self {
            path_or_key,
            token: None,
            valid_until: None,
        }
    }

    /// The same with a fencing token.
    #[must_use]
    pub fn with_token(mut self, token: u64) -> Self {
        self.token = Some(token);
        self
    }

    /// The same, valid until the monotonic clock of the process shows this.
    #[must_use]
    pub fn until(mut self, valid_until: Duration) -> Self {
        self.valid_until = Some(valid_until);
        self
    }
}
