//! Client handles of Consul.

use std::any::Any;
use std::rc::Rc;

use picklock_algorithms::consul::{ConsulLock, OverConsul};
use picklock_algorithms::{Build, Lock};
use picklock_checker::{ContenderId, LockId};
use picklock_clients::completion::Completion;
use picklock_clients::consul::{Consul, ConsulResult, QueryOptions, Request, Response, Transport};
use picklock_clients::env::Env;
use picklock_consul::client::Input;

use super::SimulatedConsul;
use crate::event::ClientId;
use crate::process::Thread;
use crate::world::{CALL_COST, Read, Shared, World};

type SharedWorld = Rc<Shared<SimulatedConsul>>;

/// These locks of a contender, which stand on one new client.
pub(super) fn connect(
    shared: &SharedWorld,
    by: ContenderId,
    env: &Env,
    locks: &[LockId],
) -> Vec<Box<dyn Lock>> {
    let plan = Rc::clone(&shared.world.borrow().plan);
    let Build::Other(build) = plan.recipe.build else {
        panic!("the recipe stands on another service than Consul");
    };
    let build: &dyn Any = build;
    let Some(OverConsul(build)) = build.downcast_ref() else {
        panic!("the recipe stands on another service than Consul");
    };
    let thread = shared.world.borrow().thread_of(by);
    let client = client(shared, thread);
    let build = |lock: &LockId| {
        let lock = shared.world.borrow().consul_lock(*lock);
        build(client.clone(), env.clone(), lock)
    };
    locks.iter().map(build).collect()
}

impl World<SimulatedConsul> {
    /// A lock, as its recipe knows it.
    fn consul_lock(&self, lock: LockId) -> ConsulLock {
        ConsulLock {
            key: Rc::clone(&self.lock_names[lock.0 as usize]),
            ttl: self.service.settings.session_ttl,
            lock_delay: self.service.settings.lock_delay,
            permits: self.plan.workload.permits(),
        }
    }
}

/// Reads a key that has nothing to do with the lock.
pub(super) fn bystander(shared: &SharedWorld, thread: Thread) -> Read {
    let client = client(shared, thread);
    Box::new(move || {
        let client = client.clone();
        Box::pin(async move {
            let read = client
                .get(&"elsewhere".into(), QueryOptions::default())
                .await;
            read.is_ok()
        })
    })
}

struct SimulatedTransport {
    shared: SharedWorld,
    client: ClientId,
}

impl Transport for SimulatedTransport {
    fn call(&self, request: Request, completion: Completion<ConsulResult<Response>>) {
        self.shared.charge(CALL_COST);
        let mut world = self.shared.world.borrow_mut();
        let state = &mut world.host.clients[self.client.0 as usize].state;
        state.calls += 1;
        state.callers.insert(state.calls, completion);
        world.client_input(self.client, Input::Call(request));
    }
}

/// A new client of a thread.
fn client(shared: &SharedWorld, thread: Thread) -> Consul {
    Consul::new(SimulatedTransport {
        shared: Rc::clone(shared),
        client: shared.world.borrow_mut().add_client(thread),
    })
}
