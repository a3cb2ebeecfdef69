//! An instance that a Sentinel watches: its connections, whether it answers, and the role that it reports.

use std::collections::VecDeque;
use std::rc::Rc;
use std::time::Duration;

use picklock_clients::redis::{Bytes, Command, Value};

use super::context::SentinelContext;
use super::io::{CallId, Event};
use super::settings::{CHANNEL, HELLO, INFO, LINE_AGE, OWED, PING};
use super::wall_time::Stamp;
use crate::replication_protocol::Address;

/// What a command was for whose answer is to come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    Ping,
    Info,
    Hello,
    Opinion,
    /// The answer tells nothing.
    Order,
}

/// What a server says it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Primary,
    Replica,
}

/// A connection to it.
#[derive(Clone, Debug)]
struct InstanceLink {
    call: CallId,
    since: Stamp,
    owed: VecDeque<Purpose>,
}

/// A server or a Sentinel that a Sentinel watches.
#[derive(Clone, Debug)]
pub(super) struct Instance {
    pub address: Address,
    /// The name of this life of it, or of the Sentinel.
    pub id: Option<Rc<str>>,
    commands: Option<InstanceLink>,
    messages: Option<InstanceLink>,
    /// Sentinels are not listened to.
    listened_to: bool,
    /// Everything that there is to be of connections is there.
    pub connected: bool,
    tried: Stamp,
    pinged: Stamp,
    /// Since when it owes us an answer to a ping.
    waiting_since: Option<Stamp>,
    answered: Stamp,
    /// When it last gave a good answer to a ping.
    pub available: Stamp,
    heard: Stamp,
    published: Stamp,
    /// It does not answer, as this Sentinel finds.
    pub is_down: bool,
    /// It was told to kill the script that keeps it busy.
    script_kill_sent: bool,
    /// Since when, or since when the last time.
    pub down_since: Stamp,
    /// When it last answered `INFO`.
    pub refreshed: Stamp,
    pub role: Role,
    pub role_since: Stamp,
}

impl Instance {
    pub fn new(address: Address, role: Role, listened_to: bool, now: Stamp) -> Self {
        Self {
            address,
            id: None,
            commands: None,
            messages: None,
            listened_to,
            connected: false,
            tried: Stamp::LONG_AGO,
            pinged: Stamp::LONG_AGO,
            // So that one that can never be reached is found down in the end.
            waiting_since: Some(now),
            answered: now,
            available: now,
            heard: now,
            published: now,
            is_down: false,
            script_kill_sent: false,
            down_since: Stamp::LONG_AGO,
            refreshed: Stamp::LONG_AGO,
            role,
            role_since: now,
        }
    }

    /// Whether this call leads to it, and if so, whether it is the one for the subscription.
    pub fn has(&self, call: CallId) -> Option<bool> {
        let is_it =
            |line: &Option<InstanceLink>| line.as_ref().is_some_and(|line| line.call == call);
        if is_it(&self.commands) {
            return Some(false);
        }
        is_it(&self.messages).then_some(true)
    }

    /// A call to it is gone.
    pub fn closed(&mut self, of_messages: bool) {
        if of_messages {
            self.messages = None;
        } else {
            self.commands = None;
        }
        self.connected = false;
    }

    pub fn hang_up(&mut self, context: &mut SentinelContext) {
        for line in [self.commands.take(), self.messages.take()]
            .into_iter()
            .flatten()
        {
            context.hang_up(line.call);
        }
        self.connected = false;
    }

    /// Sends a command, if there is a connection.
    pub fn send_command(
        &mut self,
        purpose: Purpose,
        command: Command,
        context: &mut SentinelContext,
    ) -> bool {
        let Some(line) = &mut self.commands else {
            return false;
        };
        line.owed.push_back(purpose);
        context.send(line.call, command);
        true
    }

    /// What the answer that has come was wanted for.
    pub fn settles(&mut self) -> Option<Purpose> {
        self.commands.as_mut()?.owed.pop_front()
    }

    fn ping(&mut self, context: &mut SentinelContext) {
        if self.send_command(Purpose::Ping, Command::new("PING"), context) {
            self.pinged = context.now;
            self.waiting_since.get_or_insert(context.now);
        }
    }

    pub fn on_ping_reply(&mut self, value: &Value, context: &mut SentinelContext) {
        let now = context.now;
        self.answered = now;
        let alive = match value {
            Value::Status(text) => &**text == "PONG",
            Value::Error(error) => ["LOADING", "MASTERDOWN"].contains(&error.code()),
            _ => false,
        };
        if alive {
            self.available = now;
            self.waiting_since = None;
        }
        let is_busy = matches!(value, Value::Error(error) if error.code() == "BUSY");
        if is_busy && self.is_down && !self.script_kill_sent {
            let kill = Command::new("SCRIPT").arg("KILL");
            self.script_kill_sent = self.send_command(Purpose::Order, kill, context);
        }
    }

    pub fn message_received(&mut self, now: Stamp) {
        self.heard = now;
    }

    pub fn hello_published(&mut self, now: Stamp) {
        self.published = now;
    }

    /// The next hello to it is sent at the next tick, and not only when its period is over.
    pub fn force_hello_update(&mut self) {
        self.published = Stamp::LONG_AGO;
    }

    /// Connects again, not more often than once a second.
    pub fn reconnect(&mut self, context: &mut SentinelContext) {
        if self.connected || context.now.since(self.tried) < PING {
            return;
        }
        self.tried = context.now;
        let line = |call, now| InstanceLink {
            call,
            since: now,
            owed: VecDeque::new(),
        };
        if self.commands.is_none() {
            self.commands = Some(line(context.call(&self.address), context.now));
            self.ping(context);
        }
        if self.listened_to && self.messages.is_none() {
            let call = context.call(&self.address);
            self.messages = Some(line(call, context.now));
            self.heard = context.now;
            context.send(call, Command::new("SUBSCRIBE").arg(CHANNEL));
        }
        self.connected = true;
    }

    /// Asks whether it is there and what it is, and tells it what we know.
    pub fn send_periodic_commands(
        &mut self,
        down_after: Duration,
        hurried: bool,
        hello: &Bytes,
        context: &mut SentinelContext,
    ) {
        let owed = self.commands.as_ref().map_or(0, |line| line.owed.len());
        if !self.connected || owed >= OWED {
            return;
        }
        let now = context.now;
        let period = if hurried { PING } else { INFO };
        if self.listened_to && now.since(self.refreshed) > period {
            self.send_command(Purpose::Info, Command::new("INFO"), context);
        }
        let period = down_after.min(PING);
        if now.since(self.answered) > period && now.since(self.pinged) > period / 2 {
            self.ping(context);
        }
        if now.since(self.published) > HELLO {
            let publish = Command::new("PUBLISH").arg(CHANNEL).arg(hello);
            self.send_command(Purpose::Hello, publish, context);
        }
    }

    /// Finds whether it is down, and gives up connections that have been silent for too long.
    pub fn check(&mut self, down_after: Duration, is_primary: bool, context: &mut SentinelContext) {
        let now = context.now;
        let is_old = |line: &InstanceLink| now.since(line.since) > LINE_AGE;
        let half = down_after / 2;
        let silent = self
            .waiting_since
            .is_some_and(|since| now.since(since) > half)
            && now.since(self.answered) > half;
        if let Some(line) = self.commands.take_if(|line| is_old(line) && silent) {
            self.connected = false;
            context.hang_up(line.call);
        }
        let unheard = now.since(self.heard) > HELLO * 3;
        if let Some(line) = self.messages.take_if(|line| is_old(line) && unheard) {
            self.connected = false;
            context.hang_up(line.call);
        }
        let silence = match self.waiting_since {
            Some(since) => now.since(since),
            None if self.connected => Duration::ZERO,
            None => now.since(self.available),
        };
        // A primary that says it is none is as good as down.
        let resigned = is_primary
            && self.role == Role::Replica
            && now.since(self.role_since) > down_after + INFO * 2;
        self.set_down(silence > down_after || resigned, context);
    }

    fn set_down(&mut self, is_down: bool, context: &mut SentinelContext) {
        if is_down == self.is_down {
            return;
        }
        self.is_down = is_down;
        if is_down {
            self.down_since = context.now;
            context.note(Event::SubjectivelyDown, &self.address);
        } else {
            self.script_kill_sent = false;
            context.note(Event::SubjectivelyUp, &self.address);
        }
    }

    /// Notes the role that its machine reports, and whether that is the one for which we take it.
    pub fn set_reported_role(
        &mut self,
        role: Role,
        configured: Role,
        context: &mut SentinelContext,
    ) {
        if role != self.role {
            self.role = role;
            self.role_since = context.now;
            let event = match role == configured {
                true => Event::RoleChange,
                false => Event::RoleMismatch,
            };
            context.note(event, &self.address);
        }
    }
}
