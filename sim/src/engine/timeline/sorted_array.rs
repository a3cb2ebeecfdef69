//! A sorted array of a few events: when each is due, and its slot.

/// So many at most.
const FEW: usize = 48;

/// When an event is due, and where it is.
type Due = (u64, u32);

/// When events are due and where they are, the next one last.
#[derive(Clone, Debug)]
pub(super) struct SortedArray {
    len: usize,
    events: [Due; FEW],
}

impl Default for SortedArray {
    fn default() -> Self {
        Self {
            len: 0,
            events: [(0, 0); FEW],
        }
    }
}

impl SortedArray {
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Puts an event behind all that are due at the same time or earlier: those stand nearer to the end. Answers
    /// whether there was room for it.
    #[inline]
    pub(super) fn insert(&mut self, event: Due) -> bool {
        let mut place = self.len;
        if place >= FEW {
            return false;
        }
        while place > 0 && self.events[place - 1].0 <= event.0 {
            self.events[place] = self.events[place - 1];
            place -= 1;
        }
        self.events[place] = event;
        self.len += 1;
        true
    }

    #[inline]
    pub(super) fn pop(&mut self) -> Option<Due> {
        self.len = self.len.checked_sub(1)?;
        self.events.get(self.len).copied()
    }
}
