//! The locks that a contender takes, one in each round, all of which stand on one client.

use std::rc::Rc;

use picklock_algorithms::{CancelCall, Lock, StopCall};
use picklock_checker::{ContenderId, LockId, Mode};
use picklock_clients::Env;
use picklock_machines::Chance as _;

use super::Contender;
use super::process_memory::ProcessMemory;
use crate::plan::{ContenderName, LockOrder, Rate, Reads, Share};
use crate::world::{Shared, SimulatedService};

/// The lock objects of a contender: one for each lock that it takes.
#[derive(Default)]
pub(super) struct Locks(Vec<(LockId, Box<dyn Lock>)>);

impl Locks {
    /// The locks of a contender, on a new client.
    pub(super) fn connect<S: SimulatedService>(
        shared: &Rc<Shared<S>>,
        by: ContenderId,
        env: &Env,
        memory: Option<&ProcessMemory>,
    ) -> Self {
        let plan = Rc::clone(&shared.world.borrow().plan);
        let names = plan.locks_of(ContenderName(by.0));
        let ids: Vec<LockId> = names.iter().map(|name| LockId(name.0)).collect();
        let mut locks = match memory.filter(|_| plan.workload.share == Share::Lock) {
            Some(memory) => memory.views(shared, (by, env), &ids),
            None => S::connect(shared, by, env, &ids),
        };
        let permits = plan.workload.permits_per_acquire_of(ContenderName(by.0));
        if permits > 1 {
            { locks.iter_mut() }.for_each(|lock| lock.set_permits_per_acquire(permits));
        }
        if let Some(parties) = plan.parties() {
            locks.iter_mut().for_each(|lock| lock.set_parties(parties));
        }
        if let Some(count) = plan.count() {
            let name = format!("contender-{}", by.0 + 1);
            locks
                .iter_mut()
                .for_each(|lock| lock.set_latch_count(count, &name));
        }
        Self(ids.into_iter().zip(locks).collect())
    }

    /// Runs the reaper of their recipe, which looks through all locks, whichever object is asked.
    pub(super) async fn reap(&mut self) {
        if let Some((_, lock)) = self.0.first_mut() {
            // After a turn that has failed comes the next.
            let _failed = lock.reap().await;
        }
    }

    /// Whether they open a new session by themselves when theirs is gone.
    pub(super) fn renew_sessions(&self) -> bool {
        self.0.iter().any(|(_, lock)| lock.renews_sessions())
    }

    /// Whether they have a call that waits for so long and no longer: all are of one recipe.
    pub(super) fn have_timed_acquire(&self) -> bool {
        self.0.iter().any(|(_, lock)| lock.has_timed_acquire())
    }

    /// The object of a lock, to call it, and of the others, to hear what becomes of them meanwhile.
    pub(super) fn one_and_others(
        &mut self,
        lock: LockId,
    ) -> (&mut dyn Lock, Vec<(LockId, &dyn Lock)>) {
        let (mut one, mut others) = (None, Vec::new());
        for (of, object) in &mut self.0 {
            match *of == lock {
                true => one = Some(&mut **object),
                false => others.push((*of, &**object)),
            }
        }
        let one = one.expect("a contender has an object for each lock that it takes");
        (one, others)
    }

    /// The objects of these locks, in this order, to call them together.
    pub(super) fn some_of(&mut self, order: &[LockId]) -> Vec<(LockId, &mut dyn Lock)> {
        let place = |lock: &LockId| order.iter().position(|other| other == lock);
        let all = self.0.iter_mut();
        let some = all.filter(|(of, _)| place(of).is_some());
        let mut some: Vec<(LockId, &mut dyn Lock)> = some
            .map(|(of, object)| (*of, &mut **object as &mut dyn Lock))
            .collect();
        some.sort_by_key(|(of, _)| place(of));
        some
    }

    /// The objects of all locks.
    pub(super) fn all(&self) -> Vec<(LockId, &dyn Lock)> {
        self.0.iter().map(|(of, object)| (*of, &**object)).collect()
    }

    /// The object of a lock.
    #[inline]
    pub(super) fn of(&self, lock: LockId) -> &dyn Lock {
        &*self.0[self.place(lock)].1
    }

    /// What another thread calls to cancel an acquire of a lock in this mode, if its object has such a call.
    pub(super) fn cancel_call(&self, lock: LockId, mode: Mode) -> Option<CancelCall> {
        match mode {
            Mode::Exclusive => self.of(lock).cancel_call(),
            Mode::Shared => self.of(lock).cancel_call_shared(),
        }
    }

    /// What asks the objects to stop, of those that have such a call.
    pub(super) fn stop_calls(&self) -> Vec<StopCall> {
        let calls = self.0.iter().map(|(_, lock)| lock.stop_call());
        calls.flatten().collect()
    }

    /// The same, to call it.
    #[inline]
    pub(super) fn of_mut(&mut self, lock: LockId) -> &mut dyn Lock {
        let index = self.place(lock);
        &mut *self.0[index].1
    }

    /// Mostly there is one.
    #[inline]
    fn place(&self, lock: LockId) -> usize {
        let index = self.0.iter().position(|(of, _)| *of == lock);
        index.expect("a contender has an object for each lock that it takes")
    }
}

impl<S: SimulatedService> Contender<S> {
    /// The lock that this round is about, which the world notes.
    pub(super) fn lock_of_round(&self) -> LockId {
        let mut world = self.world();
        let name = ContenderName(self.id.0);
        let left = world.contenders[self.id.0 as usize].rounds_left;
        let round = world.plan.workload.rounds_of(name).saturating_sub(left);
        let lock = LockId(world.plan.lock_of(name, round).0);
        world.contenders[self.id.0 as usize].lock = lock;
        lock
    }

    /// Whether a section holds several locks at once.
    pub(super) fn holds_several(&self) -> bool {
        self.world().plan.workload.locks_at_once > 1
    }

    /// The locks that this round is about, in the order in which they are to be acquired.
    pub(super) fn locks_of_round(&self) -> Vec<LockId> {
        let mut world = self.world();
        let name = ContenderName(self.id.0);
        let left = world.contenders[self.id.0 as usize].rounds_left;
        let round = world.plan.workload.rounds_of(name).saturating_sub(left);
        let mut locks = world.plan.workload.locks_of_round(name, round);
        match world.plan.workload.lock_order {
            LockOrder::InTurn => {}
            LockOrder::ByName => locks.sort_unstable(),
            LockOrder::Drawn => {
                // The plainest choices, which shrinking prefers, leave them in order.
                locks.sort_unstable();
                for index in 0..locks.len() {
                    let others = (locks.len() - index) as u32;
                    let other = world.tape.choose(others) as usize;
                    locks.swap(index, index + other);
                }
            }
        }
        locks.into_iter().map(|lock| LockId(lock.0)).collect()
    }

    /// Whether this round is to read or to write; at a barrier, whether it is to pass or to set it.
    pub(super) fn mode_of_round(&self) -> Mode {
        let mut world = self.world();
        let name = ContenderName(self.id.0);
        if let Some(mode) = world.plan.mode_at_barrier(name) {
            return mode;
        }
        let reads = world.plan.workload.reads_of(name);
        let is_read = match reads {
            Reads::Never => false,
            Reads::Always => true,
            // The plainest choice, which shrinking prefers, is to write.
            Reads::Share(rate) => world.tape.choose(Rate::WHOLE) >= Rate::WHOLE - rate.parts(),
        };
        match is_read {
            true => Mode::Shared,
            false => Mode::Exclusive,
        }
    }

    /// A closed session never comes back: a new one takes its place.
    pub(super) fn renew_if_closed(&mut self) {
        let closed = || S::is_closed(&self.shared.world.borrow(), self.id);
        if !self.locks.renew_sessions() && closed() {
            self.locks = Locks::connect(&self.shared, self.id, &self.env, self.memory.as_deref());
        }
    }
}

impl<S: SimulatedService> Drop for Contender<S> {
    /// What the process keeps for all of its code may hold on to the environment, which holds on to it. Where there are
    /// other tasks, the last of them lets go of it.
    fn drop(&mut self) {
        match self.memory {
            None => self.env.forget_process_wide(),
            Some(_) if !self.world().shares_clients() => {
                self.env.forget_client_wide();
            }
            Some(_) => {}
        }
    }
}
