//! What clients of an ensemble see, as claims.

mod elections;
mod requests;
mod sessions;
mod watches;
