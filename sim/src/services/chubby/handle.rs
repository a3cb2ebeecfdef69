//! Client handles of a cell.

use std::any::Any;
use std::cell::RefCell;
use std::rc::Rc;

use picklock_algorithms::chubby::{ChubbyLock, OverChubby};
use picklock_algorithms::{Build, Lock};
use picklock_checker::{ContenderId, LockId};
use picklock_chubby::client::Input;
use picklock_clients::chubby::{
    Chubby, ChubbyResult, HandleId, OpenOptions, Request, Response, SessionListener, Transport,
};
use picklock_clients::completion::Completion;
use picklock_clients::env::Env;

use super::{BYSTANDER_FILE, SimulatedChubby};
use crate::event::ClientId;
use crate::process::Thread;
use crate::world::{CALL_COST, Read, Shared};

type SharedWorld = Rc<Shared<SimulatedChubby>>;

/// These locks of a contender, which stand on one new client.
pub(super) fn connect(
    shared: &SharedWorld,
    by: ContenderId,
    env: &Env,
    locks: &[LockId],
) -> Vec<Box<dyn Lock>> {
    let Build::Other(build) = shared.world.borrow().plan.recipe.build else {
        panic!("the recipe stands on another service than Chubby");
    };
    let build: &dyn Any = build;
    let Some(OverChubby(build)) = build.downcast_ref() else {
        panic!("the recipe stands on another service than Chubby");
    };
    let thread = shared.world.borrow().thread_of(by);
    let client = client(shared, thread);
    let lock_delay = shared.world.borrow().service.settings.lock_delay;
    let build = |lock: &LockId| {
        let name = Rc::clone(&shared.world.borrow().lock_names[lock.0 as usize]);
        build(client.clone(), env.clone(), ChubbyLock { name, lock_delay })
    };
    locks.iter().map(build).collect()
}

/// Reads a file that has nothing to do with the lock, which it keeps open.
pub(super) fn bystander(shared: &SharedWorld, thread: Thread) -> Read {
    let client = client(shared, thread);
    let kept = Rc::new(RefCell::new(None));
    Box::new(move || {
        let (client, kept) = (client.clone(), Rc::clone(&kept));
        Box::pin(async move {
            let opened = kept.borrow_mut().take();
            let handle = match opened {
                Some(handle) => Ok(handle),
                None => {
                    let options = OpenOptions {
                        create: true,
                        ..OpenOptions::default()
                    };
                    client.open(BYSTANDER_FILE, options).await
                }
            };
            let Ok(handle) = handle else {
                return false;
            };
            let is_read = handle.get_contents_and_stat().await.is_ok();
            if is_read {
                kept.replace(Some(handle));
            }
            is_read
        })
    })
}

struct SimulatedTransport {
    shared: SharedWorld,
    client: ClientId,
}

impl SimulatedTransport {
    fn tell(&self, input: Input) {
        self.shared
            .world
            .borrow_mut()
            .client_input(self.client, input);
    }
}

impl Transport for SimulatedTransport {
    fn new_handle(&self, listener: SessionListener) -> HandleId {
        let mut world = self.shared.world.borrow_mut();
        let slot = &mut world.host.clients[self.client.0 as usize];
        let handle = HandleId(slot.machine.new_number());
        slot.state.listeners.insert(handle, listener);
        handle
    }

    fn call(
        &self,
        handle: HandleId,
        request: Request,
        completion: Completion<ChubbyResult<Response>>,
    ) -> u32 {
        self.shared.charge(CALL_COST);
        let number = {
            let mut world = self.shared.world.borrow_mut();
            let slot = &mut world.host.clients[self.client.0 as usize];
            let number = slot.machine.new_number();
            slot.state.callers.insert(number, completion);
            number
        };
        self.tell(Input::Call(number, handle, request));
        number
    }

    fn give_up(&self, call: u32) {
        let mut world = self.shared.world.borrow_mut();
        let state = &mut world.host.clients[self.client.0 as usize].state;
        if state.callers.remove(&call).is_some() {
            world.client_input(self.client, Input::GiveUp(call));
        }
    }

    fn close(&self, handle: HandleId) {
        {
            let mut world = self.shared.world.borrow_mut();
            let state = &mut world.host.clients[self.client.0 as usize].state;
            state.listeners.remove(&handle);
        }
        self.tell(Input::Close(handle));
    }

    fn poison(&self, handle: HandleId) {
        self.tell(Input::Poison(handle));
    }
}

/// A new client of a thread.
fn client(shared: &SharedWorld, thread: Thread) -> Chubby {
    Chubby::new(SimulatedTransport {
        shared: Rc::clone(shared),
        client: shared.world.borrow_mut().add_client(thread),
    })
}
