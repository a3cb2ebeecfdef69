//! Applies requests to the store and the leases.

use std::collections::BTreeSet;
use std::rc::Rc;

use picklock_checker::VirtualTime;

use crate::lessor::Lessor;
use crate::mvcc::Store;
use crate::rpc::{
    Bytes, DeleteRangeRequest, KeyRange, KeyValue, LeaseId, PutRequest, Request, RequestOp,
    Response, TxnRequest,
};
use crate::rpctypes::{self, Status};
use crate::txn::{branch, compare_to_path};

/// What every member has, because it applies the same log.
#[derive(Clone, Debug)]
pub struct Applier {
    pub store: Store,
    pub lessor: Lessor,
}

impl Applier {
    /// Applies a request that has passed `check_request`. A request that is refused changes nothing.
    pub fn apply(&mut self, now: VirtualTime, request: &Request) -> Result<Response, Status> {
        match request {
            Request::Range(range) => self.store.range(range).map(Response::Range),
            Request::Put(put) => {
                self.check_lease(put)?;
                self.check_former(put)?;
                Ok(self.put(put))
            }
            Request::DeleteRange(delete) => Ok(self.delete_range(delete)),
            Request::Txn(txn) => self.txn(txn),
            Request::Compact(at) => self.store.compact(*at).map(|()| Response::Compact),
            Request::LeaseGrant(id, ttl) => {
                let granted = self.lessor.grant(now, *id, *ttl)?;
                Ok(Response::LeaseGrant(*id, granted))
            }
            Request::LeaseRevoke(id) => {
                for key in self.lessor.revoke(*id)? {
                    self.store.delete_range(&KeyRange::one(&key));
                }
                Ok(Response::LeaseRevoke)
            }
            Request::LeaseLeases => Ok(Response::LeaseLeases(self.lessor.ids().collect())),
            Request::LeaseTimeToLive(..)
            | Request::Lock(..)
            | Request::Unlock(_)
            | Request::Campaign(..)
            | Request::Proclaim(..)
            | Request::Resign(_)
            | Request::Leader(_) => unreachable!("a member never proposes these"),
        }
    }

    fn check_lease(&self, put: &PutRequest) -> Result<(), Status> {
        match put.lease {
            LeaseId(0) => Ok(()),
            lease if self.lessor.contains(lease) => Ok(()),
            _ => Err(rpctypes::LEASE_NOT_FOUND),
        }
    }

    fn check_former(&self, put: &PutRequest) -> Result<(), Status> {
        let needs_former = put.ignore_value || put.ignore_lease;
        if needs_former && self.store.get(&put.key).is_none() {
            return Err(rpctypes::KEY_NOT_FOUND);
        }
        Ok(())
    }

    fn put(&mut self, put: &PutRequest) -> Response {
        let former = self.store.get(&put.key).cloned();
        let (mut value, mut lease) = (Bytes::clone(&put.value), put.lease);
        if let Some(former) = &former {
            if put.ignore_value {
                value = Bytes::clone(&former.value);
            }
            if put.ignore_lease {
                lease = former.lease;
            }
            self.lessor.detach(former.lease, &put.key);
        }
        self.store.put(Rc::clone(&put.key), value, lease);
        self.lessor.attach(lease, &put.key);
        Response::Put(former.filter(|_| put.prev_kv))
    }

    fn delete_range(&mut self, delete: &DeleteRangeRequest) -> Response {
        let mut deleted: Vec<KeyValue> = self.store.delete_range(&delete.keys);
        for former in &deleted {
            self.lessor.detach(former.lease, &former.key);
        }
        let count = deleted.len() as i64;
        if !delete.prev_kv {
            deleted.clear();
        }
        Response::DeleteRange(count, deleted)
    }

    fn txn(&mut self, txn: &TxnRequest) -> Result<Response, Status> {
        let mut path = Vec::new();
        compare_to_path(&self.store, txn, &mut path);
        self.check_path(txn, &mut path.iter().copied())?;
        Ok(self.apply_txn(txn, &mut path.iter().copied()))
    }

    /// Refuses what the ways taken cannot do, before anything is done.
    fn check_path(
        &self,
        txn: &TxnRequest,
        path: &mut impl Iterator<Item = bool>,
    ) -> Result<(), Status> {
        let holds = path.next().unwrap_or_default();
        for operation in branch(txn, holds) {
            match operation {
                RequestOp::Put(put) => {
                    self.check_former(put)?;
                    self.check_lease(put)?;
                }
                RequestOp::Range(range) if range.revision != 0 => {
                    self.store.check_revision(range.revision)?;
                }
                RequestOp::Txn(txn) => self.check_path(txn, path)?,
                RequestOp::Range(_) | RequestOp::DeleteRange(_) | RequestOp::Unset => {}
            }
        }
        Ok(())
    }

    fn apply_txn(&mut self, txn: &TxnRequest, path: &mut impl Iterator<Item = bool>) -> Response {
        let holds = path.next().unwrap_or_default();
        let mut responses = Vec::new();
        for operation in branch(txn, holds) {
            responses.push(match operation {
                RequestOp::Range(range) => {
                    Response::Range(self.store.range(range).unwrap_or_default())
                }
                RequestOp::Put(put) => self.put(put),
                RequestOp::DeleteRange(delete) => self.delete_range(delete),
                RequestOp::Txn(txn) => self.apply_txn(txn, path),
                RequestOp::Unset => continue,
            });
        }
        Response::Txn(holds, responses)
    }

    /// The keys of a lease.
    pub fn keys_of(&self, id: LeaseId) -> Vec<Bytes> {
        let keys = self.lessor.lookup(id).map(|(_, keys)| keys);
        keys.map_or(Vec::new(), |keys: &BTreeSet<Bytes>| {
            keys.iter().cloned().collect()
        })
    }
}
