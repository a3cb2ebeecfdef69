//! How sessions come to locks and lose them: waits, grants, circles of waits.

use picklock_clients::sql::{ErrorCode, TableLockMode};
use picklock_machines::ConnectionId;

use crate::deadlock::Found;
use crate::ids::Holder;
use crate::io::{Locked, Output};
use crate::lock_manager::{EXCLUSIVE, Entry, Mode, Outcome, SHARE, Scope, Tag};
use crate::session::{Done, Session, Stop};
use crate::state::Instance;

impl Tag {
    /// The lock as an observer sees it, if a session that holds it keeps others out.
    fn told(&self) -> Option<Locked> {
        match self {
            Self::Advisory(key) => Some(Locked::Advisory(*key)),
            Self::UserLock(name) => Some(Locked::UserLock(name.clone())),
            Self::Relation(_)
            | Self::Tuple(..)
            | Self::Transaction(_)
            | Self::Record(..)
            | Self::Gap(_) => None,
        }
    }
}

/// Whether a lock is shared that is held by takes of which these are: none if there are none.
fn mode_of(takes: &[bool]) -> Option<bool> {
    (!takes.is_empty()).then(|| takes.iter().all(|shared| *shared))
}

impl Instance {
    /// Acquires a lock. Answers false if it is not to be had at once and the statement does not wait.
    pub fn acquire(
        &mut self,
        s: &mut Session,
        tag: &Tag,
        mode: Mode,
        scope: Scope,
        waits: bool,
    ) -> Done<bool> {
        let holder = Holder::Session(s.me);
        let entry = Entry {
            holder,
            mode,
            scope,
        };
        match self.locks.request(tag, entry, waits) {
            Outcome::Granted => {
                self.granted(s.me, tag);
                Ok(true)
            }
            Outcome::Blocked | Outcome::Deadlock if !waits => Ok(false),
            Outcome::Deadlock => Err(Stop::Error(self.profile.deadlock)),
            Outcome::Blocked => {
                self.starts_waiting(s);
                if self.profile.looks_for_deadlocks_at_once {
                    self.look_at_once(s, tag)?;
                }
                Err(Stop::Wait)
            }
        }
    }

    /// The same, until the transaction ends.
    pub fn acquire_in_transaction(
        &mut self,
        s: &mut Session,
        tag: &Tag,
        mode: Mode,
        waits: bool,
    ) -> Done<bool> {
        let scope = Scope::Transaction(self.transaction(s).level());
        self.acquire(s, tag, mode, scope, waits)
    }

    /// Locks a table as a statement does.
    pub fn lock_relation(&mut self, s: &mut Session, table: usize, mode: TableLockMode) -> Done {
        if self.profile.locks_records {
            return Ok(());
        }
        let tag = Tag::Relation(self.heap.tables[table].name);
        self.acquire_in_transaction(s, &tag, Mode::Table(mode), true)?;
        Ok(())
    }

    /// A session has come to hold a lock. What was only to be waited for is given back.
    fn granted(&mut self, connection: ConnectionId, tag: &Tag) {
        let holder = Holder::Session(connection);
        match tag {
            Tag::Transaction(_) => {
                self.locks.release(tag, holder, |held| held.mode == SHARE);
            }
            Tag::Gap(_) => {
                let is_intention = |held: &Entry| matches!(held.mode, Mode::InsertIntention(_));
                self.locks.release(tag, holder, is_intention);
            }
            Tag::Advisory(_) | Tag::UserLock(_) => {
                let modes = self.modes_held(connection, tag);
                let before = modes.split_last().and_then(|(_, before)| mode_of(before));
                self.tell(connection, tag, before);
            }
            Tag::Relation(_) | Tag::Tuple(..) | Tag::Record(..) => {}
        }
    }

    /// Of each take of a lock by a session, whether it is shared, in the order in which they were granted.
    fn modes_held(&self, connection: ConnectionId, tag: &Tag) -> Vec<bool> {
        let held = self.locks.held_by(Holder::Session(connection));
        let takes = held.filter(|(held, _)| *held == tag);
        takes.map(|(_, held)| held.mode == SHARE).collect()
    }

    /// Tells how a session holds a lock now, if that is another way than before: shared, exclusively, or not at all.
    fn tell(&mut self, connection: ConnectionId, tag: &Tag, before: Option<bool>) {
        let now = mode_of(&self.modes_held(connection, tag));
        let Some(lock) = tag.told().filter(|_| now != before) else {
            return;
        };
        if before.is_some() {
            let lock = lock.clone();
            self.out.push(Output::Released { connection, lock });
        }
        if let Some(shared) = now {
            self.out.push(Output::Acquired {
                connection,
                lock,
                shared,
            });
        }
    }

    /// Those whose locks were granted go on.
    pub fn wake_granted(&mut self) {
        for (holder, tag) in std::mem::take(&mut self.locks.woken) {
            let Holder::Session(me) = holder else {
                continue;
            };
            self.granted(me, &tag);
            let waiter = self.sessions.get_mut(&me);
            let answer = waiter.and_then(|s| s.run.on_grant.take());
            self.goes_on(me, answer);
        }
    }

    /// Releases one take of a lock of a session. Answers whether it was held.
    pub fn release_one(&mut self, connection: ConnectionId, tag: &Tag, mode: &Mode) -> bool {
        let holder = Holder::Session(connection);
        let before = mode_of(&self.modes_held(connection, tag));
        let is_such = |held: &Entry| held.scope == Scope::Session && held.mode == *mode;
        let was_held = self.locks.release(tag, holder, is_such);
        self.tell(connection, tag, before);
        was_held
    }

    /// Releases all locks of a session that are such. Answers how many takes.
    pub fn release_where(
        &mut self,
        connection: ConnectionId,
        is_such: impl Fn(&Tag, &Entry) -> bool,
    ) -> u64 {
        let holder = Holder::Session(connection);
        let held = self
            .locks
            .held_by(holder)
            .filter(|(tag, _)| tag.told().is_some());
        let mut told: Vec<Tag> = held.map(|(tag, _)| tag.clone()).collect();
        told.dedup();
        let mode = |tag: Tag| (mode_of(&self.modes_held(connection, &tag)), tag);
        let told: Vec<_> = told.into_iter().map(mode).collect();
        let takes = self.locks.release_all(holder, is_such);
        for (before, tag) in told {
            self.tell(connection, &tag, before);
        }
        takes
    }

    /// A waiter has waited for a while, and looks whether it is in a circle.
    pub fn look_for_deadlock(&mut self, me: ConnectionId) {
        let start = Holder::Session(me);
        if let Found::Circle(_) = self.locks.look_for_deadlock(start, true, &|_| true) {
            self.interrupt(me, self.profile.deadlock);
        }
    }

    /// A request of InnoDB, or of a user lock, looks at once whether it closes a circle. Of rows the transaction
    /// dies that has changed the fewest, of user locks the one that looks.
    fn look_at_once(&mut self, s: &Session, tag: &Tag) -> Done {
        let start = Holder::Session(s.me);
        let of_users = matches!(tag, Tag::UserLock(_));
        let counts = |tag: &Tag| matches!(tag, Tag::UserLock(_)) == of_users;
        while let Found::Circle(circle) = self.locks.look_for_deadlock(start, false, &counts) {
            let weight = |holder: &&Holder| match holder {
                Holder::Session(session) if *session == s.me => self.weight(s),
                Holder::Session(session) => self
                    .sessions
                    .get(session)
                    .map_or(0, |other| self.weight(other)),
                Holder::Prepared(_) => usize::MAX,
            };
            let lightest = circle.iter().min_by_key(weight);
            match lightest {
                Some(Holder::Session(victim)) if *victim != s.me && !of_users => {
                    self.interrupt(*victim, self.profile.deadlock);
                }
                _ => {
                    self.locks.cancel(start);
                    return Err(Stop::Error(match of_users {
                        true => ErrorCode::UserLockDeadlock,
                        false => self.profile.deadlock,
                    }));
                }
            }
        }
        Ok(())
    }

    /// What is lost with a transaction (`TRX_WEIGHT`): its changes, and its locks, of which those of one kind count
    /// once.
    fn weight(&self, s: &Session) -> usize {
        let held = self.locks.held_by(s.holder());
        let mut kinds = [false; 3];
        for (tag, entry) in held {
            match (tag, &entry.mode) {
                (Tag::Record(..), mode) => kinds[usize::from(*mode == SHARE)] = true,
                (Tag::Gap(_), _) => kinds[2] = true,
                _ => {}
            }
        }
        let of_rows = kinds.into_iter().filter(|is_held| *is_held).count();
        let changes = s
            .transaction
            .as_ref()
            .map_or(0, |transaction| transaction.changes.len());
        changes + of_rows
    }

    /// Whether a session holds a lock exclusively.
    pub fn holds_exclusively(&self, connection: ConnectionId, tag: &Tag) -> bool {
        let mut held = self.locks.held_by(Holder::Session(connection));
        held.any(|(held, entry)| held == tag && entry.mode == EXCLUSIVE)
    }
}
