//! What a session is: its transaction, its statement, and what it waits for.

use std::collections::VecDeque;
use std::rc::Rc;

use picklock_checker::VirtualTime;
use picklock_clients::sql::{
    ErrorCode, IsolationLevel, Notice, QueryResult, Statement, TransactionStatus, Value,
};
use picklock_machines::ConnectionId;

use crate::heap::Redo;
use crate::ids::{Holder, Snapshot, TupleId, Xid};
use crate::io::Locked;
use crate::settings::{SessionSettings, Settings};

/// Rows of a table that were looked for: those of a key, or all.
pub type Read = (usize, Option<Value>);

/// What a transaction has done since it began, or since a savepoint.
#[derive(Clone, Debug, Default)]
pub struct Level {
    /// The savepoint.
    pub name: Option<&'static str>,
    /// Before it the transaction has looked at nothing.
    pub is_first: bool,
    pub xid: Option<Xid>,
}

/// A transaction.
#[derive(Clone, Debug)]
pub struct Transaction {
    /// It goes on when a statement is over: until it is committed or rolled back.
    pub is_block: bool,
    pub isolation: IsolationLevel,
    /// When it began, by the wall clock.
    pub began: i64,
    /// What all its statements see, if that is the same.
    pub snapshot: Option<Snapshot>,
    /// A statement has looked at something.
    pub has_looked: bool,
    pub levels: Vec<Level>,
    /// Its transaction ids, with their levels.
    pub xids: Vec<(Xid, usize)>,
    /// It has failed, and does nothing until it is rolled back.
    pub failed: bool,
    pub changes: Vec<Redo>,
    /// The settings when it began, and those that stay when it is committed.
    pub settings: (SessionSettings, SessionSettings),
    /// What it has looked at, if it is serializable.
    pub reads: Vec<Read>,
    /// The rows that it has locked, with the levels.
    pub rows: Vec<(usize, Locked)>,
}

impl Transaction {
    /// The level of what is done now.
    pub fn level(&self) -> usize {
        self.levels.len() - 1
    }

    pub fn all_xids(&self) -> Vec<Xid> {
        self.xids.iter().map(|(xid, _)| *xid).collect()
    }
}

/// Why a statement does not go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// It has failed.
    Error(ErrorCode),
    /// It waits for what its session says.
    Wait,
    /// It lets others go first.
    Yield,
}

/// What a part of a statement comes to.
pub type Done<T = ()> = Result<T, Stop>;

impl From<ErrorCode> for Stop {
    fn from(code: ErrorCode) -> Self {
        Self::Error(code)
    }
}

/// How far a statement is with the rows that it looks at.
#[derive(Clone, Debug, Default)]
pub struct Scanned {
    pub snapshot: Option<Snapshot>,
    pub candidates: Option<Vec<TupleId>>,
    pub at: usize,
    /// The conditions have been looked at, and the rows sorted.
    pub is_sorted: bool,
    pub rows: Vec<Vec<Value>>,
    pub count: u64,
    /// What it does can be undone by itself.
    pub has_level: bool,
}

/// What a session waits for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Wait {
    /// A statement.
    #[default]
    Client,
    /// Nothing: it goes on.
    Nothing,
    /// The lock that the table of locks says.
    Lock,
    Sleep(VirtualTime),
    /// So many records on the disk.
    Flush(usize),
    /// So many records on the disk of the standby.
    Standby(usize),
}

/// A statement that is under way.
#[derive(Clone, Debug, Default)]
pub struct Run {
    pub number: u32,
    pub statement: Option<Rc<Statement>>,
    pub started: VirtualTime,
    /// When it came, by the wall clock.
    pub began: i64,
    pub waiting_since: VirtualTime,
    /// It has said that it waits.
    pub told: bool,
    /// It has looked for a deadlock in this wait.
    pub looked: bool,
    /// Until when `GET_LOCK` waits.
    pub user_lock_until: VirtualTime,
    /// What a function answers when it gets the lock that it waits for.
    pub on_grant: Option<Value>,
    /// What functions have answered for the row at hand. A statement that has waited does this row again.
    pub memo: Vec<Value>,
    pub memo_at: usize,
    /// The place in a batch.
    pub step: usize,
    pub scan: Scanned,
    pub answer: Option<QueryResult>,
    pub notices: Vec<Notice>,
    /// The place of its commit in the log.
    pub lsn: Option<usize>,
    pub standby_given_up: bool,
    /// The version of a row for which it has let others go first.
    pub yielded: Option<TupleId>,
}

/// What the kernel knows of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Client {
    Here,
    /// Its end of the connection is closed, since then.
    Gone(VirtualTime),
    /// Its machine does not answer, since then.
    Unreachable(VirtualTime),
}

/// A session.
#[derive(Clone, Debug)]
pub struct Session {
    pub me: ConnectionId,
    pub client: Client,
    pub settings: SessionSettings,
    pub isolation: IsolationLevel,
    pub queue: VecDeque<(u32, Rc<Statement>)>,
    pub wait: Wait,
    pub run: Run,
    pub transaction: Option<Transaction>,
    pub idle_since: VirtualTime,
    /// It ends when its commit is on the disk.
    pub terminates: bool,
}

/// Whether a session goes on, or ends, perhaps with a last word.
pub enum Fate {
    Stays,
    Ends(Option<ErrorCode>),
}

impl Session {
    pub fn new(me: ConnectionId, settings: &Settings, now: VirtualTime) -> Self {
        Self {
            me,
            client: Client::Here,
            settings: settings.session,
            isolation: settings.isolation,
            queue: VecDeque::new(),
            wait: Wait::Client,
            run: Run::default(),
            transaction: None,
            idle_since: now,
            terminates: false,
        }
    }

    pub fn holder(&self) -> Holder {
        Holder::Session(self.me)
    }

    /// The newest commit that all it does sees, if it looks at anything.
    pub fn snapshot(&self) -> Option<Snapshot> {
        let of_transaction = self
            .transaction
            .as_ref()
            .and_then(|transaction| transaction.snapshot);
        of_transaction
            .into_iter()
            .chain(self.run.scan.snapshot)
            .min()
    }

    pub fn status(&self) -> TransactionStatus {
        match &self.transaction {
            None => TransactionStatus::Idle,
            Some(transaction) if transaction.failed => TransactionStatus::Failed,
            Some(_) => TransactionStatus::InTransaction,
        }
    }

    /// Forgets what it knows of the row that it was at.
    pub fn next_row(&mut self) {
        self.run.scan.at += 1;
        self.run.memo.clear();
        self.run.memo_at = 0;
    }
}
