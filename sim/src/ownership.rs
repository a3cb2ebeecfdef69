//! Who owns the lock, read from what the service has committed.

mod leases;
mod places;

use picklock_algorithms::OwnershipRule;
use picklock_checker::{
    ContenderId, Disowned, EventKind, LockId, Mode, NameId, Token, VirtualTime,
};
use picklock_clients::zookeeper::Path;
use picklock_zookeeper::txn::Created;

use self::places::{Place, Places};
use crate::recorder::Recorder;

/// Follows the committed changes of one lock's nodes, and records who comes to own it and who ceases to.
#[derive(Clone, Debug)]
pub struct Ownership {
    rule: OwnershipRule,
    lock: LockId,
    /// How many may own the lock at once, if it is a semaphore.
    permits: usize,
    /// The nodes below the lock that are in its queue.
    queue: Places,
    owners: Vec<Owner>,
    /// Each node is queued under a number that no later one is below, even if the lock is made anew.
    arrivals: u64,
    grants: u64,
}

#[derive(Clone, Copy, Debug)]
struct Owner {
    by: ContenderId,
    mode: Mode,
    token: Token,
    name: NameId,
}

impl Owner {
    fn exclusive(by: ContenderId, token: Token, name: NameId) -> Self {
        let mode = Mode::Exclusive;
        Self {
            by,
            mode,
            token,
            name,
        }
    }
}

/// Who has changed a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Actor {
    /// A contender.
    Contender(ContenderId),
    /// A contender, which has put a hold of its own in its place.
    Overwriter(ContenderId),
    /// The end of the contender's own session or lease.
    SessionEnd,
    /// The service itself: a server that had the claim is gone, or is another than it was, or comes back without it.
    Service,
    /// Somebody else: an operator.
    Outsider,
}

impl Ownership {
    /// Nobody owns the lock, which has so many permits if it is a semaphore.
    pub fn new(rule: OwnershipRule, permits: u32, lock: LockId) -> Self {
        Self {
            rule,
            lock,
            permits: leases::permits(rule, permits),
            queue: Places::default(),
            owners: Vec::new(),
            arrivals: 0,
            grants: 0,
        }
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

    /// Who made the node of this name, and its number in the history.
    pub fn node(&self, name: &str) -> Option<(NameId, ContenderId)> {
        let place = self.queue.iter().find(|place| place.node_name() == name)?;
        Some((place.name, place.by))
    }

    /// The first node of a contender.
    pub fn node_of(&self, by: ContenderId) -> Option<&str> {
        self.queue
            .iter()
            .find(|place| place.by == by)
            .map(Place::node_name)
    }

    /// The node that everybody waits for in the end, and who made it.
    pub fn head(&self) -> Option<(NameId, ContenderId)> {
        let owner = self.owners.first().map(|owner| (owner.name, owner.by));
        owner.or_else(|| self.queue.front().map(|place| (place.name, place.by)))
    }

    /// Whether its nodes are leases, which are counted.
    pub fn is_of_leases(&self) -> bool {
        leases::are_counted(self.rule)
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

    /// A node of the lock was made; below the lock, this is its name.
    pub fn created(
        &mut self,
        at: VirtualTime,
        name: &str,
        made: &Created,
        by: ContenderId,
        zxid: u64,
        recorder: &mut Recorder,
    ) {
        let path = &made.path;
        match self.rule {
            OwnershipRule::LowestChild
            | OwnershipRule::LowestChildOfEach
            | OwnershipRule::LowestChildLeads
            | OwnershipRule::ReadersAndWriters { .. }
            | OwnershipRule::LowestLeases { .. }
            | OwnershipRule::Parties { .. }
            | OwnershipRule::EveryLease => {
                if !leases::is_place(self.rule, name) {
                    return;
                }
                let number = recorder.name(path);
                let mode = self.mode_of(name);
                let arrival = self.arrivals;
                self.arrivals += 1;
                let place = Place {
                    sequence: match self.rule {
                        OwnershipRule::EveryLease => arrival,
                        _ => made.number.unsigned_abs(),
                    },
                    path: Path::clone(path),
                    name_at: path.len() - name.len(),
                    mode,
                    by,
                    token: Token(zxid),
                    name: number,
                    arrival,
                    owns: false,
                };
                self.queue.insert(place);
                recorder.record(
                    at,
                    EventKind::Queued {
                        by,
                        lock: self.lock,
                        place: arrival,
                        name: number,
                        mode,
                    },
                );
                self.grant_next(at, recorder);
            }
            OwnershipRule::Barrier | OwnershipRule::Node => {
                let name = recorder.name(path);
                let owner = Owner::exclusive(by, Token(zxid), name);
                self.grant(at, owner, recorder);
            }
            OwnershipRule::Data | OwnershipRule::Key => {}
        }
    }

    /// A contender has come to own the lock by its key.
    pub fn key_set(
        &mut self,
        at: VirtualTime,
        by: ContenderId,
        name: NameId,
        recorder: &mut Recorder,
    ) -> Token {
        let token = Token(self.grants + 1);
        self.grant(at, Owner::exclusive(by, token, name), recorder);
        token
    }

    /// Whoever came to own the lock by its key with this token has ceased to.
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
        free: bool,
        by: Actor,
        zxid: u64,
        recorder: &mut Recorder,
    ) {
        if self.rule != OwnershipRule::Data {
            return;
        }
        match by {
            Actor::Contender(by) if !free => {
                let name = recorder.name(path);
                let owner = Owner::exclusive(by, Token(zxid), name);
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

    /// In which mode the one who makes a node of this name asks for the lock.
    fn mode_of(&self, name: &str) -> Mode {
        match self.rule {
            OwnershipRule::ReadersAndWriters { reader, .. } if name.contains(reader) => {
                Mode::Shared
            }
            OwnershipRule::Parties { .. } => Mode::Shared,
            _ => Mode::Exclusive,
        }
    }

    /// Makes those owners whose turn it is: the first in the queue, or all the readers at its head.
    fn grant_next(&mut self, at: VirtualTime, recorder: &mut Recorder) {
        if let OwnershipRule::Parties { .. } = self.rule {
            return;
        }
        if leases::are_counted(self.rule) {
            return self.grant_permits(at, recorder);
        }
        let announced = match self.rule {
            OwnershipRule::ReadersAndWriters { announced, .. } => announced,
            _ => None,
        };
        let mut is_first = true;
        for index in 0..self.queue.len() {
            let place = self.queue.at_mut(index);
            let mode = place.mode;
            if announced.is_some_and(|mark| place.node_name().contains(mark)) {
                continue;
            }
            if !std::mem::take(&mut is_first) && mode == Mode::Exclusive {
                return;
            }
            if !place.owns {
                // Owners are readers, or one writer. A lower number may be made later, when the numbers overflow.
                let excluded = self.owners.first().map(|owner| owner.mode.excludes(mode));
                if excluded == Some(true) {
                    return;
                }
                place.owns = true;
                let owner = Owner {
                    by: place.by,
                    mode,
                    token: place.token,
                    name: place.name,
                };
                self.grant(at, owner, recorder);
            }
            if mode == Mode::Exclusive {
                return;
            }
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
        let lock = self.lock;
        self.owners.retain(|owner| {
            if !which(owner) {
                return true;
            }
            let how = match actor {
                Actor::Contender(by) if by == owner.by => Disowned::Released,
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
