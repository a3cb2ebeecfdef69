//! The comparison itself, with the model on both sides: it needs no server.

use std::cell::Cell;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use crate::harness::clock::Clock;
use crate::harness::error::{Result, VerifyError};
use crate::harness::pair::Backend;
use crate::zookeeper::backend::{ConnectRequest, EnsembleBackend, Handle, Incoming, ServerIndex};
use crate::zookeeper::cases::{CASES, OBSERVED, OBSERVED_READ_ONLY, READ_ONLY, REAPING};
use crate::zookeeper::compare::Pair;
use crate::zookeeper::driver::Driver;
use crate::zookeeper::model::Model;
use crate::zookeeper::step::{Client, Step};
use crate::zookeeper::{Compared, ensemble};
use picklock_clients::zookeeper::{Acl, CreateMode, Data, Request, Response};
use picklock_zookeeper::messages::{ClientMessage, ServerMessage};
use picklock_zookeeper::state::QuorumPeerConfig;

fn model(servers: u8) -> Model {
    Model::formed(ensemble(servers))
}

fn compare(real: impl EnsembleBackend, servers: u8) -> Compared {
    let stop = AtomicBool::new(false);
    let pair = Pair::of(real, model(servers), usize::from(servers));
    let compared = pair.compare(CASES, 1, 2_000, &stop, &|_| ());
    compared.expect("the model does not fail")
}

#[test]
fn the_model_agrees_with_itself() {
    for servers in [1, 3] {
        let compared = compare(model(servers), servers);
        assert_eq!(compared.differences, []);
        assert_eq!(compared.agreeing, compared.answers);
        assert!(compared.operations >= 2_000);
        // Whatever a client can ask was asked, and watches fired.
        assert_eq!(compared.requests.len(), 22, "{:?}", compared.requests);
        assert!(compared.counters.notifications > 100);
        assert!(compared.answers >= compared.operations);
    }
}

/// What a flawed server would do to an answer.
type Flaw = fn(ServerMessage) -> Option<ServerMessage>;

/// The model with a flaw, on a machine that stands still, each time for five seconds, before some of its messages.
struct Flawed {
    model: Model,
    flaw: Flaw,
    /// Before which message the machine stands still.
    still_before: fn(u64) -> bool,
    received: Cell<u64>,
    stood_still: Cell<Duration>,
}

impl Flawed {
    fn new(flaw: Flaw, still_before: fn(u64) -> bool) -> Self {
        Self {
            model: model(1),
            flaw,
            still_before,
            received: Cell::new(0),
            stood_still: Cell::new(Duration::ZERO),
        }
    }
}

impl Clock for Flawed {
    fn pass(&mut self, time: Duration) -> Result<()> {
        self.model.pass(time)
    }

    fn elapsed(&self) -> Duration {
        self.model.elapsed() + self.stood_still.get()
    }
}

impl EnsembleBackend for Flawed {
    fn connect(&mut self, place: ServerIndex, request: &ConnectRequest) -> Result<Handle> {
        self.model.connect(place, request)
    }

    fn send(&mut self, link: Handle, message: &ClientMessage) -> Result<()> {
        self.model.send(link, message)
    }

    fn receive(&mut self, link: Handle, timeout: Duration) -> Result<Incoming> {
        let before = self.received.replace(self.received.get() + 1);
        if (self.still_before)(before) {
            let longer = self.stood_still.get() + Duration::from_secs(5);
            self.stood_still.set(longer);
        }
        loop {
            match self.model.receive(link, timeout)? {
                Incoming::Message(message) => {
                    if let Some(message) = (self.flaw)(message) {
                        return Ok(Incoming::Message(message));
                    }
                }
                other @ (Incoming::Closed | Incoming::Nothing) => return Ok(other),
            }
        }
    }

    fn cut(&mut self, link: Handle) {
        self.model.cut(link);
    }

    fn kill(&mut self, place: ServerIndex) -> Result<()> {
        self.model.kill(place)
    }

    fn start(&mut self, place: ServerIndex) -> Result<()> {
        self.model.start(place)
    }

    fn leader(&mut self) -> Result<Option<ServerIndex>> {
        self.model.leader()
    }

    fn is_read_only(&mut self, place: ServerIndex) -> Result<bool> {
        self.model.is_read_only(place)
    }

    fn serves(&mut self, place: ServerIndex) -> Result<bool> {
        self.model.serves(place)
    }

    fn timeout(&self) -> Duration {
        self.model.timeout()
    }

    fn silent(&mut self, link: Handle, asked: &str) -> Result<()> {
        self.model.silent(link, asked)
    }
}

#[test]
fn a_case_in_which_the_machine_stood_still_is_done_again() {
    // In the first case, while it waits for a session to expire, and in a later one.
    let slow = Flawed::new(Some, |message| message == 40 || message == 400);
    let compared = compare(slow, 1);
    assert_eq!(compared.differences, []);
    assert_eq!(compared.set_aside, 2);
}

#[test]
fn a_machine_that_stands_still_all_the_time_is_no_good_for_a_comparison() {
    let stop = AtomicBool::new(false);
    let slow = Flawed::new(Some, |message| message % 40 == 0);
    let ended = Pair::of(slow, model(1), 1).compare(CASES, 1, 2_000, &stop, &|_| ());
    assert!(
        matches!(ended, Err(VerifyError::StoodStill { .. })),
        "{ended:?}"
    );
}

fn differences(flaw: Flaw) -> usize {
    compare(Flawed::new(flaw, |_| false), 1).differences.len()
}

#[test]
fn a_lost_notification_is_noticed() {
    let lost = differences(|message| {
        let wanted =
            matches!(&message, ServerMessage::Notification { path, .. } if path.ends_with('a'));
        (!wanted).then_some(message)
    });
    assert!(lost > 3, "{lost}");
}

#[test]
fn a_wrong_number_in_a_stat_is_noticed() {
    let wrong = differences(|mut message| {
        if let ServerMessage::Reply {
            reply: Ok(Response::Data { stat, .. }),
            ..
        } = &mut message
        {
            stat.cversion += 1;
        }
        Some(message)
    });
    assert!(wrong > 10, "{wrong}");
}

#[test]
fn a_wrong_byte_is_noticed() {
    let wrong = differences(|mut message| {
        if let ServerMessage::Reply {
            reply: Ok(Response::Data { data, .. }),
            ..
        } = &mut message
            && !data.is_empty()
        {
            *data = Data::from(b"!");
        }
        Some(message)
    });
    assert!(wrong > 10, "{wrong}");
}

#[test]
fn one_zxid_too_many_is_noticed() {
    let wrong = differences(|mut message| {
        if let ServerMessage::Reply {
            reply: Err(_),
            zxid,
            ..
        } = &mut message
        {
            zxid.0 += 1;
        }
        Some(message)
    });
    assert!(wrong > 10, "{wrong}");
}

#[test]
fn ctrl_c_ends_the_comparison() {
    let stop = AtomicBool::new(true);
    let pair = Pair::of(model(1), model(1), 1);
    let ended = pair.compare(CASES, 0, 100, &stop, &|_| ());
    assert!(matches!(ended, Err(VerifyError::Interrupted)));
}

#[test]
fn the_model_agrees_with_itself_on_nodes_that_go_by_themselves() {
    let often = || {
        Model::formed(QuorumPeerConfig {
            reap_interval: 200_000,
            ..ensemble(1)
        })
    };
    let stop = AtomicBool::new(false);
    let same = Pair::of(often(), often(), 1).compare(REAPING, 0, 0, &stop, &|_| ());
    let same = same.expect("the model does not fail");
    assert_eq!(same.differences, []);
    // Where nothing goes by itself, the nodes stay.
    let other = Pair::of(often(), model(1), 1).compare(REAPING, 0, 0, &stop, &|_| ());
    let other = other.expect("the model does not fail");
    assert!(
        other
            .differences
            .iter()
            .any(|one| one.model == "the nodes stay")
    );
}

#[test]
fn the_model_agrees_with_itself_on_observers_and_not_with_one_that_votes() {
    let stop = AtomicBool::new(false);
    let observed = |read_only| {
        Model::formed(QuorumPeerConfig {
            observers: 1,
            read_only,
            ..ensemble(3)
        })
    };
    for (read_only, cases) in [(false, OBSERVED), (true, OBSERVED_READ_ONLY)] {
        let pair = Pair::of(observed(read_only), observed(read_only), 4);
        let same = pair.compare(cases, 3, 500, &stop, &|_| ());
        let same = same.expect("the model does not fail");
        assert_eq!(same.differences, []);
        assert!(same.answers > 500);
    }
    // Of four that vote, the fourth leads.
    let pair = Pair::of(observed(false), model(4), 4);
    let other = pair.compare(OBSERVED, 3, 0, &stop, &|_| ());
    let other = other.expect("the model does not fail");
    assert_ne!(other.differences, []);
}

/// So a real server that says the same has said all of this.
#[test]
fn a_server_that_is_left_alone_answers_reads_and_refuses_what_needs_a_leader() {
    for case in READ_ONLY {
        let mut driver = Driver::new(
            Model::formed(QuorumPeerConfig {
                read_only: true,
                ..ensemble(3)
            }),
            3,
        );
        let mut steps: Vec<Step> = (0..3)
            .map(|place| Step::open(ServerIndex(place), Duration::from_secs(10)))
            .collect();
        steps.push(Step::Ask {
            client: Client(0),
            requests: vec![Request::create(
                "/r".into(),
                b"",
                CreateMode::Persistent,
                Acl::OPEN,
                false,
            )],
        });
        steps.extend((case.steps)("/r", 0, 3));
        let mut lines = Vec::new();
        for step in &steps {
            let seen = driver.perform(step).expect("the model does not fail");
            lines.extend(seen.into_values().flatten().map(|line| line.text));
        }
        let count = |part: &str| lines.iter().filter(|line| line.contains(part)).count();
        assert!(count("timeout 10000 ms, read-only") >= 3, "{lines:#?}");
        assert_eq!(count("(-119)"), 12, "{lines:#?}");
        assert!(count("expired") >= 4, "{lines:#?}");
        assert!(count("children [") >= 4, "{lines:#?}");
    }
}
