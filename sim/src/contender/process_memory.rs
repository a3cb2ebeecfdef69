//! What the tasks of one process have in common: its statics, and lock objects that they share.

use std::any::Any;
use std::cell::RefCell;
use std::rc::{Rc, Weak};

use picklock_algorithms::Lock;
use picklock_checker::{ContenderId, LockId};
use picklock_clients::Env;

use crate::event::ClientId;
use crate::process::Thread;
use crate::simulated_environment::{environment, environment_in};
use crate::world::{Shared, SimulatedService};

/// The memory of a process that has several tasks. It is there as long as one of them is.
pub(crate) struct ProcessMemory {
    env: Env,
    objects: RefCell<LockObjects>,
}

/// The lock objects of a process, and the client that they stand on.
#[derive(Default)]
struct LockObjects {
    client: Option<ClientId>,
    locks: Vec<(LockId, Box<dyn Lock>)>,
}

impl ProcessMemory {
    /// That of the process that a thread runs in; `None` if it is alone in it.
    pub(super) fn of<S: SimulatedService>(
        shared: &Rc<Shared<S>>,
        thread: Thread,
    ) -> Option<Rc<Self>> {
        let index = thread.process.0 as usize;
        {
            let world = shared.world.borrow();
            if world.plan.workload.tasks_per_process == 1 {
                return None;
            }
            let there = world.memories.get(index).and_then(Weak::upgrade);
            if let Some(there) = there.and_then(|there| there.downcast().ok()) {
                return Some(there);
            }
        }
        let memory = Rc::new(Self {
            env: environment(shared, thread),
            objects: RefCell::default(),
        });
        let mut world = shared.world.borrow_mut();
        if world.memories.len() <= index {
            let nothing: Weak<dyn Any> = Weak::<()>::new();
            world.memories.resize(index + 1, nothing);
        }
        let there: Weak<dyn Any> = Rc::<Self>::downgrade(&memory);
        world.memories[index] = there;
        Some(memory)
    }

    /// The environment of one of its threads.
    pub(super) fn env<S: SimulatedService>(&self, shared: &Rc<Shared<S>>, thread: Thread) -> Env {
        let env = environment_in(&self.env, shared, thread);
        let shares_client = shared.world.borrow().shares_clients();
        if shares_client {
            env
        } else {
            env.with_own_client()
        }
    }

    /// What a task sees of these lock objects of its process.
    pub(super) fn views<S: SimulatedService>(
        &self,
        shared: &Rc<Shared<S>>,
        (by, env): (ContenderId, &Env),
        locks: &[LockId],
    ) -> Vec<Box<dyn Lock>> {
        // It has the client of its process now, or a new one for all.
        let none = S::connect(shared, by, env, &[]);
        debug_assert!(none.is_empty(), "no lock was asked for");
        let client = shared.world.borrow().contenders[by.0 as usize].client;
        let mut objects = self.objects.borrow_mut();
        if objects.locks.is_empty() || objects.client != client {
            let all = shared.world.borrow().plan.workload.locks;
            let all: Vec<LockId> = (0..all).map(LockId).collect();
            let made = S::connect(shared, by, &self.env, &all);
            *objects = LockObjects {
                client,
                locks: all.into_iter().zip(made).collect(),
            };
        }
        let view = |lock: &LockId| {
            let mut all = objects.locks.iter();
            let object = all.find(|(of, _)| of == lock).map(|(_, object)| object);
            let view = object.and_then(|object| object.for_task(env));
            view.expect("a recipe that is `shareable` says by `for_task` what a task sees of its lock object")
        };
        locks.iter().map(view).collect()
    }
}

impl Drop for ProcessMemory {
    /// What the process keeps for all of its code may hold on to the environment, which holds on to it.
    fn drop(&mut self) {
        self.env.forget_process_wide();
    }
}
