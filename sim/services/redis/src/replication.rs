//! What a server knows of its replicas, and of its primary.

mod info;
mod primary;
mod replica;
mod roles;

use std::collections::VecDeque;
use std::rc::Rc;
use std::time::Duration;

use picklock_checker::VirtualTime;
use picklock_clients::redis::Command;

use crate::propagation::Told;
use crate::replication_protocol::{Address, LinkId, ReplicationId, StreamPart};

/// How often a primary looks after its replicas, and a replica after its primary, in microseconds.
const CRON: u64 = 1_000_000;
/// How many bytes of the stream are kept for replicas that come back.
const BACKLOG: u64 = 1 << 20;

/// What a server knows of its replicas, and of its primary.
#[derive(Clone, Debug)]
pub(crate) struct Replication {
    /// The version of its data, and how far it goes.
    pub(crate) id: ReplicationId,
    pub(crate) offset: u64,
    /// The version that it had before, and the first byte that is not of it.
    previous: Option<(ReplicationId, u64)>,
    backlog: Option<Backlog>,
    /// The database that the stream has selected last; it is selected again after each new beginning.
    selected: Option<u8>,
    /// The database that the primary's stream has said last, if it is a replica.
    pub(crate) followed_db: u8,
    replicas: Vec<Attached>,
    /// How many of them are there and say so, as counted last.
    good: usize,
    pub(crate) primary: Option<Upstream>,
    /// Replicas are to say how far they are.
    ack_wanted: bool,
    cron: VirtualTime,
    pinged: VirtualTime,
    ids: u32,
    server: u32,
}

/// The end of the stream, for replicas that come back.
#[derive(Clone, Debug)]
struct Backlog {
    /// The first byte that is kept.
    start: u64,
    parts: VecDeque<Rc<StreamPart>>,
}

/// A replica, as its primary sees it.
#[derive(Clone, Debug)]
struct Attached {
    link: LinkId,
    address: Option<Address>,
    stage: ReplicaState,
    /// How far it says it is.
    acked: u64,
    /// How far it says its disk is, if it keeps a log.
    synced: Option<u64>,
    /// When it has said so, by the wall clock in milliseconds.
    heard: i64,
    /// Up to where it was sent the stream.
    sent: u64,
}

/// How far a replica has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ReplicaState {
    /// It waits for others to begin together with it; until then, by the monotonic clock.
    Waiting { until: VirtualTime },
    /// It has been sent all keys. We notice at this time that it has them.
    Sent { noticed: VirtualTime },
    /// It has all keys, and we wait for it to say so: only then the stream goes on.
    Silent,
    /// It gets every write at once.
    Streaming,
}

/// The primary, as its replica sees it.
#[derive(Clone, Debug)]
pub(crate) struct Upstream {
    pub(crate) address: Address,
    state: LinkState,
    /// When anything came from it last.
    heard: VirtualTime,
    /// Since when the link is down, if it has ever been up.
    down_since: Option<VirtualTime>,
    /// Whether our data are a version of a primary's, from which we could go on.
    cached: bool,
    /// What has come while clients were paused. The primary is one of them; if it goes before the pause ends, this is
    /// lost.
    postponed: Vec<Rc<StreamPart>>,
}

/// How it stands with the link to the primary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LinkState {
    /// There is none.
    Down,
    /// It is being made.
    Reaching,
    /// We have asked to go on, or for a full copy.
    Asking(LinkId),
    /// The stream comes.
    Up(LinkId),
}

impl Replication {
    pub(crate) fn new(server: u32) -> Self {
        Self {
            id: ReplicationId { server, number: 0 },
            offset: 0,
            previous: None,
            backlog: None,
            selected: None,
            followed_db: 0,
            replicas: Vec::new(),
            good: 0,
            primary: None,
            ack_wanted: false,
            cron: VirtualTime::NEVER,
            pinged: VirtualTime::ZERO,
            ids: 1,
            server,
        }
    }

    /// Gives the data a new name.
    fn rename(&mut self) {
        self.id = ReplicationId {
            server: self.server,
            number: self.ids,
        };
        self.ids += 1;
    }

    /// The same server after a restart: its data have a new name, and no replica is attached.
    pub(crate) fn restarted(&self) -> Self {
        let mut new = Self::new(self.server);
        new.ids = self.ids;
        new.rename();
        new
    }

    /// Whether a replica may want the changes.
    pub(crate) fn is_wanted(&self) -> bool {
        self.backlog.is_some() && self.primary.is_none()
    }

    /// When it is to be looked after next.
    pub(crate) fn wake(&self) -> VirtualTime {
        let stages = self.replicas.iter().map(|replica| match replica.stage {
            ReplicaState::Waiting { until } => until,
            ReplicaState::Sent { noticed } => noticed,
            ReplicaState::Silent | ReplicaState::Streaming => VirtualTime::NEVER,
        });
        stages.fold(self.cron, VirtualTime::min)
    }

    /// How many replicas say that they have the stream up to here.
    pub(crate) fn replicas_with(&self, offset: u64) -> i64 {
        let have = |replica: &&Attached| {
            matches!(
                replica.stage,
                ReplicaState::Streaming | ReplicaState::Silent
            ) && replica.acked >= offset
        };
        self.replicas.iter().filter(have).count() as i64
    }

    /// How many replicas say that they have the stream up to here on their disks.
    pub(crate) fn disks_with(&self, offset: u64) -> i64 {
        let have = |replica: &&Attached| replica.synced.is_some_and(|synced| synced >= offset);
        self.replicas.iter().filter(have).count() as i64
    }

    /// Whether there are as many good replicas as there have to be for a write.
    pub(crate) fn has_good(&self, least: usize) -> bool {
        least == 0 || self.good >= least
    }

    /// For how long nothing has come from the primary, or there has been no link to it.
    pub(crate) fn behind(&self, now: VirtualTime) -> Duration {
        let Some(upstream) = &self.primary else {
            return Duration::ZERO;
        };
        now.since(match upstream.state {
            LinkState::Up(_) => upstream.heard,
            LinkState::Down | LinkState::Reaching | LinkState::Asking(_) => {
                upstream.down_since.unwrap_or(VirtualTime::ZERO)
            }
        })
    }

    /// Puts commands at the end of the stream.
    fn append(&mut self, told: Vec<Told>) -> Option<Rc<StreamPart>> {
        self.backlog.as_ref()?;
        let select = |db: u8| Command::new("SELECT").number(db);
        let mut commands = Vec::with_capacity(told.len() + 1);
        if self.selected.is_none() {
            let first = told.iter().find_map(|(db, _)| *db).unwrap_or(0);
            self.selected = Some(first);
            commands.push(select(first));
        }
        for (db, command) in told {
            if let Some(db) = db.filter(|db| self.selected != Some(*db)) {
                self.selected = Some(db);
                commands.push(select(db));
            }
            commands.push(command);
        }
        let bytes: u64 = commands.iter().map(Command::wire_bytes).sum();
        let part = Rc::new(StreamPart {
            start: self.offset,
            end: self.offset + bytes,
            commands,
        });
        self.keep(&part);
        Some(part)
    }

    /// Keeps a part for replicas that come back.
    fn keep(&mut self, part: &Rc<StreamPart>) {
        self.offset = part.end;
        if let Some(backlog) = &mut self.backlog {
            backlog.parts.push_back(Rc::clone(part));
            while let Some(first) = backlog.parts.front()
                && part.end - first.end >= BACKLOG
            {
                backlog.start = first.end;
                backlog.parts.pop_front();
            }
        }
    }

    /// Begins to keep the end of the stream.
    fn begin_backlog(&mut self) {
        let start = self.offset;
        self.backlog = Some(Backlog {
            start,
            parts: VecDeque::new(),
        });
    }

    /// The parts of the stream from this byte on.
    fn since(&self, offset: u64) -> Vec<Rc<StreamPart>> {
        let parts = self.backlog.iter().flat_map(|backlog| &backlog.parts);
        parts.filter(|part| part.start >= offset).cloned().collect()
    }

    /// Whether it listens to its primary by this link.
    pub(crate) fn listens_by(&self, link: LinkId) -> bool {
        let upstream = self.primary.as_ref();
        let states = [LinkState::Asking(link), LinkState::Up(link)];
        upstream.is_some_and(|upstream| states.contains(&upstream.state))
    }

    /// The version that it had before, and the first byte that is not of it.
    pub(crate) fn previous(&self) -> Option<(ReplicationId, u64)> {
        self.previous
    }

    /// The parts of the stream that end after this byte.
    pub(crate) fn parts_after(&self, offset: u64) -> Vec<Rc<StreamPart>> {
        let parts = self.backlog.iter().flat_map(|backlog| &backlog.parts);
        parts.filter(|part| part.end > offset).cloned().collect()
    }

    /// Whether a replica that wants this byte next of this version can go on.
    fn can_continue(&self, id: Option<ReplicationId>, wanted: u64) -> bool {
        let of_previous =
            |(previous, end): (ReplicationId, u64)| id == Some(previous) && wanted <= end;
        let known = id == Some(self.id) || self.previous.is_some_and(of_previous);
        let kept = |backlog: &Backlog| wanted > backlog.start && wanted <= self.offset + 1;
        known && self.backlog.as_ref().is_some_and(kept)
    }
}
