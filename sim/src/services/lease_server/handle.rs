//! Client handles of the lease server.

use std::any::Any;
use std::rc::Rc;
use std::time::Duration;

use picklock_algorithms::lease_server::OverLeaseServer;
use picklock_algorithms::{Build, Lock};
use picklock_checker::{ContenderId, LockId};
use picklock_clients::completion::Completion;
use picklock_clients::env::Env;
use picklock_clients::lease_server::{Claim, LeaseServer, Reply, Transport, Unanswered};
use picklock_lease_server::client::Input;

use super::SimulatedLeaseServer;
use crate::event::ClientId;
use crate::plan::lease_server;
use crate::process::Thread;
use crate::simulated_environment::environment;
use crate::world::{CALL_COST, Read, Shared};

type SharedWorld = Rc<Shared<SimulatedLeaseServer>>;

/// These locks of a contender, which stand on one new client.
pub(super) fn connect(
    shared: &SharedWorld,
    by: ContenderId,
    env: &Env,
    locks: &[LockId],
) -> Vec<Box<dyn Lock>> {
    let Build::Other(build) = shared.world.borrow().plan.recipe.build else {
        panic!("the recipe stands on another service than the lease server");
    };
    let build: &dyn Any = build;
    let Some(OverLeaseServer(build)) = build.downcast_ref() else {
        panic!("the recipe stands on another service than the lease server");
    };
    let lease = shared.world.borrow().plan.service.lease();
    let thread = shared.world.borrow().thread_of(by);
    let client = client(shared, thread, env);
    let build = |_| build(client.clone(), env.clone(), lease);
    locks.iter().map(build).collect()
}

/// Gives back what it never had.
pub(super) fn bystander(shared: &SharedWorld, thread: Thread) -> Read {
    let server = client(shared, thread, &environment(shared, thread));
    Box::new(move || {
        let server = server.clone();
        Box::pin(async move { server.claim(0, Duration::ZERO).await.is_ok() })
    })
}

struct SimulatedTransport {
    shared: SharedWorld,
    client: ClientId,
}

impl Transport for SimulatedTransport {
    fn submit(&self, claim: Claim, completion: Completion<Result<Reply, Unanswered>>) {
        self.shared.charge(CALL_COST);
        let mut world = self.shared.world.borrow_mut();
        world.submit(self.client, Input::Claim { claim, completion });
    }
}

/// A new client of a thread.
fn client(shared: &SharedWorld, thread: Thread, env: &Env) -> LeaseServer {
    let mut world = shared.world.borrow_mut();
    let settings = world.plan.service.get::<lease_server::LeaseServer>();
    let timeout = settings
        .expect("a plan is run over its own service")
        .timeout;
    let transport = SimulatedTransport {
        shared: Rc::clone(shared),
        client: world.add_client(thread),
    };
    LeaseServer::new(transport, env.clone(), timeout)
}
