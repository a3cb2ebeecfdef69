//! Small mistakes that are put into recipes, checks, and servers, one at a time, and what notices them.
//!
//! All of them are built at once, in a copy of the tree: each stands beside what it replaces, and a variable of the
//! environment says which of the two is run (mutant schemata: Untch, Offutt, Harrold, ISSTA 1993). `README.md` of this
//! folder says how to run it and how to add one.

pub mod list;
pub mod rewrite;
