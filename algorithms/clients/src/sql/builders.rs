//! Shorthands by which recipes write statements.

use std::rc::Rc;
use std::time::Duration;

use super::{
    AdvisoryKey, AdvisoryLock, Clock, Delete, Expr, Function, Insert, OnConflict, Operator,
    OrderBy, RowLocking, RowStrength, Select, Statement, Update, Value, WaitPolicy,
};

/// A column.
pub fn col(name: &'static str) -> Expr {
    Expr::Column(name)
}

/// A column of the row that was to be inserted.
pub fn excluded(name: &'static str) -> Expr {
    Expr::Excluded(name)
}

/// A string.
pub fn text(text: &str) -> Expr {
    Expr::Value(Value::Text(text.into()))
}

/// A clock.
pub fn clock(clock: Clock) -> Expr {
    Expr::Clock(clock)
}

/// `now()`: when the transaction began, or in MySQL the statement.
pub fn now() -> Expr {
    Expr::Clock(Clock::Now)
}

/// `clock_timestamp()`, or `SYSDATE()`.
pub fn clock_timestamp() -> Expr {
    Expr::Clock(Clock::Moving)
}

/// A stretch of time.
pub fn interval(time: Duration) -> Expr {
    let micros = i64::try_from(time.as_micros()).unwrap_or(i64::MAX);
    Expr::Value(Value::Interval(micros))
}

impl From<i64> for Expr {
    fn from(number: i64) -> Self {
        Self::Value(Value::Int(number))
    }
}

impl From<Function> for Expr {
    fn from(function: Function) -> Self {
        Self::Function(function)
    }
}

macro_rules! operators {
    ($($(#[$meaning:meta])+ $name:ident $operator:ident;)+) => {
        impl Expr {
            $($(#[$meaning])+
            #[must_use]
            pub fn $name(self, other: impl Into<Self>) -> Self {
                Self::Binary(Box::new(self), Operator::$operator, Box::new(other.into()))
            })+
        }
    };
}

operators! {
    /// `self + other`
    plus Plus;
    /// `self - other`
    minus Minus;
    /// `self / other`
    divided_by Divide;
    /// `self || other`
    concat Concat;
    /// `self = other`
    equals Equal;
    /// `self <> other`
    differs_from NotEqual;
    /// `self < other`
    less Less;
    /// `self <= other`
    at_most LessOrEqual;
    /// `self > other`
    greater Greater;
    /// `self >= other`
    at_least GreaterOrEqual;
}

impl AdvisoryKey {
    /// A number.
    pub fn of(key: i64) -> Self {
        Self::One(Box::new(key.into()))
    }
}

impl Function {
    /// `pg_advisory_lock` of a number, or one of its kin.
    pub fn advisory(which: AdvisoryLock, key: i64) -> Self {
        Self::AdvisoryLock(which, AdvisoryKey::of(key))
    }

    /// `pg_advisory_unlock` of a number.
    pub fn advisory_unlock(key: i64) -> Self {
        let key = AdvisoryKey::of(key);
        Self::AdvisoryUnlock { shared: false, key }
    }

    /// `GET_LOCK`; a timeout counts in milliseconds.
    pub fn get_lock(name: &str, timeout: Duration) -> Self {
        let millis = i64::try_from(timeout.as_millis()).unwrap_or(i64::MAX);
        Self::GetLock(text(name).into(), Some(millis))
    }

    /// `RELEASE_LOCK`
    pub fn release_lock(name: &str) -> Self {
        Self::ReleaseLock(text(name).into())
    }
}

impl Statement {
    /// `SELECT function(..)`
    pub fn call(function: Function) -> Self {
        Self::Select(Select {
            items: vec![Expr::Function(function)],
            ..Select::default()
        })
    }
}

impl Select {
    /// Of a table, these items.
    pub fn from(table: &'static str, items: impl IntoIterator<Item = Expr>) -> Self {
        Self {
            from: Some(table),
            items: items.into_iter().collect(),
            ..Self::default()
        }
    }

    /// `.. AND condition`
    #[must_use]
    pub fn and(mut self, condition: Expr) -> Self {
        self.filter.push(condition);
        self
    }

    /// `ORDER BY column`
    #[must_use]
    pub fn order_by(mut self, column: &'static str) -> Self {
        let descending = false;
        self.order_by = Some(OrderBy { column, descending });
        self
    }

    /// `LIMIT count`
    #[must_use]
    pub fn limit(mut self, count: usize) -> Self {
        self.limit = Some(count);
        self
    }

    /// `FOR UPDATE` and its kin.
    #[must_use]
    pub fn locking(mut self, strength: RowStrength, wait: WaitPolicy) -> Self {
        self.locking = Some(RowLocking { strength, wait });
        self
    }
}

impl Insert {
    /// One row.
    pub fn into(
        table: &'static str,
        values: impl IntoIterator<Item = (&'static str, Expr)>,
    ) -> Self {
        let (columns, row) = values.into_iter().unzip();
        Self {
            table,
            columns,
            rows: vec![row],
            on_conflict: OnConflict::Raise,
            returning: Vec::new(),
        }
    }

    /// What is done if the key is there.
    #[must_use]
    pub fn on_conflict(mut self, on_conflict: OnConflict) -> Self {
        self.on_conflict = on_conflict;
        self
    }
}

impl Update {
    /// Sets columns.
    pub fn of(table: &'static str, set: impl IntoIterator<Item = (&'static str, Expr)>) -> Self {
        Self {
            table,
            set: set.into_iter().collect(),
            filter: Vec::new(),
            returning: Vec::new(),
        }
    }

    /// `.. AND condition`
    #[must_use]
    pub fn and(mut self, condition: Expr) -> Self {
        self.filter.push(condition);
        self
    }
}

impl Delete {
    /// From a table.
    pub fn from(table: &'static str) -> Self {
        Self {
            table,
            filter: Vec::new(),
            returning: Vec::new(),
        }
    }

    /// `.. AND condition`
    #[must_use]
    pub fn and(mut self, condition: Expr) -> Self {
        self.filter.push(condition);
        self
    }
}

impl Value {
    /// A string, if it is one.
    pub fn as_text(&self) -> Option<&Rc<str>> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// A number, or a truth value as one.
    pub fn as_int(&self) -> Option<i64> {
        match self {
            Self::Int(number) => Some(*number),
            Self::Bool(is_true) => Some(i64::from(*is_true)),
            _ => None,
        }
    }

    /// Whether it is true: `true`, or a number that is not zero. `NULL` is not.
    pub fn is_true(&self) -> bool {
        self.as_int().is_some_and(|number| number != 0)
    }
}

impl super::QueryResult {
    /// The first value of the first row, if there is one.
    pub fn value(&self) -> Option<&Value> {
        self.rows.first()?.first()
    }
}
