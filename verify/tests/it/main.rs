//! All integration tests of this crate, in one program.

mod real_servers;
