//! The executor: runs the contenders' code, one task at a time, in an order that can be chosen.

use std::cell::RefCell;
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

use picklock_algorithms::env::LocalFuture;

/// A task, by its place in the slab. Places are used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TaskId(pub u32);

/// A single-threaded executor: tasks in a slab, and a queue of those that are ready.
pub struct Executor<L> {
    tasks: RefCell<Slab<L>>,
    ready: Arc<Ready>,
}

struct Slab<L> {
    slots: Vec<Option<Task<L>>>,
    free: Vec<u32>,
}

struct Task<L> {
    label: L,
    /// Taken out while the task runs.
    body: Option<Body>,
}

struct Body {
    future: LocalFuture<'static, ()>,
    wake: Arc<TaskWake>,
    waker: Waker,
}

/// A waker must be `Send`, so this is a mutex; nobody ever waits for it.
#[derive(Default)]
struct Ready(Mutex<Vec<TaskId>>);

struct TaskWake {
    task: TaskId,
    queued: AtomicBool,
    ready: Arc<Ready>,
}

impl Wake for TaskWake {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if !self.queued.swap(true, Ordering::Relaxed) {
            self.ready
                .0
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .push(self.task);
        }
    }
}

impl<L> Default for Executor<L> {
    fn default() -> Self {
        let tasks = RefCell::new(Slab {
            slots: Vec::new(),
            free: Vec::new(),
        });
        Self {
            tasks,
            ready: Arc::default(),
        }
    }
}

impl<L: Copy> Executor<L> {
    /// Adds a task, which is ready at once.
    pub fn spawn(&self, label: L, future: LocalFuture<'static, ()>) -> TaskId {
        let mut slab = self.tasks.borrow_mut();
        let place = slab.free.pop().unwrap_or(slab.slots.len() as u32);
        let task = TaskId(place);
        let ready = Arc::clone(&self.ready);
        let wake = Arc::new(TaskWake {
            task,
            queued: AtomicBool::new(false),
            ready,
        });
        let waker = Waker::from(Arc::clone(&wake));
        let entry = Some(Task {
            label,
            body: Some(Body {
                future,
                wake,
                waker,
            }),
        });
        if place as usize == slab.slots.len() {
            slab.slots.push(entry);
        } else {
            slab.slots[place as usize] = entry;
        }
        if let Some(Task {
            body: Some(body), ..
        }) = &slab.slots[place as usize]
        {
            body.wake.wake_by_ref();
        }
        task
    }

    /// Moves the tasks that have become ready, in the order in which they were woken, to the end of `into`.
    pub fn drain_ready(&self, into: &mut Vec<TaskId>) {
        let mut ready = self.ready.0.lock().unwrap_or_else(PoisonError::into_inner);
        into.append(&mut ready);
    }

    /// What a task was labelled with; `None` if it is over.
    pub fn label(&self, task: TaskId) -> Option<L> {
        let slab = self.tasks.borrow();
        slab.slots
            .get(task.0 as usize)?
            .as_ref()
            .map(|task| task.label)
    }

    /// Runs a task until it waits or ends. Does nothing for one that is over.
    pub fn poll(&self, task: TaskId) {
        let place = task.0 as usize;
        let body = {
            let mut slab = self.tasks.borrow_mut();
            slab.slots
                .get_mut(place)
                .and_then(Option::as_mut)
                .and_then(|task| task.body.take())
        };
        let Some(mut body) = body else { return };
        body.wake.queued.store(false, Ordering::Relaxed);
        let poll = Pin::new(&mut body.future).poll(&mut Context::from_waker(&body.waker));
        let finished = {
            let mut slab = self.tasks.borrow_mut();
            match (poll, slab.slots[place].as_mut()) {
                (Poll::Pending, Some(task)) => {
                    task.body = Some(body);
                    None
                }
                // It is over, or was dropped while it ran.
                (Poll::Ready(()) | Poll::Pending, _) => {
                    slab.slots[place] = None;
                    slab.free.push(task.0);
                    Some(body)
                }
            }
        };
        // Outside the borrow: what a future owns may do things when it is dropped.
        drop(finished);
    }

    /// Drops every task with a label that is chosen, as a crash does.
    pub fn drop_tasks(&self, chosen: impl Fn(L) -> bool) {
        let mut dropped = Vec::new();
        {
            let mut slab = self.tasks.borrow_mut();
            let slab = &mut *slab;
            for (place, slot) in slab.slots.iter_mut().enumerate() {
                if slot.as_ref().is_some_and(|task| chosen(task.label)) {
                    // One that is running is put away when it comes back.
                    if let Some(task) = slot.take()
                        && task.body.is_some()
                    {
                        slab.free.push(place as u32);
                        dropped.push(task);
                    }
                }
            }
        }
        drop(dropped);
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
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
