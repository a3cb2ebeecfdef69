//! What faults make of single messages: some are lost, some come late.

use std::fmt::Display;

use super::SimulatedService;
use super::triggers::{Moment, Occasion};
use super::{MessageFate, World};
use crate::network::{ConnectionId, RequestId};
use crate::trace::MessageDirection::ToServer;
use crate::trace::MessageStep::{Lost, Sent};

impl<S: SimulatedService> World<S> {
    /// A client sends a request. By how much it comes late; `None` if it is lost, and its connection with it.
    #[inline(always)]
    pub(crate) fn sends(&mut self, connection: ConnectionId, request: &dyn Display) -> Option<u64> {
        self.trace(connection, (ToServer, Sent), request);
        match self.request_fate.take() {
            None => Some(0),
            Some(MessageFate::Late(by)) => Some(by),
            Some(MessageFate::Lost) => {
                self.trace(connection, (ToServer, Lost), request);
                None
            }
        }
    }

    /// What becomes of an answer, or of a message of a channel, that is being sent.
    pub(crate) fn fate_of(
        &mut self,
        by: u32,
        occasion: Occasion,
        request: RequestId,
    ) -> Option<MessageFate> {
        if !self.watches_requests() {
            return None;
        }
        self.answer_sets_out(by, request, occasion);
        self.answering = Some(request);
        self.moment(Moment::new(by, occasion).about(request));
        self.answering = None;
        self.planned_fate_of_reply(request)
    }

    /// What a fault has planned for an answer that is being sent.
    pub(crate) fn planned_fate_of_reply(&mut self, request: RequestId) -> Option<MessageFate> {
        let mut doomed = self.doomed_replies.iter();
        let doomed = doomed.position(|(known, _)| *known == request);
        self.reply_fate
            .take()
            .or_else(|| doomed.map(|index| self.doomed_replies.remove(index).1))
    }

    /// Plans what becomes of the answer to a request.
    pub(crate) fn plan_fate_of_reply(&mut self, request: Option<RequestId>, fate: MessageFate) {
        match request {
            // The answer is being sent at this very moment.
            Some(request) if self.answering == Some(request) => self.reply_fate = Some(fate),
            Some(request) => self.doomed_replies.push((request, fate)),
            None => {}
        }
    }
}
