//! Replication at the replica: the link to its primary, and the stream that it applies.

use std::rc::Rc;

use picklock_checker::VirtualTime;
use picklock_clients::redis::Command;

use super::primary::TIMEOUT;
use super::{LinkState, Upstream};
use crate::command_table::Run;
use crate::commands;
use crate::db::Expired;
use crate::key_observer::RemovalReason;
use crate::replication_protocol::{
    Address, LinkId, PeerMessage, ReplicationId, Snapshot, StreamPart,
};
use crate::{Output, Server};

impl Upstream {
    /// Whether the link to it stands, and its stream comes.
    pub(crate) fn is_link_up(&self) -> bool {
        matches!(self.state, LinkState::Up(_))
    }

    /// There is no link any more.
    fn fail(&mut self, now: VirtualTime) {
        if let LinkState::Up(_) = self.state {
            self.down_since = Some(now);
        }
        self.state = LinkState::Down;
        self.postponed.clear();
    }
}

impl Server {
    /// A message from another server.
    pub(crate) fn on_peer_message(&mut self, link: LinkId, message: PeerMessage) {
        if let PeerMessage::Sync {
            id,
            wanted,
            address,
        } = message
        {
            self.attach(link, id, wanted, address);
            return;
        }
        if let PeerMessage::Ack { offset, synced } = message {
            self.acked(link, offset, synced);
            return;
        }
        let now = self.core.now.monotonic;
        let Some(upstream) = &mut self.replication.primary else {
            return;
        };
        if ![LinkState::Asking(link), LinkState::Up(link)].contains(&upstream.state) {
            // From a link that we have given up.
            return;
        }
        upstream.heard = now;
        match message {
            PeerMessage::Sync { .. } | PeerMessage::Ack { .. } => {}
            PeerMessage::Continue { id } => self.go_on_as(link, id),
            PeerMessage::FullSync {
                id,
                offset,
                snapshot,
            } => self.full_resync(link, id, offset, &snapshot),
            PeerMessage::Stream(part) if self.is_postponed(&part) => {
                if let Some(upstream) = &mut self.replication.primary {
                    upstream.postponed.push(part);
                }
            }
            PeerMessage::Stream(part) => self.apply(link, &part),
        }
    }

    fn set_link_up(&mut self, link: LinkId) {
        if let Some(upstream) = &mut self.replication.primary {
            upstream.state = LinkState::Up(link);
            upstream.down_since = None;
            upstream.cached = true;
        }
    }

    fn go_on_as(&mut self, link: LinkId, id: ReplicationId) {
        let replication = &mut self.replication;
        if replication.id != id {
            replication.previous = Some((replication.id, replication.offset + 1));
            replication.id = id;
            // Our own replicas have to learn of the new name.
            self.drop_replicas();
        }
        if self.replication.backlog.is_none() {
            self.replication.begin_backlog();
        }
        self.set_link_up(link);
    }

    /// A full resynchronisation: replaces all keys by the snapshot of the primary.
    fn full_resync(&mut self, link: LinkId, id: ReplicationId, offset: u64, snapshot: &Snapshot) {
        let dataset = (*snapshot.0).clone();
        self.core
            .replace_dataset(dataset, RemovalReason::Synchronised);
        self.disk.lacks_copy = true;
        self.replication.followed_db = 0;
        self.drop_replicas();
        self.replication.id = id;
        self.replication.previous = None;
        self.replication.offset = offset;
        self.replication.begin_backlog();
        self.set_link_up(link);
        self.acknowledge(link);
    }

    /// Tells the primary how far it is, and its disk.
    fn acknowledge(&mut self, link: LinkId) {
        let offset = self.replication.offset;
        let synced = self.synced_offset();
        let message = PeerMessage::Ack { offset, synced };
        self.core.out.push(Output::ToPeer { link, message });
    }

    /// Whether a part of the stream has to wait for the end of a pause.
    fn is_postponed(&mut self, part: &StreamPart) -> bool {
        let Some(writes_only) = self.pauses() else {
            return false;
        };
        let upstream = self.replication.primary.as_ref();
        let others_wait = upstream.is_some_and(|primary| !primary.postponed.is_empty());
        let harmless = |command: &Command| command.is("PING") || command.is("REPLCONF");
        !writes_only || others_wait || !part.commands.iter().all(harmless)
    }

    /// Runs what has waited for the end of a pause.
    pub(crate) fn apply_postponed(&mut self) {
        if let Some(upstream) = &mut self.replication.primary
            && let LinkState::Up(link) = upstream.state
        {
            for part in std::mem::take(&mut upstream.postponed) {
                self.apply(link, &part);
            }
        }
    }

    /// Runs what the primary has run. Its clock has decided what had expired; ours is not asked.
    fn apply(&mut self, link: LinkId, part: &Rc<StreamPart>) {
        let hidden = std::mem::replace(&mut self.core.expired, Expired::Kept);
        self.core.select(self.replication.followed_db);
        for command in &part.commands {
            if command.is("REPLCONF") {
                self.acknowledge(link);
            } else {
                self.apply_command(command);
            }
        }
        self.core.expired = hidden;
        self.replication.followed_db = self.core.selected;
        self.core.select(0);
        self.replication.keep(part);
        self.pass_on(part);
    }

    fn apply_command(&mut self, command: &Command) {
        // What goes wrong here went wrong at the primary, too.
        let row = commands::find(command.name());
        if let Some(Run::Keys(run)) = row.map(|row| row.run) {
            let _ = run(&mut self.core, command);
        }
    }

    /// The link to the primary is there.
    pub(crate) fn linked(&mut self, link: LinkId) {
        let now = self.core.now.monotonic;
        let (id, offset) = (self.replication.id, self.replication.offset);
        let address = self.core.settings.address.clone();
        let Some(upstream) = &mut self.replication.primary else {
            self.core.out.push(Output::CloseLink { link });
            return;
        };
        upstream.state = LinkState::Asking(link);
        upstream.heard = now;
        let message = PeerMessage::Sync {
            id: upstream.cached.then_some(id),
            wanted: offset + 1,
            address,
        };
        self.core.out.push(Output::ToPeer { link, message });
    }

    /// A link is gone, or could not be made.
    pub(crate) fn link_gone(&mut self, link: Option<LinkId>) {
        if let Some(link) = link {
            self.detach(link);
        }
        let now = self.core.now.monotonic;
        if let Some(upstream) = &mut self.replication.primary {
            let ours = match upstream.state {
                LinkState::Down => false,
                LinkState::Reaching => link.is_none(),
                LinkState::Asking(other) | LinkState::Up(other) => link == Some(other),
            };
            if ours {
                upstream.fail(now);
            }
        }
    }

    /// Looks after the link to the primary, once a second.
    pub(super) fn check_primary_link(&mut self) {
        let now = self.core.now.monotonic;
        let Some(upstream) = &mut self.replication.primary else {
            return;
        };
        let silent = now.since(upstream.heard).as_millis() as i64 > TIMEOUT;
        match upstream.state {
            LinkState::Down => {
                upstream.state = LinkState::Reaching;
                upstream.heard = now;
                let to = upstream.address.clone();
                self.core.out.push(Output::ReachPrimary { to });
            }
            LinkState::Asking(link) | LinkState::Up(link) if silent => {
                upstream.fail(now);
                self.core.out.push(Output::CloseLink { link });
            }
            LinkState::Reaching if silent => upstream.state = LinkState::Down,
            LinkState::Up(link) => self.acknowledge(link),
            LinkState::Reaching | LinkState::Asking(_) => {}
        }
    }

    /// Makes this server a replica.
    pub(crate) fn follow(&mut self, address: Address) {
        let was_primary = self.replication.primary.is_none();
        let has_version = self.replication.backlog.is_some();
        if let Some(old) = &self.replication.primary {
            let cached = old.cached;
            self.drop_upstream();
            self.set_upstream(address, cached);
        } else {
            // It may go on from what it has, unless it has written what its new primary does not know.
            self.set_upstream(address, has_version);
        }
        if was_primary {
            self.unblock_waiting();
        }
        self.drop_replicas();
        self.set_role();
        self.start_cron();
        // The first try comes at once, and not after a second.
        self.check_primary_link();
    }

    /// The server is a replica from the beginning.
    pub(crate) fn begin_as_replica(&mut self, address: Address) {
        self.set_upstream(address, false);
        self.set_role();
        // At the next look at the clock.
        self.replication.cron = VirtualTime::ZERO;
        self.wake = VirtualTime::ZERO;
    }

    fn set_upstream(&mut self, address: Address, cached: bool) {
        self.replication.primary = Some(Upstream {
            address,
            state: LinkState::Down,
            heard: VirtualTime::ZERO,
            down_since: None,
            cached,
            postponed: Vec::new(),
        });
    }

    fn drop_upstream(&mut self) {
        let state = self
            .replication
            .primary
            .as_ref()
            .map(|upstream| upstream.state);
        if let Some(LinkState::Asking(link) | LinkState::Up(link)) = state {
            self.core.out.push(Output::CloseLink { link });
        }
        self.replication.primary = None;
    }

    /// Makes this server a primary.
    pub(crate) fn lead(&mut self) {
        if self.replication.primary.is_none() {
            return;
        }
        self.drop_upstream();
        let replication = &mut self.replication;
        replication.previous = Some((replication.id, replication.offset + 1));
        replication.rename();
        replication.selected = None;
        if replication.backlog.is_none() {
            replication.begin_backlog();
        }
        self.drop_replicas();
        self.set_role();
    }
}
