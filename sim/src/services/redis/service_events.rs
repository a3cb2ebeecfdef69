//! What Redis servers and Sentinels do and find, as service events.

use picklock_checker::LockId;
use picklock_checker::service_event::{
    DataFound, KeyHolders, KeyLoss, KeySource, Promoter, ServiceEventKind as What,
};
use picklock_redis::sentinel::Event as Noted;
use picklock_redis::{
    Address, DiskImage, KeyChanges, KeyWriter, LinkId, PeerMessage, ProcessEnd, RemovalReason,
};

use super::SimulatedRedis;
use super::lock_key::{AttributedHold, Holder};
use super::role_change::RoleChangeBy;
use crate::network::ServerId;
use crate::ownership::Actor;
use crate::world::World;
use crate::world::service_events::named;

impl World<SimulatedRedis> {
    /// Which servers that run have a lock's key of this hold, but for one of them.
    fn holders_of(&self, lock: usize, holder: &Holder, but: Option<ServerId>) -> KeyHolders {
        let slots = (0..).map(ServerId).zip(&self.host.servers);
        let has = slots.filter(|(id, slot)| {
            slot.process.is_up() && slot.state.keys[lock].has(holder) && Some(*id) != but
        });
        KeyHolders {
            on: has.map(|(id, _)| named(id)).collect(),
            of: self.host.servers.len() as u32,
        }
    }

    /// A server that was a replica is a primary.
    pub(super) fn record_promotion(&mut self, server: ServerId) {
        if !self.records_service_events() {
            return;
        }
        let slot = &self.host.servers[usize::from(server.0)];
        let by = match (self.service.role_change_by, slot.machine.config_epoch()) {
            (RoleChangeBy::Operator, _) => Promoter::Operator,
            (RoleChangeBy::Sentinel(machine), _) => {
                let index = usize::from(machine.0) - self.host.servers.len();
                Promoter::Sentinel {
                    name: self.plan.service.machine_name(machine.0),
                    epoch: self.service.sentinels[index].machine.epoch(),
                }
            }
            (RoleChangeBy::Itself, Some(epoch)) => Promoter::Election { epoch },
            (RoleChangeBy::Itself, None) => Promoter::Configuration,
        };
        let held = slot.state.keys.iter().find_map(|key| key.holders().next());
        let key_of = held.map(|holder| holder.by);
        self.record_service_event(server, What::Promoted { by, key_of });
    }

    /// A server that was a primary follows another.
    pub(super) fn record_demotion(&mut self, server: ServerId) {
        if self.records_service_events() {
            let slot = &self.host.servers[usize::from(server.0)];
            let follows = slot.machine.primary_address();
            let follows = follows.map(|address| address.host.to_string());
            self.record_service_event(server, What::Demoted { follows });
        }
    }

    /// A node of a cluster may have come to another view of which nodes are alive.
    #[inline]
    pub(super) fn record_failed_nodes(&mut self, server: ServerId) {
        if self.records_service_events() {
            self.compare_failed_nodes(server);
        }
    }

    #[cold]
    fn compare_failed_nodes(&mut self, server: ServerId) {
        let slot = &mut self.host.servers[usize::from(server.0)];
        let now = slot.machine.failed_nodes();
        if now == slot.state.failed_nodes {
            return;
        }
        let before = std::mem::replace(&mut slot.state.failed_nodes, now.clone());
        for node in now.iter().filter(|node| !before.contains(node)) {
            let node = named(ServerId(*node));
            self.record_service_event(server, What::NodeFailed { node });
        }
        for node in before.iter().filter(|node| !now.contains(node)) {
            let node = named(ServerId(*node));
            self.record_service_event(server, What::NodeReachable { node });
        }
    }

    /// A server hears from its primary how it goes on.
    #[cold]
    pub(super) fn record_sync(&mut self, to: ServerId, link: LinkId, message: &PeerMessage) {
        let primary = self.service.primary_of_link(link);
        let slot = |id: ServerId| &self.host.servers[usize::from(id.0)];
        let (ours, theirs) = (slot(to), slot(primary));
        if !ours.machine.listens_by(link) {
            return;
        }
        let what = match message {
            PeerMessage::Continue { .. } => What::PartialSync {
                primary: named(primary),
            },
            PeerMessage::FullSync { .. } => {
                let common = theirs.machine.common_offset(&ours.machine);
                let lost = common.map(|offset| ours.machine.writes_after(offset).count() as u64);
                let mut keys = ours.state.keys.iter().zip(&theirs.state.keys);
                let key = keys
                    .find_map(|(ours, theirs)| ours.holders().find(|holder| !theirs.has(holder)));
                What::FullSync {
                    primary: named(primary),
                    discarded: lost,
                    discarded_key_of: key.map(|key| key.by),
                }
            }
            PeerMessage::Sync { .. } | PeerMessage::Stream(_) | PeerMessage::Ack { .. } => return,
        };
        self.record_service_event(to, what);
    }

    /// A server that has ended so runs again.
    pub(super) fn record_restart(&mut self, server: ServerId, end: ProcessEnd) {
        if !self.records_service_events() {
            return;
        }
        let slot = &self.host.servers[usize::from(server.0)];
        let wall_millis = slot.clock.wall(self.now).div_euclid(1_000);
        let disk = slot.machine.on_disk_after(end, wall_millis);
        let (keys, expired) = (disk.keys as u64, disk.expired as u64);
        let data = match disk.image {
            DiskImage::Nothing => DataFound::Nothing,
            DiskImage::Rdb(saved) => DataFound::Rdb {
                saved,
                keys,
                expired,
            },
            DiskImage::Aof(up_to) => DataFound::Aof {
                up_to,
                keys,
                expired,
            },
        };
        let mut keys = slot.state.keys.iter().zip(&disk.followed_keys).enumerate();
        let lost = keys.find_map(|(lock, (key, kept))| {
            let lost = key.holders().next().filter(|_| !kept)?;
            Some((lock, lost))
        });
        let left = lost.map(|(lock, lost)| self.holders_of(lock, lost, Some(server)));
        let restarted = What::Restarted {
            data,
            without_key_of: lost.map(|(_, lost)| lost.by),
            left: left.unwrap_or_default(),
        };
        self.record_service_event(server, restarted);
    }

    /// The lock's key on a server has other holds than these, which it had before.
    pub(super) fn record_key(
        &mut self,
        lock: LockId,
        server: ServerId,
        before: &[AttributedHold],
        fate: KeyChanges,
    ) {
        if !self.records_service_events() {
            return;
        }
        let lock = lock.0 as usize;
        let slot = &self.host.servers[usize::from(server.0)];
        let key = &slot.state.keys[lock];
        let gone: Vec<Holder> = key.lost_holders(before).cloned().collect();
        let new: Vec<Holder> = key.new_holders(before).cloned().collect();
        let by_peer = matches!(fate.written, Some(KeyWriter::Peer));
        // A server that is down expires nothing. When it starts, it finds what is over by then.
        let is_done = slot.process.is_up() || fate != KeyChanges::default();
        for gone in gone.iter().filter(|_| is_done) {
            let (why, by) = match fate.gone.map(|gone| gone.why) {
                None if by_peer => (KeyLoss::Replicated, None),
                None | Some(RemovalReason::Expired) => (KeyLoss::Expired, None),
                Some(RemovalReason::Deleted) => (KeyLoss::Deleted, self.who_ended(fate)),
                Some(RemovalReason::Overwritten) => (KeyLoss::Overwritten, self.who_ended(fate)),
                Some(RemovalReason::Flushed) => (KeyLoss::Flushed, self.who_ended(fate)),
                Some(RemovalReason::Migrated) => (KeyLoss::Migrated, None),
                Some(RemovalReason::Synchronised) => (KeyLoss::Resynchronised, None),
                Some(RemovalReason::Forgotten) => (KeyLoss::NotOnDisk, None),
            };
            // A replica deletes what its primary says.
            let is_replica = !self.host.servers[usize::from(server.0)]
                .machine
                .is_primary();
            let why = match why {
                KeyLoss::Deleted if is_replica && by.is_none() => KeyLoss::Replicated,
                why => why,
            };
            let gone = What::KeyGone {
                of: gone.by,
                why,
                by,
                holders: self.holders_of(lock, gone, None),
            };
            self.record_service_event(server, gone);
        }
        for holder in &new {
            let by = match fate.written {
                Some(KeyWriter::Client(_)) => KeySource::Client,
                Some(KeyWriter::Peer) => KeySource::Replication,
                None if fate.gone.is_some() => KeySource::Replication,
                None => KeySource::Clock,
            };
            let holders = self.holders_of(lock, holder, None);
            let of = holder.by;
            self.record_service_event(server, What::KeySet { of, by, holders });
        }
    }

    fn who_ended(&self, fate: KeyChanges) -> Option<picklock_checker::ContenderId> {
        match self.ended_by(fate) {
            Actor::Contender(by) | Actor::Overwriter(by) => Some(by),
            Actor::SessionEnd | Actor::Service | Actor::Outsider => None,
        }
    }

    /// A Sentinel writes a line into its log. It called `watched` the primary until now.
    #[cold]
    pub(super) fn record_log_line(
        &mut self,
        sentinel: ServerId,
        event: Noted,
        about: &Address,
        watched: &Address,
    ) {
        let index = usize::from(sentinel.0) - self.host.servers.len();
        let machine = &self.service.sentinels[index].machine;
        let name = event.name();
        let (Address { host, port }, old) = (about, watched);
        let role = match (event, about == old) {
            (Noted::RoleChange, true) | (Noted::RoleMismatch, false) => {
                " new reported role is master"
            }
            (Noted::RoleChange, false) | (Noted::RoleMismatch, true) => {
                " new reported role is slave"
            }
            _ => "",
        };
        let line = match event {
            Noted::NewEpoch => format!("{name} {}", machine.epoch()),
            Noted::VoteForLeader => {
                let (leader, epoch) = machine.vote_given().unwrap_or(("?", 0));
                format!("{name} {leader} {epoch}")
            }
            Noted::SwitchPrimary => {
                format!("{name} mymaster {} {} {host} {port}", old.host, old.port)
            }
            Noted::Tilt => format!("{name} #tilt mode entered"),
            Noted::TiltEnd => format!("{name} #tilt mode exited"),
            Noted::ObjectivelyDown => {
                let (agree, needed) = machine.quorum();
                format!("{name} master mymaster {host} {port} #quorum {agree}/{needed}")
            }
            _ if about == old => format!("{name} master mymaster {host} {port}{role}"),
            _ => {
                // A Sentinel goes by its run id, and a replica by its address.
                let instance = match machine.run_id_at(about) {
                    Some(id) => format!("sentinel {id}"),
                    None => format!("slave {host}:{port}"),
                };
                let of = format!("@ mymaster {} {}", old.host, old.port);
                format!("{name} {instance} {host} {port} {of}{role}")
            }
        };
        let event = name.to_owned();
        self.record_service_event(sentinel, What::SentinelLog { event, line });
    }
}
