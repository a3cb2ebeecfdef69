//! The scenarios that come with picklock.

/// Name and text of every scenario of the library, sorted by name.
pub const BUILT_IN: &[(&str, &str)] = &[];
