//! What the contenders' code holds on to: the world, and the executor that runs it.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;

use picklock_algorithms::clients::completion::{Completion, Completions};
use picklock_algorithms::clients::redis::{
    Bytes, Command, Lane, Listener, Redis, RedisResult, Transport as RedisTransport, Value,
};
use picklock_algorithms::clients::zookeeper::{
    Reply, Request, SessionId, SessionState, Transport, Watcher, ZooKeeper,
};
use picklock_algorithms::env::{Env, Environment, LocalFuture};

use crate::broken::break_off;
use crate::budget::never_waits;
use crate::engine::Executor;
use crate::event::ClientId;
use crate::process::ProcessId;
use crate::redis::client::Input as RedisInput;
use crate::world::{Task, World};
use crate::zookeeper::client::{Caller, Input};

/// The world and its executor.
pub(crate) struct Shared {
    pub world: RefCell<World>,
    pub executor: Executor<ProcessId>,
    /// How many random numbers the contenders' code has drawn.
    pub drawn: Cell<u64>,
    /// How many calls of their clients and environments are left to the contenders until something else has happened.
    pub calls_left: Cell<u64>,
}

/// What looks at something costs so much of the calls that are left, and what keeps something in memory so much.
const LOOK: u64 = 1;
const KEEP: u64 = 10;

impl Shared {
    /// The contenders' code calls. If it has done so again and again while nothing else happened, it never will.
    #[inline]
    fn called(&self, cost: u64) {
        match self.calls_left.get().checked_sub(cost) {
            Some(left) => self.calls_left.set(left),
            None => self.calls_too_often(),
        }
    }

    #[cold]
    fn calls_too_often(&self) {
        // What is dropped while somebody else's run is being cleaned up behind may say good-bye.
        if !std::thread::panicking() {
            let world = self.world.borrow();
            let did = "it calls its client and its environment again and again";
            let why = never_waits(did, world.now);
            drop(world);
            break_off(why);
        }
    }
}

/// An odd number with its bits spread evenly: multiples of it are all different.
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;

/// The environment of a simulated process.
struct SimulatedEnvironment {
    shared: Rc<Shared>,
    process: ProcessId,
    /// What a sleep came in before, and others may again.
    sleeps: Completions<()>,
}

impl Environment for SimulatedEnvironment {
    fn monotonic(&self) -> Duration {
        self.shared.called(LOOK);
        let world = self.shared.world.borrow();
        world.processes[self.process.0 as usize]
            .monotonic(world.now)
            .since_start()
    }

    fn wall(&self) -> Duration {
        self.shared.called(LOOK);
        let world = self.shared.world.borrow();
        let micros = world.processes[self.process.0 as usize].wall(world.now);
        Duration::from_micros(u64::try_from(micros).unwrap_or(0))
    }

    fn sleep(&self, duration: Duration) -> LocalFuture<'static, ()> {
        self.shared.called(KEEP);
        let (done, slept) = self.sleeps.completion();
        self.shared
            .world
            .borrow_mut()
            .sleep(self.process, duration, done);
        Box::pin(slept)
    }

    fn pause(&self, duration: Duration) -> LocalFuture<'static, ()> {
        let slept = self.sleep(duration);
        let pause = Pause::of(&self.shared, self.process);
        Box::pin(async move {
            slept.await;
            drop(pause);
        })
    }

    fn spawn(&self, task: LocalFuture<'static, ()>) {
        self.shared.called(KEEP);
        // Dropping an environment's owner may spawn while the world is being taken down.
        if let Ok(mut world) = self.shared.world.try_borrow_mut() {
            world.spawned.push((self.process, Task::OfRecipe(task)));
        }
    }

    fn host(&self) -> String {
        self.shared.called(LOOK);
        format!("host-{}", self.process.0 + 1)
    }

    fn random(&self) -> u64 {
        self.shared.called(LOOK);
        let drawn = self.shared.drawn.get() + 1;
        self.shared.drawn.set(drawn);
        match self.shared.world.borrow_mut().tape.number() {
            // A tape that has run out. Two names made of zeros would be the same name, and a run whose tape was
            // shortened would fail for a reason of its own.
            0 => drawn.wrapping_mul(SPREAD),
            number => number,
        }
    }
}

/// A contender is between two tries. It may be dropped there.
struct Pause {
    shared: Rc<Shared>,
    process: ProcessId,
}

impl Pause {
    fn of(shared: &Rc<Shared>, process: ProcessId) -> Self {
        shared.world.borrow_mut().pauses(process, true);
        Self {
            shared: Rc::clone(shared),
            process,
        }
    }
}

impl Drop for Pause {
    fn drop(&mut self) {
        // It may be dropped while the world is being taken down.
        if let Ok(mut world) = self.shared.world.try_borrow_mut() {
            world.pauses(self.process, false);
        }
    }
}

/// A client handle of the simulated ZooKeeper.
struct SimulatedTransport {
    shared: Rc<Shared>,
    client: ClientId,
}

impl SimulatedTransport {
    fn tell(&self, input: Input) {
        self.shared.called(KEEP);
        let mut world = self.shared.world.borrow_mut();
        world.client_input(self.client, input);
    }
}

impl Transport for SimulatedTransport {
    fn submit(&self, request: Request, watcher: Option<Watcher>, completion: Completion<Reply>) {
        self.tell(Input::Request {
            request,
            watcher,
            caller: Caller::waiting(completion),
        });
    }

    fn submit_in_background(&self, request: Request, completion: Completion<Reply>) {
        self.tell(Input::Request {
            request,
            watcher: None,
            caller: Caller::in_background(completion),
        });
    }

    fn watch_session(&self, watcher: Watcher) {
        self.tell(Input::WatchSession { watcher });
    }

    fn authenticate(&self, scheme: &str, secret: &[u8]) {
        self.tell(Input::Authenticate {
            scheme: scheme.into(),
            secret: secret.into(),
        });
    }

    fn state(&self) -> SessionState {
        self.shared.called(LOOK);
        self.shared.world.borrow().clients[self.client.0 as usize]
            .machine
            .state()
    }

    fn session(&self) -> SessionId {
        self.shared.called(LOOK);
        self.shared.world.borrow().clients[self.client.0 as usize]
            .machine
            .session()
    }

    fn timeout(&self) -> Duration {
        self.shared.called(LOOK);
        self.shared.world.borrow().clients[self.client.0 as usize]
            .machine
            .timeout()
    }

    fn renew(&self) -> ZooKeeper {
        self.shared.called(KEEP);
        let mut world = self.shared.world.borrow_mut();
        world.client_input(self.client, Input::Abandon);
        let process = world.clients[self.client.0 as usize].process;
        let client = world.add_client(process);
        handle(&self.shared, client)
    }

    fn close(&self, completion: Completion<Reply>) {
        self.tell(Input::Close { completion });
    }
}

/// A client of the simulated Redis.
struct SimulatedRedis {
    shared: Rc<Shared>,
    client: ClientId,
}

impl RedisTransport for SimulatedRedis {
    fn nodes(&self) -> u32 {
        self.shared.called(LOOK);
        self.shared.world.borrow().redis.nodes()
    }

    fn dedicated(&self, node: u32) -> Lane {
        self.shared.called(KEEP);
        let mut world = self.shared.world.borrow_mut();
        world.redis.dedicated(self.client, node)
    }

    fn submit(&self, lane: Lane, command: Command, completion: Completion<RedisResult<Value>>) {
        self.shared.called(KEEP);
        let input = RedisInput::Submit {
            lane,
            command,
            completion,
        };
        let mut world = self.shared.world.borrow_mut();
        world.redis_client_input(self.client, input);
    }

    fn subscribe(
        &self,
        node: u32,
        channel: Bytes,
        listener: Listener,
        completion: Completion<RedisResult<Value>>,
    ) {
        self.shared.called(KEEP);
        let input = RedisInput::Subscribe {
            node,
            channel,
            listener,
            completion,
        };
        let mut world = self.shared.world.borrow_mut();
        world.redis_client_input(self.client, input);
    }
}

/// A new client of Redis for a process.
pub(crate) fn redis(shared: &Rc<Shared>, process: ProcessId) -> Redis {
    let client = shared.world.borrow_mut().add_redis_client(process);
    Redis::new(Rc::new(SimulatedRedis {
        shared: Rc::clone(shared),
        client,
    }))
}

/// The environment of a process.
pub(crate) fn environment(shared: &Rc<Shared>, process: ProcessId) -> Env {
    Env::new(Rc::new(SimulatedEnvironment {
        shared: Rc::clone(shared),
        process,
        sleeps: Completions::default(),
    }))
}

/// A new session of a process.
pub(crate) fn zookeeper(shared: &Rc<Shared>, process: ProcessId) -> ZooKeeper {
    let client = shared.world.borrow_mut().add_client(process);
    handle(shared, client)
}

/// A handle to a client that is there.
pub(crate) fn handle(shared: &Rc<Shared>, client: ClientId) -> ZooKeeper {
    ZooKeeper::new(SimulatedTransport {
        shared: Rc::clone(shared),
        client,
    })
}
