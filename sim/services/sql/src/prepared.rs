//! Prepared transactions: they keep their locks without a session, and over restarts (PostgreSQL's `twophase.c`).

use std::rc::Rc;

use picklock_clients::sql::{ErrorCode, Gid};
use picklock_machines::ConnectionId;

use crate::backend::Running;
use crate::executor::Stop;
use crate::heap::{Redo, Xid};
use crate::io::Locked;
use crate::lock_manager::{Holder, Scope, Tag};
use crate::server::Server;
use crate::wal::{PrepareRecord, Record};

/// A prepared transaction.
#[derive(Clone, Debug)]
pub(crate) struct Prepared {
    /// What holds its locks.
    pub number: u32,
    /// The session that has prepared it, and the rows that it has locked there.
    pub by: Option<ConnectionId>,
    pub rows: Vec<Locked>,
    pub xids: Vec<Xid>,
    pub changes: Vec<Redo>,
}

impl Server {
    pub(crate) fn next_prepared(&self) -> u32 {
        let last = self.prepared.values().map(|prepared| prepared.number).max();
        last.map_or(0, |last| last + 1)
    }

    /// `PREPARE TRANSACTION`
    pub(crate) fn prepare_transaction(&mut self, run: &mut Running, gid: &Gid) -> Result<(), Stop> {
        let (me, holder) = (run.me, Holder::Session(run.me));
        if run.lsn.is_none() {
            let of_transaction = |scope| matches!(scope, Scope::Transaction(_));
            let held: Vec<_> = self.locks.held_by(holder).collect();
            let at_both_levels = held.iter().any(|(tag, entry)| {
                let of_both = |(other, at): &(&Tag, &crate::lock_manager::Entry)| {
                    other == tag && at.scope == Scope::Session
                };
                of_transaction(entry.scope) && held.iter().any(of_both)
            });
            if at_both_levels {
                return Err(Stop::Error(ErrorCode::FeatureNotSupported));
            }
            let kept = held.iter().filter(|(_, entry)| of_transaction(entry.scope));
            let locks = kept
                .map(|(tag, entry)| ((*tag).clone(), entry.mode.clone()))
                .collect();
            if self.prepared.contains_key(gid) {
                return Err(Stop::Error(ErrorCode::DuplicateObject));
            }
            let transaction = self.transaction(me);
            let changes = transaction.changes.clone();
            let xids: Vec<Xid> = transaction.xids.iter().map(|(xid, _)| *xid).collect();
            let record = PrepareRecord {
                lockers: self.heap.lockers_of(&xids),
                xids,
                changes,
                locks,
            };
            run.lsn = Some(self.write_log(run, Record::Prepare(Rc::clone(gid), record)));
        }
        self.await_log(run)?;
        run.lsn = None;
        let number = self.next_prepared();
        let Some(transaction) = self
            .backends
            .get_mut(&me)
            .and_then(|backend| backend.transaction.take())
        else {
            return Ok(());
        };
        let xids: Vec<Xid> = transaction.xids.iter().map(|(xid, _)| *xid).collect();
        for xid in &xids {
            self.heap.set_in_progress(*xid, Holder::Prepared(number));
        }
        self.locks.transfer(holder, Holder::Prepared(number));
        let prepared = Prepared {
            number,
            by: Some(me),
            rows: transaction.rows.into_iter().map(|(_, row)| row).collect(),
            xids,
            changes: transaction.changes,
        };
        self.prepared.insert(Rc::clone(gid), prepared);
        Ok(())
    }

    /// `COMMIT PREPARED`, or `ROLLBACK PREPARED`.
    pub(crate) fn finish_prepared(
        &mut self,
        run: &mut Running,
        gid: &Gid,
        commits: bool,
    ) -> Result<(), Stop> {
        if self
            .backends
            .get(&run.me)
            .is_some_and(|backend| backend.transaction.is_some())
        {
            return Err(Stop::Error(ErrorCode::ActiveSqlTransaction));
        }
        if !self.prepared.contains_key(gid) {
            return Err(Stop::Error(ErrorCode::UndefinedObject));
        }
        if run.lsn.is_none() {
            let record = Record::EndPrepared(Rc::clone(gid), commits);
            run.lsn = Some(self.write_log(run, record));
        }
        self.await_log(run)?;
        run.lsn = None;
        self.end_prepared(Some(run.me), gid, commits);
        Ok(())
    }

    pub(crate) fn end_prepared(&mut self, by: Option<ConnectionId>, gid: &Gid, commits: bool) {
        let Some(prepared) = self.prepared.remove(gid) else {
            return;
        };
        if commits {
            self.commit_changes(by, &prepared.xids, &prepared.changes);
        } else {
            for xid in &prepared.xids {
                self.heap.abort(*xid);
            }
        }
        if let Some(connection) = prepared.by {
            self.rows_released(connection, prepared.rows);
        }
        self.locks
            .release_all(Holder::Prepared(prepared.number), |_, _| true);
    }
}
