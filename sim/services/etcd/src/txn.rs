//! What is looked at before a request is proposed, and how the compares of a transaction are evaluated.

use std::collections::BTreeSet;

use crate::mvcc::Store;
use crate::rpc::{
    Bytes, Compare, CompareResult, CompareTarget, KeyRange, KeyValue, LeaseId, PutRequest,
    RangeRequest, Request, RequestOp, TxnRequest,
};
use crate::rpctypes::{self, Status};

/// How many operations a list may have.
const MAX_TXN_OPS: usize = 128;

/// Refuses what cannot be right, whatever the store holds.
pub fn check_request(request: &Request) -> Result<(), Status> {
    match request {
        Request::Range(range) => check_key(&range.keys.key),
        Request::Put(put) => check_put(put),
        Request::DeleteRange(delete) => check_key(&delete.keys.key),
        Request::Txn(txn) => {
            check_txn(txn, MAX_TXN_OPS)?;
            check_intervals(&txn.success)?;
            check_intervals(&txn.failure).map(|_| ())
        }
        Request::Compact(_)
        | Request::LeaseGrant(..)
        | Request::LeaseRevoke(_)
        | Request::LeaseTimeToLive(..)
        | Request::LeaseLeases
        | Request::Lock(..)
        | Request::Unlock(_)
        | Request::Campaign(..)
        | Request::Proclaim(..)
        | Request::Resign(_)
        | Request::Leader(_) => Ok(()),
    }
}

fn check_key(key: &[u8]) -> Result<(), Status> {
    if key.is_empty() {
        return Err(rpctypes::EMPTY_KEY);
    }
    Ok(())
}

fn check_put(put: &PutRequest) -> Result<(), Status> {
    check_key(&put.key)?;
    if put.ignore_value && !put.value.is_empty() {
        return Err(rpctypes::VALUE_PROVIDED);
    }
    if put.ignore_lease && put.lease != LeaseId(0) {
        return Err(rpctypes::LEASE_PROVIDED);
    }
    Ok(())
}

fn check_txn(txn: &TxnRequest, max_ops: usize) -> Result<(), Status> {
    let longest = txn
        .compare
        .len()
        .max(txn.success.len())
        .max(txn.failure.len());
    let Some(left) = max_ops.checked_sub(longest) else {
        return Err(rpctypes::TOO_MANY_OPS);
    };
    for compare in &txn.compare {
        check_key(&compare.keys.key)?;
    }
    for operation in txn.success.iter().chain(&txn.failure) {
        match operation {
            RequestOp::Range(range) => check_key(&range.keys.key)?,
            RequestOp::Put(put) => check_put(put)?,
            RequestOp::DeleteRange(delete) => check_key(&delete.keys.key)?,
            RequestOp::Txn(txn) => check_txn(txn, left)?,
            RequestOp::Unset => return Err(rpctypes::KEY_NOT_FOUND),
        }
    }
    Ok(())
}

/// The keys that a list of operations may put, and the ranges that it may delete.
type PutsAndDeletes<'a> = (BTreeSet<&'a Bytes>, Vec<&'a KeyRange>);

/// Refuses two puts of one key, and a put of a key that is deleted, if both can happen.
fn check_intervals(operations: &[RequestOp]) -> Result<PutsAndDeletes<'_>, Status> {
    let (mut puts, mut deletes) = (BTreeSet::new(), Vec::new());
    for operation in operations {
        if let RequestOp::DeleteRange(delete) = operation {
            deletes.push(&delete.keys);
        }
    }
    // A range without an end, as it is written, ends before it begins: etcd finds no key in it here.
    let holds = |keys: &KeyRange, key: &[u8]| *keys.range_end != [0] && keys.contains(key);
    let is_deleted =
        |deletes: &[&KeyRange], key: &[u8]| deletes.iter().any(|keys| holds(keys, key));
    for operation in operations {
        let RequestOp::Txn(txn) = operation else {
            continue;
        };
        let (puts_then, deletes_then) = check_intervals(&txn.success)?;
        let (puts_else, deletes_else) = check_intervals(&txn.failure)?;
        let mut inner: BTreeSet<&Bytes> = puts_then;
        inner.extend(puts_else);
        if inner
            .iter()
            .any(|key| puts.contains(key) || is_deleted(&deletes, key))
        {
            return Err(rpctypes::DUPLICATE_KEY);
        }
        puts.extend(inner);
        deletes.extend(deletes_then);
        deletes.extend(deletes_else);
    }
    for operation in operations {
        if let RequestOp::Put(put) = operation
            && (is_deleted(&deletes, &put.key) || !puts.insert(&put.key))
        {
            return Err(rpctypes::DUPLICATE_KEY);
        }
    }
    Ok((puts, deletes))
}

/// Whether a transaction only reads.
pub fn is_readonly(txn: &TxnRequest) -> bool {
    let mut operations = txn.success.iter().chain(&txn.failure);
    operations.all(|operation| match operation {
        RequestOp::Range(_) | RequestOp::Unset => true,
        RequestOp::Txn(txn) => is_readonly(txn),
        RequestOp::Put(_) | RequestOp::DeleteRange(_) => false,
    })
}

/// Whether all its reads are content with what the member has.
pub fn is_serializable(txn: &TxnRequest) -> bool {
    let mut operations = txn.success.iter().chain(&txn.failure);
    operations.all(|operation| match operation {
        RequestOp::Range(RangeRequest { serializable, .. }) => *serializable,
        RequestOp::Txn(txn) => is_serializable(txn),
        RequestOp::Put(_) | RequestOp::DeleteRange(_) | RequestOp::Unset => false,
    })
}

/// Which way each transaction of a tree goes, outer ones first: all are decided before anything is written.
pub fn compare_to_path(store: &Store, txn: &TxnRequest, path: &mut Vec<bool>) {
    let holds = txn.compare.iter().all(|compare| applies(store, compare));
    path.push(holds);
    for operation in branch(txn, holds) {
        if let RequestOp::Txn(txn) = operation {
            compare_to_path(store, txn, path);
        }
    }
}

/// What a transaction does if its compares hold, or else.
pub fn branch(txn: &TxnRequest, holds: bool) -> &[RequestOp] {
    if holds { &txn.success } else { &txn.failure }
}

fn applies(store: &Store, compare: &Compare) -> bool {
    let mut pairs = store.pairs_now(&compare.keys).peekable();
    if pairs.peek().is_none() {
        let has_value = matches!(compare.target, CompareTarget::Value(_));
        return !has_value && compares(compare, &KeyValue::default());
    }
    pairs.all(|pair| compares(compare, pair))
}

fn compares(compare: &Compare, pair: &KeyValue) -> bool {
    let found = match &compare.target {
        CompareTarget::Version(version) => pair.version.cmp(version),
        CompareTarget::Create(revision) => pair.create_revision.cmp(revision),
        CompareTarget::Mod(revision) => pair.mod_revision.cmp(revision),
        CompareTarget::Value(value) => pair.value.cmp(value),
        CompareTarget::Lease(lease) => pair.lease.cmp(lease),
    };
    match compare.result {
        CompareResult::Equal => found.is_eq(),
        CompareResult::Greater => found.is_gt(),
        CompareResult::Less => found.is_lt(),
        CompareResult::NotEqual => found.is_ne(),
    }
}
