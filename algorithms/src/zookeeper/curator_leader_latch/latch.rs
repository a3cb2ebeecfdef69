//! One latch, from its start until it is closed.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use super::super::curator_mutex::after_mark;
use super::super::queue::child;
use crate::clients::completion::{Completion, completion};
use crate::clients::curator::{ConnectionState, Curator, ErrorPolicy, Listener};
use crate::clients::zookeeper::{EventType, Path, Watch, ZkError, ZooKeeper};
use crate::select;

/// What stands before the sequence number of a node.
const LOCK_NAME: &str = "latch-";

/// How a sibling deviates from Curator.
#[derive(Clone, Copy)]
pub(crate) struct Deviation {
    /// Whether a lost connection ends a term.
    pub(crate) policy: ErrorPolicy,
    /// Whether the first in the list asks if its node is of the present session.
    pub(crate) checks_owner: bool,
    /// Whether it leads by its present node alone: not by one that it has begun to delete.
    pub(crate) own_node_alone: bool,
}

impl Deviation {
    /// Curator as it is.
    pub(crate) const NONE: Self = Self {
        policy: ErrorPolicy::Standard,
        checks_owner: true,
        own_node_alone: false,
    };
}

/// What its callbacks share.
pub(super) struct Latch {
    client: Curator,
    latch_path: Path,
    deviation: Deviation,
    our_path: RefCell<Option<Path>>,
    /// Our node when it came to lead last.
    last_path_is_leader: RefCell<Path>,
    has_leadership: Cell<bool>,
    /// How often it has come to lead.
    terms: Cell<u64>,
    is_started: Cell<bool>,
    /// How many of its nodes it has not deleted yet.
    deletions: Cell<u32>,
    /// Tasks that wait for a change of the last four.
    waiters: RefCell<Vec<Completion<()>>>,
}

impl Latch {
    /// Step 1.
    pub(super) fn start(client: Curator, latch_path: Path, deviation: Deviation) -> Rc<Self> {
        let latch = Rc::new(Self {
            client,
            latch_path,
            deviation,
            our_path: RefCell::default(),
            last_path_is_leader: RefCell::default(),
            has_leadership: Cell::new(false),
            terms: Cell::new(0),
            is_started: Cell::new(true),
            deletions: Cell::new(0),
            waiters: RefCell::default(),
        });
        latch.spawn(async move |latch| {
            latch.client.block_until_connected().await;
            if latch.is_started() {
                let listener = latch.client.listen();
                latch.reset();
                latch.listens(&listener).await;
            }
        });
        latch
    }

    pub(super) fn is_started(&self) -> bool {
        self.is_started.get()
    }

    /// The number of the term, and the node that leads, if it leads.
    pub(super) fn term(&self) -> Option<(u64, Path)> {
        let term = || (self.terms.get(), self.last_path_is_leader.borrow().clone());
        self.has_leadership.get().then(term)
    }

    /// Resolves when this term is over.
    pub(super) async fn term_is_over(&self, number: u64) {
        while self.has_leadership.get() && self.terms.get() == number {
            self.changed().await;
        }
    }

    /// Resolves at the next change.
    pub(super) async fn changed(&self) {
        let (told, changed) = completion();
        self.waiters.borrow_mut().push(told);
        changed.await;
    }

    /// Step 5.
    pub(super) fn close(self: &Rc<Self>) {
        self.is_started.set(false);
        self.set_node(None);
        self.set_leadership(false);
        self.notify_all();
    }

    /// Resolves when all that it has to delete is gone.
    pub(super) async fn nodes_deleted(&self) {
        while self.deletions.get() > 0 {
            self.changed().await;
        }
    }

    async fn closed(&self) {
        while self.is_started() {
            self.changed().await;
        }
    }

    /// Runs a callback when what it waits for is there.
    fn spawn<F: Future<Output = ()> + 'static>(
        self: &Rc<Self>,
        callback: impl FnOnce(Rc<Self>) -> F,
    ) {
        self.client.env().spawn(callback(Rc::clone(self)));
    }

    /// Step 4.
    async fn listens(self: &Rc<Self>, listener: &Listener) {
        loop {
            let told = async { Some(listener.next().await) };
            let closed = async {
                self.closed().await;
                None
            };
            match select(closed, told).await {
                Some(state) => self.handle_state_change(state),
                None => return,
            }
        }
    }

    fn handle_state_change(self: &Rc<Self>, state: ConnectionState) {
        let suspended_is_error = self.deviation.policy == ErrorPolicy::Standard;
        match state {
            ConnectionState::Reconnected => {
                if suspended_is_error || !self.has_leadership.get() {
                    self.get_children();
                }
            }
            ConnectionState::Suspended if !suspended_is_error => {}
            ConnectionState::Suspended | ConnectionState::Lost => self.set_leadership(false),
            ConnectionState::Connecting
            | ConnectionState::Connected
            | ConnectionState::ReadOnly => {}
        }
    }

    /// Step 2.
    fn reset(self: &Rc<Self>) {
        self.set_leadership(false);
        self.set_node(None);
        self.spawn(async move |latch| {
            let (client, path) = (&latch.client, &latch.latch_path);
            // What has failed is logged.
            if let Ok(made) = client.create_protected_in_background(path, LOCK_NAME).await {
                latch.set_node(Some(made));
                match latch.is_started() {
                    true => latch.get_children(),
                    false => latch.set_node(None),
                }
            }
        });
    }

    fn get_children(self: &Rc<Self>) {
        self.spawn(async move |latch| {
            let list = async |zk: &ZooKeeper| zk.children_with_stat(&latch.latch_path).await;
            match latch.client.call_in_background(list).await {
                Ok((children, _)) => latch.check_leadership(children.names().cloned().collect()),
                Err(ZkError::NoNode) => latch.reset(),
                Err(_) => {}
            }
        });
    }

    /// Step 3.
    fn check_leadership(self: &Rc<Self>, mut children: Vec<Rc<str>>) {
        children.sort_unstable_by(|a, b| after_mark(a, LOCK_NAME).cmp(after_mark(b, LOCK_NAME)));
        let our_path = self.our_path.borrow().clone().unwrap_or_default();
        let our_name = our_path.rsplit('/').next().unwrap_or_default();
        match children.iter().position(|name| **name == *our_name) {
            None => self.reset(),
            Some(0) if self.deviation.checks_owner => self.check_owner(our_path),
            Some(0) => self.leads(our_path),
            Some(our_index) => {
                self.set_leadership(false);
                self.watch(child(&self.latch_path, &children[our_index - 1]));
            }
        }
    }

    fn check_owner(self: &Rc<Self>, our_path: Path) {
        self.spawn(async move |latch| {
            let owner = async |zk: &ZooKeeper| Ok(zk.data(&our_path).await?.1.ephemeral_owner);
            let owner = latch.client.call_in_background(owner).await;
            match owner == Ok(latch.client.zookeeper().session()) {
                true => latch.leads(our_path),
                false => latch.reset(),
            }
        });
    }

    fn leads(&self, our_path: Path) {
        let is_ours = self.our_path.borrow().as_ref() == Some(&our_path);
        if self.deviation.own_node_alone && !is_ours {
            return;
        }
        self.last_path_is_leader.replace(our_path);
        self.set_leadership(true);
    }

    fn watch(self: &Rc<Self>, watch_path: Path) {
        self.spawn(async move |latch| {
            let watch = async |zk: &ZooKeeper| Ok(zk.data_and_watch(&watch_path).await?.2);
            let watched = latch.client.call_in_background(watch).await;
            match watched {
                Ok(watch) => select(latch.closed(), deleted(&watch)).await,
                Err(ZkError::NoNode) => {}
                Err(_) => return,
            }
            if latch.is_started() {
                latch.get_children();
            }
        });
    }

    fn set_leadership(&self, new_value: bool) {
        let old_value = self.has_leadership.replace(new_value);
        if !old_value && new_value {
            self.terms.set(self.terms.get() + 1);
        }
        if old_value != new_value {
            self.notify_all();
        }
    }

    fn set_node(self: &Rc<Self>, new_value: Option<Path>) {
        if let Some(old_path) = self.our_path.replace(new_value) {
            if self.deviation.own_node_alone {
                self.set_leadership(false);
            }
            self.deletions.set(self.deletions.get() + 1);
            self.spawn(async move |latch| {
                latch.client.delete_until_gone(&old_path).await;
                latch.deletions.set(latch.deletions.get() - 1);
                latch.notify_all();
            });
        }
    }

    fn notify_all(&self) {
        for waiter in self.waiters.take() {
            waiter.complete(());
        }
    }
}

/// Resolves when the node is deleted.
async fn deleted(watch: &Watch) {
    while watch.next().await.kind != EventType::NodeDeleted {}
}
