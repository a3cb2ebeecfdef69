//! A map by sessions, which a server numbers one after the other.

use picklock_algorithms::clients::zookeeper::SessionId;

use super::fast_map::FastMap;

/// A map by sessions that looks first where a session is if they were all opened by one server, and none is closed.
#[derive(Clone, Debug)]
pub(super) struct SessionMap<V>(FastMap<SessionId, V>);

impl<V> Default for SessionMap<V> {
    fn default() -> Self {
        Self(FastMap::default())
    }
}

impl<V> SessionMap<V> {
    /// The place of a session.
    #[inline]
    pub(super) fn place(&self, session: SessionId) -> Option<usize> {
        let (first, _) = self.0.first()?;
        let guess = session.0.wrapping_sub(first.0) as usize;
        match self.0.get_index(guess) {
            Some((known, _)) if *known == session => Some(guess),
            Some(_) | None => self.0.get_index_of(&session),
        }
    }

    /// What is at a place.
    #[inline]
    pub(super) fn at(&self, place: usize) -> Option<(SessionId, &V)> {
        let (session, value) = self.0.get_index(place)?;
        Some((*session, value))
    }

    /// The same, to be changed.
    #[inline]
    pub(super) fn at_mut(&mut self, place: usize) -> Option<&mut V> {
        let (_, value) = self.0.get_index_mut(place)?;
        Some(value)
    }

    #[inline]
    pub(super) fn get(&self, session: SessionId) -> Option<&V> {
        self.at(self.place(session)?).map(|(_, value)| value)
    }

    #[inline]
    pub(super) fn get_mut(&mut self, session: SessionId) -> Option<&mut V> {
        self.at_mut(self.place(session)?)
    }

    /// The value of a session; this one, if it has none.
    #[inline]
    pub(super) fn get_or_insert(
        &mut self,
        session: SessionId,
        value: impl FnOnce() -> V,
    ) -> &mut V {
        match self.place(session) {
            Some(place) => &mut self.0[place],
            None => self.0.entry(session).or_insert_with(value),
        }
    }

    /// Takes a session out; the last takes its place.
    pub(super) fn remove(&mut self, session: SessionId) -> Option<V> {
        self.0.swap_remove(&session)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn it_is_a_map(steps in prop::collection::vec((0..3_u8, 0..20_u64), 1..200)) {
            let mut map: SessionMap<usize> = SessionMap::default();
            let mut model: BTreeMap<u64, usize> = BTreeMap::new();
            for (number, (kind, key)) in steps.into_iter().enumerate() {
                let session = SessionId(key);
                match kind {
                    0 => prop_assert_eq!(map.remove(session), model.remove(&key)),
                    1 => {
                        *map.get_or_insert(session, || 7) += 1;
                        *model.entry(key).or_insert(7) += 1;
                    }
                    _ => {
                        if let Some(value) = map.get_mut(session) {
                            *value = number;
                        }
                        if let Some(value) = model.get_mut(&key) {
                            *value = number;
                        }
                    }
                }
                for key in 0..20 {
                    prop_assert_eq!(map.get(SessionId(key)), model.get(&key));
                    let at = map.place(SessionId(key)).and_then(|place| map.at(place));
                    prop_assert_eq!(at, model.get(&key).map(|value| (SessionId(key), value)));
                }
            }
        }
    }
}
