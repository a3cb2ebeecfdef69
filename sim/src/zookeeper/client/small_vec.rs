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
    /// How many there are: this is asked more often than which.
    #[inline]
    pub(super) fn len(&self) -> usize {
        match self {
            Self::None => 0,
            Self::One(_) => 1,
            Self::Many(many) => many.len(),
        }
    }

    #[inline]
    pub(super) fn push(&mut self, item: T) {
        match self {
            Self::None => *self = Self::One(item),
            Self::Many(many) => many.push(item),
            Self::One(_) => self.insert_among(1, item),
        }
    }

    #[inline]
    pub(super) fn insert(&mut self, place: usize, item: T) {
        match self {
            Self::None => *self = Self::One(item),
            Self::One(_) | Self::Many(_) => self.insert_among(place, item),
        }
    }

    #[inline(never)]
    fn insert_among(&mut self, place: usize, item: T) {
        let mut many = mem::take(self).into_many();
        many.insert(place, item);
        *self = Self::Many(many);
    }

    #[inline]
    pub(super) fn pop_first(&mut self) -> Option<T> {
        match self {
            Self::Many(many) => (!many.is_empty()).then(|| many.remove(0)),
            Self::None | Self::One(_) => match mem::take(self) {
                Self::One(only) => Some(only),
                Self::None | Self::Many(_) => None,
            },
        }
    }

    /// Whether there is none, and was never more than one.
    #[inline]
    pub(super) fn is_none(&self) -> bool {
        matches!(self, Self::None)
    }

    /// Takes the only one, if it is the one, and there has never been another.
    #[inline(always)]
    pub(super) fn take_only_if(&mut self, it_is: impl FnOnce(&T) -> bool) -> Option<T> {
        match self {
            Self::One(only) if it_is(only) => match mem::take(self) {
                Self::One(only) => Some(only),
                Self::None | Self::Many(_) => None,
            },
            Self::None | Self::One(_) | Self::Many(_) => None,
        }
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
        let mut many = mem::take(self).into_many();
        let extracted = many.extract_if(.., chosen).collect();
        *self = Self::Many(many);
        extracted
    }

    /// All, as an ordinary list.
    pub(super) fn into_many(self) -> Vec<T> {
        match self {
            Self::None => Vec::new(),
            Self::One(only) => vec![only],
            Self::Many(many) => many,
        }
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
