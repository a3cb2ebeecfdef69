//! How sessions come to locks and lose them: waits, grants, circles of waits.

use picklock_clients::sql::{ErrorCode, TableLockMode};
use picklock_machines::ConnectionId;

use crate::backend::{Running, Wait};
use crate::deadlock::Found;
use crate::executor::Stop;
use crate::io::{Locked, Output};
use crate::lock_manager::{EXCLUSIVE, Entry, Holder, Mode, Outcome, SHARE, Scope, Tag};
use crate::server::Server;

impl Tag {
    /// What it is to the world, if a session that holds it keeps others out.
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

impl Server {
    /// Acquires a lock. Answers false if it is not to be had at once and the statement does not wait.
    pub(crate) fn acquire(
        &mut self,
        run: &mut Running,
        tag: &Tag,
        mode: Mode,
        scope: Scope,
        waits: bool,
    ) -> Result<bool, Stop> {
        let holder = Holder::Session(run.me);
        let entry = Entry {
            holder,
            mode,
            scope,
        };
        match self.locks.request(tag, entry, waits) {
            Outcome::Granted => {
                self.granted(run.me, tag);
                Ok(true)
            }
            Outcome::Blocked | Outcome::Deadlock if !waits => Ok(false),
            Outcome::Deadlock => Err(Stop::Error(self.profile.deadlock)),
            Outcome::Blocked => {
                self.starts_waiting(run);
                if self.profile.looks_for_deadlocks_at_once {
                    self.look_at_once(run, tag)?;
                }
                Err(Stop::Wait)
            }
        }
    }

    /// The same, until the transaction ends.
    pub(crate) fn acquire_in_transaction(
        &mut self,
        run: &mut Running,
        tag: &Tag,
        mode: Mode,
        waits: bool,
    ) -> Result<bool, Stop> {
        let scope = Scope::Transaction(self.transaction(run.me).level());
        self.acquire(run, tag, mode, scope, waits)
    }

    /// Locks a table as a statement does.
    pub(crate) fn lock_relation(
        &mut self,
        run: &mut Running,
        table: &'static str,
        mode: TableLockMode,
    ) -> Result<(), Stop> {
        if self.profile.locks_records {
            return Ok(());
        }
        let tag = Tag::Relation(table);
        self.acquire_in_transaction(run, &tag, Mode::Table(mode), true)?;
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
                let takes = self.locks.held_by(holder).filter(|(held, _)| *held == tag);
                let modes: Vec<bool> = takes.map(|(_, held)| held.mode == SHARE).collect();
                if let (&[shared], Some(lock)) = (&*modes, tag.told()) {
                    self.out.push(Output::Acquired {
                        connection,
                        lock,
                        shared,
                    });
                }
            }
            Tag::Relation(_) | Tag::Tuple(..) | Tag::Record(..) => {}
        }
    }

    /// Those whose locks were granted go on.
    pub(crate) fn wake_granted(&mut self) {
        for (holder, tag) in std::mem::take(&mut self.locks.woken) {
            let Holder::Session(me) = holder else {
                continue;
            };
            self.granted(me, &tag);
            if let Some(run) = self.running(me) {
                run.wait = Wait::Nothing;
                let answer = run.on_grant.take();
                run.memo.extend(answer);
                self.ready.push(me);
            }
        }
    }

    /// Releases one take of a lock of a session. Answers whether it was held.
    pub(crate) fn release_one(&mut self, connection: ConnectionId, tag: &Tag, mode: &Mode) -> bool {
        let holder = Holder::Session(connection);
        let is_such = |held: &Entry| held.scope == Scope::Session && held.mode == *mode;
        let was_held = self.locks.release(tag, holder, is_such);
        if was_held
            && !self.locks.holders(tag).any(|held| held == holder)
            && let Some(lock) = tag.told()
        {
            self.out.push(Output::Released { connection, lock });
        }
        was_held
    }

    /// Releases all locks of a session that are such. Answers how many takes.
    pub(crate) fn release_where(
        &mut self,
        connection: ConnectionId,
        is_such: impl Fn(&Tag, &Entry) -> bool,
    ) -> u64 {
        let holder = Holder::Session(connection);
        let held = self.locks.held_by(holder);
        let mut told: Vec<Tag> = held
            .filter(|(tag, held)| tag.told().is_some() && is_such(tag, held))
            .map(|(tag, _)| tag.clone())
            .collect();
        told.dedup();
        let takes = self.locks.release_all(holder, is_such);
        for tag in told {
            if !self.locks.holders(&tag).any(|held| held == holder)
                && let Some(lock) = tag.told()
            {
                self.out.push(Output::Released { connection, lock });
            }
        }
        takes
    }

    /// A waiter has waited for a while, and looks whether it is in a circle.
    pub(crate) fn look_for_deadlock(&mut self, me: ConnectionId) {
        let start = Holder::Session(me);
        if let Found::Circle(_) = self.locks.look_for_deadlock(start, true, &|_| true) {
            self.interrupt(me, self.profile.deadlock);
        }
    }

    /// A request of InnoDB, or of a user lock, looks at once whether it closes a circle. Of rows the transaction dies that has
    /// changed the fewest, of user locks the one that looks.
    fn look_at_once(&mut self, run: &Running, tag: &Tag) -> Result<(), Stop> {
        let start = Holder::Session(run.me);
        let of_users = matches!(tag, Tag::UserLock(_));
        let counts = |tag: &Tag| matches!(tag, Tag::UserLock(_)) == of_users;
        while let Found::Circle(circle) = self.locks.look_for_deadlock(start, false, &counts) {
            let weight = |holder: &&Holder| match holder {
                Holder::Session(session) => {
                    let backend = self.backends.get(session);
                    let transaction = backend.and_then(|backend| backend.transaction.as_ref());
                    transaction.map_or(0, |transaction| transaction.changes.len())
                }
                Holder::Prepared(_) => usize::MAX,
            };
            let lightest = circle.iter().min_by_key(weight);
            match lightest {
                Some(Holder::Session(victim)) if *victim != run.me && !of_users => {
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

    /// Whether a session holds a lock exclusively.
    pub(crate) fn holds_exclusively(&self, connection: ConnectionId, tag: &Tag) -> bool {
        let mut held = self.locks.held_by(Holder::Session(connection));
        held.any(|(held, entry)| held == tag && entry.mode == EXCLUSIVE)
    }
}
