//! The databases of a server: sixteen, of which one is selected.

mod select;

use std::collections::BTreeMap;

use picklock_clients::redis::Bytes;

use crate::keyspace::Keyspace;

/// How many there are.
pub(crate) const DATABASES: u8 = 16;

/// All data of a server.
#[derive(Clone, Debug, Default)]
pub(crate) struct Dataset {
    /// Those of the first database.
    pub(crate) first: Keyspace,
    /// Those of the others that have any.
    pub(crate) others: BTreeMap<u8, Keyspace>,
    /// The code of its libraries of functions.
    pub(crate) functions: Vec<Bytes>,
}

impl Dataset {
    /// The keys of a database, if it ever had any.
    fn of(&self, db: u8) -> Option<&Keyspace> {
        match db {
            0 => Some(&self.first),
            other => self.others.get(&other),
        }
    }

    /// All databases that have keys, and the first.
    pub(crate) fn each_mut(&mut self) -> impl Iterator<Item = &mut Keyspace> {
        std::iter::once(&mut self.first).chain(self.others.values_mut())
    }
}
