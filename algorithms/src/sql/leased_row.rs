//! A row that is held for a time: its owner, a token, and when it is over.

use std::time::Duration;

use async_trait::async_trait;

use super::session::Session;
use super::{LockTable, POLL, SqlLock, no_row, seen};
use crate::clients::RequestKind;
use crate::clients::sql::{
    DataSource, Expr, Insert, OnConflict, Select, SqlResult, Update, Value, clock_timestamp, col,
    interval, text,
};
use crate::{Claim, Columns, Env, Held, Lock, LockError, OwnershipRule, RowHold};

/// The table.
pub(super) const TABLE: LockTable = LockTable {
    name: "locks",
    columns: &["name", "owner", "token", "expires_at"],
    row: no_row,
};

/// The contender that the row names owns the lock until the time that the row says.
pub(super) const OWNER: OwnershipRule = OwnershipRule::of_row(hold);

fn hold(row: &dyn Columns) -> Option<RowHold> {
    Some(RowHold {
        identity: row.text("owner")?,
        expires: row.time("expires_at"),
    })
}

/// The requests that it makes.
pub(super) const REQUESTS: &[RequestKind] = &[
    RequestKind::Update,
    RequestKind::Insert,
    RequestKind::Select,
];

/// What a row with a token promises: no order.
pub(super) const CLAIMS: &[Claim] = &[
    Claim::MutualExclusion,
    Claim::ExclusiveOwnership,
    Claim::NoStaleEffect,
    Claim::NoLostUpdate,
    Claim::FencingMonotonic,
    Claim::Progress,
    Claim::NoOrphan,
    Claim::OwnReleaseOnly,
    Claim::HonestAnswer,
];

/// By which clock a row is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RowClock {
    /// That of the database, as it stands when it looks.
    Database,
    /// That of the machine that asks.
    Application,
}

/// A row, and the session by which it is asked for.
pub(super) struct LeasedRow {
    session: Session,
    env: Env,
    lock: SqlLock,
    clock: RowClock,
    owner: String,
}

impl LeasedRow {
    pub(super) fn new(source: DataSource, env: Env, lock: SqlLock, clock: RowClock) -> Self {
        Self {
            session: Session::new(source),
            env,
            lock,
            clock,
            owner: String::new(),
        }
    }

    fn now(&self) -> Expr {
        match self.clock {
            RowClock::Database => clock_timestamp(),
            RowClock::Application => {
                let micros = i64::try_from(self.env.wall().as_micros());
                Expr::Value(Value::Timestamp(micros.unwrap_or(i64::MAX)))
            }
        }
    }

    fn expires_at(&self) -> Expr {
        self.now().plus(interval(self.lock.lease))
    }

    /// Takes over the row that is over, or inserts it. Answers whether one of them was done.
    async fn takes(&mut self) -> SqlResult<bool> {
        let (name, owner) = (text(&self.lock.name), text(&self.owner));
        let over = Update::of(
            "locks",
            [
                ("owner", owner.clone()),
                ("token", col("token").plus(1)),
                ("expires_at", self.expires_at()),
            ],
        )
        .and(col("name").equals(name.clone()))
        .and(col("expires_at").at_most(self.now()));
        if self.session.execute(over).await?.count == 1 {
            return Ok(true);
        }
        let row = [
            ("name", name),
            ("owner", owner),
            ("token", 1.into()),
            ("expires_at", self.expires_at()),
        ];
        let new = Insert::into("locks", row).on_conflict(OnConflict::DoNothing);
        Ok(self.session.execute(new).await?.count == 1)
    }

    /// The token of the row, if it is ours.
    async fn token(&mut self) -> SqlResult<Option<u64>> {
        let row = Select::from("locks", [col("token")])
            .and(col("name").equals(text(&self.lock.name)))
            .and(col("owner").equals(text(&self.owner)));
        let found = self.session.execute(row).await?;
        let token = found.value().and_then(Value::as_int);
        Ok(token.and_then(|token| u64::try_from(token).ok()))
    }
}

#[async_trait(?Send)]
impl Lock for LeasedRow {
    async fn acquire(&mut self) -> Result<Held, LockError> {
        loop {
            self.owner = self.env.guid(); // Step 1.
            let asked = self.env.monotonic();
            if self.takes().await.map_err(seen)? {
                let token = self.token().await.map_err(seen)?; // Step 4.
                let valid_until = asked + valid(self.lock.lease);
                if let Some(token) = token
                    && self.env.monotonic() < valid_until
                {
                    let held = Held::at(self.lock.name.clone()).with_token(token);
                    return Ok(held.until(valid_until));
                }
                return Err(LockError::LeaseLapsed);
            }
            self.env.sleep(POLL).await;
        }
    }

    async fn release(&mut self, _held: Held) -> Result<(), LockError> {
        let row = Update::of("locks", [("expires_at", self.now())])
            .and(col("name").equals(text(&self.lock.name)))
            .and(col("owner").equals(text(&self.owner)))
            .and(col("expires_at").greater(self.now()));
        match self.session.execute(row).await.map_err(seen)?.count {
            1 => Ok(()),
            _ => Err(LockError::PlaceLost),
        }
    }

    async fn lost(&self, held: &Held) -> LockError {
        let until = held.valid_until.unwrap_or_default();
        let left = until.saturating_sub(self.env.monotonic());
        self.env.sleep(left).await;
        LockError::LeaseLapsed
    }
}

/// For how long a lease is believed in: clocks may differ in their pace by one in a hundred.
fn valid(lease: Duration) -> Duration {
    lease - lease / 100
}
