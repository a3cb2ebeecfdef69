//! What the servers of an ensemble say to each other.

use picklock_checker::VirtualTime;
use picklock_zookeeper::quorum_messages::PeerMessage;
use picklock_zookeeper::state::Input;

use super::{SimulatedZooKeeper, ZooKeeperEvent};
use crate::network::ServerId;
use crate::trace::MessageStep::{Lost, Received, Sent};
use crate::world::World;

impl World<SimulatedZooKeeper> {
    /// When a message leaves for another server, if proposals keep servers busy: not while its sender is.
    /// What waits for a disk leaves when that is done.
    #[inline(never)]
    fn leaves_for_peer(
        &mut self,
        from: ServerId,
        message: &PeerMessage,
        ready: VirtualTime,
    ) -> VirtualTime {
        let takes = self.service.ensemble.proposal_time;
        let slot = &mut self.host.servers[from.0 as usize];
        if message.is_proposal() || message.is_ack() {
            slot.busy_until = slot.busy_until.max(self.now) + takes;
        }
        if ready > self.now {
            return ready;
        }
        slot.busy_until.max(ready)
    }

    /// Messages to another server arrive in the order in which they leave, unless their sender dies before.
    pub(super) fn send_to_peer(
        &mut self,
        from: ServerId,
        to: ServerId,
        message: PeerMessage,
        departed: VirtualTime,
    ) {
        self.trace_between((from, to), Sent, &message, PeerMessage::is_sign_of_life);
        let is_late = departed > self.now;
        let departs = if self.service.pace.proposals_keep_busy {
            self.leaves_for_peer(from, &message, departed)
        } else {
            departed
        };
        let mut latency = self.latency_to_peer(from, to, departs);
        let slot = &self.host.servers[to.0 as usize];
        if departs < slot.state.lag_until {
            latency += slot.state.lag;
        }
        let link = self.links.between(from, to);
        let at = if is_late {
            link.arrival_of_late(departs, latency)
        } else {
            link.arrival(departs, latency)
        };
        let life = self.host.servers[from.0 as usize].state.deaths.len() as u32;
        self.schedule(
            at,
            ZooKeeperEvent::Peer {
                from,
                to,
                life,
                departed: departs,
                message,
            },
        );
    }

    /// A message of another server arrives, if its sender lived long enough to send it.
    #[inline(always)]
    pub(super) fn at_peer(
        &mut self,
        (from, life, departed): (ServerId, u32, VirtualTime),
        to: ServerId,
        message: PeerMessage,
    ) {
        let died = self.host.servers[from.0 as usize]
            .state
            .deaths
            .get(life as usize);
        let arrives = died.is_none_or(|died| *died >= departed);
        let step = if arrives { Received } else { Lost };
        self.trace_between((from, to), step, &message, PeerMessage::is_sign_of_life);
        if arrives {
            if self.records_service_events() {
                self.record_sync(from, to, &message);
            }
            self.server_input(to, Input::Peer { from, message });
        }
    }

    #[cold]
    pub(super) fn peer_lost(&mut self, server: ServerId, peer: ServerId) {
        self.server_input(server, Input::PeerLost { peer });
    }
}
