//! A handle to a database, as drivers have it: a source of connections, each of which is a session of the server.

use std::cell::Cell;
use std::future::poll_fn;
use std::rc::{Rc, Weak};
use std::task::Poll;

use super::{Dialect, QueryResult, SqlResult, Statement};
use crate::completion::{Completion, Waiting, completion};

/// What carries statements to a server and brings the answers back: the driver below its own pool.
pub trait Transport {
    /// Which SQL the server speaks.
    fn dialect(&self) -> Dialect;
    /// Opens a connection. Answers its number.
    fn connect(&self, opened: Completion<SqlResult<()>>, listener: ConnectionListener) -> u32;
    /// Executes a statement by a connection that executes none.
    fn execute(
        &self,
        connection: u32,
        statement: Statement,
        completion: Completion<SqlResult<QueryResult>>,
    );
    /// Closes a connection. A statement that is under way is not answered any more.
    fn close(&self, connection: u32);
}

#[derive(Default)]
struct Slot {
    closed: Cell<bool>,
    waiting: Waiting,
}

/// The end that the driver tells that a connection is gone.
#[derive(Clone, Default)]
pub struct ConnectionListener(Weak<Slot>);

impl ConnectionListener {
    /// The connection is gone.
    pub fn closed(&self) {
        if let Some(slot) = self.0.upgrade() {
            slot.closed.set(true);
            slot.waiting.wake();
        }
    }
}

/// Where connections come from.
#[derive(Clone)]
pub struct DataSource {
    transport: Rc<dyn Transport>,
}

impl DataSource {
    /// Wraps a transport.
    pub fn new(transport: impl Transport + 'static) -> Self {
        Self {
            transport: Rc::new(transport),
        }
    }

    /// Which SQL the server speaks.
    pub fn dialect(&self) -> Dialect {
        self.transport.dialect()
    }

    /// A new connection, outside of a transaction.
    ///
    /// # Errors
    ///
    /// Any [`SqlError`](super::SqlError): the server takes no connection.
    pub async fn connect(&self) -> SqlResult<Connection> {
        let (opened, answer) = completion();
        let slot = Rc::new(Slot::default());
        let listener = ConnectionListener(Rc::downgrade(&slot));
        let connection = Connection {
            number: self.transport.connect(opened, listener),
            transport: Rc::clone(&self.transport),
            busy: Cell::new(false),
            slot,
        };
        answer.await.map(|()| connection)
    }
}

/// A connection: a session of the server. To drop it is to close it.
pub struct Connection {
    transport: Rc<dyn Transport>,
    number: u32,
    /// A statement is under way, or its caller has given it up.
    busy: Cell<bool>,
    slot: Rc<Slot>,
}

impl Connection {
    /// Executes a statement, which becomes what the server answers. A caller that gives it up has to close the
    /// connection: it is in the middle of an answer.
    ///
    /// # Errors
    ///
    /// Any [`SqlError`](super::SqlError). After one that is not [definite](super::SqlError::definite) it may have been
    /// executed.
    pub async fn execute(&self, statement: impl Into<Statement>) -> SqlResult<QueryResult> {
        if self.is_closed() {
            return Err(super::SqlError::NotConnected);
        }
        let (done, answer) = completion();
        self.busy.set(true);
        self.transport.execute(self.number, statement.into(), done);
        let result = answer.await;
        self.busy.set(false);
        result
    }

    /// Whether the driver knows that it is of no use any more: it is gone, or in the middle of an answer.
    pub fn is_closed(&self) -> bool {
        self.slot.closed.get() || self.busy.get()
    }

    /// Resolves when the driver learns that the connection is gone.
    pub async fn closed(&self) {
        poll_fn(|context| {
            if self.slot.closed.get() {
                return Poll::Ready(());
            }
            self.slot.waiting.wait(context);
            Poll::Pending
        })
        .await;
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.transport.close(self.number);
    }
}
