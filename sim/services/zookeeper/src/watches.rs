//! The watches of a server: which connection is notified of which change.

use std::rc::Rc;

use picklock_clients::zookeeper::{Acl, EventType, Path, Permissions, SessionId};
use picklock_machines::collections::{FxIndexMap, PathKey, SmallMap};

use super::acl::Readers;
use super::clients::{Clients, Connection, Table};
use super::input_output::Output;
use super::messages::{ConnectionId, ServerMessage};
use super::version::Version;

/// The watches of one server. They live in memory, and are per connection: however many watchers a client has on a
/// node's side, it gets one event.
#[derive(Clone, Debug, Default)]
pub(super) struct WatchManager {
    data: SmallMap<Path, Watchers>,
    child: SmallMap<Path, Watchers>,
    /// Counts watches.
    count: usize,
    /// The kinds of those that are more than watches that fire once.
    pub(super) lasting: FxIndexMap<(ConnectionId, Table, Path), WatcherModes>,
    /// Whether several kinds of one client on one path are kept apart.
    pub(super) apart: bool,
}

/// What kinds of watches a client has on a side of a node, if one of them stays when it fires.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct WatcherModes {
    pub(super) once: bool,
    pub(super) persistent: bool,
    pub(super) recursive: bool,
}

/// The connections that were notified of a deletion.
pub(super) type Notified = FxIndexMap<ConnectionId, ()>;

/// The watching connections, first come first served. Most nodes have one watcher.
#[derive(Clone, Debug)]
enum Watchers {
    One(ConnectionId),
    Many(Vec<ConnectionId>),
}

impl Watchers {
    fn as_slice(&self) -> &[ConnectionId] {
        match self {
            Self::One(one) => std::slice::from_ref(one),
            Self::Many(many) => many,
        }
    }
}

impl WatchManager {
    /// None yet, as a server of this version keeps them.
    pub(super) fn of(version: Version) -> Self {
        Self {
            apart: version.keeps_kinds_of_watches_apart(),
            ..Self::default()
        }
    }

    /// How many watches are set.
    pub(super) fn count(&self) -> usize {
        self.count
    }

    fn table(&mut self, table: Table) -> &mut SmallMap<Path, Watchers> {
        match table {
            Table::Data => &mut self.data,
            Table::Child => &mut self.child,
        }
    }

    /// Whether any connection watches this side of a node.
    pub(super) fn is_watched(&self, table: Table, path: &str) -> bool {
        match table {
            Table::Data => self.data.contains_key(&PathKey(path)),
            Table::Child => self.child.contains_key(&PathKey(path)),
        }
    }

    /// Sets a watch, unless this connection has it already.
    pub(super) fn add(
        &mut self,
        table: Table,
        path: &Path,
        id: ConnectionId,
        connection: &mut Connection,
    ) {
        if !self.lasting.is_empty() {
            self.add_once(table, path, id);
        }
        match self.table(table).get_key_value_mut(&PathKey(path)) {
            None => {
                connection.watches.push((table, Rc::clone(path)));
                let only = Watchers::One(id);
                self.table(table).add(Rc::clone(path), only);
            }
            Some((shared, watchers)) => {
                let known = watchers.as_slice();
                // Either side knows; the one with less to look through is asked.
                let has = if known.len() < connection.watches.len() {
                    known.contains(&id)
                } else {
                    let mut watches = connection.watches.iter();
                    watches.any(|watch| is_watch(watch, table, shared))
                };
                if has {
                    return;
                }
                connection.watches.push((table, Rc::clone(shared)));
                match watchers {
                    Watchers::One(one) => *watchers = Watchers::Many(vec![*one, id]),
                    Watchers::Many(many) => many.push(id),
                }
            }
        }
        self.count += 1;
    }

    /// Forgets the watches of a connection that is gone.
    pub(super) fn forget(&mut self, id: ConnectionId, connection: &Connection) {
        if !self.lasting.is_empty() {
            self.lasting.retain(|(watcher, ..), _| *watcher != id);
        }
        for (table, path) in connection.watches.iter() {
            self.drop_watcher(*table, path, id);
        }
    }

    /// The connections that watch this side of a node.
    pub(super) fn watchers(&mut self, table: Table, path: &str) -> Vec<ConnectionId> {
        let watchers = self.table(table).get(&PathKey(path));
        watchers.map_or_else(Vec::new, |watchers| watchers.as_slice().to_vec())
    }

    /// Takes those out who watch this side of a node, with the path as the table has it.
    #[inline]
    fn take(&mut self, table: Table, path: &str) -> Option<(Path, Watchers)> {
        let watched = self.table(table);
        if watched.is_empty() {
            return None;
        }
        let index = watched.index_of(&PathKey(path))?;
        watched.swap_remove_at(index)
    }

    /// Removes a watcher from the table; its connection has forgotten the watch.
    pub(super) fn drop_watcher(&mut self, table: Table, path: &str, id: ConnectionId) {
        self.count -= 1;
        let table = self.table(table);
        let empty = match table.get_mut(&PathKey(path)) {
            None => false,
            Some(Watchers::One(_)) => true,
            Some(Watchers::Many(many)) => {
                many.retain(|other| *other != id);
                many.is_empty()
            }
        };
        if empty {
            table.swap_remove(&PathKey(path));
        }
    }

    /// Forgets every watch.
    pub(super) fn clear(&mut self) {
        *self = Self {
            apart: self.apart,
            ..Self::default()
        };
    }
}

/// Whether a watch of a connection is this one. Paths are the tables' own, so that comparing pointers will do.
fn is_watch((table, path): &(Table, Path), on: Table, of: &Path) -> bool {
    *table == on && Rc::ptr_eq(path, of)
}

/// What fires watches: the tables, the clients, and where the messages go.
pub(super) struct Firing<'a> {
    pub(super) watches: &'a mut WatchManager,
    pub(super) clients: &'a mut Clients,
    pub(super) caused_by: Option<SessionId>,
    pub(super) out: &'a mut Vec<Output>,
}

impl Firing<'_> {
    /// A node was made.
    pub(super) fn created(&mut self, path: &str, parent: &str, readers: &Readers) {
        self.fire(
            Table::Data,
            path,
            EventType::NodeCreated,
            None,
            &readers.of_node,
        );
        self.children_changed(parent, readers);
    }

    /// A node's data was set.
    pub(super) fn data_set(&mut self, path: &str, readers: &Readers) {
        self.fire(
            Table::Data,
            path,
            EventType::NodeDataChanged,
            None,
            &readers.of_node,
        );
    }

    /// A node was deleted. A connection that watched both its sides gets one event.
    pub(super) fn deleted(&mut self, path: &str, parent: Option<&str>, readers: &Readers) {
        let kind = EventType::NodeDeleted;
        let watches = &self.watches;
        let twice = !watches.lasting.is_empty() || watches.is_watched(Table::Child, path);
        let mut told = twice.then(Notified::default);
        for table in [Table::Data, Table::Child] {
            self.fire(table, path, kind, told.as_mut(), &readers.of_node);
        }
        if let Some(parent) = parent {
            self.children_changed(parent, readers);
        }
    }

    fn children_changed(&mut self, parent: &str, readers: &Readers) {
        let kind = EventType::NodeChildrenChanged;
        self.fire(Table::Child, parent, kind, None, &readers.of_parent);
    }

    #[inline(always)]
    fn fire(
        &mut self,
        table: Table,
        path: &str,
        kind: EventType,
        once: Option<&mut Notified>,
        readers: &Acl,
    ) {
        if !self.watches.lasting.is_empty() {
            self.fire_lasting(table, path, (kind, once), readers);
        } else if let Some(watched) = self.watches.take(table, path) {
            self.fire_once(table, watched, (kind, once), readers);
        }
    }

    #[inline(never)]
    fn fire_once(
        &mut self,
        table: Table,
        (path, watchers): (Path, Watchers),
        (kind, mut once): (EventType, Option<&mut Notified>),
        readers: &Acl,
    ) {
        self.watches.count -= watchers.as_slice().len();
        let mut many = match watchers {
            Watchers::Many(many) => many,
            Watchers::One(id) => {
                if let Some(own) = self.forget_fired(id, (table, &path), once, readers) {
                    self.out.push(Output::ToClient {
                        connection: id,
                        message: ServerMessage::Notification { kind, path },
                        own,
                    });
                }
                return;
            }
        };
        let (mut own, mut kept) = (None, 0);
        for index in 0..many.len() {
            let (id, once) = (many[index], once.as_deref_mut());
            if let Some(is_own) = self.forget_fired(id, (table, &path), once, readers) {
                own = own.or(is_own.then_some(id));
                many[kept] = id;
                kept += 1;
            }
        }
        many.truncate(kept);
        self.out.push(Output::Notify {
            connections: many,
            own,
            kind,
            path,
        });
    }

    /// Lets a connection forget a watch that fires. Answers whether its own transaction caused it, or `None` if it is
    /// not to be told.
    #[inline(always)]
    fn forget_fired(
        &mut self,
        id: ConnectionId,
        (table, path): (Table, &Path),
        once: Option<&mut Notified>,
        readers: &Acl,
    ) -> Option<bool> {
        let connection = self.clients.connections.get_mut(id)?;
        let is_this = |watch: &(Table, Path)| is_watch(watch, table, path);
        connection.watches.take(is_this);
        connection.who.may(Permissions::READ, readers).ok()?;
        if once.is_some_and(|told| told.insert(id, ()).is_some()) {
            return None;
        }
        Some(self.caused_by == Some(connection.session))
    }
}
