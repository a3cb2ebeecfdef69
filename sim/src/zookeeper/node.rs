//! A znode.

use std::cell::OnceCell;
use std::collections::VecDeque;
use std::rc::Rc;

use picklock_algorithms::clients::zookeeper::{
    Children, Data, Path, SessionId, Stat, Version, Zxid,
};

/// A znode: its data, its metadata, and the names of its children.
#[derive(Clone, Debug)]
pub struct Node {
    pub(super) data: Data,
    pub(super) czxid: Zxid,
    pub(super) mzxid: Zxid,
    pub(super) pzxid: Zxid,
    pub(super) ctime: i64,
    pub(super) mtime: i64,
    pub(super) version: Version,
    /// Children ever made under this incarnation of the node: the next sequence number.
    pub(super) creates: i32,
    pub(super) owner: SessionId,
    /// When it was made, among all nodes of the tree.
    birth: u64,
    /// By birth. The queue of a lock loses its oldest child and gains a youngest: both ends are cheap.
    children: VecDeque<(u64, Path)>,
    /// The list as clients get it, until a child comes or goes: ten thousand readers share it.
    list: OnceCell<Rc<Children>>,
}

impl Node {
    pub(super) fn new(data: Data, zxid: Zxid, time: i64, owner: SessionId, birth: u64) -> Self {
        Self {
            data,
            czxid: zxid,
            mzxid: zxid,
            pzxid: zxid,
            ctime: time,
            mtime: time,
            version: 0,
            creates: 0,
            owner,
            birth,
            children: VecDeque::new(),
            list: OnceCell::new(),
        }
    }

    /// Its data.
    pub fn data(&self) -> &Data {
        &self.data
    }

    /// The session that it goes with; zero if it is not ephemeral.
    pub fn owner(&self) -> SessionId {
        self.owner
    }

    /// The transaction that made it.
    pub fn czxid(&self) -> Zxid {
        self.czxid
    }

    /// The names of its children, oldest first.
    pub fn names(&self) -> impl DoubleEndedIterator<Item = &Path> {
        self.children.iter().map(|(_, name)| name)
    }

    /// Its metadata as clients see it.
    pub fn stat(&self) -> Stat {
        let num_children = self.child_count();
        Stat {
            czxid: self.czxid,
            mzxid: self.mzxid,
            pzxid: self.pzxid,
            ctime: self.ctime,
            mtime: self.mtime,
            version: self.version,
            cversion: self.creates.wrapping_mul(2).wrapping_sub(num_children),
            aversion: 0,
            ephemeral_owner: self.owner,
            data_length: i32::try_from(self.data.len()).unwrap_or(i32::MAX),
            num_children,
        }
    }

    /// The names of its children as clients get them: newest first, so that who forgets to sort is caught.
    pub fn list(&self) -> Rc<Children> {
        Rc::clone(self.list.get_or_init(|| {
            let names = self.names().rev().map(Rc::clone).collect();
            Rc::new(Children::new(names))
        }))
    }

    pub(super) fn child_count(&self) -> i32 {
        i32::try_from(self.children.len()).unwrap_or(i32::MAX)
    }

    pub(super) fn birth(&self) -> u64 {
        self.birth
    }

    pub(super) fn add_child(&mut self, birth: u64, name: Path) {
        self.list.take();
        self.children.push_back((birth, name));
    }

    pub(super) fn remove_child(&mut self, birth: u64) {
        self.list.take();
        if let Ok(place) = self
            .children
            .binary_search_by_key(&birth, |(birth, _)| *birth)
        {
            self.children.remove(place);
        }
    }
}

/// Nodes are equal if no client can tell them apart.
impl PartialEq for Node {
    fn eq(&self, other: &Self) -> bool {
        self.data == other.data && self.stat() == other.stat() && self.names().eq(other.names())
    }
}
