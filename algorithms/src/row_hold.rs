//! What a row of a table says of the holder of a lock.

use std::rc::Rc;

/// A row of a table, by the names of its columns.
pub trait Columns {
    /// The text of a column; `None` if it is null, or no text.
    fn text(&self, column: &str) -> Option<Rc<str>>;

    /// The time of a column, in microseconds since the Unix epoch; `None` if it is null, or no time.
    fn time(&self, column: &str) -> Option<i64>;

    /// The number of a column; `None` if it is null, or no number. A truth is one.
    fn number(&self, column: &str) -> Option<i64>;
}

/// A hold that a row has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowHold {
    /// What tells it from other holds: the owner that the row names, or a token.
    pub identity: Rc<str>,
    /// When it ends by itself, by the wall clock of the database, in microseconds, if it does.
    pub expires: Option<i64>,
}
