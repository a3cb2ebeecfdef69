//! Sessions: a process each, that executes one statement after the other (PostgreSQL's `postgres.c`).

use std::mem;

use picklock_clients::sql::{
    ClientBody, ClientMessage, ErrorCode, Notice, QueryResult, ServerMessage, TransactionStatus,
    Value,
};
use picklock_machines::ConnectionId;

use crate::ids::Holder;
use crate::io::Output;
use crate::lock_manager::Tag;
use crate::session::{Client, Fate, Run, Session, Stop, Wait};
use crate::state::Instance;

impl Instance {
    /// The session of a connection begins, if there is room.
    pub fn opened(&mut self, connection: ConnectionId) {
        if self.sessions.len() >= self.settings.max_connections {
            self.fatal(connection, self.profile.too_many);
            return self.out.push(Output::Close(connection));
        }
        let session = Session::new(connection, &self.settings, self.now);
        self.sessions.insert(connection, session);
    }

    fn fatal(&mut self, connection: ConnectionId, code: ErrorCode) {
        let message = ServerMessage {
            number: 0,
            result: Err(code),
            notices: Vec::new(),
            status: TransactionStatus::Idle,
        };
        self.out.push(Output::ToClient(connection, message));
    }

    /// Does something with a session, if there is one. It may end by that.
    pub fn with(&mut self, me: ConnectionId, act: impl FnOnce(&mut Self, &mut Session) -> Fate) {
        let Some(mut session) = self.sessions.remove(&me) else {
            return;
        };
        match act(self, &mut session) {
            Fate::Stays => {
                self.sessions.insert(me, session);
            }
            Fate::Ends(why) => self.end_session(session, why),
        }
    }

    pub fn message(&mut self, connection: ConnectionId, message: ClientMessage) {
        let ClientMessage { number, body, .. } = message;
        match body {
            ClientBody::Cancel(pid) => self.interrupt(ConnectionId(pid), self.profile.canceled),
            ClientBody::Terminate => self.client_gone(connection),
            ClientBody::Query(statement) => self.with(connection, |server, s| {
                s.queue.push_back((number, statement.into()));
                if s.wait == Wait::Client {
                    server.next_statement(s);
                }
                Fate::Stays
            }),
        }
    }

    fn next_statement(&mut self, s: &mut Session) {
        s.wait = Wait::Client;
        s.run = Run::default();
        if let Some((number, statement)) = s.queue.pop_front() {
            s.wait = Wait::Nothing;
            s.run = Run {
                number,
                statement: Some(statement),
                started: self.now,
                began: self.wall,
                ..Run::default()
            };
            self.ready.push(s.me);
        }
    }

    /// A statement goes on, as far as it can.
    pub fn resume(&mut self, me: ConnectionId) {
        self.with(me, |server, s| {
            s.run.memo_at = 0;
            match server.run_statement(s) {
                Ok(answer) => server.finish(s, Ok(answer)),
                Err(Stop::Error(code)) => server.finish(s, Err(code)),
                Err(Stop::Wait) => Fate::Stays,
                Err(Stop::Yield) => {
                    server.ready.push(me);
                    Fate::Stays
                }
            }
        });
    }

    /// The session begins to wait for a lock.
    pub fn starts_waiting(&mut self, s: &mut Session) {
        s.wait = Wait::Lock;
        (s.run.waiting_since, s.run.looked) = (self.now, false);
        if !mem::replace(&mut s.run.told, true) {
            self.out.push(Output::Waits(s.me));
        }
    }

    /// A statement is over: it answers, and the next begins. A session whose client is gone ends.
    fn finish(&mut self, s: &mut Session, result: Result<QueryResult, ErrorCode>) -> Fate {
        if let Err(code) = &result {
            self.statement_failed(s, *code);
        }
        s.idle_since = self.now;
        let message = ServerMessage {
            number: s.run.number,
            result,
            notices: mem::take(&mut s.run.notices),
            status: s.status(),
        };
        let is_gone = matches!(s.client, Client::Gone(_));
        if !is_gone {
            self.out.push(Output::ToClient(s.me, message));
        }
        if s.terminates {
            return Fate::Ends(Some(ErrorCode::AdminShutdown));
        }
        if is_gone && s.queue.is_empty() {
            return Fate::Ends(None);
        }
        self.next_statement(s);
        Fate::Stays
    }

    /// Ends the statement of a session with an error, unless it cannot be ended any more. An idle session goes on.
    pub fn interrupt(&mut self, me: ConnectionId, code: ErrorCode) {
        self.with(me, |server, s| {
            let in_user_lock = server.waits_for_user_lock(me);
            match s.wait {
                Wait::Client | Wait::Flush(_) => return Fate::Stays,
                Wait::Standby(_) => {
                    s.run.standby_given_up = true;
                    s.run.notices.push(Notice::CommittedLocally);
                }
                Wait::Lock if in_user_lock && code == ErrorCode::QueryInterrupted => {
                    s.run.memo.push(Value::Null);
                }
                Wait::Nothing | Wait::Lock | Wait::Sleep(_) => {
                    server.locks.cancel(s.holder());
                    server.ready.retain(|ready| *ready != me);
                    return server.finish(s, Err(code));
                }
            }
            server.locks.cancel(s.holder());
            s.wait = Wait::Nothing;
            server.ready.push(me);
            Fate::Stays
        });
    }

    pub fn waits_for_user_lock(&self, me: ConnectionId) -> bool {
        matches!(
            self.locks.waiting.get(&Holder::Session(me)),
            Some(Tag::UserLock(_))
        )
    }

    /// Ends a session: at once, or when its commit is on the disk.
    pub fn terminate(&mut self, me: ConnectionId) {
        let mut commits = false;
        self.with(me, |_, s| {
            commits = matches!(s.wait, Wait::Flush(_) | Wait::Standby(_));
            s.terminates = commits;
            match commits {
                true => Fate::Stays,
                false => Fate::Ends(Some(ErrorCode::AdminShutdown)),
            }
        });
        if commits {
            self.interrupt(me, ErrorCode::AdminShutdown);
        }
    }

    /// A session ends, and with it all that it holds.
    pub fn end_session(&mut self, mut s: Session, why: Option<ErrorCode>) {
        self.locks.cancel(s.holder());
        self.rollback(&mut s);
        self.release_where(s.me, |_, _| true);
        self.ready.retain(|ready| *ready != s.me);
        if !matches!(s.client, Client::Gone(_)) {
            if let Some(code) = why.filter(|_| self.profile.says_why_it_ends) {
                self.fatal(s.me, code);
            }
            self.out.push(Output::Close(s.me));
        }
        self.out.push(Output::SessionEnded(s.me));
    }

    /// The end of a connection is read. A busy session does not look.
    pub fn client_gone(&mut self, me: ConnectionId) {
        let now = self.now;
        self.with(me, |_, s| {
            if !matches!(s.client, Client::Gone(_)) {
                s.client = Client::Gone(now);
            }
            match s.wait {
                Wait::Client => Fate::Ends(None),
                _ => Fate::Stays,
            }
        });
    }

    /// The machine of a client is reached, or not.
    pub fn reaches(&mut self, me: ConnectionId, is_reached: bool) {
        let now = self.now;
        self.with(me, |_, s| {
            s.client = match (s.client, is_reached) {
                (Client::Here, false) => Client::Unreachable(now),
                (Client::Unreachable(_), true) => Client::Here,
                (as_before, _) => as_before,
            };
            Fate::Stays
        });
    }

    /// A session goes on: the function that it waited in, if there is one, has answered this.
    pub fn goes_on(&mut self, me: ConnectionId, answer: Option<Value>) {
        if let Some(s) = self.sessions.get_mut(&me) {
            s.run.memo.extend(answer);
            s.run.on_grant = None;
            s.wait = Wait::Nothing;
            self.ready.push(me);
        }
    }
}
