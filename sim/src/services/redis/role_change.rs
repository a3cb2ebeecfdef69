//! What makes a server change its role.

use crate::network::ServerId;

/// What makes a server change its role at this moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum RoleChangeBy {
    /// The server itself: a node of a cluster is elected, and one that starts has the role of its configuration.
    #[default]
    Itself,
    /// An operator.
    Operator,
    /// A Sentinel.
    Sentinel(ServerId),
}
