//! What mostly happens in the order in which it was set off.

use crate::engine::timeline::Lane;

/// Messages to servers.
pub(super) const TO_SERVERS: Lane = Lane(0);
/// Messages to clients.
pub(super) const TO_CLIENTS: Lane = Lane(1);
/// When clients want to look at the clock.
pub(super) const WAKES: Lane = Lane(2);
