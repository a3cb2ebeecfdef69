//! Streams of watches.

use std::time::Duration;

use picklock_machines::ConnectionId;

use crate::concurrency::TaskNews;
use crate::extract::extract_if;
use crate::ids::StreamId;
use crate::io::Turn;
use crate::rpc::{
    Bytes, Event, EventType, ServerBody, WatchCreateRequest, WatchId, WatchRequest, WatchResponse,
};
use crate::rpctypes;
use crate::state::Member;
use crate::watchable_store::{Notice, Told};

const DUPLICATE_ID: &str = "mvcc: duplicate watch ID provided on the WatchStream";
const EMPTY_RANGE: &str = "mvcc: watcher range is empty";
/// After how many looks without a leader a stream that requires one ends.
const MAX_NO_LEADER: u8 = 3;

impl Member {
    /// A stream of a client is asked something.
    pub(crate) fn watch(
        &mut self,
        turn: &mut Turn,
        (connection, call): (ConnectionId, u32),
        require_leader: bool,
        request: WatchRequest,
    ) {
        let stream = StreamId::Client(connection, call);
        let state = self.streams.entry(stream).or_default();
        state.require_leader |= require_leader;
        if require_leader && self.leader_check.is_none() {
            self.leader_check = Some(turn.now + self.settings.election_timeout);
        }
        match request {
            WatchRequest::Create(request) => self.create_watch(turn, stream, request),
            WatchRequest::Cancel(watch_id) => {
                if self.watchable.cancel(stream, watch_id) {
                    let canceled = WatchResponse {
                        watch_id,
                        canceled: true,
                        ..self.watch_response()
                    };
                    self.send_watch(turn, stream, canceled);
                }
            }
            WatchRequest::Progress => {
                let version = self.settings.version;
                if !version.progress_waits() || self.watchable.is_synced(stream) {
                    self.send_progress(turn, stream);
                } else if version.progress_is_kept() {
                    state.owes_progress = true;
                }
            }
        }
    }

    fn watch_response(&self) -> WatchResponse {
        WatchResponse {
            header: self.header(),
            ..WatchResponse::default()
        }
    }

    fn create_watch(&mut self, turn: &mut Turn, stream: StreamId, mut request: WatchCreateRequest) {
        if request.keys.key.is_empty() {
            request.keys.key = Bytes::from([0]);
        }
        let chosen = request.watch_id;
        let refusal = if request.keys.is_empty_interval() {
            EMPTY_RANGE
        } else if chosen != WatchId(0) && self.watchable.contains(stream, chosen) {
            DUPLICATE_ID
        } else {
            ""
        };
        let watch_id = match refusal {
            "" if chosen == WatchId(0) => self.free_id(stream),
            "" => chosen,
            _refusal => WatchId::INVALID,
        };
        let created = WatchResponse {
            watch_id,
            created: true,
            canceled: !refusal.is_empty(),
            cancel_reason: refusal,
            ..self.watch_response()
        };
        self.send_watch(turn, stream, created);
        if refusal.is_empty() {
            let at = (turn.now, self.applier.store.revision());
            self.watchable.watch(at, (stream, watch_id), request);
        }
    }

    fn free_id(&mut self, stream: StreamId) -> WatchId {
        let mut next = self.streams.get(&stream).map_or(0, |state| state.next_id);
        while self.watchable.contains(stream, WatchId(next)) {
            next += 1;
        }
        if let Some(state) = self.streams.get_mut(&stream) {
            state.next_id = next + 1;
        }
        WatchId(next)
    }

    fn send_progress(&mut self, turn: &mut Turn, stream: StreamId) {
        let progress = WatchResponse {
            watch_id: WatchId::INVALID,
            ..self.watch_response()
        };
        self.send_watch(turn, stream, progress);
    }

    fn send_watch(&self, turn: &mut Turn, stream: StreamId, response: WatchResponse) {
        match stream {
            StreamId::Client(connection, call) => {
                turn.tell_client((connection, call), ServerBody::Watch(response));
            }
            StreamId::Task(_) => {}
        }
    }

    /// Tells watches what they are to be told.
    pub(crate) fn tell(&mut self, turn: &mut Turn, notices: Vec<Notice>) {
        for (stream, watch_id, told) in notices {
            if let StreamId::Task(task) = stream {
                let is_deletion = |event: &Event| event.kind == EventType::Delete;
                let news = match &told {
                    Told::Events(_, events) => {
                        events.iter().any(is_deletion).then_some(TaskNews::Deleted)
                    }
                    Told::Compacted(_) => Some(TaskNews::Compacted),
                };
                self.task_news.extend(news.map(|news| (task, news)));
                continue;
            }
            let response = match told {
                Told::Events(revision, events) => WatchResponse {
                    header: self.header_at(revision),
                    watch_id,
                    events,
                    ..WatchResponse::default()
                },
                Told::Compacted(compact_revision) => WatchResponse {
                    header: self.header_at(0),
                    watch_id,
                    canceled: true,
                    compact_revision,
                    ..WatchResponse::default()
                },
            };
            self.send_watch(turn, stream, response);
        }
    }

    /// Serves watches from the past.
    pub(crate) fn sync_watchers(&mut self, turn: &mut Turn) {
        if turn.now < self.watchable.next_sync() {
            return;
        }
        let notices = self.watchable.sync_watchers(turn.now, &self.applier.store);
        self.tell(turn, notices);
        let owing = self.streams.iter().filter(|(_, state)| state.owes_progress);
        let owing: Vec<StreamId> = owing.map(|(stream, _)| *stream).collect();
        for stream in owing {
            if self.watchable.is_synced(stream)
                && let Some(state) = self.streams.get_mut(&stream)
            {
                state.owes_progress = false;
                self.send_progress(turn, stream);
            }
        }
    }

    /// Ends streams that require a leader, if there is none for long.
    pub(crate) fn check_leader(&mut self, turn: &mut Turn) {
        if self.leader_check.is_none_or(|at| turn.now < at) {
            return;
        }
        let period: Duration = self.settings.election_timeout;
        let has_leader = self.lead.is_some();
        for state in self.streams.values_mut() {
            state.without_leader = if has_leader {
                0
            } else {
                state.without_leader + 1
            };
        }
        let ended = extract_if(&mut self.streams, |_, state| {
            state.require_leader && state.without_leader >= MAX_NO_LEADER
        });
        for (stream, _) in ended {
            self.watchable.close(stream);
            if let StreamId::Client(connection, call) = stream {
                let body = ServerBody::Error(rpctypes::NO_LEADER);
                turn.tell_client((connection, call), body);
            }
        }
        let is_required = self.streams.values().any(|state| state.require_leader);
        self.leader_check = is_required.then(|| turn.now + period);
    }
}
