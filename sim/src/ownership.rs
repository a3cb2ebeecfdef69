//! Who owns the lock, read from what the service has committed.

mod change;
mod owner;
mod places;

use picklock_algorithms::{LockKind, Owners, OwnershipRule, Place};
use picklock_checker::{
    ContenderId, Disowned, EventKind, LockId, Mode, NameId, Token, VirtualTime,
};
use picklock_clients::zookeeper::Path;

pub use self::change::{Actor, CommittedNode};
use self::owner::Owner;
use self::places::{Places, QueuedNode};
use crate::recorder::Recorder;

/// Follows the committed changes of one lock's nodes, and records who comes to own it and who ceases to.
#[derive(Clone, Debug)]
pub struct Ownership {
    rule: OwnershipRule,
    lock: LockId,
    /// How many permits it has.
    permits: usize,
    /// The nodes below the lock that are in its queue.
    queue: Places,
    owners: Vec<Owner>,
    /// The contenders that run a reaper: what they remove of the dead, the recipe means to go.
    reapers: Vec<ContenderId>,
    /// The numbers under which nodes are queued only grow, even if the lock is deleted and created again.
    arrivals: u64,
    grants: u64,
}

impl Ownership {
    /// A lock without an owner; `permits` counts if it is a semaphore.
    pub fn new(rule: OwnershipRule, permits: u32, lock: LockId) -> Self {
        Self {
            rule,
            lock,
            permits: permits as usize,
            queue: Places::default(),
            owners: Vec::new(),
            reapers: Vec::new(),
            arrivals: 0,
            grants: 0,
        }
    }

    /// The same lock, of which these contenders run a reaper.
    #[must_use]
    pub fn with_reapers(self, reapers: Vec<ContenderId>) -> Self {
        Self { reapers, ..self }
    }

    /// How many have come to own the lock so far.
    pub fn grants(&self) -> u64 {
        self.grants
    }

    /// Whether a contender owns the lock.
    pub fn is_owned_by(&self, by: ContenderId) -> bool {
        self.owners.iter().any(|owner| owner.by == by)
    }

    /// Whether nothing of the lock is left at the service.
    pub fn is_clear(&self) -> bool {
        self.queue.is_empty() && self.owners.is_empty()
    }

    /// The contender that created the node of this name, and its number in the history.
    pub fn node(&self, name: &str) -> Option<(NameId, ContenderId)> {
        let place = self.queue.iter().find(|place| place.node_name() == name)?;
        Some((place.name, place.by))
    }

    /// The first node of a contender.
    pub fn node_of(&self, by: ContenderId) -> Option<&str> {
        self.queue
            .iter()
            .find(|place| place.by == by)
            .map(QueuedNode::node_name)
    }

    /// The node that all waiters wait for in the end, and the contender that created it.
    pub fn head(&self) -> Option<(NameId, ContenderId)> {
        let owner = self.owners.first().map(|owner| (owner.name, owner.by));
        owner.or_else(|| self.queue.front().map(|place| (place.name, place.by)))
    }

    /// Whether its nodes are leases, which are counted.
    pub fn is_of_leases(&self) -> bool {
        match self.rule.owners {
            Owners::OfQueue(queue) => queue.counts_leases,
            Owners::OfNode
            | Owners::OfData(_)
            | Owners::OfKeys(_)
            | Owners::OfCounter(_)
            | Owners::OfSession
            | Owners::OfRow(_)
            | Owners::OfHeldKeys(_) => false,
        }
    }

    /// Which lease must go before a contender has a permit that it knows of, and its creator: where there are more of
    /// them than permits, the first but for its own last one.
    pub fn ahead_of(&self, by: ContenderId) -> Option<(NameId, ContenderId)> {
        if self.queue.iter().all(|node| node.owns) {
            return self.head();
        }
        let own = self.queue.iter().filter(|node| node.by == by);
        let own = own.map(|node| node.arrival).max();
        let mut others = { self.queue.iter() }.filter(|node| Some(node.arrival) != own);
        others.next().map(|node| (node.name, node.by))
    }

    /// What is left at the service.
    pub fn leftovers(&self) -> Vec<(NameId, ContenderId)> {
        let places = self.queue.iter().map(|place| (place.name, place.by));
        let owners = self.owners.iter().map(|owner| (owner.name, owner.by));
        match self.rule.has_queue() {
            true => places.collect(),
            false => owners.collect(),
        }
    }

    /// A contender has made a node of the lock. Answers whether that has put it in the queue.
    pub fn created(
        &mut self,
        at: VirtualTime,
        node: CommittedNode<'_>,
        by: ContenderId,
        recorder: &mut Recorder,
    ) -> bool {
        match self.rule.owners {
            Owners::OfQueue(queue) => {
                let place = (queue.place)(node.name);
                if let Some(place) = place {
                    self.queued(at, (node, place), by, recorder);
                }
                place.is_some()
            }
            Owners::OfNode => {
                let name = recorder.name(node.path);
                let owner = Owner::exclusive(by, node.token, name);
                self.grant(at, owner, recorder);
                false
            }
            Owners::OfData(_)
            | Owners::OfKeys(_)
            | Owners::OfCounter(_)
            | Owners::OfSession
            | Owners::OfRow(_)
            | Owners::OfHeldKeys(_) => false,
        }
    }

    /// A contender has come to own the lock by its key.
    pub fn key_set(
        &mut self,
        at: VirtualTime,
        by: ContenderId,
        mode: Mode,
        name: NameId,
        recorder: &mut Recorder,
    ) -> Token {
        let token = Token(self.grants + 1);
        let owner = Owner {
            by,
            mode,
            token,
            name,
            is_dead: false,
            restored_by: None,
        };
        self.grant(at, owner, recorder);
        token
    }

    /// The owner by the key with this token has ceased to own the lock.
    pub fn key_gone(
        &mut self,
        at: VirtualTime,
        token: Token,
        actor: Actor,
        recorder: &mut Recorder,
    ) {
        self.disown(at, |owner| owner.token == token, actor, recorder);
    }

    /// A node of the lock was deleted.
    pub fn deleted(&mut self, at: VirtualTime, name: &str, by: Actor, recorder: &mut Recorder) {
        if !self.rule.has_queue() {
            self.disown(at, |_| true, by, recorder);
            return;
        }
        let Some(place) = self.queue.take(name) else {
            return;
        };
        let (lock, arrival) = (self.lock, place.arrival);
        let unqueued = EventKind::Unqueued {
            by: place.by,
            lock,
            place: arrival,
            name: place.name,
        };
        recorder.record(at, unqueued);
        self.disown(at, |owner| owner.name == place.name, by, recorder);
        self.grant_next(at, recorder);
    }

    /// The data of a node of the lock was set.
    pub fn data_set(
        &mut self,
        at: VirtualTime,
        path: &str,
        data: &[u8],
        by: Actor,
        token: Token,
        recorder: &mut Recorder,
    ) {
        let Owners::OfData(is_held) = self.rule.owners else {
            return;
        };
        match by {
            Actor::Contender(by) if is_held(data) => {
                let name = recorder.name(path);
                let owner = Owner::exclusive(by, token, name);
                self.grant(at, owner, recorder);
            }
            Actor::Contender(_)
            | Actor::Overwriter(_)
            | Actor::SessionEnd
            | Actor::Service
            | Actor::Outsider => {
                self.disown(at, |_| true, by, recorder);
            }
        }
    }

    /// A node has come into the queue.
    fn queued(
        &mut self,
        at: VirtualTime,
        (node, place): (CommittedNode<'_>, Place),
        by: ContenderId,
        recorder: &mut Recorder,
    ) {
        let path = node.path;
        let (number, mode) = (recorder.name(path), in_mode(place.mode()));
        let arrival = self.arrivals;
        self.arrivals += 1;
        self.queue.insert(QueuedNode {
            sequence: match place {
                Place::Arrived(_) => arrival,
                Place::Sequential(_) | Place::Announced(_) => node.number.unsigned_abs(),
            },
            path: Path::clone(path),
            name_at: path.len() - node.name.len(),
            place,
            by,
            token: node.token,
            name: number,
            arrival,
            owns: false,
        });
        let queued = EventKind::Queued {
            by,
            lock: self.lock,
            place: arrival,
            name: number,
            mode,
        };
        recorder.record(at, queued);
        self.grant_next(at, recorder);
    }

    /// Makes those owners whose turn it is: so many of the first in the queue as the rule says. A lower number may come
    /// later, when the numbers overflow: an owner stays one until its node goes.
    fn grant_next(&mut self, at: VirtualTime, recorder: &mut Recorder) {
        let Owners::OfQueue(rule) = self.rule.owners else {
            return;
        };
        let owners = {
            let places = self.queue.iter().map(|node| node.place);
            let mut modes = places.filter(|place| asks(*place)).map(Place::mode);
            (rule.owners)(&mut modes, self.permits)
        };
        let mut turn = 0;
        for index in 0..self.queue.len() {
            if turn == owners {
                return;
            }
            let node = self.queue.at_mut(index);
            if !asks(node.place) {
                continue;
            }
            turn += 1;
            if node.owns {
                continue;
            }
            let mode = in_mode(node.place.mode());
            let is_full = match self.rule.kind {
                LockKind::Semaphore => self.owners.len() >= owners,
                _ => self.owners.iter().any(|owner| owner.mode.excludes(mode)),
            };
            if is_full {
                return;
            }
            node.owns = true;
            let owner = Owner {
                by: node.by,
                mode,
                token: node.token,
                name: node.name,
                is_dead: false,
                restored_by: None,
            };
            self.grant(at, owner, recorder);
        }
    }

    fn grant(&mut self, at: VirtualTime, owner: Owner, recorder: &mut Recorder) {
        self.owners.push(owner);
        self.grants += 1;
        let Owner {
            by,
            mode,
            token,
            name,
            ..
        } = owner;
        recorder.record(
            at,
            EventKind::Owned {
                by,
                lock: self.lock,
                token,
                name,
                mode,
            },
        );
    }

    /// Ends ownerships.
    fn disown(
        &mut self,
        at: VirtualTime,
        which: impl Fn(&Owner) -> bool,
        actor: Actor,
        recorder: &mut Recorder,
    ) {
        let (lock, reapers) = (self.lock, &self.reapers);
        self.owners.retain(|owner| {
            if !which(owner) {
                return true;
            }
            let how = match actor {
                Actor::Contender(by) if by == owner.by || owner.restored_by == Some(by) => {
                    Disowned::Released
                }
                Actor::Contender(by) if owner.is_dead && reapers.contains(&by) => Disowned::Reaped,
                Actor::Contender(by) => Disowned::RemovedBy(by),
                Actor::Overwriter(by) => Disowned::OverwrittenBy(by),
                Actor::SessionEnd => Disowned::Expired,
                Actor::Service => Disowned::LostByService,
                Actor::Outsider => Disowned::RemovedFromOutside,
            };
            recorder.record(
                at,
                EventKind::Disowned {
                    by: owner.by,
                    lock,
                    token: owner.token,
                    how,
                },
            );
            false
        });
    }
}

/// Whether a node waits for its turn, and does not only announce another.
fn asks(place: Place) -> bool {
    !matches!(place, Place::Announced(_))
}

/// The mode of the history that a rule's mode is.
pub fn in_mode(mode: picklock_algorithms::Mode) -> Mode {
    match mode {
        picklock_algorithms::Mode::Exclusive => Mode::Exclusive,
        picklock_algorithms::Mode::Shared => Mode::Shared,
    }
}
