//! Holds whose mode changes while they last: each mode is a belief of its own.

use super::collect::{Collector, leave};
use super::{Belief, Evidence};
use crate::{ContenderId, ConversionStep, EventKind, LockId, Mode};

impl Collector<'_> {
    /// A contender holds the lock in another mode from here on. The new belief rests on the latest grant, or, as long
    /// as the service has not come to that, on the grant of the old one.
    pub(super) fn converted(
        &mut self,
        index: usize,
        by: ContenderId,
        (lock, mode): (LockId, Mode),
    ) {
        let asked = self.found.conversion_under_way(index, by, lock);
        let position = self.found.beliefs.len();
        let cell = self.cells.cell(by, lock);
        let Some(open) = cell.open.replace(position) else {
            cell.open = None;
            return;
        };
        let ended = std::mem::replace(&mut cell.believes, 1);
        cell.latest = Some(position);
        let latest = cell.granted;
        leave(&mut self.found.beliefs, Some(open), index);
        self.tally(lock).believes -= ended - 1;
        let in_mode = |grant: &usize| self.found.ownerships[*grant].mode == mode;
        let grant = latest.filter(in_mode).or(self.found.beliefs[open].grant);
        if let Some(grant) = grant {
            self.found.ownerships[grant].serves.get_or_insert(position);
        }
        self.found.beliefs.push(Belief {
            by,
            lock,
            mode,
            token: None,
            asked,
            acquired: index,
            left: None,
            settled: None,
            known: None,
            grant,
            also: None,
        });
    }

    /// A converted hold has been granted in its mode: now it rests on that.
    pub(super) fn grant_converted(&mut self, by: ContenderId, lock: LockId, position: usize) {
        if self.found.conversions.is_empty() {
            return;
        }
        let Some(open) = self.cells.cell(by, lock).open else {
            return;
        };
        let mode = self.found.ownerships[position].mode;
        let events = &self.found.run.history.events;
        let belief = &mut self.found.beliefs[open];
        let is_converted = matches!(
            events[belief.acquired].what,
            EventKind::Conversion { mode: to, .. } if to == mode
        );
        if is_converted {
            belief.grant = Some(position);
            self.found.ownerships[position].serves.get_or_insert(open);
        }
    }
}

impl Evidence<'_> {
    /// The call by which a contender wanted to hold a lock in another mode at this event, while it held it.
    pub(crate) fn conversion_under_way(
        &self,
        index: usize,
        by: ContenderId,
        lock: LockId,
    ) -> Option<usize> {
        let begun = self.conversions.iter().rev();
        let mut steps = begun.filter(|&&event| event < index).filter_map(|&event| {
            match self.event(event).what {
                EventKind::Conversion {
                    by: who,
                    lock: of,
                    step,
                    ..
                } => ((who, of) == (by, lock)).then_some((event, step)),
                _ => None,
            }
        });
        let (event, step) = steps.next()?;
        (step == ConversionStep::Asks).then_some(event)
    }
}

#[cfg(test)]
mod tests {
    use crate::{Evidence, INVARIANTS, Mode, Verdict, notation};

    fn verdict(invariant: &str, text: &str) -> Verdict {
        let found = INVARIANTS.iter().find(|row| row.name == invariant);
        found.expect("it is one").verdict(&notation::run(text))
    }

    #[test]
    fn a_downgraded_hold_shares_from_there_on() {
        let run = notation::run(
            "a=0-4 a:0- a.asks-to-convert:2/shared a=2-9/shared a.converts:3/shared a.leaves:9",
        );
        let evidence = Evidence::of(&run);
        let modes: Vec<Mode> = evidence.beliefs.iter().map(|belief| belief.mode).collect();
        assert_eq!(modes, [Mode::Exclusive, Mode::Shared]);
        let seconds = |event: Option<usize>| Some(evidence.at(event?).micros() / 1_000_000);
        let ends = evidence.beliefs.iter().map(|belief| seconds(belief.left));
        let ends: Vec<_> = ends.collect();
        assert_eq!(ends, [Some(3), Some(9)]);
        let grants: Vec<_> = evidence.beliefs.iter().map(|belief| belief.grant).collect();
        assert_eq!(grants, [Some(0), Some(1)]);
    }

    #[test]
    fn who_converts_is_reader_and_writer_at_once() {
        let text = "a:0- a.asks-to-convert:2/shared a.converts:4/shared a.leaves:9";
        let with = |others: &str| verdict("mutual-exclusion", &format!("{text} {others}"));
        assert_eq!(with("b:4-8/shared c:9-10"), Verdict::Holds);
        // A writer may not come in beside what it reads, nor a reader before it has given back what it writes.
        assert!(with("b:5-6").witness().is_some());
        assert!(with("b:3-8/shared").witness().is_some());
        let upgraded = "a:0-/shared a.asks-to-convert:2 a.converts:4 a.leaves:9 b:3-5/shared";
        assert!(verdict("mutual-exclusion", upgraded).witness().is_some());
        let refused = upgraded.replace("a.converts:4", "a.does-not-convert:4");
        assert_eq!(verdict("mutual-exclusion", &refused), Verdict::Holds);
    }

    #[test]
    fn a_grant_that_comes_later_is_what_a_converted_hold_rests_on() {
        let text = "a.queued:0 a=0-4 a:0- a.asks-to-convert:2/shared a.converts:3/shared \
                    a=4-6/shared/how=expired b=6-9 b:6-9 a.leaves:8";
        let run = notation::run(text);
        let evidence = Evidence::of(&run);
        assert_eq!(evidence.beliefs[1].grant, Some(1));
    }

    #[test]
    fn who_converts_overtakes_no_place_in_the_queue() {
        let text = "a.queued:0 a=0-4 a:0- b.queued:1 a.asks-to-convert:2/shared a.queued:2.5/shared \
                    a.converts:3/shared a=4-6/shared a.leaves:6 b=6-9 b:6-9";
        assert_eq!(verdict("fifo", text), Verdict::Holds);
    }
}
