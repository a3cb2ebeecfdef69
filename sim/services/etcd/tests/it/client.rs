//! What a client sends, and when: its tries, its signs of life, and its watches.

use std::time::Duration;

use picklock_checker::VirtualTime;
use picklock_etcd::client::{CallId, Client, ClientSettings, Input, Output, WatchEnd, WatchKey};
use picklock_etcd::rpc::{
    ClientBody, ClientMessage, Event, EventType, KeyRange, KeyValue, LeaseId, PutRequest,
    RangeRequest, Request, Response, ResponseHeader, ServerBody, ServerMessage, TxnRequest,
    WatchCreateRequest, WatchId, WatchRequest, WatchResponse,
};
use picklock_etcd::rpctypes::{self, Status};
use picklock_machines::{Boring, ConnectionId, Machine, Now, ServerId};

const LEASE: LeaseId = LeaseId(7);
const WATCH: WatchKey = WatchKey(1);

fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// A client of three members, and its clock.
struct Bench {
    client: Client,
    now: VirtualTime,
}

impl Bench {
    fn unconnected() -> Self {
        let settings = ClientSettings {
            endpoints: (0..3).map(ServerId).collect(),
            dial_timeout: None,
            require_leader: false,
        };
        let client = Client::new(settings);
        let now = VirtualTime::ZERO;
        let mut bench = Self { client, now };
        let wanted = bench.handle(Input::Wake);
        assert_eq!(
            wanted,
            [0, 1, 2].map(|member| Output::Connect(ServerId(member)))
        );
        bench
    }

    /// Its connections have the numbers of the members.
    fn connected() -> Self {
        let mut bench = Self::unconnected();
        for member in 0..3 {
            bench.handle(Input::Opened(ConnectionId(member.into()), ServerId(member)));
        }
        bench
    }

    fn handle(&mut self, input: Input) -> Vec<Output> {
        let now = Now {
            monotonic: self.now,
            wall_micros: 0,
        };
        let mut out = Vec::new();
        self.client.handle(now, input, &mut Boring, &mut out);
        out
    }

    fn call(&mut self, request: Request) -> Vec<Output> {
        let deadline = self.now + ms(10_000);
        self.handle(Input::Call(CallId(1), request, deadline))
    }

    fn receive(&mut self, (connection, call): (u32, u32), body: ServerBody) -> Vec<Output> {
        let message = ServerMessage { call, body };
        self.handle(Input::Received(ConnectionId(connection), message))
    }

    /// Lets time pass, and answers what goes out, and when.
    fn run(&mut self, time: Duration) -> Vec<(VirtualTime, Output)> {
        let (until, mut out) = (self.now + time, Vec::new());
        while self.client.next_wake() <= until {
            self.now = self.now.max(self.client.next_wake());
            let now = self.now;
            out.extend(
                self.handle(Input::Wake)
                    .into_iter()
                    .map(|output| (now, output)),
            );
        }
        self.now = until;
        out
    }
}

/// What goes out, and as which call of which connection.
fn sent(out: &[Output]) -> Vec<((u32, u32), &ClientBody)> {
    let messages = out.iter().filter_map(|output| match output {
        Output::Send(connection, ClientMessage { call, body, .. }) => {
            Some(((connection.0, *call), body))
        }
        _ => None,
    });
    messages.collect()
}

fn place(out: &[Output]) -> (u32, u32) {
    let sent = sent(out);
    assert_eq!(sent.len(), 1, "{out:?}");
    sent[0].0
}

fn answered(status: Status) -> Output {
    Output::Answered(CallId(1), Err(status))
}

fn read() -> Request {
    Request::Range(RangeRequest::get(b"k"))
}

#[test]
fn calls_go_round_the_endpoints() {
    let mut bench = Bench::connected();
    let mut connections = Vec::new();
    for _ in 0..4 {
        let (connection, call) = place(&bench.call(read()));
        connections.push(connection);
        let header = ResponseHeader::default();
        bench.receive(
            (connection, call),
            ServerBody::Unary(header, Response::Compact),
        );
    }
    assert_eq!(connections, [0, 1, 2, 0]);
}

#[test]
fn reads_and_grants_are_tried_again_and_writes_are_not() {
    let repeated = [
        read(),
        Request::LeaseGrant(LeaseId(0), 5),
        Request::LeaseRevoke(LEASE),
    ];
    for request in repeated {
        let mut bench = Bench::connected();
        assert_eq!(place(&bench.call(request.clone())).0, 0);
        let out = bench.handle(Input::Broken(ConnectionId(0), ServerId(0)));
        assert_eq!(place(&out).0, 1, "{request:?} goes to the next member");
    }
    let once = [
        Request::Put(PutRequest::default()),
        Request::Txn(TxnRequest::default()),
    ];
    for request in once {
        let mut bench = Bench::connected();
        bench.call(request);
        let out = bench.handle(Input::Broken(ConnectionId(0), ServerId(0)));
        assert!(
            out.contains(&answered(rpctypes::CONNECTION_LOST)),
            "{out:?}"
        );
        assert!(sent(&out).is_empty(), "its outcome is unknown");
    }
}

#[test]
fn a_write_that_found_no_connection_is_tried_again() {
    let mut bench = Bench::unconnected();
    assert!(bench.call(Request::Put(PutRequest::default())).is_empty());
    let out = bench.handle(Input::Opened(ConnectionId(5), ServerId(1)));
    let later = bench.run(ms(30));
    let later: Vec<Output> = later.into_iter().map(|(_, output)| output).collect();
    assert_eq!(sent(&out).len() + sent(&later).len(), 1);
}

#[test]
fn tries_pause_after_a_quorum_of_the_endpoints() {
    let mut bench = Bench::connected();
    let first = place(&bench.call(read()));
    let error = ServerBody::Error(rpctypes::LEADER_CHANGED);
    let second = place(&bench.receive(first, error.clone()));
    assert_eq!((first.0, second.0), (0, 1), "the second try comes at once");
    assert!(sent(&bench.receive(second, error)).is_empty());
    let third = bench.run(ms(30));
    assert_eq!(
        third[0].0 - VirtualTime::ZERO,
        Duration::from_micros(22_500)
    );
}

#[test]
fn errors_other_than_unavailable_are_answered_at_once() {
    let mut bench = Bench::connected();
    let place = place(&bench.call(read()));
    let out = bench.receive(place, ServerBody::Error(rpctypes::UNMAPPED_DEADLINE));
    assert_eq!(out, [answered(rpctypes::UNMAPPED_DEADLINE)]);
}

#[test]
fn a_call_whose_time_is_over_is_cancelled() {
    let mut bench = Bench::connected();
    bench.call(read());
    let out: Vec<Output> = bench
        .run(ms(10_000))
        .into_iter()
        .map(|(_, output)| output)
        .collect();
    assert_eq!(sent(&out), [((0, 1), &ClientBody::Cancel)]);
    assert!(out.contains(&answered(rpctypes::DEADLINE)));
}

#[test]
fn signs_of_life_go_out_every_third_of_the_ttl() {
    let mut bench = Bench::connected();
    let mut stream = place(&bench.handle(Input::KeepAlive(LEASE)));
    let mut moments = Vec::new();
    for _ in 0..3 {
        bench.receive(
            stream,
            ServerBody::LeaseKeepAlive(ResponseHeader::default(), LEASE, 6),
        );
        let out = bench.run(ms(2_000));
        let (at, output) = out.last().expect("a sign of life").clone();
        stream = place(&[output]);
        moments.push((at - VirtualTime::ZERO).as_millis());
    }
    assert_eq!(moments, [2_000, 4_000, 6_000]);
    assert_eq!(stream, (0, 1), "all on one stream");
}

#[test]
fn a_lease_without_an_answer_is_lost_within_a_second_after() {
    let mut bench = Bench::connected();
    let stream = place(&bench.handle(Input::KeepAlive(LEASE)));
    bench.run(ms(300));
    bench.receive(
        stream,
        ServerBody::LeaseKeepAlive(ResponseHeader::default(), LEASE, 3),
    );
    let out = bench.run(ms(10_000));
    let lost = out
        .iter()
        .find(|(_, output)| *output == Output::LeaseLost(LEASE));
    let at = lost.map(|(at, _)| *at - VirtualTime::ZERO);
    assert_eq!(
        at,
        Some(ms(4_000)),
        "it ended after 3.3 s, and the loop looks each second"
    );
}

#[test]
fn a_lease_that_is_answered_to_be_over_is_lost_at_once() {
    let mut bench = Bench::connected();
    let stream = place(&bench.handle(Input::KeepAlive(LEASE)));
    let over = ServerBody::LeaseKeepAlive(ResponseHeader::default(), LEASE, 0);
    assert_eq!(bench.receive(stream, over), [Output::LeaseLost(LEASE)]);
}

#[test]
fn a_broken_stream_of_signs_of_life_is_opened_after_500_ms() {
    let mut bench = Bench::connected();
    bench.handle(Input::KeepAlive(LEASE));
    bench.run(ms(100));
    bench.handle(Input::Broken(ConnectionId(0), ServerId(0)));
    let out = bench.run(ms(1_000));
    let is_sign = |output: &&(VirtualTime, Output)| matches!(output.1, Output::Send(..));
    let (at, output) = out.iter().find(is_sign).expect("a sign of life").clone();
    assert_eq!(place(&[output]).0, 1);
    assert!(
        (ms(600)..=ms(1_000)).contains(&(at - VirtualTime::ZERO)),
        "{at}"
    );
}

fn watch_of(start_revision: i64) -> WatchCreateRequest {
    WatchCreateRequest {
        keys: KeyRange::one(b"k"),
        start_revision,
        ..WatchCreateRequest::default()
    }
}

fn told(revision: i64, change: WatchResponse) -> ServerBody {
    let header = ResponseHeader {
        revision,
        ..ResponseHeader::default()
    };
    ServerBody::Watch(WatchResponse { header, ..change })
}

fn created() -> WatchResponse {
    WatchResponse {
        created: true,
        ..WatchResponse::default()
    }
}

fn event_at(mod_revision: i64) -> WatchResponse {
    let kv = KeyValue {
        key: b"k"[..].into(),
        mod_revision,
        ..KeyValue::default()
    };
    let event = Event {
        kind: EventType::Delete,
        kv,
        prev_kv: None,
    };
    WatchResponse {
        events: vec![event],
        ..WatchResponse::default()
    }
}

/// From where a watch goes on when its connection breaks after these messages.
fn goes_on_from(start: i64, told: &[ServerBody]) -> i64 {
    let mut bench = Bench::connected();
    let stream = place(&bench.handle(Input::Watch(WATCH, watch_of(start))));
    for body in told {
        bench.receive(stream, body.clone());
    }
    bench.handle(Input::Broken(ConnectionId(0), ServerId(0)));
    let out: Vec<Output> = bench
        .run(ms(200))
        .into_iter()
        .map(|(_, output)| output)
        .collect();
    let [((1, _), ClientBody::Watch(WatchRequest::Create(request)))] = sent(&out)[..] else {
        panic!("it is not begun once at the next member: {out:?}");
    };
    request.start_revision
}

#[test]
fn a_watch_goes_on_behind_what_it_has_seen() {
    let created = told(5, created());
    assert_eq!(goes_on_from(0, &[]), 0);
    assert_eq!(goes_on_from(0, std::slice::from_ref(&created)), 5);
    assert_eq!(goes_on_from(3, std::slice::from_ref(&created)), 3);
    assert_eq!(goes_on_from(0, &[created.clone(), told(7, event_at(7))]), 8);
    let progress = WatchResponse {
        watch_id: WatchId::INVALID,
        ..WatchResponse::default()
    };
    assert_eq!(goes_on_from(0, &[created, told(9, progress)]), 10);
}

/// How a watch ends when its stream tells this after it has begun.
fn ends(last: ServerBody) -> Vec<Output> {
    let mut bench = Bench::connected();
    let stream = place(&bench.handle(Input::Watch(WATCH, watch_of(3))));
    bench.receive(stream, told(5, created()));
    bench.receive(stream, last)
}

#[test]
fn a_watch_ends_by_compaction_and_by_errors_that_stay() {
    let compacted = WatchResponse {
        canceled: true,
        compact_revision: 4,
        ..WatchResponse::default()
    };
    let end = |end| [Output::WatchEnded(WATCH, end)];
    assert_eq!(ends(told(0, compacted)), end(WatchEnd::Compacted(4)));
    let failed = WatchEnd::Failed(rpctypes::DEADLINE);
    assert_eq!(ends(ServerBody::Error(rpctypes::DEADLINE)), end(failed));
    assert!(
        ends(ServerBody::Error(rpctypes::NO_LEADER)).is_empty(),
        "it is tried again"
    );
}

#[test]
fn a_watch_that_is_given_up_before_it_began_is_cancelled() {
    let mut bench = Bench::connected();
    let stream = place(&bench.handle(Input::Watch(WATCH, watch_of(3))));
    assert!(bench.handle(Input::CancelWatch(WATCH)).is_empty());
    let out = bench.receive(stream, told(5, created()));
    let cancel = ClientBody::Watch(WatchRequest::Cancel(WatchId(0)));
    assert_eq!(sent(&out), [(stream, &cancel)]);
}

#[test]
fn a_member_that_refuses_is_asked_ever_more_rarely() {
    let mut bench = Bench::unconnected();
    let mut waits = Vec::new();
    for _ in 0..3 {
        let before = bench.now;
        bench.handle(Input::Refused(ServerId(0)));
        let out = bench.run(ms(3_000));
        let (at, output) = out.into_iter().next().expect("it connects once more");
        assert_eq!(output, Output::Connect(ServerId(0)));
        waits.push((at - before).as_millis());
    }
    assert_eq!(waits, [1_000, 1_600, 2_560]);
}

#[test]
fn a_connection_that_breaks_before_it_opens_is_made_again() {
    let mut bench = Bench::unconnected();
    bench.handle(Input::Broken(ConnectionId(0), ServerId(0)));
    let out = bench.run(ms(1_000));
    let again = Output::Connect(ServerId(0));
    assert_eq!(out, [(VirtualTime::ZERO + ms(1_000), again)]);
}
