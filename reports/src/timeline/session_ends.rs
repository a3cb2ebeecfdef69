//! Sessions that end when their contenders use others, and sessions that clients gave up.

use std::collections::{BTreeMap, BTreeSet};

use picklock_checker::{ContenderId, EventKind, History, ServiceEventKind};

/// The ends of sessions, where a service reports them.
#[derive(Debug, Default)]
pub(super) struct SessionEnds {
    /// The `SessionExpired` events of a session that its contender has replaced by another, by their places.
    pub(super) of_old: BTreeSet<usize>,
    /// The `SessionLost` events of sessions that the service had not expired by then, by their places.
    pub(super) given_up: BTreeSet<usize>,
}

impl SessionEnds {
    pub(super) fn of(history: &History) -> Self {
        let mut ends = Self::default();
        let mut current: BTreeMap<ContenderId, &str> = BTreeMap::new();
        let mut expired: BTreeMap<ContenderId, &str> = BTreeMap::new();
        let mut service = history.service.iter().peekable();
        for (index, event) in history.events.iter().enumerate() {
            while let Some(before) = service.next_if(|event| event.after <= index) {
                match &before.what {
                    ServiceEventKind::SessionEstablished { session, by } => {
                        current.insert(*by, session);
                    }
                    ServiceEventKind::SessionExpired {
                        session,
                        of: Some(of),
                    } => {
                        expired.insert(*of, session);
                    }
                    _ => {}
                }
            }
            let is_current = |by: ContenderId| {
                let session = current.get(&by)?;
                Some(expired.get(&by) == Some(session))
            };
            match event.what {
                EventKind::SessionExpired { by } if is_current(by) == Some(false) => {
                    ends.of_old.insert(index);
                }
                EventKind::SessionLost { by } if is_current(by) == Some(false) => {
                    ends.given_up.insert(index);
                }
                _ => {}
            }
        }
        ends
    }
}
