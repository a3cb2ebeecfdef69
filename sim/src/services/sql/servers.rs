//! Servers of a database in the world: what they want done, and how they die and come back.

use std::any::Any;

use picklock_algorithms::Build;
use picklock_algorithms::sql::{OverSql, SqlLock};
use picklock_checker::LockId;
use picklock_checker::service_event::DataFound;
use picklock_clients::sql::{ClientMessage, ServerMessage, Value};
use picklock_machines::Machine;
use picklock_sql::{Input, Output, Server, Table};

use super::{SimulatedSql, ownership};
use crate::network::{ConnectionId, RequestId, ServerId};
use crate::ownership::Actor;
use crate::plan::sql::Sql;
use crate::plan::{Plan, ServerName};
use crate::world::moment::{Moment, MomentKind};
use crate::world::{HostedServer, MessageFate, NO_CONTENDER, ServerSide, SimulatedService, World};

/// What builds the locks of a plan.
pub(super) fn over_sql(plan: &Plan) -> &'static OverSql {
    let Build::Other(build) = plan.recipe.build else {
        panic!("the recipe stands on another service than a SQL database");
    };
    let build: &'static dyn Any = build;
    match build.downcast_ref() {
        Some(build) => build,
        None => panic!("the recipe stands on another service than a SQL database"),
    }
}

/// The lock of this number, as its recipe knows it.
pub(super) fn sql_lock(plan: &Plan, lock: usize) -> SqlLock {
    SqlLock {
        name: SimulatedSql::lock_names(plan).swap_remove(lock),
        id: lock as i64 + 1,
        lease: plan.service.lease(),
    }
}

/// The database of a plan, with the tables of its recipe.
pub(super) fn formed(plan: &Plan) -> (SimulatedSql, Vec<HostedServer<SimulatedSql>>) {
    let settings = plan.service.get::<Sql>();
    let settings = settings
        .expect("a plan is run over its own service")
        .clone();
    let locks = plan.workload.locks as usize;
    let table = over_sql(plan).table;
    let tables = table.iter().map(|table| {
        let columns: Vec<(&str, Value)> = table
            .columns
            .iter()
            .map(|column| (*column, Value::Null))
            .collect();
        let rows = (0..locks).map(|lock| (table.row)(&sql_lock(plan, lock)));
        rows.fold(Table::of(table.name, &columns), |table, row| {
            match row.is_empty() {
                true => table,
                false => table.with_row(row),
            }
        })
    });
    let server = Server::new(ServerId(0), settings.of_servers(tables.collect()));
    let service = SimulatedSql {
        settings,
        table,
        holds: (0..locks).map(|_| Vec::new()).collect(),
        done: None,
    };
    (service, vec![HostedServer::of(server, ())])
}

impl World<SimulatedSql> {
    /// The server that a name means; `None` if there is none.
    pub(super) fn server_named(&self, name: ServerName) -> Option<ServerId> {
        let index = match name {
            ServerName::Number(number) => Some(number as usize),
            ServerName::Leader | ServerName::Primary | ServerName::Of(_) => {
                let mut servers = self.host.servers.iter();
                servers.position(|slot| slot.process.is_up() && slot.machine.is_primary())
            }
            ServerName::Follower(_) | ServerName::Sentinel(_) | ServerName::Observer(_) => None,
        };
        let index = index.filter(|index| *index < self.host.servers.len())?;
        Some(ServerId(index as u8))
    }

    /// The statement of a connection has done something: its moment, once.
    fn is_done(&mut self, connection: ConnectionId) {
        if self.watches_moments()
            && let Some((request, kind)) = self.statement_of(connection)
            && self.service.done.replace(request) != Some(request)
        {
            let by = self.asker(connection);
            self.moment(Moment::new(by.0, MomentKind::Committed(kind)).about(request));
        }
    }
}

impl ServerSide for SimulatedSql {
    fn handle(world: &mut World<Self>, server: ServerId, input: Input) {
        let now = world.server_now(server);
        let host = &mut world.host;
        let machine = &mut host.servers[usize::from(server.0)].machine;
        machine.handle(now, input, &mut world.tape, &mut host.server_outputs);
    }

    /// A fault may have struck the server since. What it has committed is on its disk; all else is gone with it.
    fn on_server_output(world: &mut World<Self>, server: ServerId, output: Output) {
        let is_up = world.host.servers[usize::from(server.0)].process.is_up();
        match output {
            Output::Committed { .. } => {}
            _ if !is_up => return,
            _ => {}
        }
        match output {
            Output::ToClient(connection, message) => {
                world.statement_waits(connection, false);
                world.send_to_client(server, connection, message, false);
            }
            Output::Close(connection) => world.close_client(connection),
            Output::ToPeer(..) | Output::Promoted => {}
            Output::Acquired {
                connection,
                lock,
                shared,
            } => {
                if world.acquired(connection, &lock, shared) {
                    world.is_done(connection);
                }
            }
            Output::Released { connection, lock } => {
                if world.released(connection, &lock) {
                    world.is_done(connection);
                }
            }
            Output::Committed {
                connection,
                changes,
            } => {
                world.rows_changed(server, connection, &changes);
                if let Some(connection) = connection {
                    world.is_done(connection);
                }
            }
            Output::Waits(connection) => world.statement_waits(connection, true),
            Output::SessionEnded(connection) => world.session_ended(connection),
        }
    }

    fn accepted(world: &mut World<Self>, server: ServerId, connection: ConnectionId) {
        world.server_input(server, Input::Opened(connection));
    }

    fn accepts(world: &mut World<Self>, server: ServerId) -> bool {
        let slot = &world.host.servers[usize::from(server.0)];
        slot.process.is_up() && slot.machine.is_primary()
    }

    fn client_gone(world: &mut World<Self>, server: ServerId, connection: ConnectionId) {
        world.record_client_gone(connection);
        world.server_input(server, Input::Closed(connection));
    }

    fn request_arrives(
        world: &mut World<Self>,
        server: ServerId,
        connection: ConnectionId,
        message: ClientMessage,
    ) {
        world.count_request(connection, || 0);
        world.server_input(server, Input::Client(connection, message));
    }

    fn fate_of_reply(
        world: &mut World<Self>,
        _server: ServerId,
        (connection, _): (ConnectionId, bool),
        message: &ServerMessage,
    ) -> Option<MessageFate> {
        world.record_error_reply(connection, || {
            let error = message.result.as_ref().err();
            error.map(|error| error.message().to_owned())
        });
        let by = world.asker(connection);
        let number = message.number;
        let request = RequestId { connection, number };
        match world.statement_of(connection) {
            Some((sent, kind)) if sent == request && by != NO_CONTENDER => {
                world.fate_of(by.0, MomentKind::Answered(kind), request)
            }
            _ => world.planned_fate_of_reply(request),
        }
    }

    /// The process of a server has died. Its kernel closes its connections.
    fn died(world: &mut World<Self>, server: ServerId) {
        world.close_client_connections_to(server);
        for lock in 0..world.lock_names.len() {
            let lock = LockId(lock as u32);
            world.disown(lock, ownership::Hold::is_of_session, Actor::Service);
        }
    }

    /// What was committed is on its disk.
    fn restarted(world: &mut World<Self>, server: ServerId) {
        world.record_restart_with(server, DataFound::Everything);
        world.server_input(server, Input::Restart);
    }
}
