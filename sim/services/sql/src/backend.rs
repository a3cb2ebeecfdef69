//! Sessions: a process each, that executes one statement after the other (PostgreSQL's `postgres.c`).

use std::collections::VecDeque;
use std::rc::Rc;
use std::time::Duration;

use picklock_checker::VirtualTime;
use picklock_clients::sql::{
    ClientBody, ClientMessage, ErrorCode, IsolationLevel, Notice, QueryResult, ServerMessage,
    Setting, Statement, TransactionStatus, Value,
};
use picklock_machines::ConnectionId;

use crate::executor::{Scanned, Stop};
use crate::heap::{Snapshot, TupleId};
use crate::io::Output;
use crate::lock_manager::{Holder, Tag};
use crate::server::Server;
use crate::settings::{SessionSettings, Settings};
use crate::transaction::Transaction;

/// How often a session that waits in `GET_LOCK`, or in `SLEEP`, looks whether its client is there (MariaDB).
const USER_LOCK_CHECK: Duration = Duration::from_secs(1);
const SLEEP_CHECK: Duration = Duration::from_secs(5);

/// What a statement waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wait {
    Nothing,
    /// The lock that the table of locks says.
    Lock,
    Sleep(VirtualTime),
    /// So many records on the disk.
    Flush(usize),
    /// So many records on the disk of the standby.
    Standby(usize),
}

/// A statement that is under way.
#[derive(Clone, Debug)]
pub(crate) struct Running {
    pub me: ConnectionId,
    number: u32,
    pub statement: Rc<Statement>,
    started: VirtualTime,
    /// When it came, by the wall clock.
    pub began: i64,
    pub wait: Wait,
    pub waiting_since: VirtualTime,
    /// It has said that it waits.
    pub told: bool,
    /// It has looked for a deadlock in this wait.
    looked: bool,
    /// Until when `GET_LOCK` waits.
    pub user_lock_until: VirtualTime,
    /// What a function answers when it gets the lock that it waits for.
    pub on_grant: Option<Value>,
    /// What functions have answered for the row at hand. A statement that has waited does this row again.
    pub memo: Vec<Value>,
    pub memo_at: usize,
    /// The place in a batch.
    pub step: usize,
    pub scan: Scanned,
    pub answer: Option<QueryResult>,
    pub notices: Vec<Notice>,
    /// The place of its commit in the log.
    pub lsn: Option<usize>,
    pub standby_given_up: bool,
    /// The version of a row for which it has let others go first.
    pub yielded: Option<TupleId>,
}

/// What the kernel knows of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Client {
    Here,
    /// Its end of the connection is closed, since then.
    Gone(VirtualTime),
    /// Its machine does not answer, since then.
    Unreachable(VirtualTime),
}

/// A session.
#[derive(Clone, Debug)]
pub(crate) struct Backend {
    client: Client,
    pub settings: SessionSettings,
    pub isolation: IsolationLevel,
    queue: VecDeque<(u32, Rc<Statement>)>,
    pub running: Option<Box<Running>>,
    pub transaction: Option<Transaction>,
    idle_since: VirtualTime,
    /// It ends when its commit is on the disk.
    terminates: bool,
}

/// What is due.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Due {
    LookForDeadlock,
    LockTimeout,
    StatementTimeout,
    WakeUp,
    IdleTimeout(ErrorCode),
    /// A busy session looks whether its client is there.
    ClientCheck,
    /// The kernel gives the client up.
    Keepalive,
}

impl Backend {
    pub fn new(settings: &Settings, now: VirtualTime) -> Self {
        Self {
            client: Client::Here,
            settings: settings.session,
            isolation: settings.isolation,
            queue: VecDeque::new(),
            running: None,
            transaction: None,
            idle_since: now,
            terminates: false,
        }
    }

    /// The oldest commit that it does not see, if it looks at anything.
    pub fn snapshot(&self) -> Option<Snapshot> {
        let of_transaction = self
            .transaction
            .as_ref()
            .and_then(|transaction| transaction.snapshot);
        let of_statement = self.running.as_ref().and_then(|run| run.scan.snapshot);
        of_transaction.into_iter().chain(of_statement).min()
    }

    fn status(&self) -> TransactionStatus {
        match &self.transaction {
            None => TransactionStatus::Idle,
            Some(transaction) if transaction.failed => TransactionStatus::Failed,
            Some(_) => TransactionStatus::InTransaction,
        }
    }
}

impl Server {
    /// The session of a connection begins, if there is room.
    pub(crate) fn opened(&mut self, connection: ConnectionId) {
        if self.backends.len() >= self.settings.max_connections {
            self.fatal(connection, self.profile.too_many);
            return self.out.push(Output::Close(connection));
        }
        let backend = Backend::new(&self.settings, self.now);
        self.backends.insert(connection, backend);
    }

    pub(crate) fn fatal(&mut self, connection: ConnectionId, code: ErrorCode) {
        let message = ServerMessage {
            number: 0,
            result: Err(code),
            notices: Vec::new(),
            status: TransactionStatus::Idle,
        };
        self.out.push(Output::ToClient(connection, message));
    }

    pub(crate) fn message(&mut self, connection: ConnectionId, message: ClientMessage) {
        let ClientMessage { number, body, .. } = message;
        match body {
            ClientBody::Cancel(pid) => {
                self.interrupt(ConnectionId(pid), self.profile.canceled);
            }
            ClientBody::Terminate => self.client_gone(connection),
            ClientBody::Query(statement) => {
                if let Some(backend) = self.backends.get_mut(&connection) {
                    backend.queue.push_back((number, statement.into()));
                    if backend.running.is_none() {
                        self.next_statement(connection);
                    }
                }
            }
        }
    }

    fn next_statement(&mut self, me: ConnectionId) {
        let (now, wall) = (self.now, self.wall);
        let Some(backend) = self.backends.get_mut(&me) else {
            return;
        };
        let Some((number, statement)) = backend.queue.pop_front() else {
            return;
        };
        backend.running = Some(Box::new(Running {
            me,
            number,
            statement,
            started: now,
            began: wall,
            wait: Wait::Nothing,
            waiting_since: now,
            told: false,
            looked: false,
            user_lock_until: VirtualTime::NEVER,
            on_grant: None,
            memo: Vec::new(),
            memo_at: 0,
            step: 0,
            scan: Scanned::default(),
            answer: None,
            notices: Vec::new(),
            lsn: None,
            standby_given_up: false,
            yielded: None,
        }));
        self.ready.push(me);
    }

    /// A statement goes on, as far as it can.
    pub(crate) fn resume(&mut self, me: ConnectionId) {
        let running = self
            .backends
            .get_mut(&me)
            .and_then(|backend| backend.running.take());
        let Some(mut run) = running else {
            return;
        };
        run.memo_at = 0;
        let stop = match self.run_statement(&mut run) {
            Ok(answer) => return self.finish(*run, Ok(answer)),
            Err(Stop::Error(code)) => return self.finish(*run, Err(code)),
            Err(stop) => stop,
        };
        if stop == Stop::Yield {
            self.ready.push(me);
        }
        if let Some(backend) = self.backends.get_mut(&me) {
            backend.running = Some(run);
        }
    }

    /// The session begins to wait for a lock.
    pub(crate) fn starts_waiting(&mut self, run: &mut Running) {
        (run.wait, run.waiting_since, run.looked) = (Wait::Lock, self.now, false);
        if !std::mem::replace(&mut run.told, true) {
            self.out.push(Output::Waits(run.me));
        }
    }

    /// A statement is over: it answers, and the next begins. A session whose client is gone ends.
    fn finish(&mut self, run: Running, result: Result<QueryResult, ErrorCode>) {
        let me = run.me;
        if let Err(code) = &result {
            self.statement_failed(me, *code);
        }
        let now = self.now;
        let Some(backend) = self.backends.get_mut(&me) else {
            return;
        };
        backend.idle_since = now;
        let message = ServerMessage {
            number: run.number,
            result,
            notices: run.notices,
            status: backend.status(),
        };
        let (terminates, is_last) = (backend.terminates, backend.queue.is_empty());
        let is_gone = matches!(backend.client, Client::Gone(_));
        if !is_gone {
            self.out.push(Output::ToClient(me, message));
        }
        if terminates {
            self.end_session(me, Some(ErrorCode::AdminShutdown));
        } else if is_gone && is_last {
            self.end_session(me, None);
        } else {
            self.next_statement(me);
        }
    }

    /// Ends the statement of a session with an error, unless it cannot be ended any more. An idle session goes on.
    pub(crate) fn interrupt(&mut self, me: ConnectionId, code: ErrorCode) {
        let running = self
            .backends
            .get_mut(&me)
            .and_then(|backend| backend.running.take());
        let Some(mut run) = running else {
            return;
        };
        let in_user_lock = matches!(
            self.locks.waiting.get(&Holder::Session(me)),
            Some(Tag::UserLock(_))
        );
        self.locks.cancel(Holder::Session(me));
        let goes_on = match run.wait {
            Wait::Flush(_) => false,
            Wait::Standby(_) => {
                run.standby_given_up = true;
                run.notices.push(Notice::CommittedLocally);
                true
            }
            Wait::Lock if in_user_lock && code == ErrorCode::QueryInterrupted => {
                run.memo.push(Value::Null);
                true
            }
            Wait::Nothing | Wait::Lock | Wait::Sleep(_) => {
                self.ready.retain(|ready| *ready != me);
                return self.finish(*run, Err(code));
            }
        };
        self.go_on(me, run, goes_on);
    }

    fn go_on(&mut self, me: ConnectionId, mut run: Box<Running>, at_once: bool) {
        if at_once {
            run.wait = Wait::Nothing;
            self.ready.push(me);
        }
        if let Some(backend) = self.backends.get_mut(&me) {
            backend.running = Some(run);
        }
    }

    /// Ends a session: at once, or when its commit is on the disk.
    pub(crate) fn terminate(&mut self, me: ConnectionId) {
        let Some(backend) = self.backends.get_mut(&me) else {
            return;
        };
        let wait = backend.running.as_ref().map(|run| run.wait);
        match wait {
            Some(Wait::Flush(_)) => backend.terminates = true,
            Some(Wait::Standby(_)) => {
                backend.terminates = true;
                self.interrupt(me, ErrorCode::AdminShutdown);
            }
            _ => self.end_session(me, Some(ErrorCode::AdminShutdown)),
        }
    }

    /// A session ends, and with it all that it holds.
    pub(crate) fn end_session(&mut self, me: ConnectionId, why: Option<ErrorCode>) {
        self.locks.cancel(Holder::Session(me));
        self.rollback(me);
        self.release_where(me, |_, _| true);
        self.ready.retain(|ready| *ready != me);
        let Some(backend) = self.backends.remove(&me) else {
            return;
        };
        if !matches!(backend.client, Client::Gone(_)) {
            if let Some(code) = why.filter(|_| self.profile.says_why_it_ends) {
                self.fatal(me, code);
            }
            self.out.push(Output::Close(me));
        }
        self.out.push(Output::SessionEnded(me));
    }

    /// The end of a connection is read. A busy session does not look.
    pub(crate) fn client_gone(&mut self, me: ConnectionId) {
        let now = self.now;
        let Some(backend) = self.backends.get_mut(&me) else {
            return;
        };
        if !matches!(backend.client, Client::Gone(_)) {
            backend.client = Client::Gone(now);
        }
        if backend.running.is_none() {
            self.end_session(me, None);
        }
    }

    /// The machine of a client is reached, or not.
    pub(crate) fn reaches(&mut self, me: ConnectionId, is_reached: bool) {
        let now = self.now;
        if let Some(backend) = self.backends.get_mut(&me) {
            backend.client = match (backend.client, is_reached) {
                (Client::Here, false) => Client::Unreachable(now),
                (Client::Unreachable(_), true) => Client::Here,
                (as_before, _) => as_before,
            };
        }
    }

    /// How often a busy session looks whether its client is there, and since when.
    fn client_check(&self, backend: &Backend, run: &Running) -> Option<(VirtualTime, Duration)> {
        let interval = backend
            .settings
            .time(Setting::ClientConnectionCheckInterval);
        let of_mariadb = match (run.wait, self.locks.waiting.get(&Holder::Session(run.me))) {
            _ if !self.profile.locks_records => None,
            (Wait::Sleep(_), _) => Some((run.started, SLEEP_CHECK)),
            (Wait::Lock, Some(Tag::UserLock(_))) => Some((run.waiting_since, USER_LOCK_CHECK)),
            _ => None,
        };
        of_mariadb.or((interval > Duration::ZERO).then_some((run.started, interval)))
    }

    /// What is due next of a session.
    pub(crate) fn due(&self, me: ConnectionId, backend: &Backend) -> (VirtualTime, Due) {
        let mut next = (VirtualTime::NEVER, Due::WakeUp);
        let mut add = |at: VirtualTime, due| {
            if at < next.0 {
                next = (at, due);
            }
        };
        let (profile, settings) = (self.profile, &backend.settings);
        let after = |since: VirtualTime, setting| match settings.time(setting) {
            Duration::ZERO => VirtualTime::NEVER,
            time => since + time,
        };
        if let Client::Unreachable(since) = backend.client {
            add(since + self.settings.keepalive, Due::Keepalive);
        }
        let Some(run) = &backend.running else {
            let (setting, code) = profile.idle_in_transaction;
            if backend.transaction.is_some() {
                add(after(backend.idle_since, setting), Due::IdleTimeout(code));
            }
            let (setting, code) = profile.idle;
            if backend.transaction.is_none() || profile.locks_records {
                add(after(backend.idle_since, setting), Due::IdleTimeout(code));
            }
            return next;
        };
        match run.wait {
            Wait::Nothing | Wait::Flush(_) => {}
            Wait::Sleep(until) => add(until, Due::WakeUp),
            Wait::Standby(_) => {}
            Wait::Lock => {
                let is_user_lock = matches!(
                    self.locks.waiting.get(&Holder::Session(me)),
                    Some(Tag::UserLock(_))
                );
                let until = match is_user_lock {
                    true => run.user_lock_until,
                    false => after(run.waiting_since, profile.lock_timeout_setting),
                };
                add(until, Due::LockTimeout);
                if !profile.looks_for_deadlocks_at_once && !run.looked {
                    let at = after(run.waiting_since, Setting::DeadlockTimeout);
                    add(at, Due::LookForDeadlock);
                }
            }
        }
        if !matches!(run.wait, Wait::Nothing | Wait::Flush(_)) {
            let at = after(run.started, profile.statement_timeout_setting);
            add(at, Due::StatementTimeout);
        }
        if let Client::Gone(at) = backend.client
            && matches!(run.wait, Wait::Lock | Wait::Sleep(_))
            && let Some((since, interval)) = self.client_check(backend, run)
        {
            let passed = at.since(since).as_micros();
            let looks = passed.div_ceil(interval.as_micros().max(1)).max(1);
            let looks = u32::try_from(looks).unwrap_or(u32::MAX);
            add(since + interval * looks, Due::ClientCheck);
        }
        next
    }

    /// Does what is due.
    pub(crate) fn do_due(&mut self, me: ConnectionId, due: Due) {
        match due {
            Due::IdleTimeout(code) => self.end_session(me, Some(code)),
            Due::ClientCheck => self.end_session(me, None),
            Due::Keepalive => self.client_gone(me),
            Due::StatementTimeout => self.interrupt(me, self.profile.statement_timeout),
            Due::LookForDeadlock => {
                if let Some(run) = self.running(me) {
                    run.looked = true;
                    self.look_for_deadlock(me);
                }
            }
            Due::LockTimeout => {
                let in_user_lock = self
                    .running(me)
                    .is_some_and(|run| run.on_grant == Some(Value::Int(1)));
                if !in_user_lock {
                    return self.interrupt(me, self.profile.lock_timeout);
                }
                self.locks.cancel(Holder::Session(me));
                self.answer_function(me, Value::Int(0));
            }
            Due::WakeUp => {
                let answer = match self.profile.locks_records {
                    true => Value::Int(0),
                    false => Value::Text("".into()),
                };
                self.answer_function(me, answer);
            }
        }
    }

    pub(crate) fn running(&mut self, me: ConnectionId) -> Option<&mut Running> {
        self.backends.get_mut(&me)?.running.as_deref_mut()
    }

    /// The function that a statement waits in answers, and the statement goes on.
    pub(crate) fn answer_function(&mut self, me: ConnectionId, answer: Value) {
        if let Some(run) = self.running(me) {
            run.memo.push(answer);
            (run.wait, run.on_grant) = (Wait::Nothing, None);
            self.ready.push(me);
        }
    }
}
