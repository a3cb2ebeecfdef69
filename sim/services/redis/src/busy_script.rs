//! A script that takes its time: no other command is served, and after a while clients get `BUSY`.

mod serve;

use std::collections::VecDeque;

use picklock_checker::VirtualTime;
use picklock_clients::redis::ErrorReply;

use crate::{ConnectionId, Input};

/// The script that is being run.
#[derive(Clone, Debug)]
pub(crate) struct BusyScript {
    /// The client that has sent it, if it is known, and its answer if the script is killed.
    caller: Option<(ConnectionId, ErrorReply)>,
    /// When others begin to be told.
    pub(crate) told_from: VirtualTime,
    /// When it ends by itself.
    until: VirtualTime,
    has_written: bool,
    /// What waits for its end.
    held: VecDeque<Input>,
}

/// A script that was cut because it would have gone on for ever.
#[derive(Clone, Debug)]
pub(crate) struct EndlessScript {
    pub(crate) sha: String,
    pub(crate) line: u32,
    pub(crate) has_written: bool,
}
