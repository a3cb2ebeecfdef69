//! What faults make of single messages: some are lost, some come late.

use std::time::Duration;

use picklock_checker::time::whole_micros;

use super::SimulatedService;
use super::World;
use super::moment::{MessageFate, Moment, MomentKind};
use crate::network::RequestId;
use crate::plan::Fault;

impl<S: SimulatedService> World<S> {
    /// What becomes of a request that a client sends: by how much it comes late; `None` if it is lost, and its
    /// connection with it.
    #[inline(always)]
    pub(super) fn fate_of_request(&mut self) -> Option<u64> {
        match self.request_fate.take() {
            None => Some(0),
            Some(MessageFate::Late(by)) => {
                self.hold_off_calm(Duration::from_micros(by));
                Some(by)
            }
            Some(MessageFate::Lost | MessageFate::Swallowed) => None,
        }
    }

    /// What becomes of an answer, or of a message of a channel, that is being sent.
    #[inline]
    pub(crate) fn fate_of(
        &mut self,
        by: u32,
        kind: MomentKind,
        request: RequestId,
    ) -> Option<MessageFate> {
        if !self.watches_requests() {
            return None;
        }
        self.answer_sets_out(by, request, kind);
        let fate = self.moment(Moment::new(by, kind).about_answer(request));
        fate.or_else(|| self.planned_fate_of_reply(request))
    }

    /// What a fault has planned for an answer that is being sent.
    pub(crate) fn planned_fate_of_reply(&mut self, request: RequestId) -> Option<MessageFate> {
        let mut planned = self.planned_fates.iter();
        let index = planned.position(|(known, _)| *known == request);
        let fate = index.map(|index| self.planned_fates.remove(index).1);
        if let Some(MessageFate::Late(by)) = fate {
            self.hold_off_calm(Duration::from_micros(by));
        }
        fate
    }

    /// Plans what becomes of the answer to a request, if a fault makes something of it.
    pub(crate) fn plan_fate_of_reply(
        &mut self,
        request: Option<RequestId>,
        fate: Option<MessageFate>,
    ) {
        if let (Some(request), Some(fate)) = (request, fate) {
            self.planned_fates.push((request, fate));
        }
    }
}

/// What a fault makes of the answer to the request that it strikes.
pub(super) fn fate_by(fault: &Fault) -> Option<MessageFate> {
    match *fault {
        Fault::SwallowReply { .. } => Some(MessageFate::Swallowed),
        Fault::LoseReply { .. } | Fault::LoseMessage { .. } => Some(MessageFate::Lost),
        Fault::DelayReply { by, .. } => Some(MessageFate::Late(whole_micros(by))),
        _ => None,
    }
}
