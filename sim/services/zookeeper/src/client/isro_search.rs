//! A client that is connected to a server that answers reads alone, and looks for one that takes writes.
//!
//! # Source
//!
//! ZooKeeper 3.8: `ClientCnxn.SendThread` (`pingRwServer`, `seenRwServerBefore`, `rwServerAddress`).

use picklock_checker::VirtualTime;
use picklock_clients::zookeeper::SessionState;

use super::connection::{Phase, after};
use super::{Client, Output};
use crate::messages::ServerId;

/// How long it waits at first before it asks the next server, in microseconds; twice as long each time.
const FIRST: u64 = 100_000;
/// How long it waits at most.
const LONGEST: u64 = 60_000_000;

/// The search for a server that takes writes.
pub(super) struct WriterSearch {
    /// When it asked last, and how long it waits after that.
    asked: VirtualTime,
    wait: u64,
    /// The server that said yes.
    pub(super) found: Option<ServerId>,
    /// It has been connected to one that takes writes: only then its session is one of the ensemble.
    pub(super) ever_found: bool,
}

impl Default for WriterSearch {
    fn default() -> Self {
        Self {
            asked: VirtualTime::ZERO,
            wait: FIRST,
            found: None,
            ever_found: false,
        }
    }
}

impl Client {
    /// When it asks the next server whether it takes writes.
    pub(super) fn search_at(&self) -> VirtualTime {
        match (self.state, self.phase) {
            (SessionState::ConnectedReadOnly, Phase::Connected { .. }) => {
                after(self.search.asked, self.search.wait)
            }
            _ => VirtualTime::NEVER,
        }
    }

    /// Asks the next server of its list; it may be the one that it is connected to.
    #[cold]
    pub(super) fn search(&mut self, now: VirtualTime, out: &mut Vec<Output>) {
        self.search.asked = now;
        self.search.wait = (2 * self.search.wait).min(LONGEST);
        let server = self.servers.pass();
        out.push(Output::ProbeIsro { server });
    }

    /// A server takes writes: there it goes, if it still needs one.
    pub(super) fn writer_found(
        &mut self,
        now: VirtualTime,
        server: ServerId,
        out: &mut Vec<Output>,
    ) {
        let Phase::Connected { connection } = self.phase else {
            return;
        };
        if self.state == SessionState::ConnectedReadOnly {
            self.search.wait = FIRST;
            self.search.found = Some(server);
            self.give_up(now, connection, out);
        }
    }
}
