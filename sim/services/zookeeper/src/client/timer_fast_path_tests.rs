//! Tests of the client handle: one that is told when it will be woken looks at its clock less often, and does the same.

use picklock_checker::VirtualTime;
use picklock_clients::completion::Answer;
use picklock_clients::zookeeper::{
    EventType, Reply, Response, SessionId, Watch, Watcher, Zxid, watch,
};
use proptest::prelude::*;

use super::property_tests::Choices;
use super::test_harness::*;
use super::{Client, Input, Output, ZooKeeperClientConfig};
use crate::client_profile::Library;
use crate::messages::{ClientMessage, ConnectionId, Password, ServerId, ServerMessage};

/// What a test does next.
#[derive(Clone, Debug)]
enum Step {
    Ask,
    AskAndWatch,
    WatchSession,
    Authenticate,
    Close,
    /// The server that the client tries takes it.
    Serve {
        read_only: bool,
    },
    Refuse,
    Break,
    Expire,
    Answer {
        out_of_order: bool,
    },
    Notify(EventType),
    Pong,
    WatchesSet,
    Writer,
    /// Time passes. If something happens in the end, an alarm of that moment may come behind it.
    Pass {
        span: Span,
        behind: bool,
    },
    /// The process stands still.
    Stop(Span),
}

/// How long something takes.
#[derive(Clone, Copy, Debug)]
enum Span {
    /// So many thousandths of the time between two pings.
    Share(u64),
    /// Until the client has sent nothing for so long.
    Idle(u64),
    /// Until only so much is left before it must ping.
    BeforePing(u64),
}

impl Span {
    fn end(self, now: u64, client: &Client) -> u64 {
        let (interval, sent) = (client.settings.timeout / 3, client.last_sent.micros());
        match self {
            Self::Share(thousandths) => now + interval * thousandths / 1000,
            Self::Idle(micros) => now.max(sent + micros),
            Self::BeforePing(micros) => now.max((sent + interval).saturating_sub(micros)),
        }
    }
}

fn span() -> impl Strategy<Value = Span> {
    let edge = prop_oneof![Just(1), Just(SECOND), Just(10 * SECOND)];
    let edge = (edge, 0..4_u64).prop_map(|(edge, past)| edge + past - 1);
    prop_oneof![
        3 => (0..300_u64).prop_map(Span::Share),
        2 => (0..1300_u64).prop_map(Span::Share),
        2 => edge.clone().prop_map(Span::Idle),
        1 => edge.prop_map(Span::BeforePing),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        8 => Just(Step::Ask),
        3 => Just(Step::AskAndWatch),
        1 => Just(Step::WatchSession),
        1 => Just(Step::Authenticate),
        8 => prop::bool::weighted(0.4).prop_map(|read_only| Step::Serve { read_only }),
        1 => Just(Step::Refuse),
        1 => Just(Step::Break),
        8 => prop::bool::weighted(0.02).prop_map(|out_of_order| Step::Answer { out_of_order }),
        2 => Just(Step::Notify(EventType::NodeDeleted)),
        1 => Just(Step::Notify(EventType::NodeChildrenChanged)),
        4 => Just(Step::Pong),
        1 => Just(Step::WatchesSet),
        1 => Just(Step::Writer),
        16 => (span(), any::<bool>()).prop_map(|(span, behind)| Step::Pass { span, behind }),
        2 => span().prop_map(Step::Stop),
    ]
}

fn settings() -> impl Strategy<Value = ZooKeeperClientConfig> {
    // A Java client pings after a third of it: below one second, below two, below eleven, and above.
    let timeout = prop_oneof![
        300 * MILLI..3 * SECOND,
        3 * SECOND..6 * SECOND,
        6 * SECOND..33 * SECOND,
        33 * SECOND..90 * SECOND,
    ];
    let library = prop_oneof![
        6 => Just(Library::Java),
        1 => Just(Library::Kazoo),
        1 => Just(Library::Rust),
    ];
    let request_timeout = prop::option::weighted(0.2, 100 * MILLI..5 * SECOND);
    let choices = (any::<bool>(), any::<bool>(), request_timeout);
    (timeout, library, choices).prop_map(|(timeout, library, choices)| {
        let (local_expiry, read_only, request_timeout) = choices;
        ZooKeeperClientConfig {
            library,
            local_expiry: local_expiry.then_some((4, 3)),
            read_only,
            request_timeout,
            ..ZooKeeperClientConfig::new(timeout, 3)
        }
    })
}

/// A client that is woken as the world does it, and its application.
struct Armed {
    harness: ClientHarness,
    wake: VirtualTime,
    /// The client is told when it will be woken.
    knows: bool,
    watcher: Watcher,
    events: Watch,
    answers: Vec<Answer<Reply>>,
}

impl Armed {
    fn new(settings: ZooKeeperClientConfig, choices: Vec<u32>, knows: bool) -> Self {
        let (watcher, events) = watch();
        let mut harness = ClientHarness::new(settings);
        harness.chance = Box::new(Choices(choices));
        Self {
            harness,
            wake: VirtualTime::NEVER,
            knows,
            watcher,
            events,
            answers: Vec::new(),
        }
    }

    fn does(&mut self, does: impl FnOnce(&mut ClientHarness) -> Vec<Output>) -> Vec<Output> {
        self.harness.earlier = false;
        let outputs = does(&mut self.harness);
        if self.harness.earlier {
            self.arm();
        }
        outputs
    }

    fn arm(&mut self) {
        self.wake = self.wake.min(self.harness.client.next_wake());
        if self.knows {
            self.harness.client.set_alarm(self.wake);
        }
    }

    /// Time passes, and the client is woken; at the end of it too, or else what comes next comes first.
    fn pass(&mut self, (mut now, until): (u64, u64), behind: bool) -> Vec<(u64, Output)> {
        let mut outputs = Vec::new();
        let end = VirtualTime::from_micros(until);
        while self.wake < end || !behind && self.wake == end {
            now = now.max(self.wake.micros());
            self.harness.stop_until(now);
            self.wake = VirtualTime::NEVER;
            if self.harness.client.next_wake().micros() <= now {
                let woken = self.does(|harness| harness.input(Input::Wake));
                outputs.extend(woken.into_iter().map(|output| (now, output)));
            } else {
                self.arm();
            }
        }
        self.harness.stop_until(until);
        outputs
    }

    fn asks(
        &mut self,
        asks: impl FnOnce(&mut ClientHarness) -> (Answer<Reply>, Vec<Output>),
    ) -> Vec<Output> {
        let mut kept = None;
        let outputs = self.does(|harness| {
            let (answer, outputs) = asks(harness);
            kept = Some(answer);
            outputs
        });
        self.answers.extend(kept);
        outputs
    }

    /// All that can be known of the client, but for when it looks at its clock; and what its application is told now.
    fn account(&mut self) -> String {
        let client = &self.harness.client;
        let times = (client.last_heard, client.last_sent, client.last_awake);
        let session = (client.session, client.last_zxid, client.next_xid);
        let states = (client.state, client.told, client.closing, client.phase);
        let connection = (client.timeout, client.pings, client.server());
        let requests = (client.requests_in_flight(), client.next_wake());
        let known = (times, session, states, connection, requests);
        let watched = watches(&self.harness);
        let answers: Vec<Option<Reply>> = self.answers.iter_mut().map(answered).collect();
        let mut index = 0;
        self.answers.retain(|_| {
            index += 1;
            answers[index - 1].is_none()
        });
        format!("{known:?} {watched:?} {answers:?} {:?}", told(&self.events))
    }
}

/// Where the talk between clients and servers stands. It is the same talk for all clients.
#[derive(Default)]
struct Talk {
    now: u64,
    connections: u32,
    /// The client tries to connect.
    sought: bool,
    /// Requests on the present connection that are not answered.
    received: Vec<u32>,
}

impl Talk {
    /// What is said in a step, and when.
    fn step(&self, armed: &mut Armed, step: &Step) -> Vec<(u64, Output)> {
        let connection = self.connections;
        let outputs = match *step {
            Step::Ask => armed.asks(|harness| harness.ask(sync(), None)),
            Step::AskAndWatch => {
                let watcher = Some(armed.watcher.clone());
                armed.asks(|harness| harness.ask(exists("/a"), watcher))
            }
            Step::Close => armed.asks(ClientHarness::close),
            Step::WatchSession => {
                let watcher = armed.watcher.clone();
                armed.does(|harness| harness.watch_session_and_ping(watcher))
            }
            Step::Authenticate => armed.does(|harness| {
                harness.input(Input::Authenticate {
                    scheme: "digest".into(),
                    secret: [].into(),
                })
            }),
            Step::Serve { .. } | Step::Refuse if !self.sought => Vec::new(),
            Step::Serve { read_only } => self.serve(armed, read_only),
            Step::Refuse => armed.does(|harness| harness.input(Input::Refused)),
            Step::Break => armed.does(|harness| harness.broken(connection)),
            Step::Expire => armed.does(|harness| harness.hear(connection, ServerMessage::Expired)),
            Step::Answer { out_of_order } => match &self.received[..] {
                [] => Vec::new(),
                [first, ..] => {
                    let xid = first + u32::from(out_of_order);
                    armed.does(|harness| harness.reply(connection, xid, Ok(Response::Synced)))
                }
            },
            Step::Notify(kind) => armed.does(|harness| harness.notify(connection, kind, "/a")),
            Step::Pong => armed.does(|harness| harness.hear(connection, ServerMessage::Pong)),
            Step::WatchesSet => armed.does(|harness| {
                let zxid = Zxid(9);
                harness.hear(connection, ServerMessage::WatchesSet { zxid })
            }),
            Step::Writer => armed.does(|harness| {
                let server = ServerId(1);
                harness.input(Input::RwServerFound { server })
            }),
            Step::Pass { span, behind } => {
                let end = span.end(self.now, &armed.harness.client);
                return armed.pass((self.now, end), behind);
            }
            Step::Stop(span) => {
                let end = span.end(self.now, &armed.harness.client);
                armed.harness.stop_until(end);
                Vec::new()
            }
        };
        let at_once = outputs.into_iter().map(|output| (self.now, output));
        at_once.collect()
    }

    fn serve(&self, armed: &mut Armed, read_only: bool) -> Vec<Output> {
        let connection = ConnectionId(self.connections + 1);
        let mut outputs = armed.does(|harness| harness.input(Input::Opened { connection }));
        let greeting = ServerMessage::Connected {
            session: SessionId(7),
            password: Password(77),
            timeout: armed.harness.client.settings.timeout,
            read_only: read_only && armed.harness.client.settings.read_only,
        };
        outputs.extend(armed.does(|harness| harness.hear(connection.0, greeting)));
        outputs
    }

    /// The same for what the servers remember, once all clients have done the step.
    fn went_on(&mut self, now: u64, step: &Step, outputs: &[(u64, Output)]) {
        self.now = now;
        if self.sought && matches!(step, Step::Serve { .. }) {
            self.connections += 1;
            self.sought = false;
            self.received.clear();
        }
        if matches!(step, Step::Answer { .. }) && !self.received.is_empty() {
            self.received.remove(0);
        }
        for (_, output) in outputs {
            match output {
                Output::Connect { .. } => self.sought = true,
                Output::Disconnect { .. } => self.received.clear(),
                Output::Send {
                    message: ClientMessage::Request { xid, .. } | ClientMessage::Close { xid },
                    ..
                } => self.received.push(xid.0),
                Output::Send { .. } | Output::ProbeIsro { .. } | Output::StateChanged(_) => {}
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn a_client_that_knows_when_it_is_woken_does_the_same_at_the_same_times(
        settings in settings(),
        steps in prop::collection::vec(step(), 0..80),
        choices in prop::collection::vec(any::<u32>(), 0..20),
        last in prop_oneof![Just(Step::Close), Just(Step::Expire), Just(Step::Break)],
    ) {
        let mut both = [false, true].map(|knows| Armed::new(settings, choices.clone(), knows));
        let started = both.each_mut().map(|armed| armed.does(ClientHarness::start));
        prop_assert_eq!(&started[0], &started[1]);
        let mut talk = Talk { sought: true, ..Talk::default() };
        let span = Span::Share(4000);
        let end = [last, Step::Pass { span, behind: false }];
        let steps = [Step::Serve { read_only: false }].into_iter().chain(steps).chain(end);
        for step in steps {
            let now = match step {
                Step::Pass { span, .. } | Step::Stop(span) => span.end(talk.now, &both[0].harness.client),
                _ => talk.now,
            };
            let [ignorant, knowing] = both.each_mut().map(|armed| talk.step(armed, &step));
            prop_assert_eq!(&ignorant, &knowing, "{:?} at {}", step, talk.now);
            let [known, same] = both.each_mut().map(Armed::account);
            prop_assert_eq!(known, same, "{:?} at {}", step, talk.now);
            talk.went_on(now, &step, &ignorant);
            for armed in &both {
                prop_assert!(armed.wake <= armed.harness.client.next_wake(), "it oversleeps");
            }
        }
    }
}

#[test]
fn a_client_that_is_woken_early_enough_looks_at_no_timer_until_a_ping_can_be_due() {
    // The time between pings, in milliseconds; when it is woken, in microseconds; and until when it need not look at
    // its clock, in milliseconds.
    for (interval, woken, quiet) in [
        (900, 1, 900),
        (1500, 500_000, 1000),
        (1500, 500_001, 1000),
        (5000, 4_000_000, 4000),
        (5000, 4_000_001, 1000),
        (15_000, 14_000_000, 10_000),
        (15_000, 14_000_001, 1000),
    ] {
        let mut harness = ClientHarness::new(ZooKeeperClientConfig::new(3 * interval * MILLI, 3));
        harness.start();
        let connection = ConnectionId(1);
        harness.input(Input::Opened { connection });
        let granted = ServerMessage::Connected {
            session: SessionId(7),
            password: Password(77),
            timeout: 3 * interval * MILLI,
            read_only: false,
        };
        harness.hear(1, granted);
        (harness.client).set_alarm(VirtualTime::from_micros(woken));
        let until = harness.client.quiet_until.micros();
        // Between one and two seconds, it is one microsecond more.
        let allowed = quiet * MILLI..=quiet * MILLI + 1;
        assert!(allowed.contains(&until), "{interval} {woken}: {until}");
    }
}
