//! Watches that stay when they fire, and the taking back of watches.

use std::rc::Rc;

use picklock_algorithms::clients::zookeeper::{Acl, EventKind, Path, Permissions};

use super::clients::Connection;
use super::messages::{ConnectionId, ServerMessage};
use super::state::Output;
use super::txn::parent_of;
use super::watches::{Firing, Table, Watches};

impl Watches {
    /// Sets a watch that stays, on both sides of a node.
    pub(super) fn add_lasting(
        &mut self,
        path: &Path,
        id: ConnectionId,
        connection: &mut Connection,
        recursive: bool,
    ) {
        for table in [Table::Data, Table::Child] {
            self.add(table, path, id, connection);
            self.lasting.insert((id, table, Rc::clone(path)), recursive);
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
        let Some(place) = connection.watches.iter().position(known) else {
            return false;
        };
        connection.watches.swap_remove(place);
        self.lasting.swap_remove(&(id, table, Rc::clone(path)));
        self.drop_watcher(table, path, id);
        true
    }
}

impl Firing<'_> {
    /// As all watches fire if some of them stay: those on the node, and the recursive ones above it.
    pub(super) fn fire_lasting(
        &mut self,
        table: Table,
        path: &str,
        (kind, once): (EventKind, Option<u64>),
        readers: &Acl,
    ) {
        let changed: Path = Rc::from(path);
        let mut told: Vec<ConnectionId> = Vec::new();
        let mut at = Some(path);
        while let Some(watched) = at {
            let watched: Path = Rc::from(watched);
            for id in self.watches.watchers(table, &watched) {
                let lasting = self.watches.lasting.get(&(id, table, Rc::clone(&watched)));
                let fires = match lasting {
                    Some(true) => kind != EventKind::NodeChildrenChanged,
                    Some(false) | None => watched == changed,
                };
                if fires && !told.contains(&id) {
                    told.push(id);
                }
                if fires
                    && lasting.is_none()
                    && let Some(connection) = self.clients.connections.get_mut(id)
                {
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
            if let Some(deletion) = once {
                if connection.told == deletion {
                    continue;
                }
                connection.told = deletion;
            }
            self.out.push(Output::ToClient {
                connection: id,
                message: ServerMessage::Notification {
                    kind,
                    path: Rc::clone(&changed),
                },
                caused_by: self.caused_by,
            });
        }
    }
}
