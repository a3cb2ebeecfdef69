//! A SQL database in the world: a server, clients, and what they say to each other.

mod clients;
mod handle;
mod ownership;
mod servers;

use std::fmt::Display;
use std::rc::Rc;
use std::time::Duration;

use picklock_algorithms::Lock;
use picklock_algorithms::sql::LockTable;
use picklock_checker::{ContenderId, LockId, NameId};
use picklock_clients::env::Env;
use picklock_clients::sql::{ClientMessage, ServerMessage};
use picklock_clients::zookeeper::Path;
use picklock_sql::Server;
use picklock_sql::client::Client;

use crate::engine::Tape;
use crate::event::ServiceEvent;
use crate::network::{RequestId, ServerId};
use crate::plan::sql::Sql;
use crate::plan::{Fault, LockName, Plan, ServerName};
use crate::process::Thread;
use crate::world::{
    HostedServer, Read, Recipient, ServiceMessage, ServiceTypes, Shared, SimulatedService, World,
};

/// A database as the world sees it.
pub(crate) struct SimulatedSql {
    settings: Sql,
    /// The table that the recipe stands on, if it does on one.
    table: Option<&'static LockTable>,
    /// What the database has of each lock.
    holds: Vec<Vec<ownership::Hold>>,
    /// The last request of which is said that it is done.
    done: Option<RequestId>,
}

/// A row is over, whether a session looks at it or not.
pub(crate) struct RowExpires {
    lock: LockId,
}

impl ServiceEvent for RowExpires {
    fn kind_and_subject(&self) -> (u64, u32) {
        (78, self.lock.0)
    }
}

impl ServiceMessage for ClientMessage {
    fn text(&self) -> impl Display + '_ {
        self
    }
}

impl ServiceMessage for ServerMessage {
    fn text(&self) -> impl Display + '_ {
        self
    }
}

impl ServiceTypes for SimulatedSql {
    type Server = Server;
    type Client = Client;
    type ServerState = ();
    type ClientState = clients::ClientState;
    type Request = ClientMessage;
    type Reply = ServerMessage;
    type OwnEvent = RowExpires;
    const EVENT_NUMBERS: [u64; 8] = [70, 71, 72, 73, 74, 75, 76, 77];
}

impl SimulatedService for SimulatedSql {
    /// Some do, and others wait at the server.
    const WAITERS_ASK_AGAIN: bool = true;

    fn new(plan: &Plan, _tape: &mut Tape) -> (Self, Vec<HostedServer<Self>>) {
        servers::formed(plan)
    }

    fn lock_names(plan: &Plan) -> Vec<Path> {
        let names = (0..plan.workload.locks).map(LockName);
        let name = |lock: LockName| Path::from(format!("lock-{}", lock.letter()));
        names.map(name).collect()
    }

    fn on_own_event(world: &mut World<Self>, RowExpires { lock }: RowExpires) {
        world.row_expires(lock);
    }

    fn recipient(_world: &World<Self>, _event: &RowExpires) -> Recipient {
        Recipient::World
    }

    fn connect(
        shared: &Rc<Shared<Self>>,
        by: ContenderId,
        env: &Env,
        locks: &[LockId],
    ) -> Vec<Box<dyn Lock>> {
        handle::connect(shared, by, env, locks)
    }

    fn bystander(shared: &Rc<Shared<Self>>, thread: Thread, _index: u32) -> Read {
        handle::bystander(shared, thread)
    }

    fn inject(_world: &mut World<Self>, _fault: &Fault) -> Option<Duration> {
        None
    }

    fn server(world: &World<Self>, name: ServerName) -> Option<ServerId> {
        world.server_named(name)
    }

    fn waits_behind(world: &mut World<Self>, by: ContenderId) -> Option<(NameId, ContenderId)> {
        world.ownerships[world.lock_of(by).0 as usize].head()
    }
}
