//! The links between servers, and what stands between the first one and its replicas.

use super::{Machine, TestCluster, What};
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
    /// What the primary has said that waits on the way.
    held: Vec<PeerMessage>,
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
    /// Who of those who are there has this address.
    pub(super) fn find(&self, address: &Address) -> Option<Machine> {
        Machine::at(address).filter(|machine| match machine {
            Machine::Server(place) => *place < self.servers.len(),
            Machine::Sentinel(place) => *place < self.sentinels.len(),
        })
    }

    /// A replica wants a link to its primary.
    pub(super) fn reach(&mut self, replica: usize, to: &Address) {
        let own = Machine::Server(replica);
        let Some(Machine::Server(primary)) = self.find(to) else {
            let gone = Input::LinkGone { link: None };
            self.send(own, own, What::Server(gone));
            return;
        };
        let link = LinkId(self.links.len() as u32);
        self.links.push(Link {
            replica,
            primary,
            open: false,
            held: Vec::new(),
        });
        self.send(own, Machine::Server(primary), What::Knock(link));
    }

    /// Whether what stands between the first primary and its replicas is a link's way.
    fn is_relayed(&self, link: LinkId) -> bool {
        self.links[link.0 as usize].primary == 0
    }

    pub(super) fn knock(&mut self, primary: usize, link: LinkId, dead: bool) {
        let apart = self.is_relayed(link) && self.flow == Flow::Cut;
        let open = !dead && !apart;
        let own = &mut self.links[link.0 as usize];
        own.open = open;
        let replica = Machine::Server(own.replica);
        let input = if open {
            Input::Linked { link }
        } else {
            Input::LinkGone { link: None }
        };
        self.send(Machine::Server(primary), replica, What::Server(input));
    }

    pub(super) fn tell_peer(&mut self, from: usize, link: LinkId, message: PeerMessage) {
        let own = &mut self.links[link.0 as usize];
        if !own.open {
            return;
        }
        match &message {
            PeerMessage::FullSync { .. } => self.copies[from].0 += 1,
            PeerMessage::Continue { .. } => self.copies[from].1 += 1,
            PeerMessage::Sync { .. } | PeerMessage::Ack { .. } | PeerMessage::Stream(_) => {}
        }
        let own = &mut self.links[link.0 as usize];
        if self.flow == Flow::Held && from == own.primary && from == 0 {
            own.held.push(message);
            return;
        }
        let to = own.other(from);
        let input = Input::FromPeer { link, message };
        self.send(Machine::Server(from), to, What::Server(input));
    }

    pub(super) fn close_link(&mut self, by: usize, link: LinkId) {
        let own = &mut self.links[link.0 as usize];
        if std::mem::take(&mut own.open) {
            own.held.clear();
            let to = own.other(by);
            let gone = What::Server(Input::LinkGone { link: Some(link) });
            self.send(Machine::Server(by), to, gone);
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
        for number in 0..self.links.len() {
            let link = LinkId(number as u32);
            if !self.is_relayed(link) {
                continue;
            }
            let own = &mut self.links[number];
            let (replica, primary) = (Machine::Server(own.replica), Machine::Server(own.primary));
            match flow {
                Flow::Held => {}
                Flow::Free => {
                    for message in std::mem::take(&mut own.held) {
                        let input = What::Server(Input::FromPeer { link, message });
                        self.send(primary, replica, input);
                    }
                }
                // Both ends learn of it.
                Flow::Cut if own.open => {
                    let gone = What::Server(Input::LinkGone { link: Some(link) });
                    self.send(replica, primary, gone);
                    self.close_link(0, link);
                }
                Flow::Cut => {}
            }
        }
    }
}
