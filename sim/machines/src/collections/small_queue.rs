//! A queue that mostly holds one item, which it keeps inline.

use std::collections::VecDeque;
use std::iter::Chain;
use std::slice::Iter;

/// A queue that needs no memory of its own as long as no more than one thing is in it.
#[derive(Clone, Debug, Default)]
pub enum SmallQueue<T> {
    /// Nothing.
    #[default]
    Empty,
    /// One thing, without a list.
    One(T),
    /// There was more than one; there may be less by now.
    Many(Box<Long<T>>),
}

#[derive(Clone, Debug)]
pub struct Long<T>(VecDeque<T>);

impl<T> Long<T> {
    #[inline(never)]
    fn take(&mut self, is_meant: impl Fn(&T) -> bool) -> Option<T> {
        let index = self.0.iter().rposition(is_meant)?;
        self.0.swap_remove_back(index)
    }
}

impl<T> SmallQueue<T> {
    /// How many there are.
    pub fn len(&self) -> usize {
        match self {
            Self::Empty => 0,
            Self::One(_) => 1,
            Self::Many(many) => many.0.len(),
        }
    }

    /// Whether there is none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Puts a thing behind all others.
    #[inline]
    pub fn push(&mut self, thing: T) {
        match self {
            // There is nothing to be dropped.
            Self::Empty => std::mem::forget(std::mem::replace(self, Self::One(thing))),
            Self::One(_) => self.push_second(thing),
            Self::Many(many) => many.0.push_back(thing),
        }
    }

    #[inline(never)]
    fn push_second(&mut self, second: T) {
        let first = self.pop_first();
        let both = first.into_iter().chain([second]);
        *self = Self::Many(Box::new(Long(both.collect())));
    }

    /// The first.
    pub fn first(&self) -> Option<&T> {
        match self {
            Self::Empty => None,
            Self::One(one) => Some(one),
            Self::Many(many) => many.0.front(),
        }
    }

    /// Takes the first out.
    #[inline]
    pub fn pop_first(&mut self) -> Option<T> {
        if let Self::Many(many) = self {
            return many.0.pop_front();
        }
        match std::mem::take(self) {
            Self::One(one) => Some(one),
            Self::Empty | Self::Many(_) => None,
        }
    }

    /// Takes out the last that is meant; the last of all takes its place. What is taken out has mostly come lately.
    #[inline]
    pub fn take(&mut self, is_meant: impl Fn(&T) -> bool) -> Option<T> {
        match self {
            Self::One(one) if is_meant(one) => self.pop_first(),
            Self::Empty | Self::One(_) => None,
            Self::Many(many) => many.take(is_meant),
        }
    }

    /// All of them, in order.
    #[inline]
    pub fn iter(&self) -> Chain<Iter<'_, T>, Iter<'_, T>> {
        let (front, back) = match self {
            Self::Empty => (&[][..], &[][..]),
            Self::One(one) => (std::slice::from_ref(one), &[][..]),
            Self::Many(many) => many.0.as_slices(),
        };
        front.iter().chain(back)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn it_is_a_queue(steps in prop::collection::vec((0..5_u8, 0..4_usize), 1..100)) {
            let mut queue = SmallQueue::default();
            let mut model = VecDeque::new();
            for (number, (kind, index)) in steps.into_iter().enumerate() {
                match kind {
                    0 | 1 => {
                        queue.push(number);
                        model.push_back(number);
                    }
                    2 => {
                        let meant = model.get(index).copied();
                        prop_assert_eq!(queue.take(|one| Some(*one) == meant), meant);
                        model.swap_remove_back(index);
                    }
                    _ => prop_assert_eq!(queue.pop_first(), model.pop_front()),
                }
                prop_assert_eq!((queue.len(), queue.is_empty()), (model.len(), model.is_empty()));
                prop_assert_eq!(queue.first(), model.front());
                prop_assert!(queue.iter().eq(&model));
            }
        }
    }
}
