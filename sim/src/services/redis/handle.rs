//! Client handles of Redis: what locks and bystanders hold on to.

use std::any::Any;
use std::rc::Rc;

use picklock_algorithms::redis::version::OverVersion;
use picklock_algorithms::{Build, BuildOver, Lease, Lock};
use picklock_checker::{ContenderId, LockId};
use picklock_clients::completion::Completion;
use picklock_clients::env::Env;
use picklock_clients::redis::{
    Bytes, Command, Lane, Listener, Redis, RedisResult, Transport, Value,
};
use picklock_redis::client::Input;

use super::SimulatedRedis;
use crate::event::ClientId;
use crate::process::Thread;
use crate::world::{CALL_COST, READ_COST, Read, Shared};

/// What bystanders read: in a cluster, it is in the slot of the first lock's key.
const BYSTANDER_KEY: &str = "elsewhere:{lock:a}";

/// These locks of a contender, which stand on one new client.
pub(super) fn connect(
    shared: &Rc<Shared<SimulatedRedis>>,
    by: ContenderId,
    env: &Env,
    locks: &[LockId],
) -> Vec<Box<dyn Lock>> {
    let thread = shared.world.borrow().thread_of(by);
    let client = shared.world.borrow_mut().client_for(thread);
    let redis = handle(shared, client, thread);
    let time = shared.world.borrow().plan.service.lease();
    let key = |lock: &LockId| Rc::clone(&shared.world.borrow().lock_names[lock.0 as usize]);
    let lease = |lock| Lease {
        key: key(lock),
        time,
    };
    let (build, permits) = {
        let plan = &shared.world.borrow().plan;
        (plan.recipe.build, plan.workload.permits())
    };
    let build = |lock| match build {
        Build::Redis(build) | Build::MultiLockOverRedis { each: build, .. } => {
            build(redis.clone(), env.clone(), lease(lock))
        }
        Build::SemaphoreOverRedis(build) => build(redis.clone(), env.clone(), lease(lock), permits),
        Build::Other(build) if let Some(over) = over_version(build) => {
            (over.build)(redis.clone(), env.clone(), lease(lock), permits)
        }
        Build::ZooKeeper(_)
        | Build::SemaphoreOverZooKeeper(_)
        | Build::MultiLockOverZooKeeper { .. }
        | Build::Other(_) => panic!("the recipe stands on another service than Redis"),
    };
    locks.iter().map(build).collect()
}

/// What builds a lock that needs a newer server, if it is that.
fn over_version(build: &'static dyn BuildOver) -> Option<&'static OverVersion> {
    let build: &dyn Any = build;
    build.downcast_ref()
}

/// Reads a key that has nothing to do with the lock: on one of several independent servers, or beside the lock's.
pub(super) fn bystander(shared: &Rc<Shared<SimulatedRedis>>, thread: Thread, index: u32) -> Read {
    let redis = redis(shared, thread);
    let redis = redis.at(index % redis.nodes().max(1));
    Box::new(move || {
        let redis = redis.clone();
        Box::pin(async move { redis.get(BYSTANDER_KEY).await.is_ok() })
    })
}

/// A client of the simulated Redis.
struct SimulatedTransport {
    shared: Rc<Shared<SimulatedRedis>>,
    client: ClientId,
    /// Whose commands they are; others may have the same client.
    thread: Thread,
}

impl SimulatedTransport {
    /// Which task asks.
    fn caller(&self) -> ContenderId {
        self.shared.caller(self.thread).contender
    }
}

impl Transport for SimulatedTransport {
    fn nodes(&self) -> u32 {
        self.shared.charge(READ_COST);
        self.shared.world.borrow().service.nodes()
    }

    fn dedicated(&self, node: u32) -> Lane {
        self.shared.charge(CALL_COST);
        let mut world = self.shared.world.borrow_mut();
        world.host.clients[self.client.0 as usize]
            .machine
            .dedicated(node)
    }

    fn submit(&self, lane: Lane, command: Command, completion: Completion<RedisResult<Value>>) {
        self.shared.charge(CALL_COST);
        let input = Input::Submit {
            lane,
            command,
            completion,
            caller: Some(self.caller()),
        };
        let mut world = self.shared.world.borrow_mut();
        world.call_client(self.client, input);
    }

    fn subscribe(
        &self,
        node: u32,
        channel: Bytes,
        listener: Listener,
        completion: Completion<RedisResult<Value>>,
    ) {
        self.shared.charge(CALL_COST);
        let input = Input::Subscribe {
            node,
            channel,
            listener,
            completion,
        };
        let mut world = self.shared.world.borrow_mut();
        world.call_client(self.client, input);
    }
}

/// A new client of Redis for a thread.
fn redis(shared: &Rc<Shared<SimulatedRedis>>, thread: Thread) -> Redis {
    let client = shared.world.borrow_mut().add_client(thread);
    handle(shared, client, thread)
}

/// A handle to a client that is there.
fn handle(shared: &Rc<Shared<SimulatedRedis>>, client: ClientId, thread: Thread) -> Redis {
    Redis::new(Rc::new(SimulatedTransport {
        shared: Rc::clone(shared),
        client,
        thread,
    }))
}
