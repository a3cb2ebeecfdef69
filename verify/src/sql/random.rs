//! Random statements.

use picklock_clients::sql::{
    AdvisoryLock, Delete, Dialect, Expr, Function, Insert, IsolationLevel, OnConflict, RowStrength,
    Select, Statement, Update, WaitPolicy, col, text,
};

use super::model::Choices;
use crate::harness::split_mix::SplitMix64;
use picklock_machines::Chance;

/// Draws random statements.
pub(super) struct Random(pub(super) SplitMix64);

impl Random {
    /// One of so many.
    pub(super) fn below(&mut self, options: usize) -> usize {
        Choices(self.0.next() >> 8).choose(u32::try_from(options).unwrap_or(u32::MAX)) as usize
    }

    fn one_of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }

    fn name(&mut self) -> Expr {
        text(self.one_of(&["k", "k", "m", "x"]))
    }

    fn is_name(&mut self) -> Expr {
        col("name").equals(self.name())
    }

    fn owner(&mut self) -> Expr {
        text(self.one_of(&["a", "b"]))
    }

    fn change(&mut self) -> (&'static str, Expr) {
        match self.below(2) {
            0 => ("owner", self.owner()),
            _ => ("version", col("version").plus(1)),
        }
    }

    fn insert(&mut self) -> Statement {
        let values = [("name", self.name()), ("owner", self.owner())];
        let on_conflict = match self.below(4) {
            0 | 1 => OnConflict::Raise,
            2 => OnConflict::DoNothing,
            _ => OnConflict::DoUpdate {
                set: vec![("owner", self.owner())],
                filter: Vec::new(),
            },
        };
        Statement::Insert(Insert::into("l", values).on_conflict(on_conflict))
    }

    fn locking_read(&mut self, dialect: Dialect) -> Statement {
        let strengths = match dialect {
            Dialect::Postgres => &[
                RowStrength::Update,
                RowStrength::Update,
                RowStrength::NoKeyUpdate,
                RowStrength::Share,
                RowStrength::KeyShare,
            ][..],
            Dialect::MySql => &[RowStrength::Update, RowStrength::Update, RowStrength::Share],
        };
        let policies = [
            WaitPolicy::Block,
            WaitPolicy::Block,
            WaitPolicy::Block,
            WaitPolicy::NoWait,
            WaitPolicy::SkipLocked,
        ];
        let select = Select::from("l", [col("owner"), col("version")]).and(self.is_name());
        let select = select.locking(self.one_of(strengths), self.one_of(&policies));
        Statement::Select(select)
    }

    fn advisory(&mut self) -> Statement {
        let key = self.below(2) as i64;
        let which = AdvisoryLock {
            tries: self.below(3) == 0,
            xact: self.below(3) == 0,
            shared: self.below(3) == 0,
        };
        Statement::call(match self.below(8) {
            0 => Function::AdvisoryUnlockAll,
            1..4 => Function::AdvisoryUnlock {
                shared: which.shared,
                key: picklock_clients::sql::AdvisoryKey::of(key),
            },
            _ => Function::advisory(which, key),
        })
    }

    fn user_lock(&mut self) -> Statement {
        let name = self.one_of(&["g", "h"]);
        let seconds = self.one_of(&[0, 100]);
        Statement::call(match self.below(6) {
            0 => Function::ReleaseAllLocks,
            1 => Function::IsFreeLock(text(name).into()),
            2 => Function::ReleaseLock(text(name).into()),
            _ => Function::get_lock(name, std::time::Duration::from_secs(seconds)),
        })
    }

    fn control(&mut self, dialect: Dialect) -> Statement {
        let savepoint = self.one_of(&["s", "t"]);
        match self.below(12) {
            0..3 => Statement::Begin(None),
            3 if dialect == Dialect::Postgres => {
                Statement::Begin(Some(IsolationLevel::RepeatableRead))
            }
            3..8 => Statement::Commit,
            8 | 9 => Statement::Rollback,
            10 => Statement::Savepoint(savepoint),
            _ => Statement::RollbackTo(savepoint),
        }
    }

    /// A statement.
    pub(super) fn statement(&mut self, dialect: Dialect) -> Statement {
        match self.below(20) {
            0..5 => self.control(dialect),
            5..7 => self.insert(),
            7..10 => {
                let set = [self.change()];
                Statement::Update(Update::of("l", set).and(self.is_name()))
            }
            10 => {
                let update = Update::of("l", [self.change()]).and(self.is_name());
                Statement::Update(update.and(col("version").equals(self.below(3) as i64)))
            }
            11..13 => Statement::Delete(Delete::from("l").and(self.is_name())),
            13..16 => self.locking_read(dialect),
            16 => {
                let items = [col("name"), col("owner"), col("version")];
                Statement::Select(Select::from("l", items).order_by("name"))
            }
            _ => match dialect {
                Dialect::Postgres => self.advisory(),
                Dialect::MySql => self.user_lock(),
            },
        }
    }
}
