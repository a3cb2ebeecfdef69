//! The lock of python-etcd3: one key, and each waiter tries again when it changes.
//!
//! # Source
//!
//! kragniz/python-etcd3, `etcd3/locks.py` (015840e0), with `acquire(timeout=None)`.
//!
//! # Steps
//!
//! 1. Grant a new lease for each try.
//! 2. One transaction: if the key does not exist, put it, with a value of this object's own and the lease.
//! 3. It did not exist: we hold the lock.
//! 4. Otherwise watch the key from now on for any event, and go to 1.
//! 5. Release: one transaction: if the value is ours, delete the key.
//!
//! # Guarantees
//!
//! - As long as sections are shorter than the lease, one contender holds the lock.
//!
//! # Hazards
//!
//! - The watch begins after the transaction: a release in between is missed, and the waiter waits until another event
//!   comes (scenario `etcd/lost-wake-up`).
//! - The lease is not renewed: `refresh` is the caller's.
//! - A transaction whose answer is lost leaves the key of this very object, for which its next try waits.
//! - Every release wakes every waiter, and any of them gets the lock: not `fifo`.

use async_trait::async_trait;

use super::{EtcdLock, OverEtcd, seen};
use crate::clients::RequestKind;
use crate::clients::etcd::{
    Bytes, Client, Compare, CompareResult, CompareTarget, DeleteRangeRequest, KeyRange, PutRequest,
    RequestOp, TxnRequest, WatchCreateRequest,
};
use crate::lock::BASIC_CLAIMS;
use crate::{Build, Held, Lock, LockError, OwnershipRule, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "etcd3-python-lock",
    summary: "The lock of python-etcd3: one key that each waiter watches from after its try.",
    source: "kragniz/python-etcd3 015840e0, etcd3/locks.py",
    flaw: Some("a release between a try and its watch is missed, and the lease is not renewed"),
    claims: BASIC_CLAIMS,
    ownership: OwnershipRule::NODE,
    requests: &[
        RequestKind::Txn,
        RequestKind::LeaseGrant,
        RequestKind::WatchCreate,
    ],
    inputs: &[],
    cancellable: true,
    shareable: false,
    build: Build::Other(&OverEtcd(&|client, env, lock| {
        let uuid = env.guid().into_bytes().into();
        Box::new(PythonLock { client, lock, uuid })
    })),
};

struct PythonLock {
    client: Client,
    lock: EtcdLock,
    uuid: Bytes,
}

impl PythonLock {
    fn key(&self) -> Bytes {
        [self.lock.name.as_bytes(), b"/lock"].concat().into()
    }
}

#[async_trait(?Send)]
impl Lock for PythonLock {
    async fn acquire(&mut self) -> Result<Held, LockError> {
        let key = self.key();
        loop {
            let (lease, _) = self.client.grant(self.lock.ttl).await.map_err(seen)?; // Step 1.
            let put = RequestOp::Put(PutRequest {
                key: Bytes::clone(&key),
                value: Bytes::clone(&self.uuid),
                lease,
                ..PutRequest::default()
            });
            let answered = self.client.txn(TxnRequest {
                compare: vec![Compare::created_at(&key, 0)],
                success: vec![put],
                failure: Vec::new(),
            });
            let answered = answered.await.map_err(seen)?; // Step 2.
            if answered.response.succeeded {
                let key = String::from_utf8_lossy(&key).into_owned();
                return Ok(Held::at(key.into())); // Step 3.
            }
            let watch = self.client.watch(WatchCreateRequest {
                keys: KeyRange::one(&key),
                ..WatchCreateRequest::default()
            });
            watch.next().await.map_err(seen)?; // Step 4.
        }
    }

    async fn release(&mut self, _held: Held) -> Result<(), LockError> {
        let key = self.key();
        let delete = RequestOp::DeleteRange(DeleteRangeRequest {
            keys: KeyRange::one(&key),
            prev_kv: false,
        });
        let is_ours = Compare {
            keys: KeyRange::one(&key),
            target: CompareTarget::Value(Bytes::clone(&self.uuid)),
            result: CompareResult::Equal,
        };
        let answered = self.client.txn(TxnRequest {
            compare: vec![is_ours],
            success: vec![delete],
            failure: Vec::new(),
        });
        match answered.await.map_err(seen)?.response.succeeded {
            true => Ok(()), // Step 5.
            false => Err(LockError::NotHeld),
        }
    }

    async fn lost(&self, _held: &Held) -> LockError {
        std::future::pending().await
    }
}
