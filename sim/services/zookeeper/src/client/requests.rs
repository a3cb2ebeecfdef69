//! Requests: numbered when sent, answered in that order, or lost together.

use std::mem;
use std::rc::Rc;

use picklock_checker::{ContenderId, ListTooLong, VirtualTime};
use picklock_clients::completion::Completion;
use picklock_clients::zookeeper::{Reply, Request, Response, SessionState, Watcher, ZkError, Zxid};

use super::connection::{Phase, after};
use super::event_thread::{Caller, EventThread};
use super::watch_registration::Registration;
use super::watches::ClientWatchManager;
use super::{Client, Output};
use crate::messages::{ClientMessage, ConnectionId, Xid};

/// The caller of a request that waits for the answer.
pub(super) struct Waiting {
    /// When it was asked.
    since: VirtualTime,
    registration: Option<Registration>,
    caller: Caller,
}

/// A request that waits for a connection.
pub(super) struct Unsent {
    ask: OutgoingRequest,
    waiting: Waiting,
}

enum OutgoingRequest {
    Request(Request),
    Close,
}

impl Waiting {
    /// Hands out the answer, once it is known what becomes of the watch.
    #[inline(always)]
    pub(super) fn answer(
        self,
        watches: &mut ClientWatchManager,
        events: &mut EventThread,
        reply: Reply,
    ) {
        let reply = match self.registration {
            Some(registration) => registration.settle(watches, events, reply),
            None => reply,
        };
        events.answer(self.caller, reply);
    }
}

impl Client {
    /// The application asks for something.
    #[inline]
    pub(super) fn request(
        &mut self,
        now: VirtualTime,
        request: Request,
        watcher: Option<Watcher>,
        caller: Caller,
        out: &mut Vec<Output>,
    ) {
        if self.state == SessionState::Closed {
            return caller.answer(Err(self.end()));
        }
        if self.closing {
            return caller.answer(Err(ZkError::ConnectionLoss));
        }
        let waiting = Waiting {
            since: now,
            registration: Registration::of(&request, watcher),
            caller,
        };
        self.send_or_keep(now, OutgoingRequest::Request(request), waiting, out);
    }

    /// Ends the session once what was asked before is answered.
    pub(super) fn close(
        &mut self,
        now: VirtualTime,
        completion: Completion<Reply>,
        out: &mut Vec<Output>,
    ) {
        if self.state == SessionState::Closed {
            return completion.complete(Err(self.end()));
        }
        if self.closing {
            return completion.complete(Err(ZkError::ConnectionLoss));
        }
        self.closing = true;
        if self.phase == Phase::Idle {
            // There is no session to end.
            self.fail_all(ZkError::ConnectionLoss);
            self.finish(out);
            return completion.complete(Ok(Response::Closed));
        }
        let waiting = Waiting {
            since: now,
            registration: None,
            caller: Caller::waiting(completion),
        };
        self.send_or_keep(now, OutgoingRequest::Close, waiting, out);
    }

    #[inline]
    fn send_or_keep(
        &mut self,
        now: VirtualTime,
        ask: OutgoingRequest,
        waiting: Waiting,
        out: &mut Vec<Output>,
    ) {
        match self.phase {
            Phase::Connected { connection } => self.send(now, connection, ask, waiting, out),
            Phase::Idle
            | Phase::Cleaning { .. }
            | Phase::Sleeping { .. }
            | Phase::Connecting
            | Phase::Greeting { .. }
            | Phase::Dying { .. }
            | Phase::Closed => self.unsent.push(Unsent { ask, waiting }),
        }
    }

    #[inline]
    fn send(
        &mut self,
        now: VirtualTime,
        connection: ConnectionId,
        ask: OutgoingRequest,
        waiting: Waiting,
        out: &mut Vec<Output>,
    ) {
        let xid = self.expect(now, waiting);
        let message = match ask {
            OutgoingRequest::Request(request) => ClientMessage::Request { xid, request },
            OutgoingRequest::Close => ClientMessage::Close { xid },
        };
        out.push(Output::Send {
            connection,
            message,
        });
    }

    /// Which of the tasks that share the handle waits for the answer to the request of this number.
    pub fn asked_by(&self, xid: Xid) -> Option<ContenderId> {
        self.waiting_for(xid)?.caller.task()
    }

    /// Whether the caller of the request of this number has not dropped its answer.
    pub fn awaits_reply(&self, xid: Xid) -> bool {
        let waiting = self.waiting_for(xid);
        waiting.is_some_and(|waiting| waiting.caller.awaits_reply())
    }

    fn waiting_for(&self, xid: Xid) -> Option<&Waiting> {
        let behind = self.next_xid.0.wrapping_sub(xid.0) as usize;
        let index = self.waiting.len().checked_sub(behind)?;
        self.waiting.get(index)
    }

    /// The answer to the request that is sent now is awaited: its number.
    #[inline(always)]
    fn expect(&mut self, now: VirtualTime, waiting: Waiting) -> Xid {
        let xid = self.next_xid;
        self.next_xid = xid.next();
        self.waiting.push(waiting);
        self.last_sent = now;
        xid
    }

    /// Says who the application is: at once if there is a connection, and on every one from then on.
    pub(super) fn authenticate(
        &mut self,
        now: VirtualTime,
        scheme: Rc<str>,
        secret: Rc<[u8]>,
        out: &mut Vec<Output>,
    ) {
        if self.state == SessionState::Closed {
            return;
        }
        self.auth_info.push((scheme, secret));
        if let Phase::Connected { connection } = self.phase {
            self.send_auth(now, connection, self.auth_info.len() - 1, out);
        }
    }

    /// Sends one of the identities that the application has added (`addAuthInfo`).
    pub(super) fn send_auth(
        &mut self,
        now: VirtualTime,
        connection: ConnectionId,
        index: usize,
        out: &mut Vec<Output>,
    ) {
        self.last_sent = now;
        let (scheme, secret) = self.auth_info[index].clone();
        out.push(Output::Send {
            connection,
            message: ClientMessage::Authenticate { scheme, secret },
        });
    }

    /// Why nothing can be asked any more.
    pub(super) fn end(&self) -> ZkError {
        if self.auth_failed {
            ZkError::AuthFailed
        } else {
            ZkError::SessionExpired
        }
    }

    /// Sends all that was asked for while there was no connection.
    pub(super) fn send_unsent(
        &mut self,
        now: VirtualTime,
        connection: ConnectionId,
        out: &mut Vec<Output>,
    ) {
        for Unsent { ask, waiting } in mem::take(&mut self.unsent) {
            self.send(now, connection, ask, waiting, out);
        }
    }

    /// Takes an answer. Answers come in the order of the requests; on a connection where they do
    /// not, nothing can be believed.
    #[inline]
    pub(super) fn reply(
        &mut self,
        now: VirtualTime,
        connection: ConnectionId,
        (xid, zxid): (Xid, Zxid),
        reply: Reply,
        out: &mut Vec<Output>,
    ) {
        let oldest = self.next_xid.0.wrapping_sub(self.waiting.len() as u32);
        if oldest != xid.0 {
            return self.give_up(now, connection, out);
        }
        let most = self.settings.jute_max_buffer;
        if let Ok(answer) = &reply
            && answer.is_too_long(most)
            && self.settings.library.reads_no_long_answers()
        {
            self.too_long = Some(Box::new(ListTooLong {
                children: answer.children() as u64,
                most: most.into(),
            }));
            return self.give_up(now, connection, out);
        }
        let Some(waiting) = self.take_oldest() else {
            return self.give_up(now, connection, out);
        };
        self.caught_up(zxid);
        waiting.answer(&mut self.watches, &mut self.events, reply);
        // Nothing is asked after the request to close, so the last answer is that to it.
        if self.closing && self.waiting.is_empty() {
            out.push(Output::Disconnect { connection });
            self.finish(out);
        }
    }

    /// The list that was too long to be read since this was asked last.
    pub fn take_too_long(&mut self) -> Option<Box<ListTooLong>> {
        self.too_long.take()
    }

    /// A reply tells how far the server has come. Notifications and pings do not.
    pub(super) fn caught_up(&mut self, zxid: Zxid) {
        if zxid != Zxid::default() {
            self.last_zxid = zxid;
        }
    }

    /// When the oldest request has waited for long enough.
    pub(super) fn request_ends_at(&self) -> VirtualTime {
        let Some(patience) = self.settings.request_timeout else {
            return VirtualTime::NEVER;
        };
        let sent = self.waiting.first();
        let oldest = sent.or_else(|| self.unsent.first().map(|unsent| &unsent.waiting));
        oldest.map_or(VirtualTime::NEVER, |oldest| after(oldest.since, patience))
    }

    /// The oldest request has waited for long enough: it fails, and the connection is given up.
    #[cold]
    pub(super) fn end_request(&mut self, now: VirtualTime, out: &mut Vec<Output>) {
        let oldest = self.take_oldest().or_else(|| {
            let is_there = !self.unsent.is_empty();
            is_there.then(|| self.unsent.remove(0).waiting)
        });
        if let Some(oldest) = oldest {
            let error = Err(ZkError::RequestTimeout);
            oldest.answer(&mut self.watches, &mut self.events, error);
        }
        match self.phase {
            Phase::Greeting { connection } | Phase::Connected { connection } => {
                self.give_up(now, connection, out);
            }
            Phase::Connecting => self.clean_up(now),
            Phase::Idle
            | Phase::Cleaning { .. }
            | Phase::Sleeping { .. }
            | Phase::Dying { .. }
            | Phase::Closed => {}
        }
    }

    /// Answers everything that was asked, sent or not, with this error.
    pub(super) fn fail_all(&mut self, error: ZkError) {
        self.fail_sent(error);
        self.fail_unsent(error);
    }

    /// Takes the request that was sent first of those without an answer.
    #[inline]
    fn take_oldest(&mut self) -> Option<Waiting> {
        match self.waiting.len() {
            // Mostly it is the only one, and none has to move.
            0 | 1 => self.waiting.pop(),
            _ => Some(self.waiting.remove(0)),
        }
    }

    pub(super) fn fail_sent(&mut self, error: ZkError) {
        for waiting in mem::take(&mut self.waiting) {
            waiting.answer(&mut self.watches, &mut self.events, Err(error));
        }
    }

    pub(super) fn fail_unsent(&mut self, error: ZkError) {
        for unsent in mem::take(&mut self.unsent) {
            let waiting = unsent.waiting;
            waiting.answer(&mut self.watches, &mut self.events, Err(error));
        }
    }
}
