//! The replicated state: the tree of znodes, and the sessions.

use std::rc::Rc;

use picklock_clients::zookeeper::{
    Acl, Children, Data, Path, SessionId, Stat, Version, Zxid, sequence,
};
use picklock_machines::collections::{PathMap, SmallMap, is_same};

use super::acl::Readers;
use super::node::Node;
use super::paths::is_of_quota;
use super::txn::{Created, ReapRule, last_slash, parent_of};
use super::version::Version as ServerVersion;

/// The tree of znodes and the open sessions, as of one transaction.
#[derive(Clone, Debug)]
pub struct DataTree {
    nodes: PathMap<Node>,
    sessions: SmallMap<SessionId, OpenSession>,
    last_zxid: Zxid,
    births: u64,
    version: ServerVersion,
    /// Nodes that go by themselves, and when.
    reaped: PathMap<ReapRule>,
    /// The nodes that have a quota.
    pub(super) quotas: Vec<Path>,
    /// How many nodes some client may not do everything with, ZooKeeper's own aside.
    restricted: usize,
    /// The place of the node that was a parent last: mostly it is the next parent too.
    last_parent: usize,
    /// The place of the node that was made last: its creator asks for it next.
    last_made: usize,
}

/// How long a container may be there, and unchanged, without ever having had a child, in milliseconds.
const NEVER_USED: i64 = 300_000;

/// A session as every server knows it.
#[derive(Clone, Debug, PartialEq)]
struct OpenSession {
    timeout: u64,
    ephemerals: Vec<Path>,
}

impl DataTree {
    /// The tree of a new ensemble: the root and ZooKeeper's own nodes, which no counter has counted.
    pub fn new(version: ServerVersion) -> Self {
        let mut tree = Self {
            nodes: PathMap::default(),
            sessions: SmallMap::default(),
            last_zxid: Zxid(0),
            births: 0,
            reaped: PathMap::default(),
            version,
            quotas: Vec::new(),
            restricted: 0,
            last_parent: 0,
            last_made: 0,
        };
        for path in ["/", "/zookeeper", "/zookeeper/config", "/zookeeper/quota"] {
            let node = Node::new(Data::empty(), Zxid(0), 0, SessionId(0), tree.births);
            tree.nodes.insert(Rc::from(path), node);
            if let Some(parent) = parent_of(path)
                && let Some(above) = tree.nodes.get_mut(parent)
            {
                let name = name_of(path);
                above.add_child(tree.births, Rc::from(name), sequence(name));
            }
            tree.births += 1;
        }
        // Only a client with the permission may change the list of servers.
        tree.set_acl("/zookeeper/config", &Acl::read_only(), -1);
        tree.restricted = 0;
        tree
    }

    /// The version of ZooKeeper that keeps it.
    pub(super) fn version(&self) -> ServerVersion {
        self.version
    }

    /// A node.
    pub fn get(&self, path: &str) -> Option<&Node> {
        self.get_shared(path).map(|(_, node)| node)
    }

    /// A node that a client asks for. To a read the empty path is the root, too.
    pub(super) fn read(&self, path: &str) -> Option<&Node> {
        self.get(if path.is_empty() { "/" } else { path })
    }

    /// A node, and its path as the tree shares it.
    pub(super) fn get_shared(&self, path: &str) -> Option<(&Path, &Node)> {
        let (known, node) = match self.nodes.at(self.last_parent) {
            Some(parent) if is_same(&parent.0, path) => parent,
            _ => self.nodes.at(self.nodes.index_of(path)?)?,
        };
        Some((known, node))
    }

    /// The metadata of a node.
    pub fn stat(&self, path: &str) -> Option<Stat> {
        match self.nodes.at(self.last_made) {
            Some((known, node)) if is_same(known, path) => Some(node.stat()),
            _ => self.get(path).map(Node::stat),
        }
    }

    /// The names of a node's children, newest first.
    pub fn children(&self, path: &str) -> Option<Rc<Children>> {
        self.get(path).map(Node::list)
    }

    /// The newest transaction that was applied.
    pub fn last_zxid(&self) -> Zxid {
        self.last_zxid
    }

    /// Every open session with its timeout in microseconds, in an order that means nothing.
    pub fn sessions(&self) -> impl Iterator<Item = (SessionId, u64)> {
        self.sessions.iter().map(|(id, open)| (*id, open.timeout))
    }

    /// Whether a session is open.
    pub fn has_session(&self, session: SessionId) -> bool {
        self.sessions.contains_key(&session)
    }

    /// The ephemeral nodes of a session.
    pub fn ephemerals(&self, session: SessionId) -> &[Path] {
        match self.sessions.get(&session) {
            Some(open) => &open.ephemerals,
            None => &[],
        }
    }

    /// How many nodes there are, with the root and ZooKeeper's own.
    pub fn node_count(&self) -> usize {
        self.nodes.len()
    }

    /// How many nodes are below a path. Of the empty path, the root is one of them.
    pub(super) fn all_children_number(&self, path: &str) -> i32 {
        let below = |known: &str| {
            let rest = known.strip_prefix(path);
            rest.is_some_and(|rest| rest.starts_with('/'))
        };
        let number = match path {
            "/" => self.nodes.len() - 1,
            _ => self.nodes.iter().filter(|(known, _)| below(known)).count(),
        };
        i32::try_from(number).unwrap_or(i32::MAX)
    }

    /// Whether every client may do everything with every node, ZooKeeper's own aside.
    pub(super) fn is_all_open(&self) -> bool {
        self.restricted == 0
    }

    /// Whether there are nodes that go by themselves.
    pub(super) fn has_reaped(&self) -> bool {
        !self.reaped.is_empty()
    }

    /// Whether a node is one that goes by itself.
    pub(super) fn is_reaped(&self, path: &str) -> bool {
        self.reaped.get(path).is_some()
    }

    /// The nodes that should go by themselves now; the time is that of the leader's wall clock, in milliseconds.
    /// Sorted.
    pub(super) fn overdue(&self, wall: i64) -> Vec<Path> {
        let unused = self.version.reaps_unused_containers();
        let is_overdue = |path: &Path, reaped: ReapRule| {
            let node = self.nodes.get(path).filter(|node| node.child_count() == 0);
            node.is_some_and(|node| match reaped {
                ReapRule::Never => false,
                ReapRule::Childless => node.creates > 0 || unused && wall - node.mtime > NEVER_USED,
                ReapRule::Unchanged(ttl) => u128::try_from(wall - node.mtime)
                    .is_ok_and(|unchanged| unchanged > ttl.as_millis()),
            })
        };
        let overdue = self
            .reaped
            .iter()
            .filter(|(path, reaped)| is_overdue(path, **reaped));
        let mut paths: Vec<Path> = overdue.map(|(path, _)| Rc::clone(path)).collect();
        paths.sort_unstable();
        paths
    }

    pub(super) fn set_last_zxid(&mut self, zxid: Zxid) {
        self.last_zxid = zxid;
    }

    pub(super) fn open_session(&mut self, session: SessionId, timeout: u64) {
        let ephemerals = Vec::new();
        self.sessions.insert(
            session,
            OpenSession {
                timeout,
                ephemerals,
            },
        );
    }

    pub(super) fn close_session(&mut self, session: SessionId) {
        self.sessions.swap_remove(&session);
    }

    pub(super) fn create(&mut self, zxid: Zxid, time: i64, made: &Created) {
        let births = self.births;
        let wraps = !self.version.sticks_at_the_largest_number();
        let Some(parent) = self.parent(&made.parent) else {
            return;
        };
        // Only ever raised, since 3.6. So a counter that has reached its end stays there, and `pzxid` with it.
        if made.parent_creates > parent.creates || wraps {
            parent.creates = made.parent_creates;
            parent.pzxid = zxid;
        }
        parent.add_child(births, Rc::clone(&made.name), made.number);
        let mut node = Node::new(Data::clone(&made.data), zxid, time, made.owner, self.births);
        if !made.acl.is_open() {
            node.set_acl(&made.acl, 0);
            self.restricted += 1;
        }
        self.births += 1;
        self.last_made = self.nodes.insert(Rc::clone(&made.path), node);
        if made.reaped != ReapRule::Never {
            self.reaped.insert(Rc::clone(&made.path), made.reaped);
        }
        if made.owner != SessionId(0)
            && let Some(open) = self.sessions.get_mut(&made.owner)
        {
            open.ephemerals.push(Rc::clone(&made.path));
        }
        if !self.quotas.is_empty() || is_of_quota(&made.name) {
            self.quota_created(&made.path, made.data.len());
        }
    }

    /// Who may be notified of a change of a node, and of its parent's children.
    #[inline]
    pub(super) fn readers(&self, path: &str, parent: Option<&str>) -> Readers {
        if self.restricted == 0 {
            return Readers::default();
        }
        self.permitted_readers(path, parent)
    }

    #[cold]
    fn permitted_readers(&self, path: &str, parent: Option<&str>) -> Readers {
        if !self.version.filters_notifications() {
            return Readers::default();
        }
        let acl = |path| self.get(path).map(Node::acl).unwrap_or_default();
        Readers {
            of_node: acl(path),
            of_parent: parent.map(acl).unwrap_or_default(),
        }
    }

    fn parent(&mut self, path: &str) -> Option<&mut Node> {
        let known = self.nodes.at(self.last_parent);
        if known.is_none_or(|(known, _)| !is_same(known, path)) {
            self.last_parent = self.nodes.index_of(path)?;
        }
        self.nodes.at_mut(self.last_parent)
    }

    /// Answers whether the node was there.
    pub(super) fn delete(&mut self, zxid: Zxid, path: &str, parent: Option<&str>) -> bool {
        let Some(node) = self.nodes.remove(path) else {
            return false;
        };
        if !self.quotas.is_empty() {
            self.quota_deleted(path, node.data.len());
        }
        if !self.reaped.is_empty() {
            self.reaped.remove(path);
        }
        self.restricted -= usize::from(!node.is_open());
        if let Some(parent) = parent.and_then(|parent| self.parent(parent)) {
            parent.remove_child(node.birth());
            parent.pzxid = parent.pzxid.max(zxid);
        }
        if node.owner != SessionId(0)
            && let Some(open) = self.sessions.get_mut(&node.owner)
            && let Some(index) = open
                .ephemerals
                .iter()
                .position(|known| is_same(known, path))
        {
            open.ephemerals.swap_remove(index);
        }
        true
    }

    pub(super) fn set_acl(&mut self, path: &str, acl: &Acl, version: Version) {
        if let Some(node) = self.nodes.get_mut(path) {
            self.restricted += usize::from(!acl.is_open());
            self.restricted -= usize::from(!node.acl().is_open());
            node.set_acl(acl, version);
        }
    }

    /// Data that changes without a transaction of its own.
    pub(super) fn replace_data(&mut self, path: &str, data: Data) {
        if let Some(node) = self.nodes.get_mut(path) {
            node.data = data;
        }
    }

    pub(super) fn set_data(
        &mut self,
        zxid: Zxid,
        time: i64,
        path: &str,
        data: &Data,
        version: Version,
    ) {
        if !self.quotas.is_empty() {
            let before = self.get(path).map_or(0, |node| node.data.len());
            self.add_to_sum(path, 0, data.len() as i64 - before as i64);
        }
        if let Some(node) = self.nodes.get_mut(path) {
            node.data = Data::clone(data);
            node.version = version;
            node.mzxid = zxid;
            node.mtime = time;
        }
    }
}

#[cfg(test)]
impl DataTree {
    /// As if so many children had been made.
    pub(super) fn set_creates(&mut self, path: &str, creates: i32) {
        if let Some(node) = self.nodes.get_mut(path) {
            node.creates = creates;
        }
    }

    /// As if its data had been set so often.
    pub(super) fn set_version(&mut self, path: &str, version: Version) {
        if let Some(node) = self.nodes.get_mut(path) {
            node.version = version;
        }
    }
}

/// Trees are equal if no client can tell them apart.
impl PartialEq for DataTree {
    fn eq(&self, other: &Self) -> bool {
        self.last_zxid == other.last_zxid
            && self.nodes == other.nodes
            && self.sessions.len() == other.sessions.len()
            && self.sessions().all(|(session, timeout)| {
                other
                    .sessions
                    .get(&session)
                    .is_some_and(|open| open.timeout == timeout)
            })
    }
}

/// The last component of a path.
pub(super) fn name_of(path: &str) -> &str {
    &path[last_slash(path).map_or(0, |slash| slash + 1)..]
}
