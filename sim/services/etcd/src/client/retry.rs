//! Calls with one answer: which are tried once more, and when.

use std::time::Duration;

use picklock_machines::ConnectionId;

use super::state::{Call, CallId, CallState, Client, Output, Turn};
use crate::rpc::{ClientBody, Request, Response, ResponseHeader};
use crate::rpctypes::{self, Code, Status};

/// How often a call is tried at most.
const MAX_TRIES: u32 = 100;
/// How long it waits after a round of a quorum of the endpoints, with a tenth more or less.
const WAIT_BETWEEN: Duration = Duration::from_millis(25);

/// Whether a call may be sent again though it may have been done.
fn is_repeatable(request: &Request) -> bool {
    match request {
        Request::Range(_)
        | Request::LeaseGrant(..)
        | Request::LeaseRevoke(_)
        | Request::LeaseTimeToLive(..)
        | Request::LeaseLeases => true,
        Request::Put(_)
        | Request::DeleteRange(_)
        | Request::Txn(_)
        | Request::Compact(_)
        | Request::Lock(..)
        | Request::Unlock(_)
        | Request::Campaign(..)
        | Request::Proclaim(..)
        | Request::Resign(_)
        | Request::Leader(_) => false,
    }
}

impl Client {
    pub(super) fn try_call(&mut self, turn: &mut Turn, id: CallId, mut call: Call) {
        let Some(place) = self.pick() else {
            return self.try_failed(turn, id, call, rpctypes::NO_CONNECTION);
        };
        self.send(turn, place, ClientBody::Unary(call.request.clone()));
        call.state = CallState::Sent(place.0, place.1);
        self.calls.insert(id, call);
    }

    fn try_failed(&mut self, turn: &mut Turn, id: CallId, mut call: Call, status: Status) {
        call.attempt += 1;
        let nothing_sent = status == rpctypes::NO_CONNECTION;
        let is_safe = nothing_sent || is_repeatable(&call.request);
        if status.code != Code::Unavailable || !is_safe || call.attempt >= MAX_TRIES {
            return turn.out.push(Output::Answered(id, Err(status)));
        }
        let quorum = self.settings.endpoints.len() as u32 / 2 + 1;
        let wait = if call.attempt.is_multiple_of(quorum) {
            // Ninety to a hundred and ten hundredths of it.
            WAIT_BETWEEN * (90 + turn.chance.choose(21)) / 100
        } else {
            Duration::ZERO
        };
        call.state = CallState::Waits(turn.now + wait);
        self.calls.insert(id, call);
    }

    /// A call that was sent has an answer.
    pub(super) fn call_answered(
        &mut self,
        turn: &mut Turn,
        place: (ConnectionId, u32),
        result: Result<(ResponseHeader, Response), Status>,
    ) {
        let sent = CallState::Sent(place.0, place.1);
        let mut calls = self.calls.iter();
        let Some(id) = calls
            .find(|(_, call)| call.state == sent)
            .map(|(id, _)| *id)
        else {
            return;
        };
        let Some(call) = self.calls.remove(&id) else {
            return;
        };
        match result {
            Ok(response) => turn.out.push(Output::Answered(id, Ok(response))),
            Err(status) => self.try_failed(turn, id, call, status),
        }
    }

    /// A connection is gone: calls that were sent on it may have been done.
    pub(super) fn calls_broken(&mut self, turn: &mut Turn, connection: ConnectionId) {
        let calls = self.calls.values().filter_map(|call| match call.state {
            CallState::Sent(at, number) if at == connection => Some(number),
            CallState::Sent(..) | CallState::Waits(_) => None,
        });
        for number in calls.collect::<Vec<u32>>() {
            self.call_answered(turn, (connection, number), Err(rpctypes::CONNECTION_LOST));
        }
    }

    /// A caller has given up, or its time is over.
    pub(super) fn cancel_call(&mut self, turn: &mut Turn, id: CallId) {
        if let Some(Call {
            state: CallState::Sent(connection, call),
            ..
        }) = self.calls.remove(&id)
        {
            self.send(turn, (connection, call), ClientBody::Cancel);
        }
    }

    pub(super) fn calls_due(&mut self, turn: &mut Turn) {
        let late = self
            .calls
            .iter()
            .filter(|(_, call)| call.deadline <= turn.now);
        for id in late.map(|(id, _)| *id).collect::<Vec<_>>() {
            self.cancel_call(turn, id);
            turn.out.push(Output::Answered(id, Err(rpctypes::DEADLINE)));
        }
        let due = self.calls.iter().filter(|(_, call)| match call.state {
            CallState::Waits(at) => at <= turn.now,
            CallState::Sent(..) => false,
        });
        for id in due.map(|(id, _)| *id).collect::<Vec<_>>() {
            if let Some(call) = self.calls.remove(&id) {
                self.try_call(turn, id, call);
            }
        }
    }
}
