//! Who tells a server what it is to be.

use crate::network::ServerId;

/// Who tells a server at this moment what it is to be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Order {
    /// Nobody: a cluster decides by itself, and who starts is what it was configured as.
    #[default]
    Nobody,
    /// An operator.
    Operator,
    /// A Sentinel.
    Sentinel(ServerId),
}
