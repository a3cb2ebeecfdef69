//! Statements as SQL, and answers as traces show them.

use std::fmt::{Display, Formatter, Result};

use super::{
    AdvisoryKey, Clock, Delete, Dialect, Expr, Function, Insert, IsolationLevel, OnConflict,
    Operator, RowStrength, Select, SettingValue, Statement, TableLockMode, Update, Value,
    WaitPolicy,
};

/// Something as SQL of a dialect.
pub struct Sql<'a, T: ?Sized>(pub Dialect, pub &'a T);

/// Writes several things, with a word between each two.
pub(super) fn joined<T>(
    out: &mut Formatter<'_>,
    between: &str,
    dialect: Dialect,
    all: &[T],
) -> Result
where
    for<'a> Sql<'a, T>: Display,
{
    for (place, one) in all.iter().enumerate() {
        let before = if place > 0 { between } else { "" };
        write!(out, "{before}{}", Sql(dialect, one))?;
    }
    Ok(())
}

/// Writes conditions, or what a list begins with, if there are any.
fn clause<T>(
    out: &mut Formatter<'_>,
    (word, between): (&str, &str),
    dialect: Dialect,
    all: &[T],
) -> Result
where
    for<'a> Sql<'a, T>: Display,
{
    if all.is_empty() {
        return Ok(());
    }
    out.write_str(word)?;
    joined(out, between, dialect, all)
}

const WHERE: (&str, &str) = (" WHERE ", " AND ");
const RETURNING: (&str, &str) = (" RETURNING ", ", ");
/// Days since the epoch as a date (proleptic Gregorian).
fn date(days: i64) -> (i64, i64, i64) {
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let of_era = shifted.rem_euclid(146_097);
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = (month + 2) % 12 + 1;
    (year + era * 400 + i64::from(month <= 2), month, day)
}

impl Display for Sql<'_, Value> {
    fn fmt(&self, out: &mut Formatter<'_>) -> Result {
        match (self.1, self.0) {
            (Value::Null, _) => out.write_str("NULL"),
            (Value::Bool(is_true), _) => write!(out, "{is_true}"),
            (Value::Int(number), _) => write!(out, "{number}"),
            (Value::Text(text), _) => write!(out, "'{}'", text.replace('\'', "''")),
            (Value::Timestamp(micros), _) => {
                let (year, month, day) = date(micros.div_euclid(86_400_000_000));
                let of_day = micros.rem_euclid(86_400_000_000);
                let (seconds, micros) = (of_day / 1_000_000, of_day % 1_000_000);
                let (hour, minute) = (seconds / 3_600, seconds / 60 % 60);
                let second = seconds % 60;
                write!(
                    out,
                    "'{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}.{micros:06}'"
                )
            }
            (Value::Interval(micros), Dialect::Postgres) => {
                write!(out, "interval '{} ms'", *micros as f64 / 1_000.0)
            }
            (Value::Interval(micros), Dialect::MySql) => {
                write!(out, "INTERVAL {} SECOND", *micros as f64 / 1_000_000.0)
            }
        }
    }
}

impl Display for Sql<'_, Expr> {
    fn fmt(&self, out: &mut Formatter<'_>) -> Result {
        let Self(dialect, expr) = *self;
        match expr {
            Expr::Value(value) => Sql(dialect, value).fmt(out),
            Expr::Column(name) => out.write_str(name),
            Expr::Excluded(name) => match dialect {
                Dialect::Postgres => write!(out, "excluded.{name}"),
                Dialect::MySql => write!(out, "VALUES({name})"),
            },
            Expr::Count => out.write_str("count(*)"),
            Expr::Clock(clock) => out.write_str(match (clock, dialect) {
                (Clock::Now, Dialect::Postgres) => "now()",
                (Clock::Now, Dialect::MySql) => "NOW(6)",
                (Clock::Moving, Dialect::Postgres) => "clock_timestamp()",
                (Clock::Moving, Dialect::MySql) => "SYSDATE(6)",
            }),
            Expr::Binary(left, operator, right) => {
                let (left, right) = (Sql(dialect, &**left), Sql(dialect, &**right));
                if (*operator, dialect) == (Operator::Concat, Dialect::MySql) {
                    return write!(out, "CONCAT({left}, {right})");
                }
                write!(out, "{left} {} {right}", operator.sign())
            }
            Expr::IsNull(expr) => write!(out, "{} IS NULL", Sql(dialect, &**expr)),
            Expr::Function(function) => Sql(dialect, function).fmt(out),
        }
    }
}

impl Operator {
    const fn sign(self) -> &'static str {
        match self {
            Self::Plus => "+",
            Self::Minus => "-",
            Self::Divide => "/",
            Self::Concat => "||",
            Self::Equal => "=",
            Self::NotEqual => "<>",
            Self::Less => "<",
            Self::LessOrEqual => "<=",
            Self::Greater => ">",
            Self::GreaterOrEqual => ">=",
        }
    }
}

impl Display for Sql<'_, AdvisoryKey> {
    fn fmt(&self, out: &mut Formatter<'_>) -> Result {
        let Self(dialect, key) = *self;
        match key {
            AdvisoryKey::One(key) => Sql(dialect, &**key).fmt(out),
            AdvisoryKey::Two(high, low) => {
                write!(out, "{}, {}", Sql(dialect, &**high), Sql(dialect, &**low))
            }
        }
    }
}

impl Display for Sql<'_, Function> {
    fn fmt(&self, out: &mut Formatter<'_>) -> Result {
        let Self(dialect, function) = *self;
        match function {
            Function::AdvisoryLock(which, key) => {
                let tries = if which.tries { "try_" } else { "" };
                let xact = if which.xact { "xact_" } else { "" };
                let shared = if which.shared { "_shared" } else { "" };
                write!(
                    out,
                    "pg_{tries}advisory_{xact}lock{shared}({})",
                    Sql(dialect, key)
                )
            }
            Function::AdvisoryUnlock { shared, key } => {
                let shared = if *shared { "_shared" } else { "" };
                write!(out, "pg_advisory_unlock{shared}({})", Sql(dialect, key))
            }
            Function::AdvisoryUnlockAll => out.write_str("pg_advisory_unlock_all()"),
            Function::GetLock(name, timeout) => {
                write!(out, "GET_LOCK({}, ", Sql(dialect, &**name))?;
                match timeout {
                    None => out.write_str("NULL)"),
                    Some(millis) if millis % 1_000 == 0 => write!(out, "{})", millis / 1_000),
                    Some(millis) => write!(out, "{})", *millis as f64 / 1_000.0),
                }
            }
            Function::ReleaseLock(name) => write!(out, "RELEASE_LOCK({})", Sql(dialect, &**name)),
            Function::ReleaseAllLocks => out.write_str("RELEASE_ALL_LOCKS()"),
            Function::IsFreeLock(name) => write!(out, "IS_FREE_LOCK({})", Sql(dialect, &**name)),
            Function::IsUsedLock(name) => write!(out, "IS_USED_LOCK({})", Sql(dialect, &**name)),
            Function::CancelBackend(pid) => write!(out, "pg_cancel_backend({pid})"),
            Function::TerminateBackend(pid) => write!(out, "pg_terminate_backend({pid})"),
            Function::Sleep(time) => {
                let name = match dialect {
                    Dialect::Postgres => "pg_sleep",
                    Dialect::MySql => "SLEEP",
                };
                write!(out, "{name}({})", time.as_secs_f64())
            }
        }
    }
}

impl Display for Sql<'_, (&'static str, Expr)> {
    fn fmt(&self, out: &mut Formatter<'_>) -> Result {
        let (column, value) = self.1;
        write!(out, "{column} = {}", Sql(self.0, value))
    }
}

impl Display for Sql<'_, Select> {
    fn fmt(&self, out: &mut Formatter<'_>) -> Result {
        let Self(dialect, select) = *self;
        clause(out, ("SELECT ", ", "), dialect, &select.items)?;
        if let Some(table) = select.from {
            write!(out, " FROM {table}")?;
        }
        clause(out, WHERE, dialect, &select.filter)?;
        if let Some(order) = select.order_by {
            let descending = if order.descending { " DESC" } else { "" };
            write!(out, " ORDER BY {}{descending}", order.column)?;
        }
        if let Some(limit) = select.limit {
            write!(out, " LIMIT {limit}")?;
        }
        let Some(locking) = select.locking else {
            return Ok(());
        };
        out.write_str(match (locking.strength, dialect) {
            (RowStrength::KeyShare, Dialect::Postgres) => " FOR KEY SHARE",
            (RowStrength::Share, Dialect::Postgres) => " FOR SHARE",
            (RowStrength::KeyShare | RowStrength::Share, Dialect::MySql) => " LOCK IN SHARE MODE",
            (RowStrength::NoKeyUpdate, Dialect::Postgres) => " FOR NO KEY UPDATE",
            (RowStrength::NoKeyUpdate | RowStrength::Update, _) => " FOR UPDATE",
        })?;
        out.write_str(match locking.wait {
            WaitPolicy::Block => "",
            WaitPolicy::NoWait => " NOWAIT",
            WaitPolicy::SkipLocked => " SKIP LOCKED",
        })
    }
}

impl Display for Sql<'_, Vec<Expr>> {
    fn fmt(&self, out: &mut Formatter<'_>) -> Result {
        out.write_str("(")?;
        joined(out, ", ", self.0, self.1)?;
        out.write_str(")")
    }
}

impl Display for Sql<'_, Insert> {
    fn fmt(&self, out: &mut Formatter<'_>) -> Result {
        let Self(dialect, insert) = *self;
        let (table, columns) = (insert.table, insert.columns.join(", "));
        let ignores = insert.on_conflict == OnConflict::DoNothing && dialect == Dialect::MySql;
        let ignore = if ignores { " IGNORE" } else { "" };
        write!(out, "INSERT{ignore} INTO {table} ({columns}) VALUES ")?;
        joined(out, ", ", dialect, &insert.rows)?;
        match (&insert.on_conflict, dialect) {
            (OnConflict::Raise, _) | (OnConflict::DoNothing, Dialect::MySql) => {}
            (OnConflict::DoNothing, Dialect::Postgres) => {
                out.write_str(" ON CONFLICT DO NOTHING")?;
            }
            (OnConflict::DoUpdate { set, filter }, Dialect::Postgres) => {
                let key = insert.columns.first().copied().unwrap_or_default();
                write!(out, " ON CONFLICT ({key}) DO UPDATE SET ")?;
                joined(out, ", ", dialect, set)?;
                clause(out, WHERE, dialect, filter)?;
            }
            (OnConflict::DoUpdate { set, filter }, Dialect::MySql) => {
                out.write_str(" ON DUPLICATE KEY UPDATE ")?;
                joined(out, ", ", dialect, set)?;
                clause(out, WHERE, dialect, filter)?;
            }
        }
        clause(out, RETURNING, dialect, &insert.returning)
    }
}

impl Display for Sql<'_, Update> {
    fn fmt(&self, out: &mut Formatter<'_>) -> Result {
        let Self(dialect, update) = *self;
        write!(out, "UPDATE {} SET ", update.table)?;
        joined(out, ", ", dialect, &update.set)?;
        clause(out, WHERE, dialect, &update.filter)?;
        clause(out, RETURNING, dialect, &update.returning)
    }
}

impl Display for Sql<'_, Delete> {
    fn fmt(&self, out: &mut Formatter<'_>) -> Result {
        let Self(dialect, delete) = *self;
        write!(out, "DELETE FROM {}", delete.table)?;
        clause(out, WHERE, dialect, &delete.filter)?;
        clause(out, RETURNING, dialect, &delete.returning)
    }
}

impl IsolationLevel {
    const fn words(self) -> &'static str {
        match self {
            Self::ReadCommitted => "READ COMMITTED",
            Self::RepeatableRead => "REPEATABLE READ",
            Self::Serializable => "SERIALIZABLE",
        }
    }
}

impl TableLockMode {
    /// Its name in `LOCK TABLE`.
    pub const fn words(self) -> &'static str {
        match self {
            Self::AccessShare => "ACCESS SHARE",
            Self::RowShare => "ROW SHARE",
            Self::RowExclusive => "ROW EXCLUSIVE",
            Self::ShareUpdateExclusive => "SHARE UPDATE EXCLUSIVE",
            Self::Share => "SHARE",
            Self::ShareRowExclusive => "SHARE ROW EXCLUSIVE",
            Self::Exclusive => "EXCLUSIVE",
            Self::AccessExclusive => "ACCESS EXCLUSIVE",
        }
    }
}

impl Display for Sql<'_, SettingValue> {
    fn fmt(&self, out: &mut Formatter<'_>) -> Result {
        match (self.1, self.0) {
            (SettingValue::Time(time), Dialect::Postgres) => {
                write!(out, "'{}ms'", time.as_millis())
            }
            (SettingValue::Time(time), Dialect::MySql) => write!(out, "{}", time.as_secs_f64()),
            (SettingValue::On(on), Dialect::Postgres) => {
                out.write_str(if *on { "on" } else { "off" })
            }
            (SettingValue::On(on), Dialect::MySql) => write!(out, "{}", u8::from(*on)),
        }
    }
}

impl Display for Sql<'_, Statement> {
    fn fmt(&self, out: &mut Formatter<'_>) -> Result {
        let Self(dialect, statement) = *self;
        match statement {
            Statement::Begin(None) => out.write_str("BEGIN"),
            Statement::Begin(Some(level)) => match dialect {
                Dialect::Postgres => write!(out, "BEGIN ISOLATION LEVEL {}", level.words()),
                Dialect::MySql => {
                    write!(
                        out,
                        "SET TRANSACTION ISOLATION LEVEL {}; BEGIN",
                        level.words()
                    )
                }
            },
            Statement::Commit => out.write_str("COMMIT"),
            Statement::Rollback => out.write_str("ROLLBACK"),
            Statement::Savepoint(name) => write!(out, "SAVEPOINT {name}"),
            Statement::RollbackTo(name) => write!(out, "ROLLBACK TO SAVEPOINT {name}"),
            Statement::Release(name) => write!(out, "RELEASE SAVEPOINT {name}"),
            Statement::Select(select) => Sql(dialect, select).fmt(out),
            Statement::Insert(insert) => Sql(dialect, insert).fmt(out),
            Statement::Update(update) => Sql(dialect, update).fmt(out),
            Statement::Delete(delete) => Sql(dialect, delete).fmt(out),
            Statement::LockTable(table, mode) => {
                write!(out, "LOCK TABLE {table} IN {} MODE", mode.words())
            }
            Statement::Set {
                setting,
                value,
                local,
            } => {
                let local = if *local { "LOCAL " } else { "" };
                write!(
                    out,
                    "SET {local}{} = {}",
                    setting.name(),
                    Sql(dialect, value)
                )
            }
            Statement::Show(setting) => write!(out, "SHOW {}", setting.name()),
            Statement::ResetAll => out.write_str("RESET ALL"),
            Statement::DiscardAll => out.write_str("DISCARD ALL"),
            Statement::SetIsolation(level) => match dialect {
                Dialect::Postgres => {
                    let level = level.words();
                    write!(
                        out,
                        "SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL {level}"
                    )
                }
                Dialect::MySql => {
                    write!(
                        out,
                        "SET SESSION TRANSACTION ISOLATION LEVEL {}",
                        level.words()
                    )
                }
            },
            Statement::PrepareTransaction(gid) => write!(out, "PREPARE TRANSACTION '{gid}'"),
            Statement::CommitPrepared(gid) => write!(out, "COMMIT PREPARED '{gid}'"),
            Statement::RollbackPrepared(gid) => write!(out, "ROLLBACK PREPARED '{gid}'"),
            Statement::Kill { query, pid } => {
                let query = if *query { "QUERY " } else { "" };
                write!(out, "KILL {query}{pid}")
            }
            Statement::Batch(all) => joined(out, "; ", dialect, all),
        }
    }
}
