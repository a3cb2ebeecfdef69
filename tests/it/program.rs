//! The program from outside: what it prints, how it exits, what it leaves behind.

mod bad_input;
mod browser;
mod charts;
mod command_line;
mod common;
mod config;
mod determinism;
mod documented_commands;
mod documents;
mod drawn;
mod exit_codes;
mod formats;
mod guide;
mod harness;
mod help;
mod json_schemas;
mod library;
mod matrix;
mod published_recipes;
mod published_schemas;
mod readme;
mod reports;
mod schemas;
mod session_names;
mod shards;
mod shrink;
mod trace;
mod unasked;
mod validate;
mod widths;
mod your_lock;

/// The program whose command line these tests run.
const PROGRAM: &str = env!("CARGO_BIN_EXE_picklock");
