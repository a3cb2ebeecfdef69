//! Applying committed transactions: the tree changes, watches fire, the client is answered, and requests that waited
//! behind the answer go on.

use std::rc::Rc;

use picklock_clients::zookeeper::{OpResult, Reply, Response, SessionId, ZkError, Zxid};

use super::clients::{Awaited, Clients, Decision, Pending};
use super::messages::ConnectionId;
use super::state::{Role, Server, Turn};
use super::tree::DataTree;
use super::txn::{Txn, TxnChange, parent_of};
use super::watches::{Firing, WatchManager};

impl Server {
    /// Applies what is logged, up to this transaction.
    pub(super) fn apply_up_to(&mut self, turn: &mut Turn, limit: Zxid) {
        while let Some(txn) = self.log.next_to_apply(limit) {
            self.apply(turn, &txn);
        }
    }

    /// Applies a committed transaction.
    pub(super) fn apply(&mut self, turn: &mut Turn, txn: &Txn) {
        // Most transactions are of sessions that other servers serve.
        let answered = txn.session.and_then(|session| {
            let is_answered = |what| answers(txn, what);
            self.clients.take_answered(session, is_answered)
        });
        let asked = answered.and_then(|answered| answered.request);
        let wants_results = matches!(asked, Some((_, Decision::Write { .. })));
        let results = if txn.change.is_done() {
            self.change(turn, txn, wants_results)
        } else {
            Vec::new()
        };
        self.tree.set_last_zxid(txn.zxid);
        if let Some((id, what)) = asked
            && let Some(connection) = self.clients.connections.get(id)
        {
            let throttled = connection.throttled;
            self.answer(turn, txn, (id, what), results);
            if throttled {
                self.read_again(turn, id);
            }
        }
        if let Some(session) = txn.session {
            if matches!(txn.change, TxnChange::CloseSession { .. }) {
                self.session_closed(turn, session);
            } else if answered.is_some_and(|answered| answered.goes_on) {
                self.go_on(turn, session);
            }
        }
    }

    /// Does what a transaction says. Answers the result of each part of a multi.
    #[inline(never)]
    fn change(&mut self, turn: &mut Turn, txn: &Txn, wants_results: bool) -> Vec<OpResult> {
        let mut results = Vec::new();
        let mut applying = TxnApplication {
            tree: &mut self.tree,
            firing: Firing {
                watches: &mut self.watches,
                clients: &mut self.clients,
                caused_by: txn.session,
                out: turn.out,
            },
            txn,
        };
        applying.apply_all(|applying, change| {
            if wants_results {
                results.push(applying.result(change));
            }
        });
        results
    }

    fn answer(
        &mut self,
        turn: &mut Turn,
        txn: &Txn,
        (id, what): (ConnectionId, Decision),
        results: Vec<OpResult>,
    ) {
        match what {
            Decision::Open => self.establish(turn, id),
            Decision::Close { xid } => self.reply(turn, id, xid, Ok(Response::Closed)),
            Decision::Write { xid, with_stat } => {
                match self.response(txn, with_stat, results) {
                    // The client has gone to another server, and must not be told anything here.
                    Err(ZkError::SessionMoved) => self.close_connection(turn, id),
                    reply => self.reply(turn, id, xid, reply),
                }
            }
            Decision::Sync { .. } => {}
        }
    }

    fn response(&self, txn: &Txn, with_stat: bool, results: Vec<OpResult>) -> Reply {
        Ok(match &txn.change {
            TxnChange::Create(made) => Response::Created {
                path: Rc::clone(&made.path),
                stat: with_stat
                    .then(|| self.tree.stat(&made.path).map(Box::new))
                    .flatten(),
            },
            TxnChange::Delete { .. } => Response::Deleted,
            TxnChange::SetData { path, .. } | TxnChange::SetAcl { path, .. } => {
                Response::Set(Box::new(self.tree.stat(path).unwrap_or_default()))
            }
            TxnChange::Multi(_) => Response::Multi(results),
            // The server closes the connection of a session that has moved, whatever it asked.
            TxnChange::MultiFailed(failed) if failed.error == ZkError::SessionMoved => {
                return Err(failed.error);
            }
            TxnChange::MultiFailed(failed) => Response::MultiFailed(*failed),
            TxnChange::Error(error) => return Err(*error),
            TxnChange::CreateSession { .. } | TxnChange::CloseSession { .. } | TxnChange::Check => {
                return Err(ZkError::MarshallingError);
            }
        })
    }

    /// A session is closed everywhere: its connection goes, and whatever it still waited for.
    #[cold]
    fn session_closed(&mut self, turn: &mut Turn, session: SessionId) {
        if let Role::Leading(leading) = &mut self.role {
            leading.tracker.remove(session);
        }
        if let Some(id) = self.clients.close(session) {
            self.close_connection(turn, id);
        }
    }

    /// The leader has answered a `sync`; everything that was committed before has come before.
    #[inline(never)]
    pub(super) fn synced(&mut self, turn: &mut Turn, session: SessionId) {
        let Some(&Pending {
            connection,
            what: Awaited::Decision(Decision::Sync { xid }),
        }) = self.clients.first(session)
        else {
            return;
        };
        self.clients.take_first(session);
        if self.clients.connections.contains(connection) {
            self.reply(turn, connection, xid, Ok(Response::Synced));
        }
        self.go_on(turn, session);
    }

    /// Does what a session asked after what was just answered, up to what the leader has to decide.
    fn go_on(&mut self, turn: &mut Turn, session: SessionId) {
        while let Some((id, local)) = self.clients.take_local(session) {
            self.do_local(turn, id, local);
        }
    }
}

impl DataTree {
    /// Applies a transaction without watches.
    pub(super) fn fast_forward(&mut self, txn: &Txn) {
        let mut applying = TxnApplication {
            tree: self,
            firing: Firing {
                watches: &mut WatchManager::default(),
                clients: &mut Clients::default(),
                caused_by: None,
                out: &mut Vec::new(),
            },
            txn,
        };
        applying.apply_all(|_, _| {});
        self.set_last_zxid(txn.zxid);
    }
}

/// Whether a transaction answers a request of its session.
fn answers(txn: &Txn, what: Decision) -> bool {
    match what {
        Decision::Open => matches!(txn.change, TxnChange::CreateSession { .. }),
        Decision::Write { xid, .. } | Decision::Close { xid } => txn.xid == Some(xid),
        Decision::Sync { .. } => false,
    }
}

/// What applies a transaction: the tree, and the watches on it.
struct TxnApplication<'a> {
    tree: &'a mut DataTree,
    firing: Firing<'a>,
    txn: &'a Txn,
}

impl TxnApplication<'_> {
    /// Applies all that the transaction changes; `done` is called for each part of a multi.
    fn apply_all(&mut self, mut done: impl FnMut(&Self, &TxnChange)) {
        self.apply(&self.txn.change);
        if let TxnChange::Multi(changes) = &self.txn.change {
            for change in changes {
                self.apply(change);
                done(self, change);
            }
        }
    }

    fn apply(&mut self, change: &TxnChange) {
        let &Txn { zxid, time, .. } = self.txn;
        match change {
            TxnChange::Create(made) => {
                self.tree.create(zxid, time, made);
                let readers = self.tree.readers(&made.path, Some(&made.parent));
                self.firing.created(&made.path, &made.parent, &readers);
            }
            TxnChange::Delete { path, parent } => self.delete(path, Some(parent)),
            TxnChange::SetData {
                path,
                data,
                version,
            } => {
                self.tree.set_data(zxid, time, path, data, *version);
                let readers = self.tree.readers(path, None);
                self.firing.data_set(path, &readers);
            }
            TxnChange::SetAcl { path, acl, version } => self.tree.set_acl(path, acl, *version),
            TxnChange::CreateSession { timeout } => {
                if let Some(session) = self.txn.session {
                    self.tree.open_session(session, *timeout);
                }
            }
            TxnChange::CloseSession { paths } => {
                for path in paths {
                    self.delete(path, parent_of(path));
                }
                if let Some(session) = self.txn.session {
                    self.tree.close_session(session);
                }
            }
            TxnChange::Multi(_)
            | TxnChange::MultiFailed(_)
            | TxnChange::Check
            | TxnChange::Error(_) => {}
        }
    }

    fn delete(&mut self, path: &str, parent: Option<&str>) {
        let readers = self.tree.readers(path, parent);
        if self.tree.delete(self.txn.zxid, path, parent) {
            self.firing.deleted(path, parent, &readers);
        }
    }

    /// The result of a part of a multi for its client.
    fn result(&self, change: &TxnChange) -> OpResult {
        match change {
            TxnChange::Create(made) => OpResult::Created(Rc::clone(&made.path)),
            TxnChange::Delete { .. } => OpResult::Deleted,
            TxnChange::SetData { path, .. } => {
                OpResult::Set(Box::new(self.tree.stat(path).unwrap_or_default()))
            }
            TxnChange::Check
            | TxnChange::SetAcl { .. }
            | TxnChange::Multi(_)
            | TxnChange::MultiFailed(_)
            | TxnChange::Error(_)
            | TxnChange::CreateSession { .. }
            | TxnChange::CloseSession { .. } => OpResult::Checked,
        }
    }
}
