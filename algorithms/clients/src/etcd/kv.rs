//! Pairs, ranges, and transactions.

use std::ops::Bound;
use std::rc::Rc;

/// A string of bytes that is shared.
pub type Bytes = Rc<[u8]>;

/// A revision of the whole store; a fresh store is at 1.
pub type Revision = i64;

/// A lease; 0 is none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LeaseId(pub i64);

/// A pair as the store has it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeyValue {
    /// Its key.
    pub key: Bytes,
    /// The revision of the put that made it.
    pub create_revision: Revision,
    /// The revision of its newest put, or of its deletion.
    pub mod_revision: Revision,
    /// How many puts there were since it was made, with that one.
    pub version: i64,
    /// Its value.
    pub value: Bytes,
    /// The lease that it goes with.
    pub lease: LeaseId,
}

/// One key, or those of an interval.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeyRange {
    /// The first key.
    pub key: Bytes,
    /// The first key behind it; empty for one key alone, and a zero byte for all keys from the first.
    pub range_end: Bytes,
}

impl KeyRange {
    /// One key.
    pub fn one(key: &[u8]) -> Self {
        Self::of(key, b"")
    }

    /// The keys from `key` to before `range_end`.
    pub fn of(key: &[u8], range_end: &[u8]) -> Self {
        let (key, range_end) = (key.into(), range_end.into());
        Self { key, range_end }
    }

    /// All keys that begin so.
    pub fn prefix(prefix: &[u8]) -> Self {
        let last = prefix.iter().rposition(|byte| *byte < u8::MAX);
        let Some(last) = last else {
            let first: &[u8] = if prefix.is_empty() { &[0] } else { prefix };
            return Self::of(first, &[0]);
        };
        let mut range_end = prefix[..=last].to_vec();
        range_end[last] += 1;
        Self::of(prefix, &range_end)
    }

    /// Whether this key is one of them.
    pub fn contains(&self, key: &[u8]) -> bool {
        let from = &*self.key;
        match &*self.range_end {
            [] => key == from,
            [0] => key >= from,
            end => from <= key && key < end,
        }
    }

    /// Whether an interval ends before it begins.
    pub fn is_empty_interval(&self) -> bool {
        let end = &*self.range_end;
        !end.is_empty() && end != [0] && *self.key >= *end
    }

    /// Where it begins and ends in an ordered map.
    pub fn bounds(&self) -> (Bound<&[u8]>, Bound<&[u8]>) {
        let end = match &*self.range_end {
            [] => Bound::Included(&*self.key),
            [0] => Bound::Unbounded,
            end => Bound::Excluded(end),
        };
        (Bound::Included(&*self.key), end)
    }
}

/// The order in which a range is answered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SortOrder {
    /// By key; by another target it is ascending all the same.
    #[default]
    None,
    /// Ascending.
    Ascend,
    /// Descending.
    Descend,
}

/// What a range is sorted by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SortTarget {
    /// The key.
    #[default]
    Key,
    /// The version.
    Version,
    /// The revision of creation.
    Create,
    /// The revision of the newest change.
    Mod,
    /// The value.
    Value,
}

/// Reads keys.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RangeRequest {
    /// Which keys.
    pub keys: KeyRange,
    /// How many pairs at most; 0 or less for all.
    pub limit: i64,
    /// As of which revision; 0 or less for now.
    pub revision: Revision,
    /// In which order.
    pub sort_order: SortOrder,
    /// Sorted by what.
    pub sort_target: SortTarget,
    /// Whether the member answers what it has, without asking a quorum.
    pub serializable: bool,
    /// Without values.
    pub keys_only: bool,
    /// Without pairs.
    pub count_only: bool,
    /// Only pairs changed at this revision or later; 0 for all.
    pub min_mod_revision: Revision,
    /// Only pairs changed at this revision or earlier; 0 for all.
    pub max_mod_revision: Revision,
    /// Only pairs made at this revision or later; 0 for all.
    pub min_create_revision: Revision,
    /// Only pairs made at this revision or earlier; 0 for all.
    pub max_create_revision: Revision,
}

impl RangeRequest {
    /// The pair of one key.
    pub fn get(key: &[u8]) -> Self {
        let keys = KeyRange::one(key);
        Self {
            keys,
            ..Self::default()
        }
    }

    /// The oldest pair of a prefix.
    pub fn first_create(prefix: &[u8]) -> Self {
        Self {
            keys: KeyRange::prefix(prefix),
            sort_order: SortOrder::Ascend,
            sort_target: SortTarget::Create,
            limit: 1,
            ..Self::default()
        }
    }

    /// The newest pair of a prefix that was made at this revision or earlier.
    pub fn last_create(prefix: &[u8], max_create_revision: Revision) -> Self {
        Self {
            sort_order: SortOrder::Descend,
            max_create_revision,
            ..Self::first_create(prefix)
        }
    }
}

/// Writes a pair.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PutRequest {
    /// Its key.
    pub key: Bytes,
    /// Its value.
    pub value: Bytes,
    /// The lease that it is to go with.
    pub lease: LeaseId,
    /// Whether the pair that was there is answered.
    pub prev_kv: bool,
    /// Keep the value.
    pub ignore_value: bool,
    /// Keep the lease.
    pub ignore_lease: bool,
}

/// Deletes keys.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeleteRangeRequest {
    /// Which.
    pub keys: KeyRange,
    /// Whether the pairs that were there are answered.
    pub prev_kv: bool,
}

/// What a compare looks at, and what it is compared with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CompareTarget {
    /// The version.
    Version(i64),
    /// The revision of creation.
    Create(Revision),
    /// The revision of the newest change.
    Mod(Revision),
    /// The value.
    Value(Bytes),
    /// The lease.
    Lease(LeaseId),
}

/// How it must compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompareResult {
    /// Equal.
    Equal,
    /// What is stored is greater.
    Greater,
    /// What is stored is less.
    Less,
    /// Not equal.
    NotEqual,
}

/// A condition of a transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compare {
    /// All of these keys must meet it.
    pub keys: KeyRange,
    /// What is compared.
    pub target: CompareTarget,
    /// How it must compare.
    pub result: CompareResult,
}

impl Compare {
    /// The key was made at this revision; at 0, it is not there.
    pub fn created_at(key: &[u8], revision: Revision) -> Self {
        Self {
            keys: KeyRange::one(key),
            target: CompareTarget::Create(revision),
            result: CompareResult::Equal,
        }
    }
}

/// A part of a transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RequestOp {
    /// Reads.
    Range(RangeRequest),
    /// Writes.
    Put(PutRequest),
    /// Deletes.
    DeleteRange(DeleteRangeRequest),
    /// Another transaction.
    Txn(TxnRequest),
    /// A message without an operation.
    Unset,
}

/// If all compares hold, does one thing, and else another.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TxnRequest {
    /// The compares.
    pub compare: Vec<Compare>,
    /// What is done if all hold.
    pub success: Vec<RequestOp>,
    /// What is done if one does not.
    pub failure: Vec<RequestOp>,
}

/// What a range has found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RangeResponse {
    /// The pairs.
    pub kvs: Vec<KeyValue>,
    /// Whether the limit has left out pairs.
    pub more: bool,
    /// How many keys there are, whatever the limit and the filters.
    pub count: i64,
}
