//! What a server answers by itself: reads, and the watches of its clients.

use std::rc::Rc;

use picklock_clients::zookeeper::{
    EventType, Path, Permissions, ReadOp, ReadResult, Reply, Request, Response, WatchSide, ZkError,
};

use super::acl::without_secrets;
use super::clients::Table;
use super::messages::{ConnectionId, ServerMessage, WatchTables};
use super::node::Node;
use super::read_only::ReadOnly;
use super::state::{Server, Turn};

impl Server {
    pub(super) fn read(&mut self, id: ConnectionId, request: &Request) -> Reply {
        if !self.settings.version.has_persistent_watches() && is_of_3_6(request) {
            return Err(ZkError::Unimplemented);
        }
        let (table, path, watch) = match request {
            Request::AddWatch { path, recursive } => {
                if let Some(connection) = self.clients.connections.get_mut(id) {
                    self.watches.add_lasting(path, id, connection, *recursive);
                }
                return Ok(Response::Watching);
            }
            Request::RemoveWatches { path, side, .. } => {
                return self.remove_watches(id, path, *side);
            }
            Request::CheckWatches { path, side, .. } => return self.check_watches(id, path, *side),
            Request::GetEphemerals { prefix } => return Ok(self.ephemerals(id, prefix)),
            Request::MultiRead(ops) => return Ok(self.read_several(id, ops)),
            Request::GetAcl { path } => return self.acl(id, path),
            Request::Exists { path, watch } | Request::GetData { path, watch } => {
                (Table::Data, path, *watch)
            }
            Request::GetChildren { path, watch, .. } => (Table::Child, path, *watch),
            Request::GetAllChildrenNumber { path } => return self.all_children_number(id, path),
            Request::WhoAmI => return Ok(self.who_is(id)),
            Request::Sync { .. } => return Ok(Response::Synced),
            // Writes never come here: they go to the leader.
            Request::Create(_)
            | Request::Delete { .. }
            | Request::SetData { .. }
            | Request::SetAcl { .. }
            | Request::Reconfig(_)
            | Request::Multi(_) => return Err(ZkError::Unimplemented),
        };
        let tree = ReadOnly::readable(&self.read_only, &self.tree);
        let node = tree.read(path);
        let is_exists = matches!(request, Request::Exists { .. });
        if node.is_none() && is_exists && path.contains('\0') {
            return Err(ZkError::BadArguments);
        }
        // Before 3.10 any client may ask whether a node exists.
        let guarded = !is_exists || self.settings.version.guards_exists();
        if let Some(node) = node.filter(|_| guarded)
            && let Some(connection) = self.clients.connections.get(id)
        {
            connection.who.may(Permissions::READ, &node.acl())?;
        }
        // Only `exists` leaves a watch on a node that is not there.
        if watch
            && (node.is_some() || is_exists)
            && let Some(connection) = self.clients.connections.get_mut(id)
        {
            self.watches.add(table, path, id, connection);
        }
        let node = node.ok_or(ZkError::NoNode)?;
        Ok(match table {
            Table::Data if is_exists => {
                if !node.has_stat(&self.last_stat) {
                    self.last_stat = Rc::new(node.stat());
                }
                debug_assert_eq!(*self.last_stat, node.stat());
                Response::Exists(Rc::clone(&self.last_stat))
            }
            Table::Data => Response::Data {
                data: node.data().clone(),
                stat: Box::new(node.stat()),
            },
            Table::Child => children(node, request),
        })
    }

    /// Who may do what with a node. Hashes are shown to those only who may change it.
    fn acl(&self, id: ConnectionId, path: &str) -> Reply {
        let node = self.readable().read(path).ok_or(ZkError::NoNode)?;
        let mut acl = node.acl();
        if let Some(connection) = self.clients.connections.get(id) {
            connection
                .who
                .may(Permissions::READ | Permissions::ADMIN, &acl)?;
            if connection.who.may(Permissions::ADMIN, &acl).is_err() {
                acl = without_secrets(&acl);
            }
        }
        let stat = Box::new(node.stat());
        Ok(Response::Acl { acl, stat })
    }

    /// How many nodes there are below a node.
    fn all_children_number(&self, id: ConnectionId, path: &str) -> Reply {
        let tree = self.readable();
        let node = tree.read(path).ok_or(ZkError::NoNode)?;
        if let Some(connection) = self.clients.connections.get(id) {
            connection.who.may(Permissions::READ, &node.acl())?;
        }
        Ok(Response::AllChildrenNumber(tree.all_children_number(path)))
    }

    /// Who the client of a connection is, without what is secret.
    fn who_is(&self, id: ConnectionId) -> Response {
        let connection = self.clients.connections.get(id);
        Response::ClientInfo(connection.map_or_else(Vec::new, |one| one.who.names()))
    }

    /// Several reads, of one moment. Each is answered by itself, and leaves no watch.
    fn read_several(&mut self, id: ConnectionId, ops: &[ReadOp]) -> Response {
        let results = ops.iter().map(|op| {
            let path = Path::clone(op.path());
            let watch = false;
            let request = match op {
                ReadOp::Data(_) => Request::GetData { path, watch },
                ReadOp::Children(_) => Request::GetChildren {
                    path,
                    watch,
                    with_stat: false,
                },
            };
            match self.read(id, &request)? {
                Response::Data { data, stat } => Ok(ReadResult::Data { data, stat }),
                Response::Children(children) => Ok(ReadResult::Children(children)),
                _ => Err(ZkError::Unimplemented),
            }
        });
        Response::MultiRead(results.collect())
    }

    /// Whether a client has a watch; it stays as it is.
    fn check_watches(&self, id: ConnectionId, path: &Path, side: WatchSide) -> Reply {
        let connection = self.clients.connections.get(id).ok_or(ZkError::NoWatcher)?;
        let has_it = if self.settings.version.finds_watches_of_others() {
            let mut tables = tables(side).iter();
            tables.any(|table| self.watches.is_watched(*table, path))
        } else {
            let mut watches = connection.watches.iter();
            watches.any(|(table, watched)| watched == path && tables(side).contains(table))
        };
        if has_it {
            Ok(Response::Watching)
        } else {
            Err(ZkError::NoWatcher)
        }
    }

    fn remove_watches(&mut self, id: ConnectionId, path: &Path, side: WatchSide) -> Reply {
        let mut removed = false;
        if let Some(connection) = self.clients.connections.get_mut(id) {
            for table in tables(side) {
                removed |= self.watches.remove(*table, path, id, connection);
            }
        }
        if removed {
            Ok(Response::Watching)
        } else {
            Err(ZkError::NoWatcher)
        }
    }

    /// The nodes that go with the session of a connection, as this server knows them.
    fn ephemerals(&self, id: ConnectionId, prefix: &str) -> Response {
        let session = self.clients.connections.get(id).map(|one| one.session);
        let all = matches!(prefix.trim(), "" | "/");
        let paths = self
            .readable()
            .ephemerals(session.unwrap_or_default())
            .iter();
        let wanted = paths.filter(|path| all || path.starts_with(prefix));
        Response::Ephemerals(wanted.cloned().collect())
    }

    /// Sets the watches that a client brings, and tells it at once of what it has missed.
    #[cold]
    pub(super) fn set_watches(&mut self, turn: &mut Turn, id: ConnectionId, tables: &WatchTables) {
        let Some(connection) = self.clients.connections.get_mut(id) else {
            return;
        };
        let since = tables.relative_zxid;
        let tree = ReadOnly::readable(&self.read_only, &self.tree);
        let mut arm = |table, path, missed: Option<EventType>| match missed {
            None => self.watches.add(table, path, id, connection),
            Some(kind) => {
                let path = path.clone();
                turn.send_to_client(id, ServerMessage::Notification { kind, path });
            }
        };
        for path in &tables.data {
            let missed = match tree.read(path) {
                None => Some(EventType::NodeDeleted),
                Some(node) if node.mzxid > since => Some(EventType::NodeDataChanged),
                Some(_) => None,
            };
            arm(Table::Data, path, missed);
        }
        for path in &tables.exist {
            let missed = tree.read(path).map(|_| EventType::NodeCreated);
            arm(Table::Data, path, missed);
        }
        for path in &tables.child {
            let missed = match tree.read(path) {
                None => Some(EventType::NodeDeleted),
                Some(node) if node.pzxid > since => Some(EventType::NodeChildrenChanged),
                Some(_) => None,
            };
            arm(Table::Child, path, missed);
        }
        for (paths, recursive) in [(&tables.persistent, false), (&tables.recursive, true)] {
            for path in paths {
                self.watches.add_lasting(path, id, connection, recursive);
            }
        }
    }
}

/// The children of a node, with its stat if that is asked for.
#[inline]
fn children(node: &Node, request: &Request) -> Response {
    let children = node.list();
    match request {
        Request::GetChildren {
            with_stat: true, ..
        } => Response::ChildrenWithStat {
            children,
            stat: Box::new(node.stat()),
        },
        _ => Response::Children(children),
    }
}

/// Whether servers before 3.6 do not know such a request.
fn is_of_3_6(request: &Request) -> bool {
    matches!(
        request,
        Request::AddWatch { .. }
            | Request::GetEphemerals { .. }
            | Request::GetAllChildrenNumber { .. }
            | Request::WhoAmI
            | Request::MultiRead(_)
    )
}

/// Where a watch on this side of a node is.
fn tables(side: WatchSide) -> &'static [Table] {
    match side {
        WatchSide::Children => &[Table::Child],
        WatchSide::Data => &[Table::Data],
        WatchSide::Any => &[Table::Child, Table::Data],
    }
}
