//! The bare engine at work, for benchmarks: servers that echo, and clients that ask, with and without futures.
//!
//! One simulation is 3 servers and 5 clients of 10 round trips each: 100 messages, with latencies of 1 to 10 ms.

use std::cell::RefCell;
use std::rc::Rc;

use picklock_checker::VirtualTime;
use picklock_clients::completion::{Completion, Completions};
use picklock_machines::Chance;

use crate::engine::sandbox::Sandbox;
use crate::engine::{Executor, Tape, TaskId, Timeline};
use crate::recorder::RollingHash;

const SERVERS: u32 = 3;
const CLIENTS: u32 = 5;
const ROUND_TRIPS: u32 = 10;

/// Runs one simulation whose clients are futures; answers the hash of what happened.
pub fn with_futures(seed: u64) -> u64 {
    Sandbox::run(0, |mut sandbox| {
        let world = Rc::new(RefCell::new(BenchWorld::new(seed)));
        let executor = Executor::default();
        for client in 0..CLIENTS {
            executor.spawn(client, Box::pin(round_trips(Rc::clone(&world), client)));
        }
        let mut ready = Vec::with_capacity(CLIENTS as usize);
        loop {
            run_ready(&executor, &world, &mut ready);
            let mut world = world.borrow_mut();
            loop {
                let Some(event) = world.next(&mut sandbox) else {
                    return world.hash.value();
                };
                match event {
                    Event::Request { client, answer } => {
                        world.send(client, Event::Reply { client, answer });
                    }
                    Event::Reply { answer, .. } => answer.complete(()),
                    Event::Nothing => {}
                }
                if executor.has_ready() {
                    break;
                }
            }
        }
    })
}

/// Runs the same simulation without a future or anything to wait on: what the engine's bookkeeping is
/// measured against.
pub fn without_futures(seed: u64) -> u64 {
    Sandbox::run(0, |mut sandbox| {
        let mut world = BenchWorld::new(seed);
        let mut left = [ROUND_TRIPS; CLIENTS as usize];
        for client in 0..CLIENTS {
            world.tape.choose(SERVERS);
            world.send(client, Event::Request { client, answer: () });
        }
        while let Some(event) = world.next(&mut sandbox) {
            match event {
                Event::Request { client, answer } => {
                    world.send(client, Event::Reply { client, answer });
                }
                Event::Reply { client, .. } => {
                    left[client as usize] -= 1;
                    if left[client as usize] > 0 {
                        world.tape.choose(SERVERS);
                        world.send(client, Event::Request { client, answer: () });
                    }
                }
                Event::Nothing => {}
            }
        }
        world.hash.value()
    })
}

fn run_ready(
    executor: &Executor<u32>,
    world: &RefCell<BenchWorld<Completion<()>>>,
    ready: &mut Vec<TaskId>,
) {
    executor.run_only();
    while executor.has_ready() || !ready.is_empty() {
        executor.drain_ready(ready);
        let choice = world.borrow_mut().tape.choose(ready.len() as u32);
        executor.poll(ready.remove(choice as usize));
    }
}

async fn round_trips(world: Rc<RefCell<BenchWorld<Completion<()>>>>, client: u32) {
    let answers = Completions::default();
    for _ in 0..ROUND_TRIPS {
        let (answer, answered) = answers.completion();
        {
            let mut world = world.borrow_mut();
            world.tape.choose(SERVERS);
            world.send(client, Event::Request { client, answer });
        }
        answered.await;
    }
}

#[derive(Default)]
enum Event<A> {
    /// Where one was taken from the timeline.
    #[default]
    Nothing,
    Request {
        client: u32,
        answer: A,
    },
    Reply {
        client: u32,
        answer: A,
    },
}

struct BenchWorld<A> {
    now: VirtualTime,
    tape: Tape,
    timeline: Timeline<Event<A>>,
    hash: RollingHash,
}

impl<A> BenchWorld<A> {
    fn new(seed: u64) -> Self {
        Self {
            now: VirtualTime::ZERO,
            tape: Tape::from_seed(seed),
            timeline: Timeline::default(),
            hash: RollingHash::default(),
        }
    }

    fn send(&mut self, client: u32, event: Event<A>) {
        let latency = 1_000 + u64::from(self.tape.choose(9_001));
        self.hash.mix(u64::from(client) << 32 | latency);
        self.timeline
            .add(VirtualTime::from_micros(self.now.micros() + latency), event);
    }

    fn next(&mut self, sandbox: &mut Sandbox) -> Option<Event<A>> {
        let (at, event) = self.timeline.take()?;
        self.now = at;
        sandbox.advance_to(at.micros());
        self.hash.mix(at.micros());
        Some(event)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_the_same_run_every_time() {
        assert_eq!(with_futures(3), with_futures(3));
        assert_ne!(with_futures(3), with_futures(4));
        assert_eq!(without_futures(3), without_futures(3));
    }
}
