//! What several tests share.

pub mod key_tables;
pub mod slips;
