//! What the comparisons of both services share.

pub(crate) mod clock;
pub mod error;
pub(crate) mod temporary_folder;
