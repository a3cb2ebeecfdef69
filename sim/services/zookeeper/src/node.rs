//! A znode.

use std::collections::VecDeque;
use std::rc::Rc;

use picklock_clients::zookeeper::{Acl, Children, Data, Path, SessionId, Stat, Version, Zxid};

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
    /// Who may do what with it, unless every client may do everything and always might.
    access: Option<Box<Access>>,
    /// When it was made, among all nodes of the tree.
    birth: u64,
    /// Its children, if it has ever had any.
    children: Option<Box<ChildList>>,
}

/// The children of a node.
#[derive(Clone, Debug, Default)]
struct ChildList {
    /// When they were made, oldest first. The queue of a lock loses its oldest child and gains a youngest: both ends
    /// are cheap.
    births: VecDeque<u64>,
    /// Their names as clients get them: newest first, so that a recipe that forgets to sort is caught. Ten thousand
    /// readers share the list; if a child comes or goes while one still has it, it is copied.
    list: Rc<Children>,
}

/// Who may do what with a node, and how often that was said since the node was made.
#[derive(Clone, Debug, PartialEq)]
struct Access {
    acl: Acl,
    version: Version,
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
            access: None,
            birth,
            children: None,
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

    /// Who may do what with it.
    pub fn acl(&self) -> Acl {
        self.access
            .as_ref()
            .map_or(Acl::OPEN, |access| access.acl.clone())
    }

    /// Whether every client may do everything with it.
    pub(super) fn is_open(&self) -> bool {
        self.access
            .as_ref()
            .is_none_or(|access| access.acl.is_open())
    }

    /// How often that was said.
    pub(super) fn aversion(&self) -> Version {
        self.access.as_ref().map_or(0, |access| access.version)
    }

    pub(super) fn set_acl(&mut self, acl: &Acl, version: Version) {
        let is_default = acl.is_open() && version == 0;
        self.access = (!is_default).then(|| {
            Box::new(Access {
                acl: acl.clone(),
                version,
            })
        });
    }

    /// The transaction that made it.
    pub fn czxid(&self) -> Zxid {
        self.czxid
    }

    /// The names of its children, oldest first.
    pub fn names(&self) -> impl DoubleEndedIterator<Item = &Path> {
        self.children
            .iter()
            .flat_map(|children| children.list.names().rev())
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
            aversion: self.aversion(),
            ephemeral_owner: self.owner,
            data_length: i32::try_from(self.data.len()).unwrap_or(i32::MAX),
            num_children,
        }
    }

    /// Whether this is its metadata, which is compared without being put together.
    #[inline]
    pub(super) fn has_stat(&self, stat: &Stat) -> bool {
        let Stat {
            czxid,
            mzxid,
            pzxid,
            ctime,
            mtime,
            version,
            cversion,
            aversion,
            ephemeral_owner,
            data_length,
            num_children,
        } = *stat;
        let children = self.child_count();
        let length = i32::try_from(self.data.len()).unwrap_or(i32::MAX);
        (self.czxid, self.mzxid, self.pzxid) == (czxid, mzxid, pzxid)
            && (self.ctime, self.mtime, self.owner) == (ctime, mtime, ephemeral_owner)
            && (self.version, self.aversion(), length) == (version, aversion, data_length)
            && children == num_children
            && self.creates.wrapping_mul(2).wrapping_sub(children) == cversion
    }

    /// The names of its children as clients get them: newest first, so that a recipe that forgets to sort is caught.
    pub fn list(&self) -> Rc<Children> {
        self.children
            .as_ref()
            .map_or_else(Rc::default, |children| Rc::clone(&children.list))
    }

    pub(super) fn child_count(&self) -> i32 {
        self.children.as_ref().map_or(0, |children| {
            i32::try_from(children.births.len()).unwrap_or(i32::MAX)
        })
    }

    pub(super) fn birth(&self) -> u64 {
        self.birth
    }

    /// A child was made; the number is that at the end of its name.
    pub(super) fn add_child(&mut self, birth: u64, name: Path, number: i64) {
        let children = self.children.get_or_insert_default();
        children.births.push_back(birth);
        Rc::make_mut(&mut children.list).push_front(name, number);
    }

    pub(super) fn remove_child(&mut self, birth: u64) {
        let Some(ChildList { births, list }) = self.children.as_deref_mut() else {
            return;
        };
        // Mostly it is the oldest.
        if births.front() == Some(&birth) {
            births.pop_front();
            Rc::make_mut(list).pop_back();
        } else if let Ok(index) = births.binary_search(&birth) {
            births.remove(index);
            Rc::make_mut(list).remove(births.len() - index);
        }
    }
}

/// Nodes are equal if no client can tell them apart.
impl PartialEq for Node {
    fn eq(&self, other: &Self) -> bool {
        self.data == other.data
            && self.access == other.access
            && self.stat() == other.stat()
            && self.names().eq(other.names())
    }
}
