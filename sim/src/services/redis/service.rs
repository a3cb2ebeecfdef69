//! What the world asks Redis, and what Redis is made of.

use std::rc::Rc;
use std::time::Duration;

use picklock_algorithms::Lock;
use picklock_checker::{ContenderId, LockId, PermitsLeft, VirtualTime};
use picklock_clients::env::Env;
use picklock_clients::redis::{Command, Value};
use picklock_clients::zookeeper::Path;
use picklock_redis::Server;
use picklock_redis::client::Client;

use super::redis_server::{RedisServer, ServerState};
use super::{ClientState, RedisEvent, SimulatedRedis, handle, setup};
use crate::engine::Tape;
use crate::network::{ServerId, Side};
use crate::plan::{Fault, LockName, Plan, ServerName};
use crate::process::{ProcessId, Thread};
use crate::world::{HostEvent, Read, Recipient, ServiceTypes, Shared, SimulatedService, World};

impl ServiceTypes for SimulatedRedis {
    type Server = Server;
    type Client = Client;
    type ServerState = ServerState;
    type ClientState = ClientState;
    type Request = Command;
    type Reply = Value;
    type OwnEvent = RedisEvent;
    const EVENT_NUMBERS: [u64; 8] = [20, 21, 22, 23, 24, 25, 26, 27];
}

impl SimulatedService for SimulatedRedis {
    const WAITERS_ASK_AGAIN: bool = true;

    fn new(plan: &Plan, tape: &mut Tape) -> (Self, Vec<RedisServer>) {
        setup::deployed(plan, tape)
    }

    fn lock_names(plan: &Plan) -> Vec<Path> {
        let names = (0..plan.workload.locks).map(LockName);
        names
            .map(|lock| format!("lock:{}", lock.letter()).into())
            .collect()
    }

    fn start(world: &mut World<Self>) {
        world.arm_sentinels();
    }

    fn on_own_event(world: &mut World<Self>, event: RedisEvent) {
        world.on_redis_event(event);
    }

    fn recipient(world: &World<Self>, event: &RedisEvent) -> Recipient {
        world.recipient_of(event)
    }

    fn trace_lost(world: &mut World<Self>, event: &RedisEvent) {
        world.trace_lost_between(event);
    }

    fn others_run(world: &World<Self>) -> bool {
        let mut sentinels = world.service.sentinels.iter();
        let mut clients = world.host.clients.iter();
        sentinels.all(|slot| slot.process.runs())
            && clients.all(|slot| slot.state.blocked.is_none())
    }

    fn connect(
        shared: &Rc<Shared<Self>>,
        by: ContenderId,
        env: &Env,
        locks: &[LockId],
    ) -> Vec<Box<dyn Lock>> {
        handle::connect(shared, by, env, locks)
    }

    fn resumed(world: &mut World<Self>, machine: ServerId, backlog: Vec<HostEvent<Self>>) {
        match world.service.is_sentinel(machine) {
            true => world.sentinel_resumed(machine, backlog),
            false => world.server_resumed(machine, backlog),
        }
    }

    fn bystander(shared: &Rc<Shared<Self>>, thread: Thread, index: u32) -> Read {
        handle::bystander(shared, thread, index)
    }

    fn is_idle(world: &World<Self>, by: ContenderId) -> bool {
        let client = world.contenders[by.0 as usize].client;
        client.is_some_and(|client| {
            let slot = &world.host.clients[client.0 as usize];
            slot.machine.requests_in_flight() == 0 && slot.state.blocked.is_none()
        })
    }

    fn unanswered(world: &World<Self>, by: ContenderId) -> Option<u64> {
        Some(world.unanswered_of(by))
    }

    fn process_resumed(world: &mut World<Self>, process: ProcessId) {
        world.unblock_event_loops(process);
    }

    fn server(world: &World<Self>, name: ServerName) -> Option<ServerId> {
        world.server(name)
    }

    fn inject(world: &mut World<Self>, fault: &Fault) -> Option<Duration> {
        world.inject_at_deployment(fault)
    }

    fn heal(world: &mut World<Self>, number: usize, fault: &Fault) {
        world.heal_at_deployment(number, fault);
    }

    fn struck_until(world: &World<Self>) -> Option<VirtualTime> {
        // A server that hung, or ran another script, has begun with this one later.
        let slots = world.host.servers.iter();
        let ends = slots.filter_map(|slot| slot.machine.script_ends());
        ends.filter(|ends| *ends != VirtualTime::NEVER).max()
    }

    fn permits_left(world: &World<Self>) -> Vec<Option<PermitsLeft>> {
        world.counted_permits()
    }

    fn can_serve(world: &World<Self>, side: &Side) -> Result<(), &'static str> {
        world.side_can_serve(side)
    }

    fn serves_client_reaching(world: &World<Self>, reached: &Side) -> bool {
        world.side_serves_client_reaching(reached)
    }
}
