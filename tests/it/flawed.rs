//! Locks as somebody else might write them, each wrong in one place, and how they are found out and told.

mod redis;
mod redlock;
