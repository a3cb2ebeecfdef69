//! Links between replicas and their primaries, and who is primary.

use picklock_clients::redis::Command;
use picklock_redis::{Address, Input, LinkId, PeerMessage};

use super::SimulatedRedis;
use super::event::RedisEvent;
use super::role_change::RoleChangeBy;
use crate::network::ServerId;
use crate::ownership::Actor;
use crate::trace::MessageStep::{Closed, Lost, Opened, Received, Refused, Sent};
use crate::world::World;

/// A link between two servers.
pub(super) struct ReplicationLink {
    replica: ServerId,
    primary: ServerId,
    open: bool,
}

impl ReplicationLink {
    pub(super) fn other(&self, server: ServerId) -> ServerId {
        if server == self.replica {
            self.primary
        } else {
            self.replica
        }
    }
}

/// How long it takes until a primary that was replaced is told to follow the new one, once it can be reached: Sentinel
/// wants to have seen it for eight seconds, and looks every ten (measured: writes were taken for 10.02 s).
const DEMOTED_AFTER: std::time::Duration = std::time::Duration::from_secs(10);

/// Where a server is: its number, from one, and the usual port.
pub(super) fn address(server: ServerId) -> Address {
    Address {
        host: format!("server-{}", server.0 + 1).into(),
        port: 6_379,
    }
}

impl SimulatedRedis {
    /// Whether what is under way by a link arrives.
    pub(super) fn link_is_open(&self, link: LinkId) -> bool {
        self.links[link.0 as usize].open
    }

    /// The primary's end of a link.
    pub(super) fn primary_of_link(&self, link: LinkId) -> ServerId {
        self.links[link.0 as usize].primary
    }

    /// The replica's end of a link.
    pub(super) fn replica_of(&self, link: LinkId) -> ServerId {
        self.links[link.0 as usize].replica
    }
}

impl World<SimulatedRedis> {
    pub(super) fn server_at(&self, address: &Address) -> Option<ServerId> {
        let number: u8 = address.host.strip_prefix("server-")?.parse().ok()?;
        let server = ServerId(number.checked_sub(1)?);
        (usize::from(server.0) < self.host.servers.len()).then_some(server)
    }

    /// A replica wants a link to its primary.
    pub(super) fn reach_primary(&mut self, replica: ServerId, to: &Address) {
        let Some(primary) = self.server_at(to) else {
            return;
        };
        let link = LinkId(self.service.links.len() as u32);
        self.service.links.push(ReplicationLink {
            replica,
            primary,
            open: true,
        });
        let at = self.arrival_at_peer(replica, primary);
        let event = RedisEvent::ReplicaConnectRequest { link };
        self.schedule(at, event);
    }

    pub(super) fn replica_connect_request(&mut self, link: LinkId) {
        let (replica, primary) = {
            let ends = &self.service.links[link.0 as usize];
            (ends.replica, ends.primary)
        };
        let up = self.machine_process(primary).is_up();
        self.service.links[link.0 as usize].open = up;
        let at = self.arrival_at_peer(primary, replica);
        let event = RedisEvent::LinkEstablished { link, up };
        self.schedule(at, event);
    }

    pub(super) fn link_completed(&mut self, link: LinkId, up: bool) {
        let (replica, primary) = (
            self.service.replica_of(link),
            self.service.primary_of_link(link),
        );
        let (step, text) = match up {
            true => (Opened, "the replication link"),
            false => (Refused, "no process listens"),
        };
        self.trace_between((replica, primary), step, &text, |_| false);
        let input = if up {
            Input::Linked { link }
        } else {
            Input::LinkGone { link: None }
        };
        self.server_input(replica, input);
    }

    pub(super) fn send_to_peer(&mut self, from: ServerId, link: LinkId, message: PeerMessage) {
        let ends = &self.service.links[link.0 as usize];
        if !ends.open {
            return;
        }
        let to = ends.other(from);
        self.trace_between((from, to), Sent, &message, PeerMessage::is_sign_of_life);
        let at = self.arrival_at_peer(from, to);
        let event = RedisEvent::ToPeer {
            to,
            link,
            message: Box::new(message),
        };
        self.schedule(at, event);
    }

    /// A message arrives at the machine of a server that runs.
    pub(super) fn at_peer(&mut self, to: ServerId, link: LinkId, message: PeerMessage) {
        if self.service.link_is_open(link) {
            self.read_from_peer(to, link, message);
        } else {
            let from = self.service.links[link.0 as usize].other(to);
            self.trace_between((from, to), Lost, &message, PeerMessage::is_sign_of_life);
        }
    }

    /// A server reads a message that has arrived, whatever has become of the link meanwhile.
    pub(super) fn read_from_peer(&mut self, to: ServerId, link: LinkId, message: PeerMessage) {
        let from = self.service.links[link.0 as usize].other(to);
        self.trace_between((from, to), Received, &message, PeerMessage::is_sign_of_life);
        if self.records_service_events() {
            self.record_sync(to, link, &message);
        }
        self.handle_at(to, Input::FromPeer { link, message });
        if !self.pending_writes.is_empty() {
            let primary = self.service.links[link.0 as usize].primary;
            let mark = self.stream_of(to);
            self.replicated_up_to(to, Some(primary), mark);
        }
        self.apply_server_outputs(to);
    }

    /// A server closes a link, or its machine does; the other end learns of it.
    pub(super) fn close_link(&mut self, by: ServerId, link: LinkId) {
        let ends = &mut self.service.links[link.0 as usize];
        if std::mem::take(&mut ends.open) {
            self.notify_link_closed(by, link);
        }
    }

    /// The other end of a link learns that it is gone.
    pub(super) fn notify_link_closed(&mut self, by: ServerId, link: LinkId) {
        let other = self.service.links[link.0 as usize].other(by);
        let at = self.arrival_at_peer(by, other);
        let event = RedisEvent::LinkClosed {
            server: other,
            link,
        };
        self.schedule(at, event);
    }

    pub(super) fn link_gone(&mut self, server: ServerId, link: LinkId) {
        if self.machine_process(server).is_up() {
            let other = self.service.links[link.0 as usize].other(server);
            let text = "the replication link is gone";
            self.trace_between((other, server), Closed, &text, |_| false);
            let gone = Input::LinkGone { link: Some(link) };
            self.server_input(server, gone);
        }
    }

    /// A server has died: what was under way from it is lost, and so are its links.
    pub(super) fn close_links_of(&mut self, server: ServerId) {
        for number in 0..self.service.links.len() {
            let ends = &self.service.links[number];
            if ends.replica == server || ends.primary == server {
                self.close_link(server, LinkId(number as u32));
            }
        }
    }

    /// The links of a server are gone, and no end is notified. Answers which they were.
    pub(super) fn drop_links_of(&mut self, server: ServerId) -> Vec<LinkId> {
        let mut dropped = Vec::new();
        for (number, ends) in self.service.links.iter_mut().enumerate() {
            let its_own = ends.replica == server || ends.primary == server;
            if its_own && std::mem::take(&mut ends.open) {
                dropped.push(LinkId(number as u32));
            }
        }
        dropped
    }

    /// Makes a replica the primary, as Sentinel does: clients that ask are sent to it from now on, and the other
    /// replicas follow it. The old primary is told some time later; until then it takes writes if it runs.
    pub(super) fn promote(&mut self, server: ServerId) {
        let before = std::mem::replace(&mut self.service.primary, server);
        if before == server {
            return;
        }
        self.send_replicaof(server, None);
        for index in 0..self.host.servers.len() {
            let other = ServerId(index as u8);
            if other != server && other != before {
                self.send_replicaof(other, Some(server));
            }
        }
        self.demotes_later(before);
    }

    fn demotes_later(&mut self, server: ServerId) {
        self.schedule(self.now + DEMOTED_AFTER, RedisEvent::Demote { server });
        if !self.is_server_gone_for_good(server) {
            self.hold_off_calm(DEMOTED_AFTER);
        }
    }

    /// The old primary is told to follow the new one, if it can be reached by now; if not, a little later.
    pub(super) fn demote(&mut self, server: ServerId) {
        let slot = &self.host.servers[server.0 as usize];
        if server == self.service.primary {
            return;
        }
        if slot.process.runs() {
            self.send_replicaof(server, Some(self.service.primary));
        } else if !self.is_calm() || self.contenders_are_active() {
            self.demotes_later(server);
        }
    }

    /// An operator sends what a Sentinel sends: `REPLICAOF`, `CONFIG REWRITE` for the next start, and `CLIENT KILL`.
    fn send_replicaof(&mut self, server: ServerId, primary: Option<ServerId>) {
        let follow = Command::new("REPLICAOF");
        let follow = match primary {
            None => follow.arg("NO").arg("ONE"),
            Some(primary) => {
                let Address { host, port } = address(primary);
                follow.arg(&*host).number(port)
            }
        };
        let kill = |kind| Command::new("CLIENT").arg("KILL").arg("TYPE").arg(kind);
        self.service.role_change_by = RoleChangeBy::Operator;
        self.run_as_operator(server, follow);
        self.service.role_change_by = RoleChangeBy::Itself;
        self.run_as_operator(server, Command::new("CONFIG").arg("REWRITE"));
        for kind in ["normal", "pubsub"] {
            self.run_as_operator(server, kill(kind));
        }
        self.update_owners(Actor::Service);
    }
}
