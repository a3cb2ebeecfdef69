//! The model, at the tick that the real server shows.

use picklock_checker::VirtualTime;
use picklock_clients::memcached::{ClientMessage, Command, Product, Reply};
use picklock_machines::{Boring, ConnectionId, Machine, Now};
use picklock_memcached::{Change, Input, Output, Server, Settings};

use super::real::Clocks;

/// What the uptime of a server is when it begins.
const FIRST: u64 = 2;

/// The model of a server.
pub(super) struct Model {
    server: Server,
    /// The wall clock when it began, in microseconds.
    begun: i64,
}

impl Model {
    /// A server that shows these clocks.
    pub(super) fn new(clocks: Clocks) -> Self {
        let settings = Settings {
            product: Product::Memcached,
            items_per_class: None,
            since_tick: 0,
        };
        let up = i64::try_from(clocks.uptime).unwrap_or_default() - FIRST as i64;
        let begun = (clocks.unix - up) * 1_000_000;
        Self {
            server: Server::new(settings, begun),
            begun,
        }
    }

    /// Does a command when the real server has this uptime. Answers the reply, and whether an item was found to be
    /// over.
    pub(super) fn execute(&mut self, uptime: u64, command: Command) -> (Option<Reply>, bool) {
        let micros = uptime.saturating_sub(FIRST) * 1_000_000;
        let now = Now {
            monotonic: VirtualTime::from_micros(micros),
            wall_micros: self.begun + i64::try_from(micros).unwrap_or_default(),
        };
        let message = ClientMessage { number: 1, command };
        let mut out = Vec::new();
        let input = Input::Command(ConnectionId(0), message);
        self.server.handle(now, input, &mut Boring, &mut out);
        let expired = out
            .iter()
            .any(|output| matches!(output, Output::Changed(_, Change::Expired)));
        let reply = out.into_iter().find_map(|output| match output {
            Output::Reply(_, message) => Some(message.reply),
            Output::Changed(..) => None,
        });
        (reply, expired)
    }
}
