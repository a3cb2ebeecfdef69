//! Client handles of ZooKeeper: what locks and bystanders hold on to.

use std::rc::Rc;
use std::time::Duration;

use picklock_algorithms::{Build, Lock};
use picklock_checker::{ContenderId, LockId};
use picklock_clients::completion::Completion;
use picklock_clients::env::{Env, LocalFuture};
use picklock_clients::zookeeper::{
    Path, Reply, Request, SessionId, SessionState, Transport, Watcher, ZooKeeper,
};
use picklock_zookeeper::client::{Caller, Input};

use super::{BYSTANDER_PATH, SimulatedZooKeeper};
use crate::event::ClientId;
use crate::process::Thread;
use crate::world::{CALL_COST, READ_COST, Read, Shared};

/// These locks of a contender, which stand on one new session.
pub(super) fn connect(
    shared: &Rc<Shared<SimulatedZooKeeper>>,
    by: ContenderId,
    env: &Env,
    locks: &[LockId],
) -> Vec<Box<dyn Lock>> {
    let (build, permits) = {
        let world = shared.world.borrow();
        (world.plan.recipe.build, world.plan.workload.permits())
    };
    let thread = shared.world.borrow().thread_of(by);
    let client = shared.world.borrow_mut().client_for(thread);
    let zk = handle(shared, client, thread);
    let path = |lock: &LockId| Path::clone(&shared.world.borrow().lock_names[lock.0 as usize]);
    let build = |lock| match build {
        Build::ZooKeeper(build) | Build::MultiLockOverZooKeeper { each: build, .. } => {
            build(zk.clone(), env.clone(), path(lock))
        }
        Build::SemaphoreOverZooKeeper(build) => build(zk.clone(), env.clone(), path(lock), permits),
        Build::Redis(_)
        | Build::SemaphoreOverRedis(_)
        | Build::MultiLockOverRedis { .. }
        | Build::Other(_) => {
            panic!("the recipe stands on another service than ZooKeeper")
        }
    };
    locks.iter().map(build).collect()
}

/// Resolves when a contender's client has a session, or will never have one. `None` if it has had one.
pub(super) fn first_session(
    shared: &Rc<Shared<SimulatedZooKeeper>>,
    by: ContenderId,
) -> Option<LocalFuture<'static, ()>> {
    let (client, thread) = {
        let world = shared.world.borrow();
        let client = world.contenders[by.0 as usize].client?;
        let machine = &world.host.clients[client.0 as usize].machine;
        if machine.session().0 != 0 || machine.state() != SessionState::Connecting {
            return None;
        }
        (client, world.thread_of(by))
    };
    let zk = handle(shared, client, thread);
    Some(Box::pin(async move {
        let changes = zk.session_events();
        while has_no_session_yet(&zk) {
            changes.next().await;
        }
    }))
}

fn has_no_session_yet(zk: &ZooKeeper) -> bool {
    zk.session().0 == 0 && zk.state() == SessionState::Connecting
}

/// Reads a node that has nothing to do with the lock.
pub(super) fn bystander(shared: &Rc<Shared<SimulatedZooKeeper>>, thread: Thread) -> Read {
    let zk = zookeeper(shared, thread);
    let path = Path::from(BYSTANDER_PATH);
    Box::new(move || {
        let (zk, path) = (zk.clone(), Path::clone(&path));
        Box::pin(async move { zk.exists(&path).await.is_ok() })
    })
}

/// A client handle of the simulated ZooKeeper.
struct SimulatedTransport {
    shared: Rc<Shared<SimulatedZooKeeper>>,
    client: ClientId,
    /// Whose requests they are; others may have the same client.
    thread: Thread,
}

impl SimulatedTransport {
    /// Which task asks.
    fn caller(&self) -> ContenderId {
        self.shared.caller(self.thread).contender
    }

    fn send_input(&self, input: Input) {
        self.shared.charge(CALL_COST);
        let mut world = self.shared.world.borrow_mut();
        world.client_input(self.client, input);
    }

    #[inline(always)]
    fn send_request(&self, request: Request, watcher: Option<Watcher>, caller: Caller) {
        self.shared.charge(CALL_COST);
        let mut world = self.shared.world.borrow_mut();
        let input = Input::Request {
            request,
            watcher,
            caller,
        };
        world.frequent_client_input(self.client, input);
    }
}

impl Transport for SimulatedTransport {
    fn submit(&self, request: Request, watcher: Option<Watcher>, completion: Completion<Reply>) {
        let caller = Caller::waiting(completion).of(self.caller());
        self.send_request(request, watcher, caller);
    }

    fn submit_in_background(&self, request: Request, completion: Completion<Reply>) {
        let caller = Caller::in_background(completion).of(self.caller());
        self.send_request(request, None, caller);
    }

    fn watch_session(&self, watcher: Watcher) {
        self.send_input(Input::WatchSession { watcher });
    }

    fn authenticate(&self, scheme: &str, secret: &[u8]) {
        self.send_input(Input::Authenticate {
            scheme: scheme.into(),
            secret: secret.into(),
        });
    }

    fn callback_begins(&self) {
        self.shared.charge(CALL_COST);
        self.shared.world.borrow_mut().callback_begins(self.client);
    }

    fn callback_ends(&self) {
        // It may be dropped while the world is being taken down.
        if let Ok(mut world) = self.shared.world.try_borrow_mut() {
            world.callback_ends(self.client);
        }
    }

    fn state(&self) -> SessionState {
        self.shared.charge(READ_COST);
        self.shared.world.borrow().host.clients[self.client.0 as usize]
            .machine
            .state()
    }

    fn session(&self) -> SessionId {
        self.shared.charge(READ_COST);
        self.shared.world.borrow().host.clients[self.client.0 as usize]
            .machine
            .session()
    }

    fn timeout(&self) -> Duration {
        self.shared.charge(READ_COST);
        self.shared.world.borrow().host.clients[self.client.0 as usize]
            .machine
            .timeout()
    }

    fn renew(&self) -> ZooKeeper {
        self.shared.charge(CALL_COST);
        let mut world = self.shared.world.borrow_mut();
        world.client_input(self.client, Input::Abandon);
        let client = world.replace_client(self.client, self.thread);
        handle(&self.shared, client, self.thread)
    }

    fn close(&self, completion: Completion<Reply>) {
        self.send_input(Input::Close { completion });
    }
}

/// A new session of a thread.
fn zookeeper(shared: &Rc<Shared<SimulatedZooKeeper>>, thread: Thread) -> ZooKeeper {
    let client = shared.world.borrow_mut().add_client(thread);
    handle(shared, client, thread)
}

/// A handle to a client that is there.
pub(super) fn handle(
    shared: &Rc<Shared<SimulatedZooKeeper>>,
    client: ClientId,
    thread: Thread,
) -> ZooKeeper {
    ZooKeeper::new(SimulatedTransport {
        shared: Rc::clone(shared),
        client,
        thread,
    })
}
