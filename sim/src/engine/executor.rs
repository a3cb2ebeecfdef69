//! The executor: runs the contenders' code, one task at a time, in an order that can be chosen.

use std::cell::{Cell, RefCell, RefMut};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};
use std::task::{Context, Poll, Wake, Waker};

use picklock_algorithms::env::LocalFuture;

use super::ahead::ask_for;

/// A task, by its place in the slab. Places are used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TaskId(pub u32);

/// A single-threaded executor: tasks in a slab, and a list of those that are ready.
pub struct Executor<L> {
    tasks: RefCell<Slab<L>>,
    ready: Arc<Ready>,
    /// Tasks that were ready before one of them went away, and whether there are any.
    spilled: RefCell<Vec<TaskId>>,
    has_spilled: Cell<bool>,
}

struct Slab<L> {
    slots: Vec<Option<Task<L>>>,
    free: Vec<u32>,
}

struct Task<L> {
    label: L,
    wake: Arc<TaskWake>,
    future: LocalFuture<'static, ()>,
    waker: Waker,
}

/// A task that is about to run.
pub struct Started<L> {
    /// Which.
    pub task: TaskId,
    /// What it was labelled with.
    pub label: L,
}

impl<L: Copy> Task<L> {
    #[inline]
    fn start(&self, task: TaskId) -> Started<L> {
        self.wake.queued.store(false, Relaxed);
        let label = self.label;
        Started { task, label }
    }

    #[inline]
    fn poll(&mut self) -> Poll<()> {
        let mut context = Context::from_waker(&self.waker);
        self.future.as_mut().poll(&mut context)
    }
}

/// Most executors have no more tasks than these.
const USUAL: usize = 8;

/// The end of the list.
const NONE: u32 = u32::MAX;

/// The task that was woken last; each knows which was before it.
///
/// A waker must be `Send` and `Sync`, so this is atomic. But all of a simulation runs on one thread, and so do its
/// wakers: relaxed loads and stores, which cost nothing, are enough. A waker that strayed to another thread could lose
/// a wake-up, and nothing worse.
struct Ready(AtomicU32);

struct TaskWake {
    task: TaskId,
    /// It is in the list, or over: waking it does nothing.
    queued: AtomicBool,
    before: AtomicU32,
    ready: Arc<Ready>,
}

impl Wake for TaskWake {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if self.queued.load(Relaxed) {
            return;
        }
        self.queued.store(true, Relaxed);
        self.before.store(self.ready.0.load(Relaxed), Relaxed);
        self.ready.0.store(self.task.0, Relaxed);
    }
}

impl<L> Default for Executor<L> {
    fn default() -> Self {
        Self {
            tasks: RefCell::new(Slab {
                slots: Vec::with_capacity(USUAL),
                free: Vec::with_capacity(USUAL),
            }),
            ready: Arc::new(Ready(AtomicU32::new(NONE))),
            spilled: RefCell::default(),
            has_spilled: Cell::new(false),
        }
    }
}

impl<L: Copy> Executor<L> {
    /// Adds a task, which is ready at once.
    pub fn spawn(&self, label: L, future: LocalFuture<'static, ()>) -> TaskId {
        let mut slab = self.tasks.borrow_mut();
        let place = slab.free.pop().unwrap_or(slab.slots.len() as u32);
        let task = TaskId(place);
        let wake = Arc::new(TaskWake {
            task,
            queued: AtomicBool::new(false),
            before: AtomicU32::new(NONE),
            ready: Arc::clone(&self.ready),
        });
        let waker = Waker::from(Arc::clone(&wake));
        wake.wake_by_ref();
        let entry = Some(Task {
            label,
            wake,
            future,
            waker,
        });
        if place as usize == slab.slots.len() {
            slab.slots.push(entry);
        } else {
            slab.slots[place as usize] = entry;
        }
        task
    }

    /// Whether a task has become ready.
    #[inline]
    pub fn has_ready(&self) -> bool {
        self.ready.0.load(Relaxed) != NONE || self.has_spilled.get()
    }

    /// Moves the tasks that have become ready, in the order in which they were woken, to the end of `into`.
    pub fn drain_ready(&self, into: &mut Vec<TaskId>) {
        if self.has_spilled.take() {
            into.append(&mut self.spilled.borrow_mut());
        }
        if self.ready.0.load(Relaxed) != NONE {
            self.follow_ready(&self.tasks.borrow(), into);
        }
    }

    /// Empties the list of the ready: it leads through the slab, so before a task goes away.
    fn follow_ready(&self, slab: &Slab<L>, into: &mut Vec<TaskId>) {
        let start = into.len();
        let mut next = self.ready.0.load(Relaxed);
        while next != NONE {
            into.push(TaskId(next));
            let task = slab.slots.get(next as usize).and_then(Option::as_ref);
            next = task.map_or(NONE, |task| task.wake.before.load(Relaxed));
        }
        self.ready.0.store(NONE, Relaxed);
        into[start..].reverse();
    }

    fn retire(&self, slab: &mut Slab<L>, place: usize) -> Option<Task<L>> {
        let mut spilled = self.spilled.borrow_mut();
        self.follow_ready(slab, &mut spilled);
        self.has_spilled.set(!spilled.is_empty());
        let task = slab.slots[place].take()?;
        // Nobody will take it from the list, so nothing puts it there again.
        task.wake.queued.store(true, Relaxed);
        Some(task)
    }

    /// Runs the one task that has become ready, until it waits or ends, and answers its label; `None` if there is none,
    /// or if there are several.
    #[inline]
    pub fn run_only(&self) -> Option<L> {
        let place = self.ready.0.load(Relaxed);
        if place == NONE || self.has_spilled.get() {
            return None;
        }
        let mut slab = self.tasks.borrow_mut();
        let task = slab.slots.get_mut(place as usize)?.as_mut()?;
        if task.wake.before.load(Relaxed) != NONE {
            return None;
        }
        self.ready.0.store(NONE, Relaxed);
        let label = task.start(TaskId(place)).label;
        if task.poll() == Poll::Ready(()) {
            self.ended(slab, place as usize);
        }
        Some(label)
    }

    /// Asks for the memory of a task that will run soon: first for its place, and then for what is there.
    pub fn ask_for_place(&self, task: TaskId) {
        if let Some(place) = self.tasks.borrow().slots.get(task.0 as usize) {
            ask_for(place);
        }
    }

    /// Asks for the memory of a task whose place was asked for.
    pub fn ask_for(&self, task: TaskId) {
        let slab = self.tasks.borrow();
        if let Some(Some(task)) = slab.slots.get(task.0 as usize) {
            ask_for(&*task.wake);
            ask_for(&*task.future);
        }
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
            task.wake.queued.store(true, Relaxed);
        }
    }

    /// Runs a task where it lies, until it waits or ends. While it runs, nothing can be added or dropped.
    pub fn run(&self, task: TaskId) {
        let place = task.0 as usize;
        let mut slab = self.tasks.borrow_mut();
        if let Some(Some(task)) = slab.slots.get_mut(place)
            && task.poll() == Poll::Ready(())
        {
            self.ended(slab, place);
        }
    }

    #[cold]
    fn ended(&self, mut slab: RefMut<'_, Slab<L>>, place: usize) {
        let finished = self.retire(&mut slab, place);
        slab.free.push(place as u32);
        // Outside the borrow: what a future owns may do things when it is dropped.
        drop(slab);
        drop(finished);
    }

    /// Runs a task until it waits or ends. Does nothing for one that is over.
    pub fn poll(&self, task: TaskId) {
        if self.start(task).is_some() {
            self.run(task);
        }
    }

    /// Drops every task with a label that is chosen, as a crash does.
    pub fn drop_tasks(&self, chosen: impl Fn(L) -> bool) {
        let mut dropped = Vec::new();
        {
            let mut slab = self.tasks.borrow_mut();
            for place in 0..slab.slots.len() {
                if slab.slots[place]
                    .as_ref()
                    .is_some_and(|task| chosen(task.label))
                {
                    dropped.push(self.retire(&mut slab, place));
                    slab.free.push(place as u32);
                }
            }
        }
        drop(dropped);
    }
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

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
