//! Databases as commands see them: one is selected, and the others lie beside it.

use super::{DATABASES, Dataset};
use crate::db::Core;
use crate::key_observer::RemovalReason;
use crate::keyspace::{Entry, Keyspace};
use crate::scripts::functions_of;

impl Core {
    /// Selects a database: what commands do is done there.
    #[inline]
    pub(crate) fn select(&mut self, db: u8) {
        if db != self.selected {
            self.swap_in(db);
        }
    }

    fn swap_in(&mut self, db: u8) {
        let keys = self.others.remove(&db).unwrap_or_default();
        let before = std::mem::replace(&mut self.keys, keys);
        if before.len() > 0 {
            self.others.insert(self.selected, before);
        }
        self.selected = db;
        self.effects.selected = db;
    }

    /// A key of a database, selected or not.
    pub(crate) fn entry_in(&self, db: u8, key: &[u8]) -> Option<&Entry> {
        if db == self.selected {
            self.keys.get(key)
        } else {
            self.others.get(&db)?.get(key)
        }
    }

    /// The databases that have keys, the selected one first.
    pub(crate) fn in_use(&self) -> Vec<u8> {
        let others = self.others.keys().copied();
        std::iter::once(self.selected).chain(others).collect()
    }

    /// A copy of all keys, and of the libraries.
    pub(crate) fn dataset(&mut self) -> Dataset {
        self.select(0);
        Dataset {
            first: self.keys.clone(),
            others: self.others.clone(),
            functions: self.functions.codes(),
        }
    }

    /// Puts these in the place of all keys, and tells the clients that watch and the observers that follow one of them.
    pub(crate) fn replace_dataset(&mut self, new: Dataset, why: RemovalReason) {
        self.select(0);
        let now = self.wall_millis();
        let before = Dataset {
            first: std::mem::replace(&mut self.keys, new.first),
            others: std::mem::replace(&mut self.others, new.others),
            functions: Vec::new(),
        };
        self.functions = functions_of(&new.functions, self.settings.script_budget);
        self.note_dataset_replaced(&before.first, why);
        let nothing = Keyspace::default();
        for db in 0..DATABASES {
            let old = before.of(db).unwrap_or(&nothing);
            let new = match db {
                0 => &self.keys,
                other => self.others.get(&other).unwrap_or(&nothing),
            };
            self.watches.touch_all(db, old, new, now);
        }
    }

    /// Deletes all keys of the selected database.
    pub(crate) fn clear_selected(&mut self) {
        let before = std::mem::take(&mut self.keys);
        let now = self.wall_millis();
        self.note_dataset_replaced(&before, RemovalReason::Flushed);
        let db = self.selected;
        self.watches.touch_all(db, &before, &self.keys, now);
    }

    /// Lets two databases change places.
    pub(crate) fn swap_databases(&mut self, one: u8, other: u8) {
        let now = self.wall_millis();
        let selected = self.selected;
        // Neither is to be the selected one while they change places.
        let elsewhere = (0..DATABASES).find(|db| *db != one && *db != other);
        self.select(elsewhere.unwrap_or(selected));
        let first = self.others.remove(&one).unwrap_or_default();
        let second = self.others.remove(&other).unwrap_or_default();
        self.watches.touch_all(one, &first, &second, now);
        self.watches.touch_all(other, &second, &first, now);
        for (db, keys, before) in [
            (one, second.clone(), &first),
            (other, first.clone(), &second),
        ] {
            if keys.len() > 0 {
                self.others.insert(db, keys);
            }
            self.select(db);
            self.note_dataset_replaced(before, RemovalReason::Overwritten);
            self.select(elsewhere.unwrap_or(selected));
            self.blocking.signal_all(db);
        }
        self.select(selected);
    }
}
