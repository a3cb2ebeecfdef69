//! How a witness is put together: the events that matter, and sentences that follow from them.

mod belief_duration;

use std::time::Duration;

use crate::{
    Belief, ContenderId, Disowned, Event, EventKind, Evidence, Ownership, Step, Verdict,
    VirtualTime, Witness, lists,
};

/// A witness in the making.
pub(crate) struct WitnessBuilder<'a> {
    evidence: &'a Evidence<'a>,
    events: Vec<usize>,
    argument: Vec<Step>,
}

impl<'a> WitnessBuilder<'a> {
    pub(crate) fn new(evidence: &'a Evidence<'a>) -> Self {
        Self {
            evidence,
            events: Vec::new(),
            argument: Vec::new(),
        }
    }

    /// Adds events.
    pub(crate) fn show(&mut self, events: impl IntoIterator<Item = usize>) -> &mut Self {
        self.events.extend(events);
        self
    }

    /// Adds a step of the argument.
    pub(crate) fn then(&mut self, sentence: String) -> &mut Self {
        self.argument.push(Step::Then(sentence));
        self
    }

    /// Adds what contradicts it.
    pub(crate) fn however(&mut self, sentence: String) -> &mut Self {
        self.argument.push(Step::However(sentence));
        self
    }

    /// Adds the events of a belief and of the ownership that it rests on.
    pub(crate) fn show_belief(&mut self, belief: &Belief) -> &mut Self {
        self.show(belief.asked)
            .show([belief.acquired])
            .show(belief.left);
        if let Some(grant) = belief.grant {
            self.show_ownership(&self.evidence.ownerships[grant]);
        }
        self
    }

    /// Adds the events of an ownership.
    pub(crate) fn show_ownership(&mut self, ownership: &Ownership) -> &mut Self {
        self.show([ownership.owned]).show(ownership.disowned)
    }

    /// The witness, of a promise that is broken with this event.
    pub(crate) fn broken(
        &mut self,
        summary: String,
        with: usize,
        overlap: Option<Duration>,
    ) -> Verdict {
        self.events.push(with);
        self.verdict(summary, self.evidence.at(with), with, overlap)
    }

    /// The witness, of a promise that is broken at a time at which nothing need happen.
    pub(crate) fn broken_at(&mut self, summary: String, at: VirtualTime) -> Verdict {
        let events = &self.evidence.run.history.events;
        let before = events.partition_point(|event| event.at < at);
        self.verdict(summary, at, before, None)
    }

    /// Faults that fired after the first event of the story and before its end belong to it.
    fn verdict(
        &mut self,
        summary: String,
        at: VirtualTime,
        end: usize,
        overlap: Option<Duration>,
    ) -> Verdict {
        let first = self.events.iter().copied().min().unwrap_or(end);
        let fired = self.evidence.faults.iter().copied();
        self.events
            .extend(fired.filter(|&fault| first < fault && fault < end));
        self.events.sort_unstable();
        self.events.dedup();
        let summary = match self.lock() {
            Some(lock) => format!("{lock}: {summary}"),
            None => summary,
        };
        Verdict::Violated(Box::new(Witness {
            summary,
            at,
            overlap,
            events: std::mem::take(&mut self.events),
            argument: std::mem::take(&mut self.argument),
        }))
    }

    /// The lock that it is about, where there are several: the one that the events are about that matter.
    fn lock(&self) -> Option<&'a str> {
        let events = self.events.iter();
        let mut locks = events.filter_map(|&event| self.evidence.event(event).what.lock());
        let lock = locks.next()?;
        let history = &self.evidence.run.history;
        history
            .lock_among_several(lock)
            .filter(|_| locks.all(|other| other == lock))
    }

    pub(crate) fn name(&self, by: ContenderId) -> &'a str {
        self.evidence.run.history.contender(by)
    }

    /// The names of several contenders: `a, b, and c`.
    pub(crate) fn names(&self, all: impl Iterator<Item = ContenderId>) -> String {
        let names: Vec<&str> = all.map(|by| self.name(by)).collect();
        lists::named(&names, ", and ")
    }

    /// From when a belief lasts, and why: one sentence.
    pub(crate) fn why_from(&mut self, belief: &Belief) -> String {
        let who = self.name(belief.by);
        let from = self.evidence.at(belief.acquired);
        let words = self.evidence.words();
        let inside = format!("{who} {} from {from}", words.is_inside());
        let owner = words.owner();
        let Some(grant) = belief.grant else {
            let after = self.describe_last_departure(belief);
            let but = self.describe_owner_at(belief);
            return format!("{inside}, because its acquire returned the lock then{after}{but}.");
        };
        let ownership = &self.evidence.ownerships[grant];
        let granted = self.evidence.at(ownership.owned);
        let over = ownership.disowned.filter(|&lost| lost < belief.acquired);
        if let Some(lost) = over {
            let lost = self.evidence.at(lost);
            return format!(
                "{inside}, because the service had made it the {owner} at {granted}; the answer came \
                 when that was over, since {lost}."
            );
        }
        let when = self.describe_departure_at_grant(ownership);
        let at = if granted == from {
            String::new()
        } else {
            format!(" at {granted}")
        };
        format!("{inside}, because the service made it the {owner}{at}{when}.")
    }

    /// Names the last ticket that left the queue while a contender waited that was then wrongly let in.
    fn describe_last_departure(&mut self, belief: &Belief) -> String {
        let events = &self.evidence.run.history.events;
        let asked = belief.asked.unwrap_or(belief.acquired);
        let waited = &events[asked..belief.acquired];
        let gone = waited.iter().rposition(|event| {
            matches!(event.what, EventKind::Unqueued { by, lock, .. }
                if lock == belief.lock && by != belief.by)
        });
        let Some(gone) = gone.map(|offset| asked + offset) else {
            return String::new();
        };
        let EventKind::Unqueued { by, name, .. } = events[gone].what else {
            return String::new();
        };
        self.show([gone]);
        self.session_expired_for(by, gone);
        let (name, who) = (self.evidence.run.history.name(name), self.name(by));
        format!(
            ", after {name} of {who} had gone away at {}",
            self.evidence.at(gone)
        )
    }

    /// Names the owner of the lock when a contender was let in that did not own it.
    fn describe_owner_at(&mut self, belief: &Belief) -> String {
        let ownerships = self.evidence.ownerships.iter();
        let owners = ownerships.filter(|ownership| {
            ownership.lock == belief.lock
                && ownership.owned < belief.acquired
                && ownership.disowned.is_none_or(|end| end > belief.acquired)
        });
        let most = self.evidence.permits();
        let owners: Vec<_> = owners.take(most).collect();
        for owner in &owners {
            self.show_ownership(owner);
        }
        match owners.len() {
            0 if self.evidence.has_owners_of(belief.lock) => {
                ", although the service had not made it the owner".to_owned()
            }
            0 => String::new(),
            1 => format!("; the owner was {}", self.name(owners[0].by)),
            _ => {
                let names = self.names(owners.iter().map(|owner| owner.by));
                format!("; the owners were {names}")
            }
        }
    }

    /// Whose departure let the service make a new owner: ` when …`, or nothing if none is seen at
    /// the moment of the grant.
    fn describe_departure_at_grant(&mut self, ownership: &Ownership) -> String {
        let events = &self.evidence.run.history.events;
        let at = self.evidence.at(ownership.owned);
        let before = events[..ownership.owned].iter().enumerate().rev();
        let mut left = None;
        for (index, event) in before.take_while(|(_, event)| event.at == at) {
            if disowned(event, ownership).is_some() {
                left = Some(index);
                break;
            }
            if left.is_none() && unqueued(event, ownership) {
                left = Some(index);
            }
        }
        let Some(left) = left else {
            return String::new();
        };
        self.show([left]);
        let event = &events[left];
        if let EventKind::Unqueued { by, name, .. } = event.what {
            let name = self.evidence.run.history.name(name);
            return format!(" when {name} of {} went away", self.name(by));
        }
        let Some((by, how)) = disowned(event, ownership) else {
            return String::new();
        };
        let who = self.name(by);
        match how {
            Disowned::Released => format!(" when {who} released the lock"),
            Disowned::Expired if self.session_expired_for(by, left).is_some() => {
                format!(" when the session of {who} expired")
            }
            Disowned::Expired => format!(" when the lease of {who} ran out"),
            Disowned::RemovedBy(other) => {
                let other = self.name(other);
                format!(" when {other} removed the claim of {who}")
            }
            Disowned::OverwrittenBy(other) => {
                let other = self.name(other);
                format!(" when {other} overwrote the claim of {who}")
            }
            Disowned::Reaped => format!(" when a reaper removed what {who} had left"),
            Disowned::RemovedFromOutside => {
                format!(" when the claim of {who} was removed from outside")
            }
            Disowned::LostByService => format!(" when the service lost the claim of {who}"),
        }
    }
}

fn disowned(event: &Event, heir: &Ownership) -> Option<(ContenderId, Disowned)> {
    if let EventKind::Disowned { by, lock, how, .. } = event.what
        && lock == heir.lock
    {
        return Some((by, how));
    }
    None
}

fn unqueued(event: &Event, heir: &Ownership) -> bool {
    matches!(event.what,
        EventKind::Unqueued { by, lock, .. } if lock == heir.lock && by != heir.by)
}

/// A duration as virtual time is written: `8.012 s`.
pub(crate) fn seconds(duration: Duration) -> VirtualTime {
    VirtualTime::ZERO + duration
}

/// How long something lasted: `8.012 s`, and `870 us` where that would be nothing.
pub(crate) fn lasting(duration: Duration) -> String {
    match duration.as_micros() {
        micros @ 1..1_000 => format!("{micros} us"),
        _ => seconds(duration).to_string(),
    }
}
