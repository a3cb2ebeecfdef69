//! Lanes of the timeline: events that mostly become due in the order in which they were scheduled.

use crate::engine::timeline::Lane;

/// Messages to servers.
pub(crate) const TO_SERVERS: Lane = Lane::One;
/// Messages to clients.
pub(crate) const TO_CLIENTS: Lane = Lane::Two;
/// When clients want to look at the clock.
pub(crate) const WAKES: Lane = Lane::Three;
