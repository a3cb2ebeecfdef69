//! The list of tasks that are ready, and the waker of each task, which puts the task there.
//!
//! To make all this for every simulation would cost a small one more than to use it. So it stays for the next one on
//! the same thread, if no waker outside refers to it: nothing that a run does depends on it.

use std::cell::{Cell, RefCell};
use std::mem;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};
use std::task::{Wake, Waker};

/// The end of the list.
pub(super) const NONE: u32 = u32::MAX;
/// Most executors have no more tasks than these, and no more are kept.
pub(super) const USUAL: usize = 8;

thread_local! {
    static LAST: Cell<Option<Unused>> = const { Cell::new(None) };
}

/// The task that was woken last; each knows which was before it.
///
/// A waker must be `Send` and `Sync`, so this is atomic. But all of a simulation runs on one thread, and so do its
/// wakers: relaxed loads and stores, which cost nothing, are enough. A waker that strayed to another thread could lose
/// a wake-up, and nothing worse.
struct Ready {
    last: AtomicU32,
    /// The thread of the simulation.
    thread: usize,
    /// Another thread has woken a task.
    strayed: AtomicBool,
}

impl Ready {
    fn new() -> Self {
        Self {
            last: AtomicU32::new(NONE),
            thread: thread(),
            strayed: AtomicBool::new(false),
        }
    }
}

thread_local! {
    static HERE: Cell<u8> = const { Cell::new(0) };
}

/// A number that no other thread has at the same time.
#[inline]
fn thread() -> usize {
    HERE.with(|here| std::ptr::from_ref(here).addr())
}

/// It has a line of the cache to itself, without what counts who knows of it.
#[repr(align(64))]
struct Link {
    task: AtomicU32,
    /// It is in the list, or over: waking it does nothing.
    queued: AtomicBool,
    before: AtomicU32,
    ready: Arc<Ready>,
}

impl Wake for Link {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if self.queued.load(Relaxed) {
            return;
        }
        // Asked first: to the compiler it is a call, over which nothing else needs to be kept.
        let here = thread();
        let ready = &*self.ready;
        if ready.thread != here {
            ready.strayed.store(true, Relaxed);
        }
        self.queued.store(true, Relaxed);
        self.before.store(ready.last.load(Relaxed), Relaxed);
        ready.last.store(self.task.load(Relaxed), Relaxed);
    }
}

/// What wakes one task.
pub(super) struct TaskWake {
    link: Arc<Link>,
    pub waker: Waker,
}

impl TaskWake {
    fn new(ready: &Arc<Ready>) -> Self {
        let link = Arc::new(Link {
            task: AtomicU32::new(NONE),
            queued: AtomicBool::new(true),
            before: AtomicU32::new(NONE),
            ready: Arc::clone(ready),
        });
        let waker = Waker::from(Arc::clone(&link));
        Self { link, waker }
    }

    /// Whether no waker outside can wake the task.
    fn is_unknown(&self) -> bool {
        // Here and in its own waker.
        Arc::strong_count(&self.link) == 2
    }

    /// The task that was woken before this one.
    #[inline]
    pub fn before(&self) -> u32 {
        self.link.before.load(Relaxed)
    }

    /// From now on, the task is put into the list when it is woken, or is not.
    #[inline]
    pub fn set_queueing(&self, heed: bool) {
        self.link.queued.store(!heed, Relaxed);
    }
}

/// The list of the tasks that are ready, and what puts them there.
pub(super) struct Wakes {
    ready: Arc<Ready>,
    spare: RefCell<Vec<TaskWake>>,
}

/// The wakers of an executor that is gone. No task holds one, so the next executor uses them again.
struct Unused {
    ready: Arc<Ready>,
    spare: Vec<TaskWake>,
}

impl Default for Wakes {
    fn default() -> Self {
        let unused = LAST.try_with(Cell::take).ok().flatten();
        let unused = unused.unwrap_or_else(|| Unused {
            ready: Arc::new(Ready::new()),
            spare: Vec::with_capacity(USUAL),
        });
        Self {
            ready: unused.ready,
            spare: RefCell::new(unused.spare),
        }
    }
}

impl Wakes {
    /// The task that was woken last.
    #[inline]
    pub fn last(&self) -> u32 {
        self.ready.last.load(Relaxed)
    }

    /// Begins another list, with such an end.
    #[inline]
    pub fn begin(&self, end: u32) {
        self.ready.last.store(end, Relaxed);
    }

    /// Whether another thread has woken a task.
    pub fn strayed(&self) -> bool {
        self.ready.strayed.load(Relaxed)
    }

    /// What wakes a new task, which is ready at once.
    pub fn of_new(&self, task: u32) -> TaskWake {
        let mut spare = self.spare.borrow_mut();
        let wake = match spare.pop() {
            Some(wake) if wake.is_unknown() => wake,
            _ => TaskWake::new(&self.ready),
        };
        wake.link.task.store(task, Relaxed);
        wake.set_queueing(true);
        wake.waker.wake_by_ref();
        wake
    }

    /// Keeps what woke a task that is over.
    pub fn keep(&self, wake: TaskWake) {
        let mut spare = self.spare.borrow_mut();
        if spare.len() < USUAL {
            spare.push(wake);
        }
    }
}

impl Drop for Wakes {
    fn drop(&mut self) {
        let spare = mem::take(self.spare.get_mut());
        let known_here = Arc::strong_count(&self.ready) == spare.len() + 1;
        if known_here && spare.iter().all(TaskWake::is_unknown) {
            self.begin(NONE);
            self.ready.strayed.store(false, Relaxed);
            let ready = Arc::clone(&self.ready);
            // Where the thread is at its end, nothing comes after this.
            let _ = LAST.try_with(|last| last.set(Some(Unused { ready, spare })));
        }
    }
}
