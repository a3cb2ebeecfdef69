//! The keys of scenario files: their types, their defaults, and what each means. The reference of the format and its
//! JSON Schema are made of these rows.
//!
//! The rows of a service stand on its settings (`sim/src/plan`), and the parser (`format`) and the writer go by them.
//! Other tables the parser reads by itself: `scenarios/tests/it/keys.rs` holds the two together, what it knows is what
//! the rows list, with the same bounds, words, and defaults.

mod case;
mod defaults;
mod file;
pub(crate) mod redis;
pub mod reference;
pub mod schema;
mod service;
mod specs;
mod words;
mod workload;

pub use defaults::{default_of, default_value};
pub use file::FILE;
pub use picklock_sim::plan::{Holds, Key, KeyTable, Variant, Words};
