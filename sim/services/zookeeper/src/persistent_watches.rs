//! Watches that stay when they fire, and the taking back of watches.

use std::rc::Rc;

use picklock_clients::zookeeper::{Acl, EventType, Path, Permissions};

use super::clients::Connection;
use super::clients::Table;
use super::messages::{ConnectionId, ServerMessage};
use super::state::Output;
use super::txn::parent_of;
use super::watches::{Firing, Notified, WatchManager, WatcherModes};

impl WatchManager {
    /// Sets a watch that stays, on both sides of a node.
    pub(super) fn add_lasting(
        &mut self,
        path: &Path,
        id: ConnectionId,
        connection: &mut Connection,
        recursive: bool,
    ) {
        for table in [Table::Data, Table::Child] {
            let key = (id, table, Rc::clone(path));
            let before = self.lasting.get(&key).copied();
            let known = connection.watches.iter();
            let mut known = known.filter(|(other, watched)| *other == table && watched == path);
            let once = known.next().is_some() && before.is_none();
            self.add(table, path, id, connection);
            let before = before.unwrap_or(WatcherModes {
                once,
                ..WatcherModes::default()
            });
            let kinds = WatcherModes {
                persistent: !recursive || before.persistent && self.apart,
                recursive: recursive || before.recursive && self.apart,
                once: before.once && self.apart,
            };
            self.lasting.insert(key, kinds);
        }
    }

    /// A watch that fires once, where there may be others: of several kinds of one client on one path the last
    /// counts, unless they are kept apart.
    #[cold]
    pub(super) fn add_once(&mut self, table: Table, path: &Path, id: ConnectionId) {
        let key = (id, table, Rc::clone(path));
        if !self.apart {
            self.lasting.swap_remove(&key);
        } else if let Some(kinds) = self.lasting.get_mut(&key) {
            kinds.once = true;
        }
    }

    /// Takes back a watch. Answers whether there was one.
    pub(super) fn remove(
        &mut self,
        table: Table,
        path: &Path,
        id: ConnectionId,
        connection: &mut Connection,
    ) -> bool {
        let known = |(other, watched): &(Table, Path)| *other == table && watched == path;
        if connection.watches.take(known).is_none() {
            return false;
        }
        self.lasting.swap_remove(&(id, table, Rc::clone(path)));
        self.drop_watcher(table, path, id);
        true
    }
}

impl Firing<'_> {
    /// As all watches fire if some of them stay: those on the node, and the recursive ones above it.
    #[inline(never)]
    pub(super) fn fire_lasting(
        &mut self,
        table: Table,
        path: &str,
        (kind, mut once): (EventType, Option<&mut Notified>),
        readers: &Acl,
    ) {
        let changed: Path = Rc::from(path);
        let mut told: Vec<ConnectionId> = Vec::new();
        let mut at = Some(path);
        while let Some(watched) = at {
            let watched: Path = Rc::from(watched);
            // No connection watches the same path twice, so those that were notified on this level need not be looked
            // for.
            let told_below = told.len();
            for id in self.watches.watchers(table, &watched) {
                let key = (id, table, Rc::clone(&watched));
                let lasting = self.watches.lasting.get_mut(&key);
                let here = watched == changed;
                let fires = match &lasting {
                    Some(kinds) => {
                        kinds.recursive && kind != EventType::NodeChildrenChanged
                            || here && (kinds.persistent || kinds.once)
                    }
                    None => here,
                };
                let goes = here && lasting.is_none();
                if here && let Some(kinds) = lasting {
                    kinds.once = false;
                }
                if fires && !told[..told_below].contains(&id) {
                    told.push(id);
                }
                if goes && let Some(connection) = self.clients.connections.get_mut(id) {
                    self.watches.remove(table, &watched, id, connection);
                }
            }
            at = parent_of(at.unwrap_or_default());
        }
        for id in told {
            let Some(connection) = self.clients.connections.get_mut(id) else {
                continue;
            };
            if connection.who.may(Permissions::READ, readers).is_err() {
                continue;
            }
            if let Some(told) = &mut once
                && told.insert(id, ()).is_some()
            {
                continue;
            }
            self.out.push(Output::ToClient {
                connection: id,
                message: ServerMessage::Notification {
                    kind,
                    path: Rc::clone(&changed),
                },
                own: self.caused_by == Some(connection.session),
            });
        }
    }
}
