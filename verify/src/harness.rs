//! What the comparisons of both services share: two backends in lock-step, what came of comparing their answers, and
//! the processes of real servers.

pub(crate) mod clock;
pub mod comparison;
pub mod error;
pub(crate) mod network;
pub(crate) mod pair;
pub(crate) mod process;
pub(crate) mod split_mix;
pub(crate) mod temporary_folder;
pub mod timing;
