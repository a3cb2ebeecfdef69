//! The keys of scenario files: their types, their defaults, and what each means. The reference of the format and its
//! JSON Schema are made of these rows.
//!
//! The parser (`format`) reads keys by itself. `scenarios/tests/it/keys.rs` holds the two together: what the parser
//! knows is what the rows list, with the same bounds, words, and defaults.

mod case;
mod contender;
mod file;
mod key;
mod network;
pub(crate) mod redis;
pub mod reference;
pub mod schema;
mod service;
mod specs;
mod words;
mod workload;
pub(crate) mod zookeeper;

pub use file::FILE;
pub use key::{Holds, Key, KeyTable, Variant, Words};
