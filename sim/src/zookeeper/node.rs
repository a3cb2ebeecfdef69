//! A znode.

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
    /// When its children were made, oldest first. The queue of a lock loses its oldest child and gains a youngest:
    /// both ends are cheap.
    births: VecDeque<u64>,
    /// The names of its children as clients get them, if there are any: newest first, so that who forgets to sort is
    /// caught. Ten thousand readers share the list; if a child comes or goes while one still has it, it is copied.
    list: Option<Rc<Children>>,
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
            births: VecDeque::new(),
            list: None,
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
        self.list.iter().flat_map(|list| list.names().rev())
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
        self.list.clone().unwrap_or_default()
    }

    pub(super) fn child_count(&self) -> i32 {
        i32::try_from(self.births.len()).unwrap_or(i32::MAX)
    }

    pub(super) fn birth(&self) -> u64 {
        self.birth
    }

    pub(super) fn add_child(&mut self, birth: u64, name: Path) {
        self.births.push_back(birth);
        Rc::make_mut(self.list.get_or_insert_default()).push_front(name);
    }

    pub(super) fn remove_child(&mut self, birth: u64) {
        if let Ok(place) = self.births.binary_search(&birth)
            && let Some(list) = &mut self.list
        {
            self.births.remove(place);
            Rc::make_mut(list).remove(self.births.len() - place);
        }
    }
}

/// Nodes are equal if no client can tell them apart.
impl PartialEq for Node {
    fn eq(&self, other: &Self) -> bool {
        self.data == other.data && self.stat() == other.stat() && self.names().eq(other.names())
    }
}
