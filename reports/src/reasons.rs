//! What the service did that explains a violation: why a lock that was granted was there no longer.

mod unheard_messages;

use std::collections::BTreeSet;
use std::time::Duration;

use picklock_checker::outcome::Story;
use picklock_checker::service_event::{KeyHolders, Promoter};
use picklock_checker::{
    ContenderId, EventKind, History, ServerId, ServiceEvent, ServiceEventKind, VirtualTime, Witness,
};

use crate::timeline::{Names, Scene};

/// No more reasons are given than these.
const REASONS: usize = 3;

/// The reasons, each as a sentence.
pub(crate) fn reasons(story: &Story, scene: &Scene) -> Vec<String> {
    let Some((_, witness)) = &story.violated else {
        return Vec::new();
    };
    let search = Search {
        history: &story.history,
        names: Names {
            history: &story.history,
            columns: &scene.columns,
        },
        witness,
    };
    let mut reasons: Vec<String> = Vec::new();
    for event in search.events() {
        let reason = search.reason(event);
        reasons.extend(reason.filter(|reason| !reasons.contains(reason)));
    }
    if reasons.is_empty() {
        reasons.extend(search.two_primaries());
    }
    reasons.extend(search.unwoken());
    reasons.extend(search.unheard());
    reasons.truncate(REASONS);
    reasons
}

struct Search<'a> {
    history: &'a History,
    names: Names<'a>,
    witness: &'a Witness,
}

impl<'a> Search<'a> {
    /// The contenders that the witness is about.
    fn who(&self) -> BTreeSet<ContenderId> {
        let shown = self.witness.events.iter();
        let events = shown.filter_map(|index| self.history.events.get(*index));
        events.filter_map(|event| event.what.by()).collect()
    }

    /// What the service did between the first event of the witness and the moment at which the promise is broken.
    fn events(&self) -> impl Iterator<Item = &'a ServiceEvent> {
        let begin = self.witness.events.first().copied().unwrap_or(0);
        let at = self.witness.at;
        let service = self.history.service.iter();
        service.filter(move |event| event.after > begin && event.at <= at)
    }

    fn name(&self, by: ContenderId) -> String {
        self.names.of(by).to_owned()
    }

    fn reason(&self, event: &ServiceEvent) -> Option<String> {
        let what = &event.what;
        if let ServiceEventKind::Promoted { by, key_of } = what {
            return self.without_key(event, by, *key_of);
        }
        let row = what.row();
        let owner = row.loses_key_of;
        let loses_key = owner.is_some_and(|owner| self.who().contains(&owner));
        let forgets = row.discards && matches!(what, ServiceEventKind::Synced { .. });
        let is_lost = matches!(what, ServiceEventKind::WatchLost { .. });
        let is_missed = is_lost && row.about.is_some_and(|to| self.waits(to).is_some());
        (loses_key || forgets || is_missed).then(|| self.at_its_time(event))
    }

    /// That a replica was promoted without the key of the owner.
    fn without_key(
        &self,
        event: &ServiceEvent,
        by: &Promoter,
        key_of: Option<ContenderId>,
    ) -> Option<String> {
        let (owner, holders) = self.owner_at(event)?;
        if key_of == Some(owner) {
            return None;
        }
        let machine = &event.machine;
        let never = match self.has_had_key(machine, owner, event.after) {
            true => "had the key no longer",
            false => "never had the key",
        };
        let (by, owner) = (by.describe(), self.name(owner));
        let was = holders.describe();
        Some(format!(
            "{machine} was promoted {by} at {}, and {never} of {owner}: it was {was}",
            event.at
        ))
    }

    /// What happened and when: `at 7.010 s, server-1 is back …`.
    fn at_its_time(&self, event: &ServiceEvent) -> String {
        let words = event.describe(&|by| self.name(by));
        format!("at {}, {words}", event.at)
    }

    /// The contender of the witness that the service had last given the lock before, if that one still believed
    /// to have it; and which servers had its key last.
    fn owner_at(&self, event: &ServiceEvent) -> Option<(ContenderId, &'a KeyHolders)> {
        let who = self.who();
        let before = self.history.events[..event.after].iter().rev();
        let owner = before.clone().find_map(|event| match event.what {
            EventKind::Owned { by, .. } => Some(by),
            _ => None,
        })?;
        let mut own = before.filter(|event| event.what.by() == Some(owner));
        let last = own.find(|event| {
            matches!(
                event.what,
                EventKind::Acquired { .. }
                    | EventKind::AcquireStarted { .. }
                    | EventKind::ReleaseStarted { .. }
                    | EventKind::Lost { .. }
                    | EventKind::Crashed { .. }
            )
        })?;
        let believes = matches!(last.what, EventKind::Acquired { .. });
        let holders = self.last_holders(owner, event.after)?;
        (believes && who.contains(&owner)).then_some((owner, holders))
    }

    /// Two have the lock by the word of two servers, of which one was promoted while the other went on.
    fn two_primaries(&self) -> Option<String> {
        self.witness.overlap?;
        let at = self.witness.at;
        let until = self.history.events.partition_point(|event| event.at <= at);
        let keys = self.who().into_iter().filter_map(|by| {
            let holders = self.last_holders(by, until)?;
            (!holders.on.is_empty()).then_some((by, holders))
        });
        let keys: Vec<(ContenderId, &KeyHolders)> = keys.collect();
        let [(one, ours), (other, theirs)] = keys.as_slice() else {
            return None;
        };
        if ours.on.iter().any(|server| theirs.on.contains(server)) {
            return None;
        }
        let service = self.history.service.iter().rev();
        let mut before = service.filter(|event| event.after <= until);
        let (event, by) = before.find_map(|event| match &event.what {
            ServiceEventKind::Promoted { by, .. } => Some((event, by)),
            _ => None,
        })?;
        Some(format!(
            "the key of {} was {}, and that of {} {}: {} had been promoted {} at {}",
            self.name(*one),
            ours.describe(),
            self.name(*other),
            theirs.describe(),
            event.machine,
            by.describe(),
            event.at
        ))
    }

    /// Which servers had the key of a contender when it was last set.
    fn last_holders(&self, owner: ContenderId, until: usize) -> Option<&'a KeyHolders> {
        let known = self.history.service.iter().rev();
        let mut known = known.filter(|event| event.after <= until);
        known.find_map(|event| match &event.what {
            ServiceEventKind::KeySet { of, holders, .. } if *of == owner => Some(holders),
            _ => None,
        })
    }

    /// Whether a server has had the key of a contender since the service gave it the lock.
    fn has_had_key(&self, machine: &str, owner: ContenderId, until: usize) -> bool {
        let number = machine.strip_prefix("server-");
        let number: Option<u32> = number.and_then(|number| number.parse().ok());
        let server = number.map(|number| ServerId(number.saturating_sub(1)));
        let holders = self.last_holders(owner, until);
        holders.is_some_and(|holders| server.is_some_and(|server| holders.on.contains(&server)))
    }

    /// Since when a contender waits in vain.
    fn waits(&self, by: ContenderId) -> Option<VirtualTime> {
        let shown = self.witness.events.iter();
        let mut events = shown.filter_map(|index| self.history.events.get(*index));
        let waits = |what: &EventKind| matches!(what, EventKind::StillWaiting { .. });
        events.find(|event| waits(&event.what) && event.what.by() == Some(by))?;
        let own = self.history.events.iter().rev();
        let mut own = own.filter(|event| event.what.by() == Some(by));
        let started = |what: &EventKind| matches!(what, EventKind::AcquireStarted { .. });
        Some(own.find(|event| started(&event.what))?.at)
    }

    /// Why no watch of a waiter fired when a node went, or later: its server had forgotten them, if it had.
    fn unwatched(&self, by: ContenderId, gone: VirtualTime) -> String {
        let before = self.history.service.iter().rev();
        let mut before = before.filter(|event| event.at <= gone);
        let forgotten = before.find(|event| match event.what {
            ServiceEventKind::ClientGone { of } => of == by,
            _ => false,
        });
        let back = |event: &&picklock_checker::Event| match event.what {
            EventKind::Reconnected { by: who } => who == by,
            _ => false,
        };
        let since = forgotten.map_or(gone, |event| event.at);
        let backs = self.history.events.iter().filter(back);
        let back = backs.map(|event| event.at).find(|at| *at >= since);
        let who = self.name(by);
        match forgotten {
            Some(event) if back.is_none_or(|back| back > gone) => {
                let again = match back {
                    Some(back) => format!(", and {who} was connected again only at {back}"),
                    None => String::new(),
                };
                format!(
                    "no watch of {who} fired when a node went at {gone}, or later: {} had lost its \
                     connection at {} and forgotten its watches{again}",
                    event.machine, event.at
                )
            }
            Some(_) | None => {
                format!("no watch of {who} fired when a node went at {gone}, or later")
            }
        }
    }

    /// Whether the node of another contender stands ahead of a waiter to the end: no watch could have helped it.
    fn is_blocked(&self, by: ContenderId) -> bool {
        let mut events = self.history.events.iter().rev();
        events.any(|event| match event.what {
            EventKind::StillWaiting {
                by: who,
                behind,
                owner,
                ..
            } => who == by && behind.is_some() && owner.is_some_and(|owner| owner != by),
            _ => false,
        })
    }

    /// How long after a node went a watch fired, at the longest: what is missed later may still be on its way.
    fn longest_notification(&self, watches: &[&ServiceEvent]) -> Duration {
        let delays = watches.iter().filter_map(|watch| {
            let before = self.history.events[..watch.after].iter().rev();
            let mut queue = before.filter(|event| {
                let changes = |what: &EventKind| {
                    matches!(what, EventKind::Queued { .. } | EventKind::Unqueued { .. })
                };
                changes(&event.what)
            });
            let last = queue.next()?;
            let went = matches!(last.what, EventKind::Unqueued { .. });
            went.then(|| watch.at.since(last.at))
        });
        delays.max().unwrap_or_default()
    }

    /// Who waits for a watch that never fired, though another contender left while it waited, early enough for that.
    fn unwoken(&self) -> Vec<String> {
        let is_watch = |event: &&ServiceEvent| {
            matches!(
                event.what,
                ServiceEventKind::WatchFired { .. } | ServiceEventKind::WatchLost { .. }
            )
        };
        let watches: Vec<&ServiceEvent> = self.history.service.iter().filter(is_watch).collect();
        let longest = self.longest_notification(&watches);
        let mut reasons = Vec::new();
        for by in self.who() {
            let Some(since) = self.waits(by).filter(|_| !self.is_blocked(by)) else {
                continue;
            };
            let left = self.history.events.iter().rev().find(|event| {
                let left =
                    |what| matches!(what, EventKind::Unqueued { by: other, .. } if other != by);
                left(event.what) && event.at + longest <= self.witness.at
            });
            let Some(left) = left.filter(|left| left.at > since) else {
                continue;
            };
            let told =
                |event: &&&ServiceEvent| event.row().about == Some(by) && event.at >= left.at;
            // Without any watch in the whole run, no contender waits for one.
            if !watches.is_empty() && !watches.iter().any(|event| told(&event)) {
                reasons.push(self.unwatched(by, left.at));
            }
        }
        reasons
    }
}
