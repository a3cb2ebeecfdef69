//! Reads: at once, when a majority has confirmed that this server leads, or when something has changed.

use std::rc::Rc;
use std::time::Duration;

use picklock_checker::VirtualTime;
use picklock_clients::consul::{KvPair, Request, Response};

use super::{Call, Server, Turn};
use crate::settings::{JITTER_FRACTION, WAIT_TIME};

impl Server {
    /// Answers a read, or lets it wait for a change.
    pub(super) fn read(&mut self, turn: &mut Turn<'_>, call: Call) {
        let Some(query) = call.request.query() else {
            return;
        };
        let (pairs, index) = self.store.read(&call.request);
        if query.wait_index == 0 || index > query.wait_index {
            return self.answer(turn, &call, Ok(Response::Pairs(pairs, index)));
        }
        let wait = query.wait_time.unwrap_or(WAIT_TIME[0]).min(WAIT_TIME[1]);
        let jitter = (wait / JITTER_FRACTION).as_millis();
        let jitter = u32::try_from(jitter).unwrap_or(u32::MAX).max(1);
        let jitter = Duration::from_millis(turn.chance.choose(jitter).into());
        self.blocked.push((call, turn.now + wait + jitter));
    }

    /// Keys have changed: queries that wait for them are looked at.
    pub(super) fn wake_queries(
        &mut self,
        turn: &mut Turn<'_>,
        changes: &[(Rc<str>, Option<KvPair>)],
    ) {
        let is_about = |call: &Call| match &call.request {
            Request::Get(key, _) => changes.iter().any(|(changed, _)| changed == key),
            Request::List(prefix, _) => {
                let mut changed = changes.iter().map(|(key, _)| key);
                changed.any(|key| key.starts_with(&**prefix))
            }
            _ => false,
        };
        let woken: Vec<(Call, VirtualTime)> = self
            .blocked
            .extract_if(.., |(call, _)| is_about(call))
            .collect();
        for (call, until) in woken {
            let wait_index = call.request.query().map_or(0, |query| query.wait_index);
            let (pairs, index) = self.store.read(&call.request);
            match index > wait_index {
                true => self.answer(turn, &call, Ok(Response::Pairs(pairs, index))),
                false => self.blocked.push((call, until)),
            }
        }
    }

    /// Reads go on of which a majority has confirmed that this server leads, and that it has applied what was
    /// committed.
    pub(super) fn confirm_reads(&mut self, turn: &mut Turn<'_>) {
        if !self.leadership.is_established {
            return;
        }
        let raft = &self.raft;
        let reads = &mut self.leadership.reads;
        let confirmed = reads.extract_if(.., |(_, round)| raft.is_confirmed(*round));
        let confirmed: Vec<Call> = confirmed.map(|(call, _)| call).collect();
        for call in confirmed {
            self.read(turn, call);
        }
    }

    /// Blocking queries that have waited long enough are answered, whatever there is.
    pub(super) fn end_waits(&mut self, turn: &mut Turn<'_>) {
        let now = turn.now;
        let over = self.blocked.extract_if(.., |(_, until)| *until <= now);
        let over: Vec<Call> = over.map(|(call, _)| call).collect();
        for call in over {
            let (pairs, index) = self.store.read(&call.request);
            self.answer(turn, &call, Ok(Response::Pairs(pairs, index)));
        }
    }
}
