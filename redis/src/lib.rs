//! A Redis server as a state machine: it is told what arrives and what its clocks show, and says what is to be sent.
//!
//! No clock, no chance, and no input or output of its own: the same machine is driven by the simulator, and compared
//! with a real server. The real one that it follows is 7.0.15, unless [`Settings`] say otherwise.

mod io;
mod server;
mod settings;

pub use io::{ConnectionId, Input, Now, Output};
pub use server::Server;
pub use settings::Settings;
