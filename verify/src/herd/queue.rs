//! A client that waits for a lock in one of three ways, as a machine without a clock: it is told what came, and says
//! what to send.

use std::rc::Rc;

use picklock_algorithms::clients::zookeeper::{
    Acl, CreateMode, Path, Reply, Request, Response, ZkError,
};

/// How one waits for the lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// One node, and everybody watches it.
    SameName,
    /// A queue, and everybody watches all of it.
    Children,
    /// A queue, and everybody watches the one ahead.
    Predecessor,
}

impl Way {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::SameName, Self::Children, Self::Predecessor];

    /// The algorithm that does it so.
    pub fn algorithm(self) -> &'static str {
        match self {
            Self::SameName => "zk-same-name",
            Self::Children => "zk-children-watch",
            Self::Predecessor => "zk-predecessor-watch",
        }
    }
}

/// A client.
pub(super) struct Contender {
    way: Way,
    lock: Path,
    /// Its node, once it has one.
    node: Option<Path>,
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
    pub(super) fn new(way: Way, lock: &Path) -> Self {
        Self {
            way,
            lock: Rc::clone(lock),
            node: None,
            stage: Stage::Asking,
        }
    }

    /// What it asks first.
    pub(super) fn create(&self) -> Request {
        let (name, mode) = match self.way {
            Way::SameName => ("/holder", CreateMode::Ephemeral),
            Way::Children | Way::Predecessor => ("/n-", CreateMode::EphemeralSequential),
        };
        Request::Create {
            path: self.below(name),
            data: Rc::from([]),
            mode,
            acl: Acl::OPEN,
            with_stat: false,
        }
    }

    fn below(&self, name: &str) -> Path {
        [&self.lock, name].concat().into()
    }

    fn list(&self) -> Request {
        Request::GetChildren {
            path: Rc::clone(&self.lock),
            watch: self.way == Way::Children,
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
    pub(super) fn told(&mut self) -> Option<Request> {
        if self.stage != Stage::Waiting {
            return None;
        }
        self.stage = Stage::Asking;
        Some(match self.way {
            Way::SameName => self.create(),
            Way::Children | Way::Predecessor => self.list(),
        })
    }

    /// An answer has come.
    pub(super) fn answered(&mut self, reply: Reply) -> Option<Request> {
        match reply {
            Ok(Response::Created { path, .. }) => {
                self.node = Some(path);
                if self.way == Way::SameName {
                    self.stage = Stage::Holding;
                    return None;
                }
                Some(self.list())
            }
            Ok(Response::Children(children)) => {
                let name = self.node.as_deref()?.rsplit('/').next()?;
                let place = children.place(name)?;
                if place == 0 {
                    self.stage = Stage::Holding;
                    return None;
                }
                if self.way == Way::Children {
                    self.stage = Stage::Waiting;
                    return None;
                }
                let ahead = children.at(place - 1)?;
                let path = self.below(&format!("/{ahead}"));
                Some(Request::Exists { path, watch: true })
            }
            Ok(Response::Exists(_)) => {
                self.stage = Stage::Waiting;
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
            // It is gone already; the watch that this has left is one that nobody counts on.
            Err(ZkError::NoNode) => Some(match self.way {
                Way::SameName => self.create(),
                Way::Children | Way::Predecessor => self.list(),
            }),
            Ok(_) | Err(_) => None,
        }
    }
}
