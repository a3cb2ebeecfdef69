//! All integration tests of this crate, in one program.

mod flawed;
mod mutants;
mod program;
mod supply_chain;
mod tidy;
