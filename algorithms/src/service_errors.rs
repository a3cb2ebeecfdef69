//! What the errors of services mean for a lock.

use crate::LockError;
use crate::clients::redis::RedisError;
use crate::clients::zookeeper::ZkError;

impl From<ZkError> for LockError {
    fn from(error: ZkError) -> Self {
        match error {
            // That this request was not sent says nothing of those before it.
            ZkError::ConnectionLoss | ZkError::RequestTimeout | ZkError::NoServer => {
                Self::ConnectionLoss
            }
            ZkError::SessionExpired | ZkError::SessionMoved => Self::SessionExpired,
            ZkError::NoNode => Self::PlaceLost,
            ZkError::NodeExists
            | ZkError::BadVersion
            | ZkError::NotEmpty
            | ZkError::NoChildrenForEphemerals
            | ZkError::BadArguments
            | ZkError::MarshallingError
            | ZkError::RuntimeInconsistency
            | ZkError::NoAuth
            | ZkError::InvalidAcl
            | ZkError::AuthFailed
            | ZkError::NoWatcher
            | ZkError::QuotaExceeded
            | ZkError::Throttled
            | ZkError::Unimplemented
            | ZkError::NotReadOnly
            | ZkError::ReconfigDisabled => Self::Refused,
        }
    }
}

impl From<RedisError> for LockError {
    fn from(error: RedisError) -> Self {
        match error {
            RedisError::ConnectionLoss => Self::ConnectionLoss,
            RedisError::TimedOut => Self::TimedOut,
            RedisError::NotConnected | RedisError::Refused(_) | RedisError::Unexpected => {
                Self::Refused
            }
        }
    }
}
