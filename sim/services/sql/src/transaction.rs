//! Transactions with their savepoints (PostgreSQL's `xact.c`).

use std::rc::Rc;

use picklock_clients::sql::{ErrorCode, IsolationLevel, Setting};
use picklock_machines::ConnectionId;

use crate::heap::Redo;
use crate::ids::{Snapshot, Xid};
use crate::io::{Change, Locked, Output};
use crate::lock_manager::{EXCLUSIVE, Entry, Scope, Tag};
use crate::log::Record;
use crate::session::{Done, Level, Session, Transaction};
use crate::state::Instance;

impl Instance {
    /// The transaction of a session; a statement outside of one begins one of its own.
    pub fn transaction<'s>(&self, s: &'s mut Session) -> &'s mut Transaction {
        let (settings, isolation) = (s.settings, s.isolation);
        s.transaction.get_or_insert_with(|| Transaction {
            is_block: !settings.is_on(Setting::Autocommit),
            isolation,
            began: self.wall,
            snapshot: None,
            has_looked: false,
            levels: vec![Level::default()],
            xids: Vec::new(),
            failed: false,
            changes: Vec::new(),
            settings: (settings, settings),
            reads: Vec::new(),
            rows: Vec::new(),
        })
    }

    /// The transaction id of what a session does now.
    pub fn xid(&mut self, s: &mut Session) -> Xid {
        let holder = s.holder();
        let transaction = self.transaction(s);
        let level = transaction.level();
        if let Some(xid) = transaction.levels[level].xid {
            return xid;
        }
        let xid = self.heap.begin(holder);
        transaction.levels[level].xid = Some(xid);
        transaction.xids.push((xid, level));
        let (mode, scope) = (EXCLUSIVE, Scope::Transaction(level));
        let entry = Entry {
            holder,
            mode,
            scope,
        };
        self.locks.request(&Tag::Transaction(xid), entry, false);
        xid
    }

    /// What a statement that begins now sees.
    pub fn take_snapshot(&mut self, s: &mut Session, locks: bool) -> Snapshot {
        let commits = self.heap.commits;
        let transaction = self.transaction(s);
        transaction.has_looked = true;
        let of_innodb = locks && self.profile.locks_records;
        match transaction.isolation {
            _ if of_innodb => commits,
            IsolationLevel::ReadCommitted => commits,
            IsolationLevel::RepeatableRead | IsolationLevel::Serializable => {
                *transaction.snapshot.get_or_insert(commits)
            }
        }
    }

    pub fn savepoint(&mut self, s: &mut Session, name: Option<&'static str>) {
        let transaction = self.transaction(s);
        let is_first = !transaction.has_looked;
        transaction.levels.push(Level {
            name,
            is_first,
            xid: None,
        });
    }

    fn level_of(&mut self, s: &mut Session, name: &str) -> Result<usize, ErrorCode> {
        let levels = &self.transaction(s).levels;
        let level = levels.iter().rposition(|level| level.name == Some(name));
        level.ok_or(self.profile.no_savepoint)
    }

    /// `ROLLBACK TO SAVEPOINT`: the savepoint stays.
    pub fn rollback_to(&mut self, s: &mut Session, name: &'static str) -> Result<(), ErrorCode> {
        let level = self.level_of(s, name)?;
        self.undo_levels(s, level);
        self.transaction(s).failed = false;
        self.savepoint(s, Some(name));
        Ok(())
    }

    pub fn release_savepoint(&mut self, s: &mut Session, name: &str) -> Result<(), ErrorCode> {
        let level = self.level_of(s, name)?;
        self.merge_levels(s, level);
        Ok(())
    }

    /// What was done from this level on belongs to the one below.
    pub fn merge_levels(&mut self, s: &mut Session, level: usize) {
        let (transaction, below) = (self.transaction(s), level - 1);
        transaction.levels.truncate(level);
        for (_, of) in &mut transaction.xids {
            *of = below.min(*of);
        }
        for (of, _) in &mut transaction.rows {
            *of = below.min(*of);
        }
        self.locks.lower(s.holder(), below);
    }

    /// What was done from this level on is undone. PostgreSQL frees the locks that were taken there, InnoDB keeps
    /// them, unless the transaction had looked at nothing before.
    pub fn undo_levels(&mut self, s: &mut Session, level: usize) {
        let aborts = self.profile.error_aborts_transaction;
        let transaction = self.transaction(s);
        let ends =
            { transaction.levels.get(level) }.is_some_and(|of| of.is_first && of.name.is_some());
        let frees = aborts || level == 0 || ends;
        if ends && !aborts {
            transaction.snapshot = None;
        }
        transaction.levels.truncate(level);
        let undone: Vec<Xid> = { transaction.xids.extract_if(.., |(_, of)| *of >= level) }
            .map(|(xid, _)| xid)
            .collect();
        transaction
            .changes
            .retain(|change| !undone.contains(&change.xid));
        for xid in undone {
            self.heap.abort(xid);
        }
        if frees {
            let rows: Vec<_> = transaction
                .rows
                .extract_if(.., |(of, _)| *of >= level)
                .collect();
            self.rows_released(s.me, rows.into_iter().map(|(_, row)| row));
            self.release_where(s.me, |_, entry| entry.scope >= Scope::Transaction(level));
        }
    }

    pub fn rows_released(&mut self, connection: ConnectionId, rows: impl Iterator<Item = Locked>) {
        let released = rows.map(|lock| Output::Released { connection, lock });
        self.out.extend(released);
    }

    /// Rolls the transaction of a session back, if it has one.
    pub fn rollback(&mut self, s: &mut Session) {
        if s.transaction.is_some() {
            self.undo_levels(s, 0);
        }
        if let Some(transaction) = s.transaction.take() {
            s.settings = transaction.settings.0;
        }
    }

    /// A statement has failed.
    pub fn statement_failed(&mut self, s: &mut Session, code: ErrorCode) {
        let Some(transaction) = &s.transaction else {
            return;
        };
        let (level, failed) = (transaction.level(), transaction.failed);
        let name = transaction.levels[level].name;
        let on_timeout = code == ErrorCode::LockWaitTimeout && self.settings.rollback_on_timeout;
        if !transaction.is_block || code == ErrorCode::LockDeadlock || on_timeout {
            return self.rollback(s);
        }
        if self.profile.error_aborts_transaction && !failed {
            self.undo_levels(s, level);
            self.savepoint(s, name);
            self.transaction(s).failed = true;
        } else if std::mem::take(&mut s.run.scan.has_level) {
            self.undo_levels(s, level);
        }
    }

    /// Commits the transaction of a session: its record goes to the disk, and to the standby that is waited for.
    pub fn commit(&mut self, s: &mut Session) -> Done {
        if s.run.lsn.is_none() {
            self.check_serializable(s)?;
            let transaction = self.transaction(s);
            let (xids, changes) = (transaction.all_xids(), transaction.changes.clone());
            if changes.is_empty() && (xids.is_empty() || !self.profile.flushes_locks) {
                self.committed(s);
                return Ok(());
            }
            s.run.lsn = Some(self.write_log(s, Record::Commit(xids, changes)));
            if self.profile.releases_before_flush {
                self.committed(s);
            }
        }
        self.await_log(s)?;
        if !self.profile.releases_before_flush {
            self.committed(s);
        }
        Ok(())
    }

    /// The transaction of a session is committed: all can see it.
    fn committed(&mut self, s: &mut Session) {
        let Some(transaction) = s.transaction.take() else {
            return;
        };
        s.settings = transaction.settings.1;
        self.note_serializable(&transaction);
        self.commit_changes(Some(s.me), &transaction.all_xids(), &transaction.changes);
        self.rows_released(s.me, transaction.rows.into_iter().map(|(_, row)| row));
        self.release_where(s.me, |_, entry| entry.scope >= Scope::Transaction(0));
    }

    /// These transactions are committed, with what they have changed.
    pub fn commit_changes(
        &mut self,
        connection: Option<ConnectionId>,
        xids: &[Xid],
        changes: &[Redo],
    ) {
        if !xids.is_empty() {
            self.heap.commit(xids);
        }
        if !changes.is_empty() {
            let changes = changes
                .iter()
                .map(|change| self.change_of(change))
                .collect();
            self.out.push(Output::Committed {
                connection,
                changes,
            });
            self.heap.prune(self.oldest_snapshot());
        }
    }

    /// The newest commit that all sessions see.
    pub fn oldest_snapshot(&self) -> Snapshot {
        let snapshots = self.sessions.values().filter_map(Session::snapshot);
        snapshots.min().unwrap_or(self.heap.commits)
    }

    fn change_of(&self, change: &Redo) -> Change {
        Change {
            table: self.heap.tables[change.table].name,
            before: change.old.and_then(|old| self.heap.row(change.table, old)),
            after: change.new.as_ref().map(|(_, row)| Rc::clone(row)),
        }
    }
}
