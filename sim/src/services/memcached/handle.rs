//! Client handles of memcached.

use std::any::Any;
use std::cell::Cell;
use std::rc::Rc;

use picklock_algorithms::memcached::OverMemcached;
use picklock_algorithms::{Build, Lease, Lock};
use picklock_checker::{ContenderId, LockId};
use picklock_clients::completion::Completion;
use picklock_clients::env::Env;
use picklock_clients::memcached::{Command, Memcached, MemcachedResult, Product, Reply, Transport};
use picklock_memcached::client::Input;

use super::SimulatedMemcached;
use crate::event::ClientId;
use crate::process::Thread;
use crate::world::{CALL_COST, Read, Shared};

type SharedWorld = Rc<Shared<SimulatedMemcached>>;

/// These locks of a contender, which stand on one new client.
pub(super) fn connect(
    shared: &SharedWorld,
    by: ContenderId,
    env: &Env,
    locks: &[LockId],
) -> Vec<Box<dyn Lock>> {
    let Build::Other(build) = shared.world.borrow().plan.recipe.build else {
        panic!("the recipe stands on another service than memcached");
    };
    let build: &dyn Any = build;
    let Some(OverMemcached { build, .. }) = build.downcast_ref() else {
        panic!("the recipe stands on another service than memcached");
    };
    let thread = shared.world.borrow().thread_of(by);
    let client = client(shared, thread);
    let time = shared.world.borrow().plan.service.lease();
    let build = |lock: &LockId| {
        let key = Rc::clone(&shared.world.borrow().lock_names[lock.0 as usize]);
        build(client.clone(), env.clone(), Lease { key, time })
    };
    locks.iter().map(build).collect()
}

/// A page: as long as a token.
const PAGE: &str = "0123456789abcdef0123456789abcdef";

/// Reads one page after the other through the cache, and stores each, for it is not there: items of the size of a
/// lock.
pub(super) fn bystander(shared: &SharedWorld, thread: Thread, index: u32) -> Read {
    let client = client(shared, thread);
    let stores = shared.world.borrow().service.settings.product == Product::Memcached;
    let pages = Rc::new(Cell::new(0_u32));
    Box::new(move || {
        let (client, page) = (client.clone(), pages.get());
        pages.set(page + 1);
        Box::pin(async move {
            let key = format!("p{index}-{page}");
            match client.get(&key).await {
                Ok(None) if stores => client.set(&key, PAGE, 0).await.is_ok(),
                answer => answer.is_ok(),
            }
        })
    })
}

struct SimulatedTransport {
    shared: SharedWorld,
    client: ClientId,
}

impl Transport for SimulatedTransport {
    fn submit(&self, command: Command, completion: Completion<MemcachedResult<Reply>>) {
        self.shared.charge(CALL_COST);
        let mut world = self.shared.world.borrow_mut();
        world.client_input(self.client, Input::Call(command, completion));
    }
}

/// A new client of a thread.
fn client(shared: &SharedWorld, thread: Thread) -> Memcached {
    Memcached::new(SimulatedTransport {
        shared: Rc::clone(shared),
        client: shared.world.borrow_mut().add_client(thread),
    })
}
