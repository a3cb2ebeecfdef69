//! The executor: runs the contenders' code, one task at a time, in an order that can be chosen.

use std::cell::{Cell, RefCell, RefMut};
use std::panic::resume_unwind;
use std::task::{Context, Poll};

use picklock_clients::env::LocalFuture;

use super::wakers::{NONE, TaskWake, USUAL, Wakes};
use crate::broken::dropped;

/// A task, by its index in the slab. Places are used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TaskId(pub u32);

/// A single-threaded executor: tasks in a slab, and a list of those that are ready.
pub struct Executor<L> {
    tasks: RefCell<Slab<L>>,
    wakes: Wakes,
    /// Tasks that were ready before one of them went away. While there are any, the list ends with [`SPILLED`].
    spilled: RefCell<Vec<TaskId>>,
    /// The task whose code runs, or is being dropped, or did last.
    latest: Cell<Option<Started<L>>>,
    /// Whether it still does.
    runs: Cell<bool>,
}

struct Slab<L> {
    slots: Vec<Option<Task<L>>>,
    free: Vec<u32>,
}

/// One line of the cache: there may be ten thousand, each of which runs now and then.
#[repr(align(64))]
struct Task<L> {
    label: L,
    wake: TaskWake,
    future: LocalFuture<'static, ()>,
}

/// A task that is about to run.
#[derive(Clone, Copy, Debug)]
pub struct Started<L> {
    /// The task.
    pub task: TaskId,
    /// What it was labelled with.
    pub label: L,
}

impl<L: Copy> Task<L> {
    #[inline]
    fn start(&self, task: TaskId) -> Started<L> {
        self.wake.set_queueing(true);
        let label = self.label;
        Started { task, label }
    }

    #[inline]
    fn poll(&mut self) -> Poll<()> {
        let mut context = Context::from_waker(&self.wake.waker);
        self.future.as_mut().poll(&mut context)
    }
}

/// The end of the list when others were woken before those that are in it.
const SPILLED: u32 = NONE - 1;

impl<L> Default for Executor<L> {
    fn default() -> Self {
        Self {
            tasks: RefCell::new(Slab {
                slots: Vec::with_capacity(USUAL),
                free: Vec::with_capacity(USUAL),
            }),
            wakes: Wakes::default(),
            spilled: RefCell::default(),
            latest: Cell::new(None),
            runs: Cell::new(false),
        }
    }
}

impl<L: Copy> Executor<L> {
    /// Adds a task, which is ready at once.
    pub fn spawn(&self, label: L, future: LocalFuture<'static, ()>) -> TaskId {
        let mut slab = self.tasks.borrow_mut();
        let index = slab.free.pop().unwrap_or(slab.slots.len() as u32);
        let entry = Some(Task {
            label,
            wake: self.wakes.of_new(index),
            future,
        });
        if index as usize == slab.slots.len() {
            slab.slots.push(entry);
        } else {
            slab.slots[index as usize] = entry;
        }
        TaskId(index)
    }

    /// Whether a task has become ready.
    #[inline]
    pub fn has_ready(&self) -> bool {
        self.wakes.last() != NONE
    }

    /// Moves the tasks that have become ready, in the order in which they were woken, to the end of `into`.
    pub fn drain_ready(&self, into: &mut Vec<TaskId>) {
        if self.has_ready() {
            into.append(&mut self.spilled.borrow_mut());
            self.follow_ready(&self.tasks.borrow(), into);
            self.wakes.begin(NONE);
        }
    }

    /// Adds the list of the ready to another.
    fn follow_ready(&self, slab: &Slab<L>, into: &mut Vec<TaskId>) {
        let start = into.len();
        let mut next = self.wakes.last();
        while let Some(Some(task)) = slab.slots.get(next as usize) {
            into.push(TaskId(next));
            next = task.wake.before();
        }
        into[start..].reverse();
    }

    fn retire(&self, slab: &mut Slab<L>, index: usize) -> Option<Task<L>> {
        if self.has_ready() {
            // The list leads through the slab.
            self.follow_ready(slab, &mut self.spilled.borrow_mut());
            self.wakes.begin(SPILLED);
        }
        let task = slab.slots[index].take()?;
        // The task is gone and is never taken from the list: so nothing puts it there again.
        task.wake.set_queueing(false);
        Some(task)
    }

    /// Runs the one task that has become ready, until it waits or ends, and answers its label; `None` if there is none,
    /// or if there are several.
    #[inline]
    pub fn run_only(&self) -> Option<L> {
        let index = self.wakes.last();
        let mut slab = self.tasks.borrow_mut();
        let task = slab.slots.get_mut(index as usize)?.as_mut()?;
        if task.wake.before() != NONE {
            return None;
        }
        self.wakes.begin(NONE);
        let started = task.start(TaskId(index));
        self.enter(started);
        if task.poll() == Poll::Ready(()) {
            self.ended(slab, index as usize);
        }
        self.runs.set(false);
        Some(started.label)
    }

    /// Takes a task to run it; `None` if it is over.
    pub fn start(&self, task: TaskId) -> Option<Started<L>> {
        let slab = self.tasks.borrow();
        let entry = slab.slots.get(task.0 as usize)?.as_ref()?;
        Some(entry.start(task))
    }

    /// The label of a task, unless it is over.
    pub fn label(&self, task: TaskId) -> Option<L> {
        let slab = self.tasks.borrow();
        slab.slots
            .get(task.0 as usize)?
            .as_ref()
            .map(|task| task.label)
    }

    /// Puts a task back that was not run after all, but is to be later: it need not be woken again.
    pub fn put_back(&self, task: TaskId) {
        if let Some(Some(task)) = self.tasks.borrow().slots.get(task.0 as usize) {
            task.wake.set_queueing(false);
        }
    }

    /// Runs a task where it lies, until it waits or ends. While it runs, nothing can be added or dropped.
    pub fn run(&self, task: TaskId) {
        let index = task.0 as usize;
        let mut slab = self.tasks.borrow_mut();
        if let Some(Some(entry)) = slab.slots.get_mut(index) {
            let label = entry.label;
            self.enter(Started { task, label });
            if entry.poll() == Poll::Ready(()) {
                self.ended(slab, index);
            }
            self.runs.set(false);
        }
    }

    #[inline]
    fn enter(&self, task: Started<L>) {
        self.latest.set(Some(task));
        self.runs.set(true);
    }

    /// The task whose code runs, or ran when it panicked.
    pub fn running(&self) -> Option<Started<L>> {
        self.latest.get().filter(|_| self.runs.get())
    }

    /// Whether another thread has woken a task.
    pub fn strayed(&self) -> bool {
        self.wakes.strayed()
    }

    /// From now on, what happens is the doing of the task that ran last.
    pub fn blame_latest(&self) {
        self.runs.set(true);
    }

    #[cold]
    fn ended(&self, mut slab: RefMut<'_, Slab<L>>, index: usize) {
        let finished = self.retire(&mut slab, index);
        slab.free.push(index as u32);
        // Outside the borrow: what a future owns may do things when it is dropped.
        drop(slab);
        if let Some(finished) = finished {
            self.let_go(finished);
        }
    }

    fn let_go(&self, finished: Task<L>) {
        drop(finished.future);
        self.wakes.keep(finished.wake);
    }

    /// Runs a task until it waits or ends. Does nothing for one that is over.
    pub fn poll(&self, task: TaskId) {
        if self.start(task).is_some() {
            self.run(task);
        }
    }

    /// Drops every task with a label that is chosen, as a crash does. If one panics meanwhile, the others are dropped,
    /// too.
    pub fn drop_tasks(&self, chosen: impl Fn(L) -> bool) {
        let mut gone = Vec::new();
        {
            let mut slab = self.tasks.borrow_mut();
            for index in 0..slab.slots.len() {
                if slab.slots[index]
                    .as_ref()
                    .is_some_and(|task| chosen(task.label))
                {
                    let task = self.retire(&mut slab, index);
                    gone.extend(task.map(|task| (TaskId(index as u32), task)));
                    slab.free.push(index as u32);
                }
            }
        }
        let mut panicked = None;
        for (task, entry) in gone {
            let label = entry.label;
            self.enter(Started { task, label });
            match dropped(entry.future) {
                Ok(()) => self.wakes.keep(entry.wake),
                Err(payload) => drop(panicked.get_or_insert((payload, Started { task, label }))),
            }
            self.runs.set(false);
        }
        if let Some((payload, by)) = panicked {
            self.enter(by);
            resume_unwind(payload);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::future::{pending, poll_fn};
    use std::rc::Rc;
    use std::task::Waker;

    use futures_lite::future::yield_now;

    use super::*;

    fn run(executor: &Executor<u8>) {
        let mut ready = Vec::new();
        loop {
            executor.drain_ready(&mut ready);
            if ready.is_empty() {
                return;
            }
            for task in ready.drain(..) {
                executor.poll(task);
            }
        }
    }

    #[test]
    fn tasks_run_in_the_order_in_which_they_were_woken() {
        let executor = Executor::default();
        let order = Rc::new(RefCell::new(Vec::new()));
        for name in 0..3 {
            let order = Rc::clone(&order);
            executor.spawn(
                name,
                Box::pin(async move {
                    order.borrow_mut().push(name);
                    yield_now().await;
                    order.borrow_mut().push(name);
                }),
            );
        }
        run(&executor);
        assert_eq!(*order.borrow(), [0, 1, 2, 0, 1, 2]);
    }

    /// A task that leaves its waker behind when it ends.
    fn left_behind(executor: &Executor<u8>) -> Waker {
        let left = Rc::new(RefCell::new(None));
        let leaves = Rc::clone(&left);
        let task = poll_fn(move |context| {
            *leaves.borrow_mut() = Some(context.waker().clone());
            Poll::Ready(())
        });
        executor.spawn(0, Box::pin(task));
        run(executor);
        left.take().expect("it has run")
    }

    #[test]
    fn the_waker_of_a_task_that_is_over_wakes_nothing() {
        let executor = Executor::default();
        let old = left_behind(&executor);
        executor.spawn(0, Box::pin(pending()));
        run(&executor);
        old.wake_by_ref();
        assert!(!executor.has_ready());
        drop(executor);

        let next = Executor::<u8>::default();
        next.spawn(0, Box::pin(pending()));
        run(&next);
        old.wake_by_ref();
        assert!(!next.has_ready());
    }

    #[test]
    fn an_unshared_waker_serves_the_next_executor() {
        let address = |waker: Waker| waker.data().addr();
        let executor = Executor::default();
        let first = address(left_behind(&executor));
        assert_eq!(address(left_behind(&executor)), first);
        drop(executor);
        assert_eq!(address(left_behind(&Executor::default())), first);
    }

    #[test]
    fn a_dropped_task_never_runs_again_and_frees_what_it_owns() {
        let executor = Executor::default();
        let runs = Rc::new(Cell::new(0));
        for label in [1, 2] {
            let runs = Rc::clone(&runs);
            executor.spawn(
                label,
                Box::pin(async move {
                    runs.set(runs.get() + 1);
                    yield_now().await;
                    runs.set(runs.get() + 1);
                }),
            );
        }
        executor.drop_tasks(|label| label == 1);
        run(&executor);
        assert_eq!(runs.get(), 2);
        assert_eq!(Rc::strong_count(&runs), 1);
    }
}
