//! Client handles of etcd.

use std::any::Any;
use std::rc::Rc;

use picklock_algorithms::etcd::{EtcdLock, OverEtcd};
use picklock_algorithms::{Build, Lock};
use picklock_checker::{ContenderId, LockId, VirtualTime};
use picklock_clients::completion::Completion;
use picklock_clients::env::Env;
use picklock_clients::etcd::{
    Answered, Client, EtcdResult, KeepAliveListener, LeaseId, Request, Response, Transport,
    WatchCreateRequest, WatchListener,
};
use picklock_etcd::client::{CallId, Input, WatchKey};

use super::{BYSTANDER_KEY, SimulatedEtcd};
use crate::event::ClientId;
use crate::process::Thread;
use crate::world::{CALL_COST, Read, Shared};

type SharedWorld = Rc<Shared<SimulatedEtcd>>;

/// These locks of a contender, which stand on one new client.
pub(super) fn connect(
    shared: &SharedWorld,
    by: ContenderId,
    env: &Env,
    locks: &[LockId],
) -> Vec<Box<dyn Lock>> {
    let Build::Other(build) = shared.world.borrow().plan.recipe.build else {
        panic!("the recipe stands on another service than etcd");
    };
    let build: &dyn Any = build;
    let Some(OverEtcd(build)) = build.downcast_ref() else {
        panic!("the recipe stands on another service than etcd");
    };
    let thread = shared.world.borrow().thread_of(by);
    let client = client(shared, thread);
    let ttl = shared.world.borrow().service.settings.ttl_asked();
    let build = |lock: &LockId| {
        let name = Rc::clone(&shared.world.borrow().lock_names[lock.0 as usize]);
        build(client.clone(), env.clone(), EtcdLock { name, ttl })
    };
    locks.iter().map(build).collect()
}

/// Reads a key that has nothing to do with the lock.
pub(super) fn bystander(shared: &SharedWorld, thread: Thread) -> Read {
    let client = client(shared, thread);
    Box::new(move || {
        let client = client.clone();
        Box::pin(async move { client.get(BYSTANDER_KEY.as_bytes()).await.is_ok() })
    })
}

struct SimulatedTransport {
    shared: SharedWorld,
    client: ClientId,
}

impl SimulatedTransport {
    /// A new number of a call or a watch.
    fn number(&self) -> u32 {
        let mut world = self.shared.world.borrow_mut();
        let state = &mut world.host.clients[self.client.0 as usize].state;
        state.numbers += 1;
        state.numbers
    }
}

impl Transport for SimulatedTransport {
    fn call(
        &self,
        request: Request,
        completion: Completion<EtcdResult<Answered<Response>>>,
    ) -> u64 {
        self.shared.charge(CALL_COST);
        let call = CallId(self.number());
        let deadline = {
            let mut world = self.shared.world.borrow_mut();
            let timeout = world.service.settings.call_timeout;
            let slot = &mut world.host.clients[self.client.0 as usize];
            slot.state.callers.insert(call, completion);
            let process = slot.process;
            match request.waits_for_turn() {
                true => VirtualTime::NEVER,
                false => world.local_now(process) + timeout,
            }
        };
        let mut world = self.shared.world.borrow_mut();
        world.client_input(self.client, Input::Call(call, request, deadline));
        call.0.into()
    }

    fn cancel(&self, number: u64) {
        let call = CallId(u32::try_from(number).unwrap_or_default());
        let mut world = self.shared.world.borrow_mut();
        let state = &mut world.host.clients[self.client.0 as usize].state;
        if state.callers.remove(&call).is_some() {
            world.client_input(self.client, Input::Cancel(call));
        }
    }

    fn watch(&self, request: WatchCreateRequest, listener: WatchListener) -> u64 {
        self.shared.charge(CALL_COST);
        let watch = WatchKey(self.number());
        let mut world = self.shared.world.borrow_mut();
        let state = &mut world.host.clients[self.client.0 as usize].state;
        state.watches.insert(watch, listener);
        world.client_input(self.client, Input::Watch(watch, request));
        watch.0.into()
    }

    fn end_watch(&self, number: u64) {
        let watch = WatchKey(u32::try_from(number).unwrap_or_default());
        let mut world = self.shared.world.borrow_mut();
        let state = &mut world.host.clients[self.client.0 as usize].state;
        if state.watches.remove(&watch).is_some() {
            world.client_input(self.client, Input::CancelWatch(watch));
        }
    }

    fn keep_alive(&self, lease: LeaseId, listener: KeepAliveListener) {
        self.shared.charge(CALL_COST);
        let mut world = self.shared.world.borrow_mut();
        let state = &mut world.host.clients[self.client.0 as usize].state;
        state.leases.insert(lease, listener);
        world.client_input(self.client, Input::KeepAlive(lease));
    }

    fn end_keep_alive(&self, lease: LeaseId) {
        let mut world = self.shared.world.borrow_mut();
        let state = &mut world.host.clients[self.client.0 as usize].state;
        if state.leases.remove(&lease).is_some() {
            world.client_input(self.client, Input::StopKeepAlive(lease));
        }
    }
}

/// A new client of a thread.
pub(super) fn client(shared: &SharedWorld, thread: Thread) -> Client {
    Client::new(SimulatedTransport {
        shared: Rc::clone(shared),
        client: shared.world.borrow_mut().add_client(thread),
    })
}
