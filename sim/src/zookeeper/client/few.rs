//! A list that nearly always has one item at most.

use std::mem;
use std::ops::{Deref, DerefMut, Range};
use std::slice;

/// A list whose only item lies where the list does. To look for it elsewhere costs more than all that is done with it,
/// if the cache was used for others meanwhile.
#[derive(Default)]
pub(super) enum Few<T> {
    #[default]
    None,
    One(T),
    /// There has been more than one.
    Many(Vec<T>),
}

impl<T> Few<T> {
    #[inline]
    pub(super) fn insert(&mut self, place: usize, item: T) {
        *self = match mem::take(self) {
            Self::None => Self::One(item),
            Self::One(only) => {
                let mut many = vec![only];
                many.insert(place, item);
                Self::Many(many)
            }
            Self::Many(mut many) => {
                many.insert(place, item);
                Self::Many(many)
            }
        }
    }

    #[inline]
    pub(super) fn push(&mut self, item: T) {
        self.insert(self.len(), item);
    }

    #[inline]
    pub(super) fn pop_first(&mut self) -> Option<T> {
        if let Self::Many(many) = self {
            return (!many.is_empty()).then(|| many.remove(0));
        }
        mem::take(self).into_iter().next()
    }

    #[inline]
    pub(super) fn remove(&mut self, range: Range<usize>) {
        match self {
            Self::Many(many) => drop(many.drain(range)),
            Self::One(_) if !range.is_empty() => *self = Self::None,
            Self::None | Self::One(_) => {}
        }
    }

    /// Removes those that are chosen, and answers them.
    pub(super) fn extract(&mut self, chosen: impl FnMut(&mut T) -> bool) -> Vec<T> {
        let mut all: Vec<T> = mem::take(self).into_iter().collect();
        let extracted = all.extract_if(.., chosen).collect();
        *self = Self::Many(all);
        extracted
    }
}

impl<T> Deref for Few<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        match self {
            Self::None => &[],
            Self::One(only) => slice::from_ref(only),
            Self::Many(many) => many,
        }
    }
}

impl<T> DerefMut for Few<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        match self {
            Self::None => &mut [],
            Self::One(only) => slice::from_mut(only),
            Self::Many(many) => many,
        }
    }
}

impl<T> IntoIterator for Few<T> {
    type Item = T;
    type IntoIter = std::iter::Chain<std::option::IntoIter<T>, std::vec::IntoIter<T>>;

    #[inline]
    fn into_iter(self) -> Self::IntoIter {
        let (first, rest) = match self {
            Self::None => (None, Vec::new()),
            Self::One(only) => (Some(only), Vec::new()),
            Self::Many(many) => (None, many),
        };
        first.into_iter().chain(rest)
    }
}
