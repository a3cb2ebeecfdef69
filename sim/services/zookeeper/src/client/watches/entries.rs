//! The entries of a client's watch manager: a sorted list while there are few, by path when there are many.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::ops::{Range, RangeInclusive};
use std::rc::Rc;

use picklock_clients::zookeeper::{Path, Watcher};
use smallvec::SmallVec;

use super::WatchTable;

/// The list holds so many entries at most. A client that watches nodes before they exist, and never sees them, keeps
/// one entry for each: after 100,000 rounds of a lock, to insert into the list cost more than all else.
const FEW: usize = 64;

/// A watcher object, registered for a table of a node.
pub(super) struct Entry {
    pub(super) path: Path,
    pub(super) table: WatchTable,
    /// The watcher object was registered before this entry was made, and there may be another entry of it.
    pub(super) repeat: bool,
    pub(super) watcher: Watcher,
}

impl Entry {
    /// Whether the entry is of this node. Most entries share the path with the message that mentions it.
    #[inline]
    pub(super) fn is_of(&self, path: &Path) -> bool {
        Rc::ptr_eq(&self.path, path) || self.path == *path
    }
}

/// Entries, sorted by path and table.
#[derive(Default)]
pub(super) struct Entries {
    /// All of them, unless `many` has some.
    few: SmallVec<[Entry; 1]>,
    /// All of them, from when the list was full until none is left.
    many: BTreeMap<Path, SmallVec<[Entry; 1]>>,
}

impl Entries {
    #[inline(always)]
    pub(super) fn is_empty(&self) -> bool {
        self.few.is_empty() && self.many.is_empty()
    }

    /// Adds the first entry.
    #[inline(always)]
    pub(super) fn push_first(&mut self, entry: Entry) {
        self.few.push(entry);
    }

    /// Takes the entry out if it is the only one, and as it should be.
    #[inline(always)]
    pub(super) fn pop_only(&mut self, is_right: impl Fn(&Entry) -> bool) -> Option<Entry> {
        match &self.few[..] {
            [entry] if is_right(entry) => self.few.pop(),
            _ => None,
        }
    }

    /// A sorted list with all entries of a path, and perhaps others.
    pub(super) fn with(&self, path: &str) -> &[Entry] {
        if self.many.is_empty() {
            &self.few
        } else {
            self.many.get(path).map_or(&[], |entries| entries)
        }
    }

    /// The entries of a path in one table.
    pub(super) fn of(&self, path: &str, table: WatchTable) -> &[Entry] {
        let entries = self.with(path);
        &entries[range(entries, path, table..=table)]
    }

    pub(super) fn insert(&mut self, entry: Entry) {
        if self.many.is_empty() && self.few.len() >= FEW {
            for entry in self.few.drain(..) {
                let path = Path::clone(&entry.path);
                self.many.entry(path).or_default().push(entry);
            }
        }
        let entries = if self.many.is_empty() {
            &mut self.few
        } else {
            let path = Path::clone(&entry.path);
            self.many.entry(path).or_default()
        };
        let range = range(entries, &entry.path, entry.table..=entry.table);
        entries.insert(range.end, entry);
    }

    /// Removes all entries of a path in these tables.
    pub(super) fn remove(&mut self, path: &str, tables: RangeInclusive<WatchTable>) {
        if self.many.is_empty() {
            self.few.drain(range(&self.few, path, tables));
        } else if let Some(entries) = self.many.get_mut(path) {
            entries.drain(range(entries, path, tables));
            if entries.is_empty() {
                self.many.remove(path);
            }
        }
    }

    /// Takes out those entries of a path that are concerned.
    pub(super) fn take(&mut self, path: &str, concerned: impl Fn(&Entry) -> bool) -> Vec<Entry> {
        let entries = if self.many.is_empty() {
            std::mem::take(&mut self.few)
        } else {
            self.many.remove(path).unwrap_or_default()
        };
        let (taken, kept): (Vec<_>, Vec<_>) = entries.into_iter().partition(concerned);
        if self.many.is_empty() {
            self.few = kept.into();
        } else if !kept.is_empty() {
            self.many.insert(Path::from(path), kept.into());
        }
        taken
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Entry> + Clone {
        self.few.iter().chain(self.many.values().flatten())
    }

    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Entry> {
        self.few.iter_mut().chain(self.many.values_mut().flatten())
    }

    pub(super) fn clear(&mut self) {
        self.few.clear();
        self.many.clear();
    }
}

/// The places of the entries of this path in these tables.
pub(super) fn range(
    entries: &[Entry],
    path: &str,
    tables: RangeInclusive<WatchTable>,
) -> Range<usize> {
    match entries {
        [] => 0..0,
        [only] => {
            let after = |table| (&*only.path, only.table).cmp(&(path, table));
            match (after(*tables.start()), after(*tables.end())) {
                (Ordering::Less, _) => 1..1,
                (_, Ordering::Greater) => 0..0,
                (Ordering::Equal | Ordering::Greater, Ordering::Less | Ordering::Equal) => 0..1,
            }
        }
        _ => {
            let start = entries
                .partition_point(|entry| (&*entry.path, entry.table) < (path, *tables.start()));
            let length = entries[start..]
                .iter()
                .take_while(|entry| entry.table <= *tables.end() && *entry.path == *path)
                .count();
            start..start + length
        }
    }
}

#[cfg(test)]
mod tests {
    use picklock_clients::zookeeper::watch;
    use proptest::prelude::*;

    use super::*;

    /// Inserts, removes, or takes entries of a path, in a table.
    #[derive(Clone, Debug)]
    enum Step {
        Insert(u8, WatchTable),
        Remove(u8, WatchTable),
        Take(u8, WatchTable),
    }

    fn step() -> impl Strategy<Value = Step> {
        let at = (0..200_u8, prop::sample::select(&WatchTable::ALL[..]));
        (0..8, at).prop_map(|(kind, (path, table))| match kind {
            0 => Step::Remove(path, table),
            1 => Step::Take(path, table),
            _ => Step::Insert(path, table),
        })
    }

    fn name(path: u8) -> Path {
        Path::from(format!("/{path:03}"))
    }

    proptest! {
        #[test]
        fn entries_are_one_sorted_list(steps in prop::collection::vec(step(), 0..400)) {
            let mut entries = Entries::default();
            let mut list: Vec<(Path, WatchTable, Watcher)> = Vec::new();
            for step in steps {
                match step {
                    Step::Insert(path, table) => {
                        let (path, (watcher, _)) = (name(path), watch());
                        let end = list.partition_point(|known| (&known.0, known.1) <= (&path, table));
                        list.insert(end, (path.clone(), table, watcher.clone()));
                        entries.insert(Entry { path, table, repeat: false, watcher });
                    }
                    Step::Remove(path, table) => {
                        entries.remove(&name(path), WatchTable::Data..=table);
                        list.retain(|known| known.0 != name(path) || known.1 > table);
                    }
                    Step::Take(path, table) => {
                        let path = name(path);
                        let taken = entries.take(&path, |entry| entry.path == path && entry.table == table);
                        prop_assert_eq!(taken.len(), entries_of(&list, &path, table).count());
                        list.retain(|known| known.0 != path || known.1 != table);
                    }
                }
                prop_assert_eq!(entries.is_empty(), list.is_empty());
                prop_assert_eq!(entries.iter().count(), list.len());
                for (entry, known) in entries.iter().zip(&list) {
                    prop_assert!(entry.path == known.0 && entry.table == known.1);
                    prop_assert!(entry.watcher.is(&known.2));
                }
                if let Some((path, table, _)) = list.last() {
                    let of = entries.of(path, *table);
                    prop_assert_eq!(of.len(), entries_of(&list, path, *table).count());
                }
            }
        }
    }

    fn entries_of<'list>(
        list: &'list [(Path, WatchTable, Watcher)],
        path: &'list Path,
        table: WatchTable,
    ) -> impl Iterator<Item = &'list (Path, WatchTable, Watcher)> {
        list.iter()
            .filter(move |known| known.0 == *path && known.1 == table)
    }
}
