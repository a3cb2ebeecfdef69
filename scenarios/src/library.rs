//! The scenarios that come with picklock: all files of `scenarios/library`.

/// Name and text of every scenario of the library, sorted by name.
pub const BUILT_IN: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/library.rs"));
