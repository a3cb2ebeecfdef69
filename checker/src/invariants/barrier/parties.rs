//! How far each party has come at each barrier.

use crate::{ContenderId, EventKind, LockId};

/// What the parties have done so far.
#[derive(Clone, Debug)]
pub(in crate::invariants) struct Parties {
    count: u32,
    /// By barrier, and then by party.
    at: Vec<Vec<Party>>,
}

/// A party at a barrier.
#[derive(Clone, Copy, Debug, Default)]
struct Party {
    stage: Stage,
    /// How often it has come, and how often it has been done.
    came: u32,
    done: u32,
    /// The events by which it last came, entered, and was done.
    last_came: Option<usize>,
    last_entered: Option<usize>,
    last_done: Option<usize>,
    out: Option<Out>,
}

/// Where a party is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Stage {
    #[default]
    Away,
    Entering,
    Inside,
    Leaving,
}

/// Why a party is out of step with the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::invariants) enum Out {
    /// It died, or its session ended, while it was at the barrier.
    Lost,
    /// Its call to enter or to leave was dropped, or it was told to stop.
    GaveUp,
}

impl Parties {
    pub(super) fn new(count: u32) -> Self {
        Self {
            count,
            at: Vec::new(),
        }
    }

    /// What all events of a history say.
    pub(in crate::invariants) fn at_end(count: u32, history: &crate::History) -> Self {
        let mut parties = Self::new(count);
        for (index, event) in history.events.iter().enumerate() {
            parties.take(index, event.what);
        }
        parties
    }

    /// Goes on by one event.
    pub(super) fn take(&mut self, index: usize, what: EventKind) {
        match what {
            EventKind::AcquireStarted { by, lock, .. } => self.comes(index, by, lock),
            EventKind::Acquired { by, lock, .. } => {
                self.comes(index, by, lock);
                let party = self.party(by, lock);
                (party.stage, party.last_entered) = (Stage::Inside, Some(index));
            }
            EventKind::ReleaseStarted { by, lock } => {
                let party = self.party(by, lock);
                (party.stage, party.last_done) = (Stage::Leaving, Some(index));
                party.done = party.came;
            }
            EventKind::Released { by, lock } | EventKind::ReleaseFailed { by, lock, .. } => {
                self.party(by, lock).stage = Stage::Away;
            }
            EventKind::Cancelled { by, lock }
            | EventKind::ReleaseCancelled { by, lock }
            | EventKind::Lost { by, lock, .. } => {
                let party = self.party(by, lock);
                party.stage = Stage::Away;
                party.out.get_or_insert(Out::GaveUp);
            }
            EventKind::Crashed { by } => self.crashed(by),
            EventKind::SessionExpired { by } | EventKind::SessionLost { by } => {
                self.lost(by);
            }
            _ => {}
        }
    }

    /// A party that tries again has come before.
    fn comes(&mut self, index: usize, by: ContenderId, lock: LockId) {
        let party = self.party(by, lock);
        if party.stage == Stage::Away {
            party.stage = Stage::Entering;
            party.came += 1;
            party.last_came = Some(index);
        }
    }

    /// Its session has ended: it is out of step where it is at the moment.
    fn lost(&mut self, by: ContenderId) {
        for party in self.everywhere(by) {
            if party.stage != Stage::Away {
                party.out.get_or_insert(Out::Lost);
            }
        }
    }

    /// It is dead: it is out of step wherever it has been, for its successor does not know whether it had left.
    fn crashed(&mut self, by: ContenderId) {
        for party in self.everywhere(by) {
            if party.came > 0 {
                party.out.get_or_insert(Out::Lost);
            }
            party.stage = Stage::Away;
        }
    }

    fn everywhere(&mut self, by: ContenderId) -> impl Iterator<Item = &mut Party> {
        let locks = self.at.iter_mut();
        locks.filter_map(move |at| at.get_mut(by.0 as usize))
    }

    /// The first party that has not come as often as this one, which enters.
    pub(super) fn not_come(&self, by: ContenderId, lock: LockId) -> Option<ContenderId> {
        self.behind(by, lock, |party| party.came)
    }

    /// The first party that has not been done as often as this one, which leaves.
    pub(super) fn not_done(&self, by: ContenderId, lock: LockId) -> Option<ContenderId> {
        self.behind(by, lock, |party| party.done)
    }

    fn behind(
        &self,
        by: ContenderId,
        lock: LockId,
        times: impl Fn(&Party) -> u32,
    ) -> Option<ContenderId> {
        let at = |by: ContenderId| self.seen(by, lock);
        let ours = at(by);
        if ours.out.is_some() {
            return None;
        }
        let mut all = (0..self.count).map(ContenderId);
        all.find(|other| {
            let other = at(*other);
            other.out.is_none() && times(&other) < times(&ours)
        })
    }

    /// How often a party has come.
    pub(super) fn times(&self, by: ContenderId, lock: LockId) -> u32 {
        self.seen(by, lock).came
    }

    /// By which event a party came last.
    pub(in crate::invariants) fn came(&self, by: ContenderId, lock: LockId) -> Option<usize> {
        self.seen(by, lock).last_came
    }

    /// By which event a party entered last, if it has since it came.
    pub(super) fn entered(&self, by: ContenderId, lock: LockId) -> Option<usize> {
        let party = self.seen(by, lock);
        party.last_entered.filter(|_| party.stage == Stage::Inside)
    }

    /// By which event a party was done last.
    pub(in crate::invariants) fn done(&self, by: ContenderId, lock: LockId) -> Option<usize> {
        self.seen(by, lock).last_done
    }

    /// Why a party is out of step, if it is.
    pub(in crate::invariants) fn out(&self, by: ContenderId, lock: LockId) -> Option<Out> {
        self.seen(by, lock).out
    }

    /// Whether a party has ever entered.
    pub(in crate::invariants) fn is_entered(&self, lock: LockId) -> bool {
        let at = self.at.get(lock.0 as usize).into_iter().flatten();
        { at }.any(|party| party.last_entered.is_some())
    }

    /// The parties that are entering, and where.
    pub(in crate::invariants) fn entering(&self) -> Vec<(ContenderId, LockId)> {
        self.in_stage(Stage::Entering)
    }

    /// The parties that are leaving, and where.
    pub(in crate::invariants) fn leaving(&self) -> Vec<(ContenderId, LockId)> {
        self.in_stage(Stage::Leaving)
    }

    /// The first party that is not there, or is still leaving: a party that enters waits for it.
    pub(in crate::invariants) fn missing(&self, lock: LockId) -> Option<ContenderId> {
        let mut all = (0..self.count).map(ContenderId);
        all.find(|by| matches!(self.seen(*by, lock).stage, Stage::Away | Stage::Leaving))
    }

    /// The first party that is inside.
    pub(in crate::invariants) fn inside(&self, lock: LockId) -> Option<ContenderId> {
        let mut all = (0..self.count).map(ContenderId);
        all.find(|by| self.seen(*by, lock).stage == Stage::Inside)
    }

    fn in_stage(&self, stage: Stage) -> Vec<(ContenderId, LockId)> {
        let locks = self.at.iter().enumerate();
        let all = locks.flat_map(|(lock, at)| {
            let parties = at.iter().enumerate();
            let there = parties.filter(|(_, party)| party.stage == stage);
            there.map(move |(by, _)| (ContenderId(by as u32), LockId(lock as u32)))
        });
        all.collect()
    }

    fn seen(&self, by: ContenderId, lock: LockId) -> Party {
        let at = self.at.get(lock.0 as usize);
        let party = at.and_then(|at| at.get(by.0 as usize));
        party.copied().unwrap_or_default()
    }

    fn party(&mut self, by: ContenderId, lock: LockId) -> &mut Party {
        let (by, lock) = (by.0 as usize, lock.0 as usize);
        if lock >= self.at.len() {
            self.at.resize_with(lock + 1, Vec::new);
        }
        let at = &mut self.at[lock];
        if by >= at.len() {
            at.resize(by + 1, Party::default());
        }
        &mut at[by]
    }
}
