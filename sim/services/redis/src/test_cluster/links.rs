//! The links between servers, and what stands between the first one and its replicas.

use super::{Machine, Message, TestCluster};
use crate::Input;
use crate::replication_protocol::{Address, LinkId, PeerMessage};

/// How the links of replicas to the first server fare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    /// What one says reaches the other.
    Free,
    /// What the primary says waits on the way, and is lost if the primary dies.
    Held,
    /// There is no link, and none can be made.
    Cut,
}

/// A link between a replica and its primary.
pub(super) struct Link {
    replica: usize,
    primary: usize,
    open: bool,
}

impl Link {
    fn other(&self, server: usize) -> Machine {
        Machine::Server(if server == self.replica {
            self.primary
        } else {
            self.replica
        })
    }
}

impl TestCluster {
    /// The machine with this address.
    pub(super) fn find(&self, address: &Address) -> Option<Machine> {
        let mut all = self.addresses.iter();
        let found = all.find(|(other, _)| other == address);
        found.map(|(_, machine)| *machine)
    }

    /// A replica wants a link to its primary.
    pub(super) fn reach(&mut self, replica: usize, to: &Address) {
        let own = Machine::Server(replica);
        let Some(Machine::Server(primary)) = self.find(to) else {
            let gone = Input::LinkGone { link: None };
            self.network.send(own, own, Message::Server(gone));
            return;
        };
        let link = LinkId(self.links.len() as u32);
        self.links.push(Link {
            replica,
            primary,
            open: false,
        });
        self.network
            .send(own, Machine::Server(primary), Message::Reach(link));
    }

    pub(super) fn reached(&mut self, primary: usize, link: LinkId, dead: bool) {
        let own = &mut self.links[link.0 as usize];
        let apart = own.primary == 0 && self.flow == Flow::Cut;
        let open = !dead && !apart;
        own.open = open;
        let replica = Machine::Server(own.replica);
        let input = if open {
            Input::Linked { link }
        } else {
            Input::LinkGone { link: None }
        };
        self.network
            .send(Machine::Server(primary), replica, Message::Server(input));
    }

    pub(super) fn tell_peer(&mut self, from: usize, link: LinkId, message: PeerMessage) {
        if !self.links[link.0 as usize].open {
            return;
        }
        match &message {
            PeerMessage::FullSync { .. } => self.copies[from].0 += 1,
            PeerMessage::Continue { .. } => self.copies[from].1 += 1,
            PeerMessage::Sync { .. } | PeerMessage::Ack { .. } | PeerMessage::Stream(_) => {}
        }
        let to = self.links[link.0 as usize].other(from);
        let input = Input::FromPeer { link, message };
        self.network
            .send(Machine::Server(from), to, Message::Server(input));
    }

    pub(super) fn close_link(&mut self, by: usize, link: LinkId) {
        let own = &mut self.links[link.0 as usize];
        if std::mem::take(&mut own.open) {
            let to = own.other(by);
            self.network.drop_held(|_, _, message| {
                matches!(message, Message::Server(Input::FromPeer { link: used, .. }) if *used == link)
            });
            let gone = Message::Server(Input::LinkGone { link: Some(link) });
            self.network.send(Machine::Server(by), to, gone);
        }
    }

    /// A server has died: its kernel closes its links.
    pub(super) fn close_links_of(&mut self, server: usize) {
        for number in 0..self.links.len() {
            let own = &self.links[number];
            if own.replica == server || own.primary == server {
                self.close_link(server, LinkId(number as u32));
            }
        }
    }

    /// Changes how the links of replicas to the first server fare.
    pub fn flow(&mut self, flow: Flow) {
        self.flow = flow;
        match flow {
            Flow::Free => self.network.release(),
            Flow::Held => self.network.hold_where(is_from_first_primary),
            Flow::Cut => self.cut_links(|link| link.primary == 0),
        }
    }

    /// The links of a server break.
    pub fn cut_off(&mut self, server: usize) {
        self.cut_links(|link| [link.replica, link.primary].contains(&server));
    }

    /// What a server says by its links waits on the way, until they flow again.
    pub fn hold_links_of(&mut self, server: usize) {
        self.network.hold_where(move |from, _, message| {
            let by_link = matches!(message, Message::Server(Input::FromPeer { .. }));
            by_link && from == Machine::Server(server)
        });
    }

    /// Nodes hear nothing of others by the bus of the cluster from now on, and no other hears them; all others do.
    pub fn take_off_the_bus(&mut self, nodes: &[usize]) {
        self.off_the_bus = nodes.to_vec();
    }

    /// Links break; both ends learn of it.
    fn cut_links(&mut self, is_meant: impl Fn(&Link) -> bool) {
        for number in 0..self.links.len() {
            let link = LinkId(number as u32);
            let own = &self.links[number];
            if own.open && is_meant(own) {
                let gone = Message::Server(Input::LinkGone { link: Some(link) });
                let (replica, primary) = (own.replica, own.primary);
                self.network
                    .send(Machine::Server(replica), Machine::Server(primary), gone);
                self.close_link(primary, link);
            }
        }
    }
}

/// Whether a message is what the first server says to a replica.
fn is_from_first_primary(from: Machine, _to: Machine, message: &Message) -> bool {
    use PeerMessage::{Continue, FullSync, Stream};
    let Message::Server(Input::FromPeer { message, .. }) = message else {
        return false;
    };
    from == Machine::Server(0) && matches!(message, Continue { .. } | FullSync { .. } | Stream(_))
}
