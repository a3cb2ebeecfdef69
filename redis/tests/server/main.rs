//! A server, as clients see it.

mod bench;
mod commands;
mod scripts;
