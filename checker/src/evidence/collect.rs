//! The single pass over a history that collects the evidence.

use super::cell::{Cell, OpenCounts};
use super::table::Table;
use super::{Belief, Evidence, Known, Liveness, LivenessEvent, Ownership, Refused};
use crate::{
    ContenderId, ConversionStep, Disowned, EventKind, Failure, LockId, Mode, NameId, Run, Token,
};

/// A write on its way.
pub(super) struct WriteInFlight {
    pub(super) event: usize,
    pub(super) token: Option<Token>,
    pub(super) belief: Option<usize>,
    pub(super) next: Option<usize>,
}

pub(super) struct Collector<'a> {
    pub(super) found: Evidence<'a>,
    pub(super) cells: Table<Cell>,
    pub(super) tallies: Vec<OpenCounts>,
    pub(super) sent: Vec<WriteInFlight>,
}

pub(super) fn collect(run: &Run) -> Evidence<'_> {
    let history = &run.history;
    // Roughly what a run with a few contenders in turn has of each: saves growing step by step.
    let room = history.events.len() / 8 + 4;
    let mut collector = Collector {
        found: Evidence {
            run,
            beliefs: Vec::with_capacity(room),
            ownerships: Vec::with_capacity(room),
            arrivals: Vec::with_capacity(room),
            queueing: Vec::with_capacity(room),
            removals: Vec::new(),
            answers: Vec::new(),
            reentries: Vec::new(),
            conversions: Vec::new(),
            refused: Vec::new(),
            faults: Vec::new(),
            signs: Vec::new(),
            waiting: Vec::new(),
            leftovers: Vec::new(),
            finals: Vec::new(),
            pending: Vec::new(),
            ended: None,
            waited: false,
        },
        cells: Table::new(history),
        tallies: vec![OpenCounts::default(); history.locks.len().max(1)],
        sent: Vec::with_capacity(room),
    };
    for (index, event) in history.events.iter().enumerate() {
        collector.take(index, &event.what);
    }
    collector.finish()
}

impl<'a> Collector<'a> {
    fn take(&mut self, index: usize, what: &EventKind) {
        let found = &mut self.found;
        match *what {
            EventKind::AcquireStarted { by, lock, mode } => self.asked(index, by, lock, mode),
            EventKind::Acquired {
                by,
                lock,
                token,
                mode,
            } => self.acquired(index, by, (lock, mode), token),
            EventKind::AcquireFailed {
                by,
                lock,
                definite,
                why,
            } => self.failed(index, (by, lock), definite, why),
            EventKind::Cancelled { by, lock } => self.in_doubt(by, lock),
            EventKind::ReleaseStarted { by, lock } => self.left(index, by, lock, true),
            EventKind::Lost { by, lock, .. } => self.left(index, by, lock, false),
            EventKind::Released { by, lock } => {
                self.cells.cell(by, lock).lost = None;
                self.settled(index, by, lock);
            }
            EventKind::ReleaseFailed { by, lock, .. }
            | EventKind::ReleaseCancelled { by, lock } => self.settled(index, by, lock),
            EventKind::Crashed { by } => self.crashed(index, by),
            EventKind::Paused { by } => self.sign(index, by, Liveness::Paused),
            EventKind::Resumed { by } => self.sign(index, by, Liveness::Resumed),
            EventKind::Disconnected { by } => self.sign(index, by, Liveness::Disconnected),
            EventKind::Reconnected { by } => self.sign(index, by, Liveness::Reconnected),
            EventKind::SessionExpired { by } => self.sign(index, by, Liveness::SessionExpired),
            EventKind::SessionLost { by } => self.sign(index, by, Liveness::SessionLost),
            EventKind::CouldHaveKnown {
                by,
                lock,
                since,
                how,
            } => self.could_have_known(by, lock, Known { since, how, index }),
            EventKind::Queued { .. } | EventKind::Unqueued { .. } => found.queueing.push(index),
            EventKind::Owned {
                by,
                lock,
                token,
                name,
                mode,
            } => self.owned(index, by, (lock, mode), token, name),
            EventKind::Disowned {
                by,
                lock,
                token,
                how,
            } => self.disowned(index, by, lock, token, how),
            EventKind::Answered { .. } => found.answers.push(index),
            EventKind::Reentry { .. } => found.reentries.push(index),
            EventKind::Conversion {
                by,
                lock,
                mode,
                step,
            } => {
                if step == ConversionStep::Converts {
                    self.converted(index, by, (lock, mode));
                }
                self.found.conversions.push(index);
            }
            EventKind::Writing { by, lock, token } => self.writing(index, by, lock, token),
            EventKind::Effect {
                by,
                lock,
                token,
                accepted,
                ..
            } => self.arrived(index, by, lock, token, accepted),
            EventKind::FaultFired { .. } => found.faults.push(index),
            EventKind::Ended { why } => found.ended = Some((index, why)),
            EventKind::StillWaiting { .. } => found.waiting.push(index),
            EventKind::Leftover { .. } => found.leftovers.push(index),
            EventKind::Final { .. } => found.finals.push(index),
            // These explain, and decide nothing.
            EventKind::ConnectedReadOnly { .. }
            | EventKind::Revoked { .. }
            | EventKind::Resent { .. }
            | EventKind::ServerChanged { .. }
            | EventKind::Finished { .. }
            | EventKind::Restarted { .. }
            | EventKind::Read { .. }
            | EventKind::Written { .. }
            | EventKind::FaultHealed { .. }
            | EventKind::CalmBegan => {}
        }
    }

    /// What a session held that is gone, or given up for gone, goes when the service ends it; and a place that is seen
    /// to be gone has gone, also where the leader is late to apply that.
    fn failed(
        &mut self,
        index: usize,
        (by, lock): (ContenderId, LockId),
        definite: bool,
        why: Failure,
    ) {
        if !definite {
            return self.in_doubt(by, lock);
        }
        match why {
            Failure::SessionExpired | Failure::PlaceLost => {
                self.answered(by, lock);
            }
            Failure::Refused
            | Failure::ConnectionLoss
            | Failure::Disconnected
            | Failure::AlreadyHeld
            | Failure::Cancelled
            | Failure::LeaseLapsed
            | Failure::TimedOut => self.refused(index, by, lock),
        }
    }

    /// A call of `acquire` has ended that may have left something.
    fn in_doubt(&mut self, by: ContenderId, lock: LockId) {
        self.answered(by, lock);
        self.cells.cell(by, lock).doubtful = true;
    }

    fn finish(mut self) -> Evidence<'a> {
        for (by, lock, cell) in self.cells.iter() {
            let asked = cell.asked.filter(|_| cell.asking > 0);
            if let Some(asked) = asked {
                self.found.pending.push((by, lock, asked));
            }
        }
        self.settle_doubts();
        self.found
    }

    fn sign(&mut self, event: usize, by: ContenderId, of: Liveness) {
        self.found.signs.push(LivenessEvent { by, event, of });
    }

    fn asked(&mut self, index: usize, by: ContenderId, lock: LockId, mode: Mode) {
        let cell = self.cells.cell(by, lock);
        if cell.asking == 0 {
            cell.asked = Some(index);
        }
        cell.asking += 1;
        self.tally(lock).asking += 1;
        self.note_waiting(by, lock, mode);
    }

    /// The answer to a call of `acquire`: gives back where the call began.
    fn answered(&mut self, by: ContenderId, lock: LockId) -> Option<usize> {
        let cell = self.cells.cell(by, lock);
        cell.lost = None;
        if cell.asking == 0 {
            return None;
        }
        cell.asking -= 1;
        let asked = cell.asked;
        self.tally(lock).asking -= 1;
        asked
    }

    fn refused(&mut self, failed: usize, by: ContenderId, lock: LockId) {
        if let Some(asked) = self.answered(by, lock) {
            let doubtful = self.cells.cell(by, lock).doubtful;
            self.found.refused.push(Refused {
                by,
                lock,
                asked,
                failed,
                doubtful,
            });
        }
    }

    fn acquired(
        &mut self,
        index: usize,
        by: ContenderId,
        (lock, mode): (LockId, Mode),
        token: Option<Token>,
    ) {
        let lost = self.cells.cell(by, lock).lost;
        let asked = self.answered(by, lock);
        let position = self.found.beliefs.len();
        let permits = self.found.permits_per_acquire(by);
        let grant = match permits {
            1 => self.latest_grant((by, lock), lost, asked),
            permits => self.latest_grants((by, lock), asked, permits, position),
        };
        if let Some(grant) = grant {
            self.found.ownerships[grant].serves.get_or_insert(position);
        }
        let cell = self.cells.cell(by, lock);
        self.found.beliefs.push(Belief {
            by,
            lock,
            mode,
            token,
            asked,
            acquired: index,
            left: None,
            settled: None,
            known: None,
            grant,
            also: cell.open.replace(position),
        });
        cell.latest = Some(position);
        cell.believes += permits;
        self.tally(lock).believes += permits;
        self.note_waiting(by, lock, mode);
    }

    fn left(&mut self, index: usize, by: ContenderId, lock: LockId, releases: bool) {
        let cell = self.cells.cell(by, lock);
        let ended = std::mem::take(&mut cell.believes);
        let open = cell.open.take();
        if releases && open.is_some() {
            cell.releasing = open;
        }
        if !releases {
            cell.lost = Some(index);
        }
        leave(&mut self.found.beliefs, open, index);
        self.tally(lock).believes -= ended;
    }

    /// Beliefs that are open could have ended then.
    fn could_have_known(&mut self, by: ContenderId, lock: LockId, known: Known) {
        let mut next = self.cells.cell(by, lock).open;
        while let Some(index) = next {
            let belief = &mut self.found.beliefs[index];
            belief.known.get_or_insert(known);
            next = belief.also;
        }
    }

    fn settled(&mut self, index: usize, by: ContenderId, lock: LockId) {
        let releasing = self.cells.cell(by, lock).releasing.take();
        settle(&mut self.found.beliefs, releasing, index);
    }

    fn crashed(&mut self, index: usize, by: ContenderId) {
        self.sign(index, by, Liveness::Crashed);
        for (lock, cell) in self.cells.row(by).iter_mut().enumerate() {
            leave(&mut self.found.beliefs, cell.open.take(), index);
            settle(&mut self.found.beliefs, cell.releasing.take(), index);
            if let Some(tally) = self.tallies.get_mut(lock) {
                tally.believes -= std::mem::take(&mut cell.believes);
                tally.asking -= std::mem::take(&mut cell.asking);
            }
            cell.doubtful = true;
            cell.lost = None;
        }
    }

    fn owned(
        &mut self,
        index: usize,
        by: ContenderId,
        (lock, mode): (LockId, Mode),
        token: Token,
        name: NameId,
    ) {
        self.found.queueing.push(index);
        let position = self.found.ownerships.len();
        let cell = self.cells.cell(by, lock);
        self.found.ownerships.push(Ownership {
            by,
            lock,
            mode,
            token,
            name,
            owned: index,
            disowned: None,
            how: None,
            believed: cell.latest,
            serves: None,
            also: cell.owned.replace(position),
        });
        cell.granted = Some(position);
        cell.owns += 1;
        self.tally(lock).owns += 1;
        self.grant_converted(by, lock, position);
        self.note_waiting(by, lock, mode);
    }

    fn disowned(
        &mut self,
        index: usize,
        by: ContenderId,
        lock: LockId,
        token: Token,
        how: Disowned,
    ) {
        if matches!(how, Disowned::RemovedBy(other) | Disowned::OverwrittenBy(other) if other != by)
        {
            self.found.removals.push(index);
        }
        // All open ownerships with this token end; those with another are hung on the cell again.
        let cell = self.cells.cell(by, lock);
        let mut next = cell.owned.take();
        let mut ended = 0;
        while let Some(position) = next {
            let ownership = &mut self.found.ownerships[position];
            next = ownership.also.take();
            if ownership.token == token {
                ownership.disowned = Some(index);
                ownership.how = Some(how);
                ended += 1;
            } else {
                ownership.also = cell.owned.replace(position);
            }
        }
        cell.owns -= ended;
        self.tally(lock).owns -= ended;
    }
}

/// Ends the beliefs that hang together from here.
pub(super) fn leave(beliefs: &mut [Belief], mut next: Option<usize>, index: usize) {
    while let Some(position) = next {
        beliefs[position].left = Some(index);
        next = beliefs[position].also;
    }
}

/// Notes the end of the release of the beliefs that hang together from here.
fn settle(beliefs: &mut [Belief], mut next: Option<usize>, index: usize) {
    while let Some(position) = next {
        beliefs[position].settled = Some(index);
        next = beliefs[position].also;
    }
}
