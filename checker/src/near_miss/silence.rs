//! Stretches in which a contender's session lives on an old sign of life.

use std::time::Duration;

use crate::{ContenderId, Evidence, Liveness, LivenessEvent, VirtualTime};

/// A stretch in which nothing was heard of a contender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Silence {
    by: ContenderId,
    pub(super) from: VirtualTime,
    /// When it was heard again, or its session was given up; never, if neither.
    pub(super) until: VirtualTime,
    /// When the session ended, or, if it did not, when it could have at the earliest.
    pub(super) deadline: VirtualTime,
}

/// The silences of a run, those of one contender together.
pub(super) struct Silences(Vec<Silence>);

impl Silences {
    pub(super) fn of(evidence: &Evidence<'_>) -> Self {
        let mut listener = Listener {
            lease: evidence.run.facts.lease_least,
            lines: Vec::new(),
            heard: Vec::new(),
        };
        for sign in &evidence.signs {
            listener.on_liveness(sign, evidence.at(sign.event));
        }
        listener.finish()
    }

    /// Those of one contender, in the order in which they begin.
    pub(super) fn of_one(&self, by: ContenderId) -> &[Silence] {
        let Self(all) = self;
        let first = all.partition_point(|silence| silence.by < by);
        let end = all.partition_point(|silence| silence.by <= by);
        &all[first..end]
    }
}

/// What is known of a contender's session.
#[derive(Clone, Copy, Debug, Default)]
struct SessionSilence {
    paused: bool,
    disconnected: bool,
    since: Option<VirtualTime>,
    /// When the session ended, if it has and its client does not know yet.
    ended: Option<VirtualTime>,
    /// Sessions of processes that are dead, and have not ended yet.
    dead: u32,
}

struct Listener {
    lease: Duration,
    lines: Vec<SessionSilence>,
    heard: Vec<Silence>,
}

impl Listener {
    fn on_liveness(&mut self, sign: &LivenessEvent, at: VirtualTime) {
        let by = sign.by;
        match sign.of {
            Liveness::Paused => {
                let line = self.line(by);
                line.paused = true;
                line.since.get_or_insert(at);
            }
            Liveness::Disconnected => {
                let line = self.line(by);
                line.disconnected = true;
                line.since.get_or_insert(at);
            }
            Liveness::Resumed => {
                self.line(by).paused = false;
                self.end_silence(by, at);
            }
            Liveness::Reconnected => {
                self.line(by).disconnected = false;
                self.end_silence(by, at);
            }
            Liveness::SessionExpired => {
                let line = self.line(by);
                match line.dead.checked_sub(1) {
                    Some(fewer) => line.dead = fewer,
                    None => line.ended = Some(at),
                }
            }
            Liveness::SessionLost => self.restart_session(by, at, 0),
            Liveness::Crashed => {
                let outlives_it = self.line(by).ended.is_none();
                self.restart_session(by, at, u32::from(outlives_it));
            }
        }
    }

    /// Begins a new session. `left` is 1 if the old one lives on at the service until it expires, 0 if it was closed.
    fn restart_session(&mut self, by: ContenderId, at: VirtualTime, left: u32) {
        self.close(by, at);
        let line = self.line(by);
        let dead = line.dead + left;
        *line = SessionSilence {
            dead,
            ..SessionSilence::default()
        };
    }

    fn line(&mut self, by: ContenderId) -> &mut SessionSilence {
        let index = by.0 as usize;
        if index >= self.lines.len() {
            self.lines.resize(index + 1, SessionSilence::default());
        }
        &mut self.lines[index]
    }

    /// A silence is over if nothing keeps the contender silent, and its session is still there.
    fn end_silence(&mut self, by: ContenderId, at: VirtualTime) {
        let line = self.line(by);
        if !line.paused && !line.disconnected && line.ended.is_none() {
            self.close(by, at);
            self.line(by).since = None;
        }
    }

    /// Writes the silence down that lasts until now.
    fn close(&mut self, by: ContenderId, until: VirtualTime) {
        let lease = self.lease;
        let SessionSilence { since, ended, .. } = *self.line(by);
        // Of a session that ended out of the blue nothing was heard for as long as one lives.
        let long_ago = ended.map(|at| VirtualTime::ZERO + at.since_start().saturating_sub(lease));
        let Some(from) = since.or(long_ago) else {
            return;
        };
        self.heard.push(Silence {
            by,
            from,
            until,
            deadline: ended.unwrap_or(from + lease),
        });
    }

    fn finish(mut self) -> Silences {
        for index in 0..self.lines.len() {
            self.close(ContenderId(index as u32), VirtualTime::NEVER);
        }
        // Stable: of one contender they are in order.
        self.heard.sort_by_key(|silence| silence.by);
        Silences(self.heard)
    }
}
