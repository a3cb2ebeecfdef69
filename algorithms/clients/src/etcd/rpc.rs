//! The messages between clients and members, named as in `rpc.proto`, `v3lock.proto`, and `v3election.proto`.

use super::kv::{
    Bytes, DeleteRangeRequest, KeyRange, KeyValue, LeaseId, PutRequest, RangeRequest,
    RangeResponse, Revision, TxnRequest,
};
use super::rpctypes::Status;

/// A watch of a stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WatchId(pub i64);

impl WatchId {
    /// Names no watch.
    pub const INVALID: Self = Self(-1);
}

/// The key of a leader, as a campaign has answered it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LeaderKey {
    /// The name of the election.
    pub name: Bytes,
    /// The leader's key.
    pub key: Bytes,
    /// The revision at which it was made.
    pub rev: Revision,
    /// Its lease.
    pub lease: LeaseId,
}

/// A call with one answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Request {
    /// Reads keys.
    Range(RangeRequest),
    /// Writes a pair.
    Put(PutRequest),
    /// Deletes keys.
    DeleteRange(DeleteRangeRequest),
    /// A transaction.
    Txn(TxnRequest),
    /// Forgets what was before a revision.
    Compact(Revision),
    /// A new lease, of so many seconds; the member chooses the id if it is 0.
    LeaseGrant(LeaseId, i64),
    /// Ends a lease, and deletes its keys.
    LeaseRevoke(LeaseId),
    /// What is left of a lease, and its keys if they are asked for.
    LeaseTimeToLive(LeaseId, bool),
    /// All leases.
    LeaseLeases,
    /// `v3lock`: acquires the lock of this name with a lease.
    Lock(Bytes, LeaseId),
    /// `v3lock`: deletes the key of a lock.
    Unlock(Bytes),
    /// `v3election`: campaigns in the election of this name, with a lease and a value.
    Campaign(Bytes, LeaseId, Bytes),
    /// `v3election`: changes the value of a leader.
    Proclaim(LeaderKey, Bytes),
    /// `v3election`: gives up to lead.
    Resign(LeaderKey),
    /// `v3election`: the leader.
    Leader(Bytes),
}

/// The member that has answered, and when.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ResponseHeader {
    /// The member, by its place.
    pub member: u8,
    /// The revision of its store.
    pub revision: Revision,
    /// Its term.
    pub raft_term: u64,
}

/// What is answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Response {
    /// The pairs.
    Range(RangeResponse),
    /// Written; the pair that was there, if it was asked for.
    Put(Option<KeyValue>),
    /// How many were deleted, and the pairs if they were asked for.
    DeleteRange(i64, Vec<KeyValue>),
    /// Whether all compares held, and the answers of what was done.
    Txn(bool, Vec<Response>),
    /// Compacted.
    Compact,
    /// The lease, and its time to live in seconds.
    LeaseGrant(LeaseId, i64),
    /// Revoked.
    LeaseRevoke,
    /// What is left of a lease.
    LeaseTimeToLive(TimeToLive),
    /// The leases.
    LeaseLeases(Vec<LeaseId>),
    /// Locked, by this key.
    Lock(Bytes),
    /// Unlocked.
    Unlock,
    /// Elected.
    Campaign(LeaderKey),
    /// Changed.
    Proclaim,
    /// Resigned.
    Resign,
    /// The leader's pair.
    Leader(KeyValue),
}

/// What is left of a lease.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimeToLive {
    /// The lease.
    pub id: LeaseId,
    /// The seconds that are left; -1 if there is no such lease.
    pub ttl: i64,
    /// The seconds that were granted.
    pub granted: i64,
    /// Its keys.
    pub keys: Vec<Bytes>,
}

/// Whether a key was written or deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventType {
    /// Written.
    Put,
    /// Deleted: the pair has its key and the revision alone.
    Delete,
}

/// A change of a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// Which.
    pub kind: EventType,
    /// The pair after it.
    pub kv: KeyValue,
    /// The pair before it, if it was asked for and is there.
    pub prev_kv: Option<KeyValue>,
}

/// Begins a watch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WatchCreateRequest {
    /// Which keys.
    pub keys: KeyRange,
    /// From which revision; 0 for what comes after it was begun.
    pub start_revision: Revision,
    /// Whether former pairs are told.
    pub prev_kv: bool,
    /// Without puts.
    pub no_put: bool,
    /// Without deletes.
    pub no_delete: bool,
    /// Its id; 0 leaves it to the member.
    pub watch_id: WatchId,
}

/// What a stream of watches is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WatchRequest {
    /// Begins a watch.
    Create(WatchCreateRequest),
    /// Ends one.
    Cancel(WatchId),
    /// Asks how far the stream is.
    Progress,
}

/// What a stream of watches answers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WatchResponse {
    /// The header; revision 0 if the watch was cancelled for a compaction.
    pub header: ResponseHeader,
    /// Which watch; -1 if it is of none.
    pub watch_id: WatchId,
    /// The watch has begun.
    pub created: bool,
    /// The watch is over.
    pub canceled: bool,
    /// The revision before which all is forgotten, if it is over for that.
    pub compact_revision: Revision,
    /// Why it is over.
    pub cancel_reason: &'static str,
    /// What has happened.
    pub events: Vec<Event>,
}

/// A call of a client: its number on a connection is never used twice, and what belongs to a stream has its number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientMessage {
    /// Its number.
    pub call: u32,
    /// Fail at once if the member knows no leader (`hasleader`).
    pub require_leader: bool,
    /// What it asks.
    pub body: ClientBody,
}

/// What a client asks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClientBody {
    /// A call with one answer.
    Unary(Request),
    /// For a stream of watches.
    Watch(WatchRequest),
    /// For a stream of signs of life.
    LeaseKeepAlive(LeaseId),
    /// The call, or the stream, is given up.
    Cancel,
}

/// What a member sends to a client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerMessage {
    /// The number of the call or stream.
    pub call: u32,
    /// What it says.
    pub body: ServerBody,
}

/// What a member says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServerBody {
    /// The answer to a call.
    Unary(ResponseHeader, Response),
    /// Of a stream of watches.
    Watch(WatchResponse),
    /// A lease has so many seconds again; 0 if there is none.
    LeaseKeepAlive(ResponseHeader, LeaseId, i64),
    /// The call has failed, or the stream has ended.
    Error(Status),
}
