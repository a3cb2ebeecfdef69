//! A Chubby cell and its client library, after Burrows, "The Chubby lock service for loosely-coupled distributed
//! systems", OSDI 2006.
//!
//! What Paxos gives a cell is taken for granted: what a master has written, every later master finds ([`Cell`]). The
//! machine is the master, with all that it keeps in memory alone, and how another takes over ([`Replica`]).

pub mod client;
mod database;
mod io;
mod lock;
mod master;
mod replica;
mod settings;

pub use database::Cell;
pub use io::{Departure, Input, Output, PeerMessage};
pub use replica::Replica;
pub use settings::Settings;
