//! Locks as other people might write them, each wrong in one place, and how they are found out and told.

mod redis;
mod redlock;
