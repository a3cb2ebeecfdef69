//! Calls of a client: which of them are under way, what is repeated, and what they have come to.

use std::rc::Rc;

use picklock_clients::chubby::{
    ChubbyError, ChubbyResult, ClientBody, HandleData, HandleId, OpenOptions, Request, Response,
    SessionState,
};
use picklock_machines::ConnectionId;

use super::{Client, Output};

/// A call that has no answer, or whose answer waits for the session to be safe.
pub(super) struct Call {
    pub handle: HandleId,
    pub request: Request,
    pub is_sent: bool,
    /// Whether it was sent before, by another connection or to another master.
    pub is_repeated: bool,
    pub answer: Option<ChubbyResult<Response>>,
}

impl Call {
    fn new(handle: HandleId, request: Request) -> Self {
        Self {
            handle,
            request,
            is_sent: false,
            is_repeated: false,
            answer: None,
        }
    }

    /// The handle as it is shown with the call; `None` before it is open. One that is about to be opened, or that was
    /// given up before it was, is known by its number alone.
    fn handle_data(&self, opened: Option<HandleData>) -> Option<HandleData> {
        let (name, options) = match (&self.request, opened) {
            (_, Some(opened)) => return Some(opened),
            (Request::Open(name, options), None) => (Rc::clone(name), *options),
            (Request::Close, None) => ("".into(), OpenOptions::default()),
            (_, None) => return None,
        };
        Some(HandleData {
            id: self.handle,
            name,
            options,
            ..HandleData::default()
        })
    }
}

impl Client {
    pub(super) fn on_call(
        &mut self,
        number: u32,
        handle: HandleId,
        request: Request,
        out: &mut Vec<Output>,
    ) {
        if let Request::Open(..) = request {
            self.handles.insert(handle, None);
            self.session.is_wanted = true;
        }
        let error = match self.handles.contains_key(&handle) {
            false => Some(ChubbyError::SessionExpired),
            true if self.poisoned.contains(&handle) => Some(ChubbyError::InvalidHandle),
            true => None,
        };
        if let Some(error) = error {
            out.push(Output::Answered(number, Err(error)));
            return;
        }
        self.calls.insert(number, Call::new(handle, request));
    }

    pub(super) fn close(&mut self, handle: HandleId) {
        self.calls.retain(|_, call| call.handle != handle);
        if self.handles.contains_key(&handle) && !self.is_closing(handle) {
            let number = self.new_number();
            self.calls.insert(number, Call::new(handle, Request::Close));
        }
    }

    fn is_closing(&self, handle: HandleId) -> bool {
        let mut calls = self.calls.values();
        calls.any(|call| call.handle == handle && call.request == Request::Close)
    }

    pub(super) fn poison(&mut self, handle: HandleId, out: &mut Vec<Output>) {
        self.poisoned.insert(handle);
        let is_its = |call: &Call| call.handle == handle && call.request != Request::Close;
        let calls = self.calls.iter().filter(|(_, call)| is_its(call));
        let error = Err(ChubbyError::InvalidHandle);
        out.extend(calls.map(|(number, _)| Output::Answered(*number, error.clone())));
        self.calls.retain(|_, call| !is_its(call));
    }

    /// An answer to a call. While the session is in jeopardy its caller waits on.
    pub(super) fn answered(
        &mut self,
        number: u32,
        answer: ChubbyResult<Response>,
        out: &mut Vec<Output>,
    ) {
        let Some(call) = self.calls.get_mut(&number) else {
            return;
        };
        let is_release = call.request == Request::Release && call.is_repeated;
        let answer = match answer {
            // The first one was carried out, and its answer was lost.
            Err(ChubbyError::NotHeld) if is_release => Ok(Response::Done(true)),
            answer => answer,
        };
        match &answer {
            Ok(Response::Opened(data)) => {
                self.handles.insert(call.handle, Some(data.clone()));
            }
            _ if call.request == Request::Close => {
                self.handles.remove(&call.handle);
                self.poisoned.remove(&call.handle);
            }
            _ => {}
        }
        call.answer = Some(answer);
        if self.session.state == SessionState::Safe {
            self.give_answers(out);
        }
    }

    pub(super) fn give_answers(&mut self, out: &mut Vec<Output>) {
        let answers = self.calls.iter();
        let answers = answers.filter_map(|(number, call)| Some((*number, call.answer.clone()?)));
        out.extend(answers.map(|(number, answer)| Output::Answered(number, answer)));
        self.calls.retain(|_, call| call.answer.is_none());
    }

    /// What was sent has no answer: it is sent again.
    pub(super) fn repeat_calls(&mut self) {
        for call in self.calls.values_mut().filter(|call| call.answer.is_none()) {
            call.is_repeated |= std::mem::take(&mut call.is_sent);
        }
    }

    /// Sends what was not sent to this master.
    pub(super) fn send_calls(&mut self, connection: ConnectionId, out: &mut Vec<Output>) {
        for (number, call) in self.calls.iter_mut().filter(|(_, call)| !call.is_sent) {
            let opened = self.handles.get(&call.handle).cloned().flatten();
            if let Some(data) = call.handle_data(opened) {
                call.is_sent = true;
                let body = ClientBody::Call(data, call.request.clone());
                let message = self.session.message(*number, body);
                out.push(Output::Send(connection, message));
            }
        }
    }
}
