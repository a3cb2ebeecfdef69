//! The event thread: it hands events to the application, one after the other.

use picklock_checker::ContenderId;
use picklock_clients::completion::Completion;
use picklock_clients::zookeeper::{EventType, Path, Reply, WatchedEvent, Watcher};

use super::Client;
use crate::client_profile::EventThread as Kind;

/// The caller of a request.
pub struct Caller {
    completion: Completion<Reply>,
    in_background: bool,
    /// Which of the tasks that share the handle it is. It takes no more room than there is anyway.
    task: ContenderId,
}

/// The task of a handle that is not shared.
const NO_TASK: ContenderId = ContenderId(u32::MAX);

impl Caller {
    /// A call that waits for the answer.
    pub fn waiting(completion: Completion<Reply>) -> Self {
        let in_background = false;
        Self {
            completion,
            in_background,
            task: NO_TASK,
        }
    }

    /// A callback that gets the answer, in turn with events.
    pub fn in_background(completion: Completion<Reply>) -> Self {
        let in_background = true;
        Self {
            completion,
            in_background,
            task: NO_TASK,
        }
    }

    /// The same, of one of the tasks that share the handle.
    #[must_use]
    pub fn of(self, task: ContenderId) -> Self {
        Self { task, ..self }
    }

    /// Which of the tasks that share the handle it is.
    pub(super) fn task(&self) -> Option<ContenderId> {
        (self.task != NO_TASK).then_some(self.task)
    }

    /// Whether it has not dropped the answer.
    pub(super) fn awaits_reply(&self) -> bool {
        self.completion.is_awaited()
    }

    /// Is answered without any ado.
    pub(super) fn answer(self, reply: Reply) {
        self.completion.complete(reply);
    }
}

/// An event or an answer that waits for the event thread.
enum QueuedEvent {
    Event(Watcher, WatchedEvent),
    Answer(Completion<Reply>, Reply),
}

/// Hands out events, and the answers to what was asked in the background, in the order in which they have come. While a
/// callback of the application does not return, later ones wait. Their watchers were settled when they came: a watch
/// that has fired is gone, though its event is not delivered yet.
#[derive(Default)]
pub(super) struct EventThread {
    /// What a callback that does not return holds up, if there is one.
    blocked: Option<Box<Blocked>>,
}

/// What is held up, and what has come meanwhile.
struct Blocked {
    kind: Kind,
    queue: Vec<QueuedEvent>,
}

impl EventThread {
    /// A watcher of a node is to be told.
    #[inline]
    pub(super) fn queue_event(&mut self, watcher: &Watcher, event: WatchedEvent) {
        match &mut self.blocked {
            None => watcher.deliver(event),
            Some(blocked) => blocked
                .queue
                .push(QueuedEvent::Event(watcher.clone(), event)),
        }
    }

    /// A watcher of the session is to be told.
    pub(super) fn queue_session_event(&mut self, watcher: &Watcher, event: WatchedEvent) {
        match self.blocked_kind() {
            None | Some(Kind::WatchersOnly | Kind::Missing) => watcher.deliver(event),
            Some(Kind::Everything) => self.queue_event(watcher, event),
        }
    }

    /// Answers a caller: at once if it waits, a callback in its turn.
    #[inline(always)]
    pub(super) fn answer(&mut self, caller: Caller, reply: Reply) {
        match &mut self.blocked {
            Some(blocked) if caller.in_background && blocked.kind == Kind::Everything => {
                blocked
                    .queue
                    .push(QueuedEvent::Answer(caller.completion, reply));
            }
            _ => caller.answer(reply),
        }
    }

    fn blocked_kind(&self) -> Option<Kind> {
        self.blocked.as_ref().map(|blocked| blocked.kind)
    }
}

impl Client {
    /// A callback of the application has been called, and does not return.
    pub fn block_events(&mut self) {
        let kind = self.settings.library.event_thread();
        if kind != Kind::Missing && self.events.blocked.is_none() {
            let queue = Vec::new();
            self.events.blocked = Some(Box::new(Blocked { kind, queue }));
        }
    }

    /// The callback has returned: the queued events are delivered.
    pub fn unblock_events(&mut self) {
        let blocked = self.events.blocked.take();
        for news in blocked.into_iter().flat_map(|blocked| blocked.queue) {
            match news {
                QueuedEvent::Event(watcher, event) => {
                    if !watcher.is_forgotten() {
                        watcher.deliver(event);
                    }
                }
                QueuedEvent::Answer(completion, reply) => completion.complete(reply),
            }
        }
    }

    /// Whether a watcher waits for an event of a node: the watch of another was dropped.
    pub fn listens_for(&self, kind: EventType, path: &Path) -> bool {
        self.watches.listens_for(kind, path)
    }

    /// Whether a callback of the application does not return.
    pub fn events_are_blocked(&self) -> bool {
        self.events.blocked.is_some()
    }
}
