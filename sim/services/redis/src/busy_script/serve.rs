//! What a server does while a script takes its time.

use std::collections::VecDeque;
use std::time::Duration;

use picklock_checker::VirtualTime;
use picklock_clients::redis::{Command, ErrorReply, Value};

use super::{BusyScript, EndlessScript};
use crate::clients::Blocked;
use crate::command_table::{Outcome, Row};
use crate::errors::refuse;
use crate::replication_protocol::PeerMessage;
use crate::{ConnectionId, Input, Server};

/// The answer to other clients.
const BUSY: &str =
    "BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.";
const UNKILLABLE: &str = "UNKILLABLE Sorry the script already executed write commands against the dataset. You can \
                          either wait the script termination or kill the server in a hard way using the SHUTDOWN \
                          NOSAVE command.";

/// The commands that are run all the same (`allow_busy`). Of `SCRIPT`, only `KILL` is.
const ALLOWED: &[&str] = &[
    "auth", "discard", "hello", "multi", "quit", "replconf", "reset", "unwatch", "watch",
];

impl Server {
    /// An unknown client runs a script for this long, which writes nothing. While another script runs, or the keys are
    /// still being read, there is none.
    pub(crate) fn begin_slow_script(&mut self, lasts: Duration) {
        if self.busy.is_none() && self.core.degraded.loading.is_none() {
            let until = self.core.now.monotonic + lasts;
            self.begin_busy(None, until, false);
        }
    }

    /// The script that a connection has sent goes on until a client kills it.
    pub(crate) fn begin_endless_script(
        &mut self,
        connection: ConnectionId,
        script: &EndlessScript,
    ) {
        let EndlessScript { sha, line, .. } = script;
        let killed = ErrorReply::new(format!(
            "ERR Script killed by user with SCRIPT KILL... script: {sha}, on @user_script:{line}."
        ));
        self.clients.block(connection, Blocked::Script);
        let caller = Some((connection, killed));
        self.begin_busy(caller, VirtualTime::NEVER, script.has_written);
    }

    fn begin_busy(
        &mut self,
        caller: Option<(ConnectionId, ErrorReply)>,
        until: VirtualTime,
        has_written: bool,
    ) {
        self.busy = Some(Box::new(BusyScript {
            caller,
            told_from: self.core.now.monotonic + self.core.busy_reply_threshold,
            until,
            has_written,
            held: VecDeque::new(),
        }));
    }

    /// When something happens to the script that is being run: other clients begin to get `BUSY`, or it ends.
    pub(crate) fn busy_until(&self) -> Option<VirtualTime> {
        let busy = self.busy.as_ref()?;
        Some(match busy.told_from > self.core.now.monotonic {
            true => busy.told_from.min(busy.until),
            false => busy.until,
        })
    }

    /// When the script that is being run ends by itself.
    pub fn script_ends(&self) -> Option<VirtualTime> {
        self.busy.as_ref().map(|busy| busy.until)
    }

    /// Something happens while a script runs. Answers what waits no longer, in order, when it has ended.
    pub(crate) fn while_busy(&mut self, input: Input) -> VecDeque<Input> {
        let now = self.core.now.monotonic;
        let Some(busy) = &mut self.busy else {
            return VecDeque::from([input]);
        };
        if !matches!(input, Input::Wake) {
            busy.held.push_back(input);
        }
        // It looks at what arrives when it has run for long enough, and only then.
        if busy.until > now && busy.told_from <= now {
            for input in std::mem::take(&mut busy.held) {
                self.on_input_while_busy(input);
            }
        }
        if self.busy.as_ref().is_some_and(|busy| busy.until > now) {
            return VecDeque::new();
        }
        let Some(ended) = self.busy.take() else {
            return VecDeque::new();
        };
        if let Some((connection, killed)) = ended.caller
            && self.clients.get(connection).is_some()
        {
            self.clients.unblock(connection);
            self.served(connection, Outcome::Answer(Value::Error(killed)));
            self.run_pending(connection);
        }
        ended.held
    }

    /// What is done while a script runs. What the primary says has to wait: it must not be refused.
    fn on_input_while_busy(&mut self, input: Input) {
        let waits = match &input {
            Input::FromPeer { message, .. } => !matches!(message, PeerMessage::Ack { .. }),
            Input::Linked { .. } | Input::LinkGone { .. } => true,
            Input::Received { .. }
            | Input::Connected { .. }
            | Input::Gone { .. }
            | Input::FromNode { .. }
            | Input::Disk { .. }
            | Input::Memory { .. }
            | Input::SlowScript { .. }
            | Input::Wake => false,
        };
        if !waits {
            self.on_input(input);
        } else if let Some(busy) = &mut self.busy {
            busy.held.push_back(input);
        }
    }

    /// Why a command is refused while a script runs.
    pub(crate) fn refused_busy(&self, row: &Row, command: &Command) -> Option<&'static str> {
        let is_kill = || {
            let part = command.word(1).unwrap_or_default();
            row.name == "script" && part.eq_ignore_ascii_case(b"kill")
        };
        let allowed = ALLOWED.contains(&row.name) || is_kill();
        (self.busy.is_some() && !allowed).then_some(BUSY)
    }

    /// `SCRIPT KILL`
    pub(crate) fn kill_script(&mut self) -> Result<Outcome, ErrorReply> {
        let now = self.core.now.monotonic;
        match &mut self.busy {
            None => refuse("NOTBUSY No scripts in execution right now."),
            Some(busy) if busy.has_written => refuse(UNKILLABLE),
            Some(busy) => {
                busy.until = now;
                Ok(Outcome::Answer(Value::OK))
            }
        }
    }
}
