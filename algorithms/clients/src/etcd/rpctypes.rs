//! The errors that a member answers, by their codes of gRPC and their texts.

/// A code of gRPC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Code {
    /// The request cannot be right, whatever the store holds.
    InvalidArgument,
    /// A revision or a time to live is outside of what there is.
    OutOfRange,
    /// There is no such lease.
    NotFound,
    /// There is such a lease already.
    FailedPrecondition,
    /// The cluster cannot answer now: for requests that were on their way, the outcome is unknown.
    Unavailable,
    /// The time of the call is over.
    DeadlineExceeded,
    /// An error that the member did not map.
    Unknown,
}

impl Code {
    /// Its name in gRPC.
    pub const fn name(self) -> &'static str {
        match self {
            Self::InvalidArgument => "INVALID_ARGUMENT",
            Self::OutOfRange => "OUT_OF_RANGE",
            Self::NotFound => "NOT_FOUND",
            Self::FailedPrecondition => "FAILED_PRECONDITION",
            Self::Unavailable => "UNAVAILABLE",
            Self::DeadlineExceeded => "DEADLINE_EXCEEDED",
            Self::Unknown => "UNKNOWN",
        }
    }
}

/// An error as it goes over the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Status {
    /// Its code.
    pub code: Code,
    /// Its text.
    pub message: &'static str,
}

impl Status {
    const fn of(code: Code, message: &'static str) -> Self {
        Self { code, message }
    }

    /// The same error as a service passes it on that does not map errors: `v3lock` and `v3election`.
    #[must_use]
    pub const fn unmapped(self) -> Self {
        Self::of(Code::Unknown, self.message)
    }
}

macro_rules! statuses {
    ($($name:ident: $code:ident, $message:literal;)*) => {
        $(
            #[doc = concat!("`", $message, "`")]
            pub const $name: Status = Status::of(Code::$code, $message);
        )*
    };
}

statuses! {
    EMPTY_KEY: InvalidArgument, "etcdserver: key is not provided";
    KEY_NOT_FOUND: InvalidArgument, "etcdserver: key not found";
    VALUE_PROVIDED: InvalidArgument, "etcdserver: value is provided";
    LEASE_PROVIDED: InvalidArgument, "etcdserver: lease is provided";
    TOO_MANY_OPS: InvalidArgument, "etcdserver: too many operations in txn request";
    DUPLICATE_KEY: InvalidArgument, "etcdserver: duplicate key given in txn request";
    COMPACTED: OutOfRange, "etcdserver: mvcc: required revision has been compacted";
    FUTURE_REVISION: OutOfRange, "etcdserver: mvcc: required revision is a future revision";
    LEASE_TTL_TOO_LARGE: OutOfRange, "etcdserver: too large lease TTL";
    LEASE_NOT_FOUND: NotFound, "etcdserver: requested lease not found";
    LEASE_EXISTS: FailedPrecondition, "etcdserver: lease already exists";
    NO_LEADER: Unavailable, "etcdserver: no leader";
    LEADER_CHANGED: Unavailable, "etcdserver: leader changed";
    TIMEOUT: Unavailable, "etcdserver: request timed out";
    TIMEOUT_DUE_TO_LEADER_FAIL: Unavailable,
        "etcdserver: request timed out, possibly due to previous leader failure";
    UNMAPPED_DEADLINE: Unknown, "context deadline exceeded";
    DEADLINE: DeadlineExceeded, "etcdserver: context deadline exceeded";
    ELECTION_NO_LEADER: Unknown, "election: no leader";
    ELECTION_NOT_LEADER: Unknown, "election: not leader";
    SESSION_EXPIRED: Unknown, "mutex: session is expired";
    CONNECTION_LOST: Unavailable, "transport is closing";
    NO_CONNECTION: Unavailable, "there is no connection available";
}
