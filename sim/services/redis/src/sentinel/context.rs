//! The context that the parts of a Sentinel share: its outputs, and the time.

use picklock_clients::redis::Command;

use super::io::{CallId, Event, Output};
use super::wall_time::Stamp;
use crate::replication_protocol::Address;

/// What everything in a Sentinel writes on, and the time.
#[derive(Clone, Debug)]
pub(super) struct SentinelContext {
    pub now: Stamp,
    pub out: Vec<Output>,
    /// The number of the next call.
    pub next_call: u32,
}

impl SentinelContext {
    pub fn call(&mut self, to: &Address) -> CallId {
        let call = CallId(self.next_call);
        self.next_call += 1;
        let to = to.clone();
        self.out.push(Output::Call { call, to });
        call
    }

    pub fn send(&mut self, call: CallId, command: Command) {
        self.out.push(Output::Send { call, command });
    }

    pub fn hang_up(&mut self, call: CallId) {
        self.out.push(Output::HangUp { call });
    }

    pub fn note(&mut self, event: Event, about: &Address) {
        let about = about.clone();
        self.out.push(Output::Noted { event, about });
    }
}
