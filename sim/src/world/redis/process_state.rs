//! Whether the machines of servers and of Sentinels run, and what waits for those that stand still.

use super::Redis;
use crate::event::RedisEvent;
use crate::network::ServerId;

/// How a machine fares.
pub(super) struct Life {
    up: bool,
    hung: bool,
    /// What has come while it stands still.
    backlog: Vec<RedisEvent>,
}

impl Life {
    /// A machine that runs.
    pub fn begun() -> Self {
        Self {
            up: true,
            hung: false,
            backlog: Vec::new(),
        }
    }

    /// Whether its process lives, though it may stand still.
    pub fn is_up(&self) -> bool {
        self.up
    }

    /// Whether its process stands still.
    pub fn is_hung(&self) -> bool {
        self.hung
    }

    /// Whether its process lives and does something.
    pub fn runs(&self) -> bool {
        self.up && !self.hung
    }

    /// Its process dies, and with it what it has not read.
    pub fn end(&mut self) {
        self.up = false;
        self.hung = false;
        self.backlog.clear();
    }

    /// It is started again. Answers whether it was down.
    pub fn start(&mut self) -> bool {
        !std::mem::replace(&mut self.up, true)
    }

    pub fn hang(&mut self) {
        self.hung = true;
    }

    /// It goes on, if it stood still: with what has come meanwhile.
    pub fn resume(&mut self) -> Option<Vec<RedisEvent>> {
        let stood_still = std::mem::take(&mut self.hung);
        stood_still.then(|| std::mem::take(&mut self.backlog))
    }

    /// Something comes to it, and is handed back if it runs.
    pub fn receive(&mut self, event: RedisEvent) -> Option<RedisEvent> {
        if self.runs() {
            return Some(event);
        }
        if self.up {
            self.backlog.push(event);
        }
        None
    }
}

impl Redis {
    /// How the machine of a server or a Sentinel fares.
    #[inline]
    pub(super) fn life(&mut self, machine: ServerId) -> &mut Life {
        let place = usize::from(machine.0);
        match place.checked_sub(self.servers.len()) {
            None => &mut self.servers[place].life,
            Some(place) => &mut self.sentinels[place].life,
        }
    }
}
