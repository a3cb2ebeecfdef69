//! Streaming of the log to standbys (PostgreSQL's `walsender.c` and `walreceiver.c`).

use std::rc::Rc;
use std::time::Duration;

use picklock_machines::ServerId;

use crate::io::Output;
use crate::log::{PeerMessage, Replication};
use crate::state::Instance;

/// How often a standby says how far it is.
const STATUS_INTERVAL: Duration = Duration::from_secs(1);

impl Instance {
    /// How many records a standby has on its disk.
    pub fn acknowledged(&self, standby: ServerId) -> usize {
        let known = self.replication.standbys.get(&standby);
        known.map_or(0, |standby| standby.flushed)
    }

    /// Sends the standbys what they do not have.
    pub fn ship(&mut self) {
        for standby in self.settings.standbys.clone() {
            self.ship_to(standby);
        }
    }

    fn ship_to(&mut self, standby: ServerId) {
        let known = self.replication.standbys.entry(standby).or_default();
        let (from, up_to) = (known.sent, self.wal.flushed);
        if self.replication.primary.is_some() || from >= up_to {
            return;
        }
        (known.sent, known.sent_at) = (up_to, self.now);
        let records = self.wal.records[from..up_to].iter().cloned().collect();
        self.out
            .push(Output::ToPeer(standby, PeerMessage::Wal(from, records)));
    }

    pub fn peer(&mut self, from: ServerId, message: PeerMessage) {
        match message {
            PeerMessage::Flushed(records) => {
                let known = self.replication.standbys.entry(from).or_default();
                known.flushed = records;
                if known.sent < records || known.sent_at + STATUS_INTERVAL <= self.now {
                    known.sent = records;
                }
                self.ship_to(from);
                self.log_has_moved();
            }
            PeerMessage::Wal(place, records) => {
                let known = self.wal.records.len();
                if self.replication.primary != Some(from) || place > known {
                    return;
                }
                for record in records.iter().skip(known - place) {
                    self.wal.records.push(Rc::clone(record));
                    self.replay(record);
                }
                self.wal.flushed = self.wal.records.len();
                self.say_status();
            }
        }
    }

    /// A standby says how far it is.
    pub fn say_status(&mut self) {
        self.replication.next_status = self.now + STATUS_INTERVAL;
        if let Some(primary) = self.replication.primary {
            let flushed = PeerMessage::Flushed(self.wal.flushed);
            self.out.push(Output::ToPeer(primary, flushed));
        }
    }

    /// A standby becomes a primary. Its sessions stay, with the advisory locks that they hold.
    pub fn promote(&mut self) {
        if self.replication.primary.is_some() {
            self.replication = Replication::default();
            self.out.push(Output::Promoted);
            self.ship();
        }
    }

    /// The server becomes a standby of another: it forgets what it has, and takes over all that this one has.
    pub fn follow(&mut self, primary: ServerId) {
        for session in std::mem::take(&mut self.sessions).into_values() {
            self.end_session(session, None);
        }
        self.replication = Replication::of(Some(primary));
        self.wal = Default::default();
        self.recover();
        self.say_status();
    }
}
