//! What a kernel sends again and again, and how it gives a connection up in the end.
//!
//! What is lost on the way, or sent to a machine without power, is not acknowledged. Linux sends it again fifteen times
//! (`tcp_retries2`), 200 ms later at first, each time twice as late, and two minutes at most; then the connection is
//! gone, and its owner is told. The other end is told nothing. What is held up for less arrives when it gets through.

use std::time::Duration;

use picklock_checker::VirtualTime;

use super::SimulatedRedis;
use super::event::RedisEvent;
use crate::event::Event;
use crate::network::{ConnectionId, ServerId};
use crate::world::{HostEvent, World};

/// How long Linux goes on, if the application has not set `TCP_USER_TIMEOUT`.
const RETRIES2: Duration = Duration::from_millis(924_600);

/// Which ends' kernels are going to give a connection up.
#[derive(Clone, Copy, Default)]
pub(super) struct GivenUp {
    by_client: bool,
    by_server: bool,
}

impl World<SimulatedRedis> {
    fn client_goes_on_for(&self) -> Duration {
        let set = self.service.deployment.tcp_user_timeout;
        set.unwrap_or(RETRIES2)
    }

    /// Whether what a client sends now, and would arrive at `at`, is given up by its kernel before.
    #[inline]
    pub(super) fn is_given_up(&mut self, connection: ConnectionId, at: VirtualTime) -> bool {
        let is_late = at > self.now + self.client_goes_on_for();
        if is_late {
            self.client_gives_up(connection);
        }
        is_late
    }

    /// Something that a client has sent was not delivered. A machine that stands still, or whose server is dead, has a
    /// kernel that acknowledges it, or refuses it; one without power has none.
    #[cold]
    pub(super) fn is_not_acknowledged(&mut self, server: ServerId, connection: ConnectionId) {
        let slot = self.host.servers.get(usize::from(server.0));
        if slot.is_some_and(|slot| slot.state.power_lost.is_some()) {
            self.client_gives_up(connection);
        }
    }

    /// What a client has sent is not acknowledged: its kernel gives the connection up.
    #[cold]
    fn client_gives_up(&mut self, connection: ConnectionId) {
        let given_up = &mut self.service.traffic[connection.0 as usize].given_up;
        if !std::mem::replace(&mut given_up.by_client, true) {
            let at = self.now + self.client_goes_on_for();
            let event = RedisEvent::ConnectionGivenUp { connection };
            self.schedule(at, event);
        }
    }

    /// Whether what a server sends at `departs`, and would arrive at `at`, is given up by its kernel before. The server
    /// takes the client for gone then.
    #[inline]
    pub(super) fn is_answer_given_up(
        &mut self,
        connection: ConnectionId,
        (departs, at): (VirtualTime, VirtualTime),
    ) -> bool {
        let is_late = at > departs + RETRIES2;
        if is_late {
            self.server_gives_up(connection, departs);
        }
        is_late
    }

    #[cold]
    fn server_gives_up(&mut self, connection: ConnectionId, departs: VirtualTime) {
        let given_up = &mut self.service.traffic[connection.0 as usize].given_up;
        if !std::mem::replace(&mut given_up.by_server, true) {
            let event = HostEvent::ClientClosed { connection };
            self.timeline.add(departs + RETRIES2, Event::Service(event));
        }
    }

    /// The kernel of a client has given a connection up, if it still has it.
    pub(super) fn given_up(&mut self, connection: ConnectionId) {
        if self.connections.get(connection).open_at_client {
            self.broken(connection);
        }
    }
}
