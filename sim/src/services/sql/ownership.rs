//! Who owns a lock by what the database has: the lock that a session holds, or the row of the lock's name.

use std::rc::Rc;

use picklock_algorithms::{Columns, Owners, RowHold};
use picklock_checker::{ContenderId, LockId, Mode, Token};
use picklock_clients::sql::Value;
use picklock_sql::{Advisory, Change, Locked};

use super::{RowExpires, SimulatedSql};
use crate::network::{ConnectionId, ServerId};
use crate::ownership::Actor;
use crate::world::{NO_CONTENDER, World};

/// What the database has of a lock.
pub(crate) struct Hold {
    token: Token,
    /// By which session, or by which row.
    from: HeldBy,
}

#[derive(PartialEq, Eq)]
enum HeldBy {
    Session(ConnectionId),
    Row(RowHold),
}

impl Hold {
    /// Whether it is a session's.
    pub(super) fn is_of_session(&self) -> bool {
        matches!(self.from, HeldBy::Session(_))
    }
}

/// A row of the table of locks.
struct Row<'a> {
    columns: &'a [&'static str],
    values: &'a [Value],
}

impl Row<'_> {
    fn value(&self, column: &str) -> Option<&Value> {
        let place = self.columns.iter().position(|name| *name == column)?;
        self.values.get(place)
    }
}

impl Columns for Row<'_> {
    fn text(&self, column: &str) -> Option<Rc<str>> {
        self.value(column)?.as_text().map(Rc::clone)
    }

    fn time(&self, column: &str) -> Option<i64> {
        match self.value(column)? {
            Value::Timestamp(micros) => Some(*micros),
            _ => None,
        }
    }

    fn number(&self, column: &str) -> Option<i64> {
        self.value(column)?.as_int()
    }
}

impl World<SimulatedSql> {
    /// The lock of this key of a row.
    fn lock_of_key(&self, key: &Value) -> Option<LockId> {
        let index = match key {
            Value::Text(name) => self.lock_names.iter().position(|known| known == name)?,
            Value::Int(id) => usize::try_from(id - 1).ok()?,
            _ => return None,
        };
        (index < self.lock_names.len()).then_some(LockId(index as u32))
    }

    /// The lock that this of a session is one of.
    fn lock_of_session(&self, lock: &Locked) -> Option<LockId> {
        if !matches!(self.plan.recipe.ownership.owners, Owners::OfSession) {
            return None;
        }
        match lock {
            Locked::Advisory(Advisory::One(key)) => self.lock_of_key(&Value::Int(*key)),
            Locked::Advisory(Advisory::Two(..)) => None,
            Locked::UserLock(name) => self.lock_of_key(&Value::Text(Rc::clone(name))),
            Locked::Row(_, key) => self.lock_of_key(key),
        }
    }

    /// A session holds something from now on. Answers whether it is one of the locks.
    pub(super) fn acquired(
        &mut self,
        connection: ConnectionId,
        lock: &Locked,
        shared: bool,
    ) -> bool {
        let Some(lock) = self.lock_of_session(lock) else {
            return false;
        };
        let by = self.asker(connection);
        let mode = match shared {
            true => Mode::Shared,
            false => Mode::Exclusive,
        };
        self.owns(lock, by, mode, HeldBy::Session(connection));
        true
    }

    /// A session does not hold it any more. Answers whether it is one of the locks.
    pub(super) fn released(&mut self, connection: ConnectionId, lock: &Locked) -> bool {
        let Some(lock) = self.lock_of_session(lock) else {
            return false;
        };
        let by = self.asker(connection);
        let slot = &self.host.clients[self.client_of(connection).0 as usize];
        let is_asking = slot.alive && slot.machine.is_asking(connection);
        let actor = match is_asking && self.connections.get(connection).open_at_server {
            true => self.actor(by),
            false => Actor::SessionEnd,
        };
        let of_session = HeldBy::Session(connection);
        self.disown(lock, |hold| hold.from == of_session, actor);
        true
    }

    /// A session has ended, and holds nothing.
    pub(super) fn session_ended(&mut self, connection: ConnectionId) {
        let of_session = HeldBy::Session(connection);
        for lock in 0..self.lock_names.len() {
            let lock = LockId(lock as u32);
            self.disown(lock, |hold| hold.from == of_session, Actor::SessionEnd);
        }
    }

    /// Rows have changed, because of a connection.
    pub(super) fn rows_changed(
        &mut self,
        server: ServerId,
        connection: Option<ConnectionId>,
        changes: &[Change],
    ) {
        let (Owners::OfRow(held), Some(table)) =
            (self.plan.recipe.ownership.owners, self.service.table)
        else {
            return;
        };
        let Some(connection) = connection else {
            return; // A standby follows.
        };
        let by = self.asker(connection);
        for change in changes.iter().filter(|change| change.table == table.name) {
            let row = change.after.as_ref().or(change.before.as_ref());
            let Some(lock) = row.and_then(|row| self.lock_of_key(row.first()?)) else {
                continue;
            };
            let (columns, now) = (table.columns, self.server_now(server).wall_micros);
            let after = change.after.as_ref();
            let hold = after.and_then(|values| held(&Row { columns, values }));
            let hold = hold.filter(|hold| hold.expires.is_none_or(|at| at > now));
            self.row_says(lock, by, hold);
        }
    }

    /// The row of a lock says who has it from now on.
    fn row_says(&mut self, lock: LockId, by: ContenderId, hold: Option<RowHold>) {
        let known = self.service.holds[lock.0 as usize].first_mut();
        if let (Some(known), Some(hold)) = (known, &hold)
            && let HeldBy::Row(row) = &mut known.from
            && row.identity == hold.identity
        {
            *row = hold.clone();
            return self.expires_later(lock, hold.expires);
        }
        let actor = match (self.actor(by), &hold) {
            (Actor::Contender(by), Some(_)) => Actor::Overwriter(by),
            (actor, _) => actor,
        };
        self.disown(lock, |_| true, actor);
        if let Some(hold) = hold {
            let expires = hold.expires;
            self.owns(lock, by, Mode::Exclusive, HeldBy::Row(hold));
            self.expires_later(lock, expires);
        }
    }

    fn expires_later(&mut self, lock: LockId, expires: Option<i64>) {
        if let Some(expires) = expires {
            let left = expires - self.server_now(ServerId(0)).wall_micros;
            let left = std::time::Duration::from_micros(left.max(0).unsigned_abs());
            self.schedule(self.now + left, RowExpires { lock });
        }
    }

    /// The time has come at which a row was to be over. It may have been renewed.
    pub(super) fn row_expires(&mut self, lock: LockId) {
        let now = self.server_now(ServerId(0)).wall_micros;
        let is_over = |hold: &Hold| match &hold.from {
            HeldBy::Row(row) => row.expires.is_some_and(|at| at <= now),
            HeldBy::Session(_) => false,
        };
        self.disown(lock, is_over, Actor::SessionEnd);
    }

    fn actor(&self, by: ContenderId) -> Actor {
        match by == NO_CONTENDER {
            true => Actor::Outsider,
            false => Actor::Contender(by),
        }
    }

    fn owns(&mut self, lock: LockId, by: ContenderId, mode: Mode, from: HeldBy) {
        if by != NO_CONTENDER {
            let token = self.granted(lock, by, mode);
            self.service.holds[lock.0 as usize].push(Hold { token, from });
        }
    }

    /// Ends holds of a lock.
    pub(super) fn disown(&mut self, lock: LockId, which: impl Fn(&Hold) -> bool, actor: Actor) {
        let holds = &mut self.service.holds[lock.0 as usize];
        let gone: Vec<Hold> = holds.extract_if(.., |hold| which(hold)).collect();
        for hold in gone {
            self.key_gone(lock, hold.token, actor);
        }
    }
}
