//! Transactions with their savepoints (PostgreSQL's `xact.c`).

use std::rc::Rc;

use picklock_clients::sql::{ErrorCode, IsolationLevel};
use picklock_machines::ConnectionId;

use crate::backend::{Backend, Running};
use crate::executor::Stop;
use crate::heap::{Redo, Snapshot, Xid};
use crate::io::{Change, Locked, Output};
use crate::lock_manager::{EXCLUSIVE, Entry, Holder, Scope, Tag};
use crate::predicate::Read;
use crate::server::Server;
use crate::settings::SessionSettings;
use crate::wal::Record;

/// What a transaction has done since it began, or since a savepoint.
#[derive(Clone, Debug, Default)]
pub(crate) struct Level {
    /// The savepoint.
    pub name: Option<&'static str>,
    xid: Option<Xid>,
}

/// A transaction.
#[derive(Clone, Debug)]
pub(crate) struct Transaction {
    /// It goes on when a statement is over: until it is committed or rolled back.
    pub is_block: bool,
    pub isolation: IsolationLevel,
    /// When it began, by the wall clock.
    pub began: i64,
    /// What all its statements see, if that is the same.
    pub snapshot: Option<Snapshot>,
    pub levels: Vec<Level>,
    /// Its transaction ids, with their levels.
    pub xids: Vec<(Xid, usize)>,
    /// It has failed, and does nothing until it is rolled back.
    pub failed: bool,
    pub changes: Vec<Redo>,
    /// The settings when it began, and those that stay when it is committed.
    pub settings: (SessionSettings, SessionSettings),
    /// What it has looked at, if it is serializable.
    pub reads: Vec<Read>,
    /// The rows that it has locked, with the levels.
    pub rows: Vec<(usize, Locked)>,
}

impl Transaction {
    /// The level of what is done now.
    pub fn level(&self) -> usize {
        self.levels.len() - 1
    }
}

impl Server {
    /// The transaction of a session; a statement outside of one begins one of its own.
    pub(crate) fn transaction(&mut self, me: ConnectionId) -> &mut Transaction {
        let Self {
            backends,
            wall,
            now,
            settings,
            ..
        } = self;
        let backend = backends.entry(me);
        let backend = backend.or_insert_with(|| Backend::new(settings, *now));
        let (settings, isolation) = (backend.settings, backend.isolation);
        backend.transaction.get_or_insert_with(|| Transaction {
            is_block: !settings.is_on(picklock_clients::sql::Setting::Autocommit),
            isolation,
            began: *wall,
            snapshot: None,
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
    pub(crate) fn xid(&mut self, me: ConnectionId) -> Xid {
        let holder = Holder::Session(me);
        let level = self.transaction(me).level();
        if let Some(xid) = self.transaction(me).levels[level].xid {
            return xid;
        }
        let xid = self.heap.begin(holder);
        let transaction = self.transaction(me);
        transaction.levels[level].xid = Some(xid);
        transaction.xids.push((xid, level));
        let entry = Entry {
            holder,
            mode: EXCLUSIVE,
            scope: Scope::Transaction(level),
        };
        self.locks.request(&Tag::Transaction(xid), entry, false);
        xid
    }

    /// What a statement that begins now sees.
    pub(crate) fn take_snapshot(&mut self, me: ConnectionId) -> Snapshot {
        let commits = self.heap.commits;
        let transaction = self.transaction(me);
        match transaction.isolation {
            IsolationLevel::ReadCommitted => commits,
            IsolationLevel::RepeatableRead | IsolationLevel::Serializable => {
                *transaction.snapshot.get_or_insert(commits)
            }
        }
    }

    pub(crate) fn savepoint(&mut self, me: ConnectionId, name: Option<&'static str>) {
        let level = Level { name, xid: None };
        self.transaction(me).levels.push(level);
    }

    fn level_of(&mut self, me: ConnectionId, name: &str) -> Result<usize, ErrorCode> {
        let no_savepoint = self.profile.no_savepoint;
        let levels = &self.transaction(me).levels;
        let level = levels.iter().rposition(|level| level.name == Some(name));
        level.ok_or(no_savepoint)
    }

    /// `ROLLBACK TO SAVEPOINT`: the savepoint stays.
    pub(crate) fn rollback_to(
        &mut self,
        me: ConnectionId,
        name: &'static str,
    ) -> Result<(), ErrorCode> {
        let level = self.level_of(me, name)?;
        self.undo_levels(me, level);
        self.transaction(me).failed = false;
        self.savepoint(me, Some(name));
        Ok(())
    }

    pub(crate) fn release_savepoint(
        &mut self,
        me: ConnectionId,
        name: &str,
    ) -> Result<(), ErrorCode> {
        let level = self.level_of(me, name)?;
        self.merge_levels(me, level);
        Ok(())
    }

    /// What was done from this level on belongs to the one below.
    pub(crate) fn merge_levels(&mut self, me: ConnectionId, level: usize) {
        let transaction = self.transaction(me);
        transaction.levels.truncate(level);
        let below = level - 1;
        for (_, of) in &mut transaction.xids {
            *of = below.min(*of);
        }
        for (of, _) in &mut transaction.rows {
            *of = below.min(*of);
        }
        self.locks.lower(Holder::Session(me), below);
    }

    /// What was done from this level on is undone. PostgreSQL frees the locks that were taken there, InnoDB keeps them.
    pub(crate) fn undo_levels(&mut self, me: ConnectionId, level: usize) {
        let frees = self.profile.error_aborts_transaction || level == 0;
        let transaction = self.transaction(me);
        transaction.levels.truncate(level);
        let (mut undone, mut rows) = (Vec::new(), Vec::new());
        transaction.xids.retain(|(xid, of)| {
            if *of >= level {
                undone.push(*xid);
            }
            *of < level
        });
        transaction
            .changes
            .retain(|change| !undone.contains(&change.xid));
        if frees {
            transaction.rows.retain(|(of, row)| {
                if *of >= level {
                    rows.push(row.clone());
                }
                *of < level
            });
        }
        for xid in undone {
            self.heap.abort(xid);
        }
        self.rows_released(me, rows);
        if frees {
            self.release_where(me, |_, entry| entry.scope >= Scope::Transaction(level));
        }
    }

    pub(crate) fn rows_released(&mut self, connection: ConnectionId, rows: Vec<Locked>) {
        for lock in rows {
            self.out.push(Output::Released { connection, lock });
        }
    }

    /// Rolls the transaction of a session back, if it has one.
    pub(crate) fn rollback(&mut self, me: ConnectionId) {
        if self
            .backends
            .get(&me)
            .is_some_and(|backend| backend.transaction.is_some())
        {
            self.undo_levels(me, 0);
            if let Some(backend) = self.backends.get_mut(&me)
                && let Some(transaction) = backend.transaction.take()
            {
                backend.settings = transaction.settings.0;
            }
        }
    }

    /// A statement has failed.
    pub(crate) fn statement_failed(&mut self, me: ConnectionId, code: ErrorCode) {
        let Some(transaction) = self
            .backends
            .get(&me)
            .and_then(|backend| backend.transaction.as_ref())
        else {
            return;
        };
        let (is_block, failed, level) = (
            transaction.is_block,
            transaction.failed,
            transaction.level(),
        );
        let on_timeout = code == ErrorCode::LockWaitTimeout && self.settings.rollback_on_timeout;
        if !is_block || code == ErrorCode::LockDeadlock || on_timeout {
            return self.rollback(me);
        }
        if self.profile.error_aborts_transaction {
            if !failed {
                let name = self.transaction(me).levels[level].name;
                self.undo_levels(me, level);
                let transaction = self.transaction(me);
                transaction.levels.push(Level { name, xid: None });
                transaction.failed = true;
            }
        } else if level > 0 && self.transaction(me).levels[level].name.is_none() {
            self.undo_levels(me, level);
        }
    }

    /// Commits the transaction of a session: its record goes to the disk, and to the standby that is waited for.
    pub(crate) fn commit(&mut self, run: &mut Running) -> Result<(), Stop> {
        let me = run.me;
        let flushes_locks = self.profile.flushes_locks;
        if run.lsn.is_none() {
            self.check_serializable(me)?;
            let transaction = self.transaction(me);
            let changes = transaction.changes.clone();
            let writes = !changes.is_empty() || flushes_locks && !transaction.xids.is_empty();
            if !writes {
                self.committed(me);
                return Ok(());
            }
            let xids = transaction.xids.iter().map(|(xid, _)| *xid).collect();
            run.lsn = Some(self.write_log(run, Record::Commit(xids, changes)));
            if self.profile.releases_before_flush {
                self.committed(me);
            }
        }
        self.await_log(run)?;
        run.lsn = None;
        if !self.profile.releases_before_flush {
            self.committed(me);
        }
        Ok(())
    }

    /// The transaction of a session is committed: all can see it.
    fn committed(&mut self, me: ConnectionId) {
        let Some(backend) = self.backends.get_mut(&me) else {
            return;
        };
        let Some(transaction) = backend.transaction.take() else {
            return;
        };
        backend.settings = transaction.settings.1;
        self.note_serializable(&transaction);
        let xids: Vec<Xid> = transaction.xids.iter().map(|(xid, _)| *xid).collect();
        self.commit_changes(Some(me), &xids, &transaction.changes);
        let rows = transaction.rows.into_iter().map(|(_, row)| row).collect();
        self.rows_released(me, rows);
        self.release_where(me, |_, entry| entry.scope >= Scope::Transaction(0));
    }

    /// These transactions are committed, with what they have changed.
    pub(crate) fn commit_changes(
        &mut self,
        connection: Option<ConnectionId>,
        xids: &[Xid],
        changes: &[Redo],
    ) {
        let told: Rc<[Change]> = changes
            .iter()
            .map(|change| self.change_of(change))
            .collect();
        if !xids.is_empty() {
            self.heap.commit(xids);
        }
        if !told.is_empty() {
            let changes = told;
            self.out.push(Output::Committed {
                connection,
                changes,
            });
            let snapshots = self
                .backends
                .values()
                .filter_map(|backend| backend.snapshot());
            let oldest = snapshots.min().unwrap_or(self.heap.commits);
            self.heap.prune(oldest);
        }
    }

    fn change_of(&self, change: &Redo) -> Change {
        Change {
            table: self.heap.tables[change.table].name,
            before: change.old.and_then(|old| self.heap.row(change.table, old)),
            after: change.new.as_ref().map(|(_, row)| Rc::clone(row)),
        }
    }
}
