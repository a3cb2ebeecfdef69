//! What the marks of a diagram depend on. An event without a mark, of a contender that has no lane, stands between its
//! causes and its effects, and these depend on what it depends on.

use std::collections::BTreeMap;

use super::marks::Mark;
use super::range::Part;

/// Says of an event, by its place in the history, which events it depends on directly.
pub(super) type Causes<'c> = dyn Fn(usize) -> Vec<usize> + 'c;

/// The events of a part of a run that have a mark, and what the others depend on.
pub(super) struct Shown {
    /// The mark of each event that has one.
    marks: BTreeMap<usize, usize>,
    /// For each other event, the nearest events with a mark that it depends on.
    through: BTreeMap<usize, Vec<usize>>,
}

impl Shown {
    pub(super) fn of(part: &Part, marks: &[Mark], causes: &Causes<'_>) -> Self {
        let marks = marks.iter().enumerate();
        let mut shown = Self {
            marks: marks
                .filter_map(|(place, mark)| Some((mark.event?, place)))
                .collect(),
            through: BTreeMap::new(),
        };
        // Causes come before their effects.
        for event in part.events.clone() {
            if !shown.marks.contains_key(&event) {
                let nearest = shown.nearest(&causes(event));
                shown.through.insert(event, nearest);
            }
        }
        shown
    }

    /// These events, and for each without a mark what it depends on.
    pub(super) fn nearest(&self, events: &[usize]) -> Vec<usize> {
        let mut nearest = Vec::new();
        for event in events {
            match self.through.get(event) {
                Some(through) => nearest.extend(through),
                None => nearest.extend(self.marks.get(event).map(|_| *event)),
            }
        }
        nearest.sort_unstable();
        nearest.dedup();
        nearest
    }

    /// Gives each mark its causes.
    pub(super) fn give_causes(&self, marks: &mut [Mark], causes: &Causes<'_>) {
        for mark in marks {
            let events = mark.event.map(causes).unwrap_or_default();
            let events = self.nearest(&events);
            let places = events
                .iter()
                .filter_map(|event| self.marks.get(event).copied());
            mark.causes = places.collect();
            mark.causes.sort_unstable();
        }
    }
}

#[cfg(test)]
mod tests {
    use picklock_checker::VirtualTime;

    use super::*;
    use crate::diagram::Weight;

    fn mark(event: usize) -> Mark {
        Mark {
            lane: None,
            at: VirtualTime::ZERO,
            after: event,
            event: Some(event),
            causes: Vec::new(),
            weight: Weight::Other,
            about: None,
            bad: false,
            changes_service: false,
            label: String::new(),
            text: String::new(),
        }
    }

    #[test]
    fn what_has_no_mark_passes_its_causes_on() {
        // Each event depends on the one before. Of 2 and 3 there is nothing to see, and 0 came before the part.
        let causes = |event: usize| Vec::from_iter(event.checked_sub(1));
        let part = Part {
            events: 1..6,
            from: VirtualTime::ZERO,
            until: VirtualTime::ZERO,
            between_servers: true,
            notes: Vec::new(),
        };
        let mut marks = [mark(1), mark(4), mark(5)];
        let shown = Shown::of(&part, &marks, &causes);
        shown.give_causes(&mut marks, &causes);
        let places: Vec<&[usize]> = marks.iter().map(|mark| &mark.causes[..]).collect();
        assert_eq!(places, [&[][..], &[0], &[1]]);
        assert_eq!(shown.nearest(&[0, 3, 5]), [1, 5]);
    }
}
