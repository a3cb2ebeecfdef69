//! `v3lock` and `v3election`: a member runs the recipes of the package `concurrency` for its clients.

use picklock_machines::ConnectionId;

use picklock_clients::etcd::concurrency::key_of;

use crate::concurrency::{Kind, Stage, Task, TaskNews, delete, first_of, if_created_at, put};
use crate::extract::extract_if;
use crate::ids::{Caller, StreamId, TaskId};
use crate::io::Turn;
use crate::rpc::{
    Bytes, KeyRange, LeaseId, RangeRequest, Request, RequestOp, Response, Revision, ServerBody,
    WatchCreateRequest, WatchId,
};
use crate::rpctypes::{self, Status};
use crate::state::Member;

/// The time to live of a session that brings no lease, in seconds.
const DEFAULT_SESSION_TTL: i64 = 60;

impl Member {
    /// Begins a call of `v3lock` or `v3election`.
    pub(crate) fn begin_task(&mut self, turn: &mut Turn, caller: Caller, request: Request) {
        let prefix_of = |name: &[u8]| -> Bytes { [name, b"/"].concat().into() };
        let mut task = Task {
            caller,
            kind: Kind::Lock,
            stage: Stage::Single,
            prefix: Bytes::default(),
            lease: LeaseId(0),
            key: Bytes::default(),
            my_rev: 0,
            acquired_at: 0,
        };
        let single = match request {
            Request::Lock(name, lease) => {
                (task.prefix, task.lease) = (prefix_of(&name), lease);
                None
            }
            Request::Campaign(name, lease, value) => {
                (task.prefix, task.lease) = (prefix_of(&name), lease);
                task.kind = Kind::Campaign(name, value);
                None
            }
            Request::Unlock(key) => {
                task.kind = Kind::Unlock;
                Some(Request::DeleteRange(delete(&key)))
            }
            Request::Proclaim(leader, value) => {
                task.kind = Kind::Proclaim;
                let write = put(&leader.key, &value, leader.lease);
                Some(if_created_at(&leader.key, leader.rev, write))
            }
            Request::Resign(leader) => {
                task.kind = Kind::Resign;
                let deletion = RequestOp::DeleteRange(delete(&leader.key));
                Some(if_created_at(&leader.key, leader.rev, deletion))
            }
            Request::Leader(name) => {
                task.kind = Kind::Leader;
                Some(Request::Range(RangeRequest::first_create(&prefix_of(
                    &name,
                ))))
            }
            other => Some(other),
        };
        let id = TaskId(self.next_number());
        if let Some(request) = single {
            self.go_on_with(turn, (id, task), Stage::Single, request);
        } else if task.lease == LeaseId(0) {
            let grant = Request::LeaseGrant(LeaseId(0), DEFAULT_SESSION_TTL);
            self.go_on_with(turn, (id, task), Stage::Grant, grant);
        } else {
            self.acquire(turn, (id, task));
        }
    }

    fn go_on_with(
        &mut self,
        turn: &mut Turn,
        (id, mut task): (TaskId, Task),
        stage: Stage,
        request: Request,
    ) {
        task.stage = stage;
        self.tasks.insert(id, task);
        self.submit(turn, Caller::Task(id), request);
    }

    fn acquire(&mut self, turn: &mut Turn, (id, mut task): (TaskId, Task)) {
        task.key = key_of(&task.prefix, task.lease);
        let request = task.acquire();
        self.go_on_with(turn, (id, task), Stage::Acquire, request);
    }

    fn look_before(&mut self, turn: &mut Turn, (id, task): (TaskId, Task)) {
        let range = RangeRequest::last_create(&task.prefix, task.my_rev - 1);
        self.go_on_with(turn, (id, task), Stage::LastCreate, Request::Range(range));
    }

    /// Ends a task: what it answers has the header of this revision.
    fn task_done(
        &mut self,
        turn: &mut Turn,
        task: &Task,
        revision: Revision,
        response: Option<Response>,
    ) {
        match (task.caller, task.response(response)) {
            (Caller::Client(connection, call), Ok(response)) => {
                let header = self.header_at(revision);
                turn.tell_client((connection, call), ServerBody::Unary(header, response));
            }
            (caller, result) => self.answer(turn, caller, result),
        }
    }

    fn task_failed(&mut self, turn: &mut Turn, task: &Task, status: Status) {
        self.answer(turn, task.caller, Err(status.unmapped()));
    }

    /// A task hears something.
    pub(crate) fn task_hears(&mut self, turn: &mut Turn, id: TaskId, news: TaskNews) {
        let Some(task) = self.tasks.get(&id) else {
            return;
        };
        let waits = matches!(task.stage, Stage::WaitDelete);
        if waits == matches!(news, TaskNews::Answer(..)) {
            // The watch has told more than the task waited for.
            return;
        }
        let Some(task) = self.tasks.remove(&id) else {
            return;
        };
        match news {
            TaskNews::Answer(revision, Ok(response)) => {
                self.task_answered(turn, (id, task), revision, response);
            }
            TaskNews::Answer(_, Err(status)) => self.task_refused(turn, (id, task), status),
            TaskNews::Deleted => {
                self.watchable.close(StreamId::Task(id));
                self.look_before(turn, (id, task));
            }
            TaskNews::Compacted => {
                self.task_refused(turn, (id, task), rpctypes::COMPACTED);
            }
        }
    }

    fn task_answered(
        &mut self,
        turn: &mut Turn,
        (id, mut task): (TaskId, Task),
        revision: Revision,
        response: Response,
    ) {
        match (task.stage, response) {
            (Stage::Grant, Response::LeaseGrant(lease, _)) => {
                task.lease = lease;
                self.acquire(turn, (id, task));
            }
            (Stage::Acquire, Response::Txn(succeeded, responses)) => {
                task.acquired_at = revision;
                self.acquired(turn, (id, task), succeeded, responses);
            }
            (Stage::Proclaim, Response::Txn(true, _)) => self.look_before(turn, (id, task)),
            (Stage::Proclaim, _) => {
                self.task_failed(turn, &task, rpctypes::ELECTION_NOT_LEADER);
            }
            (Stage::LastCreate, Response::Range(range)) => {
                let Some(before) = range.kvs.into_iter().next() else {
                    return self.waited(turn, (id, task), revision);
                };
                let request = WatchCreateRequest {
                    keys: KeyRange::one(&before.key),
                    start_revision: revision,
                    ..WatchCreateRequest::default()
                };
                task.stage = Stage::WaitDelete;
                self.tasks.insert(id, task);
                let at = (turn.now, self.applier.store.revision());
                self.watchable
                    .watch(at, (StreamId::Task(id), WatchId(0)), request);
            }
            (Stage::OwnKey, Response::Range(range)) if range.kvs.is_empty() => {
                self.task_failed(turn, &task, rpctypes::SESSION_EXPIRED);
            }
            (Stage::CleanUp(status), _) => self.task_failed(turn, &task, status),
            (_, response) => self.task_done(turn, &task, revision, Some(response)),
        }
    }

    /// The key is there, and perhaps it is first.
    fn acquired(
        &mut self,
        turn: &mut Turn,
        (id, mut task): (TaskId, Task),
        succeeded: bool,
        responses: Vec<Response>,
    ) {
        let mut responses = responses.into_iter();
        let found = first_of(responses.next()).and_then(|range| range.kvs.into_iter().next());
        task.my_rev = match &found {
            Some(own) if !succeeded => own.create_revision,
            _ => task.acquired_at,
        };
        if let Kind::Campaign(_, value) = &task.kind {
            if found.is_some_and(|own| own.value != *value) {
                let write = put(&task.key, value, task.lease);
                let request = if_created_at(&task.key, task.my_rev, write);
                return self.go_on_with(turn, (id, task), Stage::Proclaim, request);
            }
            return self.look_before(turn, (id, task));
        }
        let owner = first_of(responses.next()).and_then(|range| range.kvs.into_iter().next());
        if owner.is_none_or(|owner| owner.create_revision == task.my_rev) {
            let revision = task.acquired_at;
            return self.task_done(turn, &task, revision, None);
        }
        self.look_before(turn, (id, task));
    }

    /// No older key is left.
    fn waited(&mut self, turn: &mut Turn, (id, task): (TaskId, Task), revision: Revision) {
        match task.kind {
            Kind::Lock if self.settings.version.lock_checks_own_key() => {
                let own = Request::Range(RangeRequest::get(&task.key));
                self.go_on_with(turn, (id, task), Stage::OwnKey, own);
            }
            Kind::Campaign(..) => {
                let revision = task.acquired_at;
                self.task_done(turn, &task, revision, None);
            }
            Kind::Lock | Kind::Unlock | Kind::Proclaim | Kind::Resign | Kind::Leader => {
                self.task_done(turn, &task, revision, None);
            }
        }
    }

    /// A step has failed: a lock that waits deletes its key, an election leaves it unless it could not change it.
    fn task_refused(&mut self, turn: &mut Turn, (id, task): (TaskId, Task), status: Status) {
        let is_lock = matches!(task.kind, Kind::Lock);
        let cleans_up = match task.stage {
            Stage::Proclaim => true,
            Stage::LastCreate | Stage::WaitDelete | Stage::OwnKey => is_lock,
            Stage::Grant | Stage::Acquire | Stage::CleanUp(_) | Stage::Single => false,
        };
        if cleans_up {
            let request = task.clean_up();
            return self.go_on_with(turn, (id, task), Stage::CleanUp(status), request);
        }
        let status = match task.stage {
            Stage::CleanUp(first) => first,
            Stage::Grant
            | Stage::Acquire
            | Stage::Proclaim
            | Stage::LastCreate
            | Stage::WaitDelete
            | Stage::OwnKey
            | Stage::Single => status,
        };
        self.task_failed(turn, &task, status);
    }

    /// Callers have given up: what waits for its turn removes its key, what has not got so far leaves it.
    pub(crate) fn cancel_tasks(
        &mut self,
        turn: &mut Turn,
        is_gone: impl Fn(ConnectionId, u32) -> bool,
    ) {
        let gone = extract_if(&mut self.tasks, |_, task| match task.caller {
            Caller::Client(connection, call) => is_gone(connection, call),
            Caller::Task(_) | Caller::Unheard => false,
        });
        for (id, task) in gone {
            self.watchable.close(StreamId::Task(id));
            self.withdraw_of(Caller::Task(id));
            match task.stage {
                Stage::LastCreate | Stage::WaitDelete | Stage::OwnKey => {
                    self.submit(turn, Caller::Unheard, task.clean_up());
                }
                Stage::Grant
                | Stage::Acquire
                | Stage::Proclaim
                | Stage::CleanUp(_)
                | Stage::Single => {}
            }
        }
    }
}
