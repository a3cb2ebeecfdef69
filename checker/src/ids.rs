//! Names of those who take part, by their places.

use serde::{Deserialize, Serialize};

/// A contender, by its place in [`History::contenders`](crate::History::contenders).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ContenderId(pub u32);

/// A server of the service, by its place: the first is `server-1`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ServerId(pub u32);
