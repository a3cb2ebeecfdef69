//! A small table with a cell for each contender and lock.

use crate::{ContenderId, History, LockId};

/// Cells by contender and lock. Grows if an event names a contender or a lock that is not in the history's lists.
pub(super) struct Table<T> {
    cells: Vec<T>,
    locks: usize,
}

impl<T: Clone + Default> Table<T> {
    pub(super) fn new(history: &History) -> Self {
        let locks = history.locks.len().max(1);
        let contenders = history.contenders.len().max(1);
        Self {
            cells: vec![T::default(); locks * contenders],
            locks,
        }
    }

    pub(super) fn cell(&mut self, by: ContenderId, lock: LockId) -> &mut T {
        let (row, column) = (by.0 as usize, lock.0 as usize);
        if column >= self.locks {
            self.widen(column + 1);
        }
        let index = row * self.locks + column;
        if index >= self.cells.len() {
            self.cells.resize((row + 1) * self.locks, T::default());
        }
        &mut self.cells[index]
    }

    /// The cells of one contender, by lock.
    pub(super) fn row(&mut self, by: ContenderId) -> &mut [T] {
        let from = by.0 as usize * self.locks;
        let until = (from + self.locks).min(self.cells.len());
        self.cells.get_mut(from..until).unwrap_or_default()
    }

    /// All cells with their contenders and locks.
    pub(super) fn iter(&self) -> impl Iterator<Item = (ContenderId, LockId, &T)> {
        let locks = self.locks;
        self.cells.iter().enumerate().map(move |(index, cell)| {
            let by = ContenderId((index / locks) as u32);
            (by, LockId((index % locks) as u32), cell)
        })
    }

    #[cold]
    fn widen(&mut self, locks: usize) {
        let rows = self.cells.len() / self.locks;
        let mut cells = vec![T::default(); rows * locks];
        for (index, cell) in std::mem::take(&mut self.cells).into_iter().enumerate() {
            cells[index / self.locks * locks + index % self.locks] = cell;
        }
        self.cells = cells;
        self.locks = locks;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_stays_when_the_table_grows_both_ways() {
        let mut table = Table::<u32>::new(&History::default());
        *table.cell(ContenderId(0), LockId(0)) = 1;
        *table.cell(ContenderId(2), LockId(0)) = 2;
        *table.cell(ContenderId(1), LockId(3)) = 3;
        let written: Vec<_> = table
            .iter()
            .filter(|(_, _, cell)| **cell != 0)
            .map(|(by, lock, cell)| (by.0, lock.0, *cell))
            .collect();
        assert_eq!(written, [(0, 0, 1), (1, 3, 3), (2, 0, 2)]);
    }
}
