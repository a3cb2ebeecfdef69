//! Client handles of a database.

use std::cell::RefCell;
use std::rc::Rc;

use picklock_algorithms::Lock;
use picklock_checker::{ContenderId, LockId};
use picklock_clients::completion::Completion;
use picklock_clients::env::Env;
use picklock_clients::sql::{
    Connection, ConnectionListener, DataSource, Dialect, QueryResult, Select, SqlResult, Statement,
    Transport,
};
use picklock_sql::client::{Input, SessionId};

use super::SimulatedSql;
use super::servers::{over_sql, sql_lock};
use crate::event::ClientId;
use crate::process::Thread;
use crate::world::{CALL_COST, Read, Shared};

type SharedWorld = Rc<Shared<SimulatedSql>>;

/// These locks of a contender, which stand on one new client.
pub(super) fn connect(
    shared: &SharedWorld,
    by: ContenderId,
    env: &Env,
    locks: &[LockId],
) -> Vec<Box<dyn Lock>> {
    let plan = Rc::clone(&shared.world.borrow().plan);
    let thread = shared.world.borrow().thread_of(by);
    let source = source(shared, thread);
    let build = over_sql(&plan).build;
    let build = |lock: &LockId| {
        let lock = sql_lock(&plan, lock.0 as usize);
        build(source.clone(), env.clone(), lock)
    };
    locks.iter().map(build).collect()
}

/// Executes a statement that has nothing to do with the lock.
pub(super) fn bystander(shared: &SharedWorld, thread: Thread) -> Read {
    let source = source(shared, thread);
    let kept: Rc<RefCell<Option<Connection>>> = Rc::default();
    Box::new(move || {
        let (source, kept) = (source.clone(), Rc::clone(&kept));
        Box::pin(async move {
            let known = kept.take().filter(|connection| !connection.is_closed());
            let connection = match known {
                Some(connection) => connection,
                None => match source.connect().await {
                    Ok(connection) => connection,
                    Err(_) => return false,
                },
            };
            let select = Select {
                items: vec![1.into()],
                ..Select::default()
            };
            let answered = connection.execute(select).await.is_ok();
            kept.replace(Some(connection));
            answered
        })
    })
}

struct SimulatedTransport {
    shared: SharedWorld,
    client: ClientId,
}

impl Transport for SimulatedTransport {
    fn dialect(&self) -> Dialect {
        self.shared.world.borrow().service.settings.database
    }

    fn connect(&self, opened: Completion<SqlResult<()>>, listener: ConnectionListener) -> u32 {
        self.shared.charge(CALL_COST);
        let mut world = self.shared.world.borrow_mut();
        let state = &mut world.host.clients[self.client.0 as usize].state;
        state.sessions += 1;
        let session = SessionId(state.sessions);
        state.connecting.insert(session, opened);
        state.listeners.insert(session, listener);
        world.client_input(self.client, Input::Connect(session));
        session.0
    }

    fn execute(
        &self,
        connection: u32,
        statement: Statement,
        completion: Completion<SqlResult<QueryResult>>,
    ) {
        self.shared.charge(CALL_COST);
        let session = SessionId(connection);
        let mut world = self.shared.world.borrow_mut();
        let state = &mut world.host.clients[self.client.0 as usize].state;
        state.callers.insert(session, completion);
        world.client_input(self.client, Input::Execute(session, statement));
    }

    fn close(&self, connection: u32) {
        let session = SessionId(connection);
        let mut world = self.shared.world.borrow_mut();
        let state = &mut world.host.clients[self.client.0 as usize].state;
        state.callers.remove(&session);
        state.connecting.remove(&session);
        state.listeners.remove(&session);
        world.client_input(self.client, Input::Close(session));
    }
}

/// A new client of a thread.
pub(super) fn source(shared: &SharedWorld, thread: Thread) -> DataSource {
    DataSource::new(SimulatedTransport {
        shared: Rc::clone(shared),
        client: shared.world.borrow_mut().add_client(thread),
    })
}
