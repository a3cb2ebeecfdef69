//! Watches: when their stream breaks, each goes on at another member behind what it has seen.

use std::time::Duration;

use picklock_checker::VirtualTime;

use super::state::{Client, Output, Stream, Turn, Watch, WatchEnd, WatchKey};
use crate::rpc::{ClientBody, WatchCreateRequest, WatchId, WatchRequest, WatchResponse};
use crate::rpctypes::{Code, Status};

const FIRST_BACKOFF: Duration = Duration::from_millis(1);
const MAX_BACKOFF: Duration = Duration::from_millis(100);

impl Client {
    pub(super) fn watch(&mut self, turn: &mut Turn, key: WatchKey, request: WatchCreateRequest) {
        let watch = Watch { request, id: None };
        self.watches.watches.insert(key, watch);
        match self.watches.stream {
            Stream::Open(..) => self.begin_watch(turn, key),
            Stream::OpensAt(_) => self.watches_due(turn),
        }
    }

    fn begin_watch(&mut self, turn: &mut Turn, key: WatchKey) {
        let (Stream::Open(connection, call), Some(watch)) =
            (self.watches.stream, self.watches.watches.get(&key))
        else {
            return;
        };
        let request = WatchRequest::Create(watch.request.clone());
        self.watches.beginning.push_back(key);
        self.send(turn, (connection, call), ClientBody::Watch(request));
    }

    /// A caller watches no more.
    pub(super) fn cancel_watch(&mut self, turn: &mut Turn, key: WatchKey) {
        let watch = self.watches.watches.remove(&key);
        if let (Some(id), Stream::Open(connection, call)) =
            (watch.and_then(|watch| watch.id), self.watches.stream)
        {
            let body = ClientBody::Watch(WatchRequest::Cancel(id));
            self.send(turn, (connection, call), body);
        }
    }

    /// Opens the stream, and begins all watches on it.
    pub(super) fn watches_due(&mut self, turn: &mut Turn) {
        let is_due = self.watches.stream.opens_at() <= turn.now;
        if !is_due || self.watches.watches.is_empty() {
            return;
        }
        let Some((connection, call)) = self.pick() else {
            return self.watch_stream_broken(turn.now);
        };
        self.watches.stream = Stream::Open(connection, call);
        self.watches.beginning.clear();
        for key in self.watches.watches.keys().copied().collect::<Vec<_>>() {
            self.begin_watch(turn, key);
        }
    }

    pub(super) fn watch_stream_broken(&mut self, now: VirtualTime) {
        let watches = &mut self.watches;
        watches.stream = Stream::OpensAt(now + watches.backoff);
        watches.backoff = (watches.backoff * 5 / 4).min(MAX_BACKOFF);
        watches
            .watches
            .values_mut()
            .for_each(|watch| watch.id = None);
    }

    /// The member has ended the stream.
    pub(super) fn watch_stream_failed(&mut self, turn: &mut Turn, status: Status) {
        self.watch_stream_broken(turn.now);
        if status.code != Code::Unavailable {
            let watches = std::mem::take(&mut self.watches.watches);
            for key in watches.into_keys() {
                let end = WatchEnd::Failed(status);
                turn.out.push(Output::WatchEnded(key, end));
            }
        }
    }

    /// The stream has told something.
    pub(super) fn watch_told(&mut self, turn: &mut Turn, response: WatchResponse) {
        self.watches.backoff = FIRST_BACKOFF;
        let key = if response.created {
            let key = self.watches.beginning.pop_front();
            key.filter(|key| self.began(turn, *key, response.watch_id))
        } else {
            let mut watches = self.watches.watches.iter();
            let of = watches.find(|(_, watch)| watch.id == Some(response.watch_id));
            of.map(|(key, _)| *key)
        };
        let Some(key) = key else {
            if response.watch_id == WatchId::INVALID && !response.created {
                self.progressed(response.header.revision);
            }
            return;
        };
        if response.canceled {
            self.watches.watches.remove(&key);
            let end = match response.compact_revision {
                0 => WatchEnd::Canceled(response.cancel_reason),
                at => WatchEnd::Compacted(at),
            };
            return turn.out.push(Output::WatchEnded(key, end));
        }
        let Some(watch) = self.watches.watches.get_mut(&key) else {
            return;
        };
        let next = &mut watch.request.start_revision;
        if response.created {
            if *next == 0 {
                *next = response.header.revision;
            }
        } else {
            *next = (*next).max(response.header.revision + 1);
        }
        if let Some(event) = response.events.last() {
            *next = event.kv.mod_revision + 1;
        }
        turn.out.push(Output::Told(key, response));
    }

    /// A watch has begun: one that its caller has given up meanwhile is cancelled.
    fn began(&mut self, turn: &mut Turn, key: WatchKey, id: WatchId) -> bool {
        if let Some(watch) = self.watches.watches.get_mut(&key) {
            watch.id = Some(id);
            return true;
        }
        if let Stream::Open(connection, call) = self.watches.stream {
            let body = ClientBody::Watch(WatchRequest::Cancel(id));
            self.send(turn, (connection, call), body);
        }
        false
    }

    /// All watches of the stream have seen what was until this revision.
    fn progressed(&mut self, revision: i64) {
        for watch in self.watches.watches.values_mut() {
            if watch.id.is_some() {
                let next = &mut watch.request.start_revision;
                *next = (*next).max(revision + 1);
            }
        }
    }
}
