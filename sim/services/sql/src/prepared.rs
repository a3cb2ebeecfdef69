//! Prepared transactions: they keep their locks without a session, and over restarts (PostgreSQL's `twophase.c`).

use std::rc::Rc;

use picklock_clients::sql::{ErrorCode, Gid};
use picklock_machines::ConnectionId;

use crate::ids::Holder;
use crate::lock_manager::{Entry, Scope, Tag};
use crate::log::{PrepareRecord, Record};
use crate::session::{Done, Session, Stop};
use crate::state::{Instance, Prepared};

impl Instance {
    pub fn next_prepared(&self) -> u32 {
        let last = self.prepared.values().map(|prepared| prepared.number).max();
        last.map_or(0, |last| last + 1)
    }

    /// `PREPARE TRANSACTION`
    pub fn prepare_transaction(&mut self, s: &mut Session, gid: &Gid) -> Done {
        let holder = s.holder();
        if s.run.lsn.is_none() {
            let of_transaction = |scope| matches!(scope, Scope::Transaction(_));
            let held: Vec<_> = self.locks.held_by(holder).collect();
            let at_both_levels = held.iter().any(|(tag, entry)| {
                let of_both =
                    |(other, at): &(&Tag, &Entry)| other == tag && at.scope == Scope::Session;
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
            let transaction = self.transaction(s);
            let changes = transaction.changes.clone();
            let xids = transaction.all_xids();
            let record = PrepareRecord {
                lockers: self.heap.lockers_of(&xids),
                xids,
                changes,
                locks,
            };
            s.run.lsn = Some(self.write_log(s, Record::Prepare(Rc::clone(gid), record)));
        }
        self.await_log(s)?;
        s.run.lsn = None;
        let number = self.next_prepared();
        let Some(transaction) = s.transaction.take() else {
            return Ok(());
        };
        let xids = transaction.all_xids();
        for xid in &xids {
            self.heap.set_in_progress(*xid, Holder::Prepared(number));
        }
        self.locks.transfer(holder, Holder::Prepared(number));
        let prepared = Prepared {
            number,
            by: Some(s.me),
            rows: transaction.rows.into_iter().map(|(_, row)| row).collect(),
            xids,
            changes: transaction.changes,
        };
        self.prepared.insert(Rc::clone(gid), prepared);
        Ok(())
    }

    /// `COMMIT PREPARED`, or `ROLLBACK PREPARED`.
    pub fn finish_prepared(&mut self, s: &mut Session, gid: &Gid, commits: bool) -> Done {
        if s.transaction.is_some() {
            return Err(Stop::Error(ErrorCode::ActiveSqlTransaction));
        }
        if !self.prepared.contains_key(gid) {
            return Err(Stop::Error(ErrorCode::UndefinedObject));
        }
        if s.run.lsn.is_none() {
            let record = Record::EndPrepared(Rc::clone(gid), commits);
            s.run.lsn = Some(self.write_log(s, record));
        }
        self.await_log(s)?;
        s.run.lsn = None;
        self.end_prepared(Some(s.me), gid, commits);
        Ok(())
    }

    pub fn end_prepared(&mut self, by: Option<ConnectionId>, gid: &Gid, commits: bool) {
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
            self.rows_released(connection, prepared.rows.into_iter());
        }
        self.locks
            .release_all(Holder::Prepared(prepared.number), |_, _| true);
    }
}
