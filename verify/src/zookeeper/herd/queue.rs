//! A client that waits for a lock in one of four ways, as a machine without a clock: it is told what came, and says
//! what to send.

use std::collections::BTreeSet;
use std::rc::Rc;

use picklock_clients::zookeeper::{
    Acl, Children, CreateMode, EventType, Path, Reply, Request, Response, WatchSide, ZkError,
};

/// How one waits for the lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitStrategy {
    /// One node, and all waiters watch it.
    SameName,
    /// A queue, and each waiter watches all of it.
    Children,
    /// A queue, and each waiter watches the one ahead.
    Predecessor,
    /// A queue of which each waiter keeps a copy, by one watch that stays.
    Copy,
}

impl WaitStrategy {
    /// All of them.
    pub const ALL: [Self; 4] = [
        Self::SameName,
        Self::Children,
        Self::Predecessor,
        Self::Copy,
    ];

    /// The algorithm that does it so.
    pub fn algorithm(self) -> &'static str {
        match self {
            Self::SameName => "zk-same-name",
            Self::Children => "zk-children-watch",
            Self::Predecessor => "zk-predecessor-watch",
            Self::Copy => "zk-recursive-watch",
        }
    }

    /// How often a server counts a notification that it sends. A recursive watch is one on both sides of a node, and
    /// 3.8.0 counts it on each, though the client is told once.
    pub(super) fn counted(self) -> u64 {
        match self {
            Self::SameName | Self::Children | Self::Predecessor => 1,
            Self::Copy => 2,
        }
    }
}

/// A client.
pub(super) struct Contender {
    way: WaitStrategy,
    lock: Path,
    /// Its node, once it has one.
    node: Option<Path>,
    /// What is ahead of it, in its copy of the queue.
    ahead: BTreeSet<u64>,
    pub(super) stage: Stage,
}

/// Where a client is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// It has asked for something, and waits for the answer.
    Asking,
    /// It waits for its turn.
    Waiting,
    /// It has the lock.
    Holding,
    /// It has given the lock back.
    Done,
}

impl Contender {
    pub(super) fn new(way: WaitStrategy, lock: &Path) -> Self {
        Self {
            way,
            lock: Rc::clone(lock),
            node: None,
            ahead: BTreeSet::new(),
            stage: Stage::Asking,
        }
    }

    /// What it asks first.
    pub(super) fn first(&self) -> Request {
        match self.way {
            WaitStrategy::SameName | WaitStrategy::Children | WaitStrategy::Predecessor => {
                self.create()
            }
            WaitStrategy::Copy => Request::AddWatch {
                path: Rc::clone(&self.lock),
                recursive: true,
            },
        }
    }

    fn create(&self) -> Request {
        let (name, mode) = match self.way {
            WaitStrategy::SameName => ("/holder", CreateMode::Ephemeral),
            WaitStrategy::Children | WaitStrategy::Predecessor | WaitStrategy::Copy => {
                ("/n-", CreateMode::EphemeralSequential)
            }
        };
        Request::create(self.below(name), b"", mode, Acl::OPEN, false)
    }

    fn below(&self, name: &str) -> Path {
        [&self.lock, name].concat().into()
    }

    fn list(&self) -> Request {
        Request::GetChildren {
            path: Rc::clone(&self.lock),
            watch: self.way == WaitStrategy::Children,
            with_stat: false,
        }
    }

    /// Gives the lock back.
    pub(super) fn release(&mut self) -> Option<Request> {
        self.stage = Stage::Asking;
        let path = self.node.take()?;
        let version = None;
        Some(Request::Delete { path, version })
    }

    /// A watch has fired.
    pub(super) fn notified(&mut self, kind: EventType, path: &str) -> Option<Request> {
        if self.stage != Stage::Waiting {
            return None;
        }
        if self.way == WaitStrategy::Copy {
            if kind == EventType::NodeDeleted {
                self.ahead.remove(&number(path)?);
            }
            return self.enter_if_first();
        }
        self.stage = Stage::Asking;
        Some(match self.way {
            WaitStrategy::SameName => self.create(),
            WaitStrategy::Children | WaitStrategy::Predecessor | WaitStrategy::Copy => self.list(),
        })
    }

    /// An answer has come.
    pub(super) fn answered(&mut self, reply: Reply) -> Option<Request> {
        match reply {
            Ok(Response::Created { path, .. }) => {
                self.node = Some(path);
                if self.way == WaitStrategy::SameName {
                    self.stage = Stage::Holding;
                    return None;
                }
                Some(self.list())
            }
            Ok(Response::Children(children)) if self.way == WaitStrategy::Copy => {
                self.copied(&children)
            }
            Ok(Response::Children(children)) => {
                let name = self.node.as_deref()?.rsplit('/').next()?;
                let place = children.sorted_by_sequence().position(name)?;
                if place == 0 {
                    self.stage = Stage::Holding;
                    return None;
                }
                if self.way == WaitStrategy::Children {
                    self.stage = Stage::Waiting;
                    return None;
                }
                let ahead = children.sorted_by_sequence().get(place - 1)?;
                let path = self.below(&format!("/{ahead}"));
                Some(Request::Exists { path, watch: true })
            }
            Ok(Response::Exists(_)) => {
                self.stage = Stage::Waiting;
                None
            }
            Ok(Response::Watching) => {
                if self.node.is_none() {
                    return Some(self.create());
                }
                self.stage = Stage::Holding;
                None
            }
            Ok(Response::Deleted) => {
                self.stage = Stage::Done;
                None
            }
            Err(ZkError::NodeExists) => Some(Request::Exists {
                path: self.below("/holder"),
                watch: true,
            }),
            // It is gone already; the watch that this has left is not counted on.
            Err(ZkError::NoNode) => Some(match self.way {
                WaitStrategy::SameName => self.create(),
                WaitStrategy::Children | WaitStrategy::Predecessor | WaitStrategy::Copy => {
                    self.list()
                }
            }),
            Ok(_) | Err(_) => None,
        }
    }

    /// The queue as it is when its own node is in it. What is ahead now is all that can ever be ahead.
    fn copied(&mut self, children: &Children) -> Option<Request> {
        let own = number(self.node.as_deref()?)?;
        let numbers = children.names().filter_map(|name| number(name));
        self.ahead = numbers.filter(|number| *number < own).collect();
        self.stage = Stage::Waiting;
        self.enter_if_first()
    }

    /// The first takes back its watch, and then holds the lock.
    fn enter_if_first(&mut self) -> Option<Request> {
        if !self.ahead.is_empty() {
            return None;
        }
        self.stage = Stage::Asking;
        Some(Request::RemoveWatches {
            path: Rc::clone(&self.lock),
            side: WatchSide::Any,
            local: false,
        })
    }
}

/// The number at the end of a name.
fn number(name: &str) -> Option<u64> {
    name.rsplit('-').next()?.parse().ok()
}
