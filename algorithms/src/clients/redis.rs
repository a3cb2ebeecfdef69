//! A handle to Redis, as client libraries offer it.

mod command;
mod value;

pub use command::Command;
pub use value::{Bytes, ErrorReply, Value};
