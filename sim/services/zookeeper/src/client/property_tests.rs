//! Tests of the client handle: whatever happens, every request is answered.

use picklock_clients::completion::Answer;
use picklock_clients::zookeeper::{EventType, Reply, Response, SessionState, watch};
use picklock_machines::Chance;
use proptest::prelude::*;

use super::connection::Phase;
use super::test_harness::*;
use super::{Input, Output, ZooKeeperClientConfig};
use crate::messages::{ClientMessage, ConnectionId, ServerMessage};

/// What a test does next.
#[derive(Clone, Debug)]
enum Step {
    Ask,
    AskAndWatch,
    Close,
    Open,
    Refuse,
    Break { stale: bool },
    Accept { stale: bool },
    Expire,
    Answer { out_of_order: bool },
    Notify(EventType),
    Pass { micros: u64 },
    Stop { micros: u64 },
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => Just(Step::Ask),
        4 => Just(Step::AskAndWatch),
        1 => Just(Step::Close),
        6 => Just(Step::Open),
        2 => Just(Step::Refuse),
        3 => any::<bool>().prop_map(|stale| Step::Break { stale }),
        6 => prop::bool::weighted(0.2).prop_map(|stale| Step::Accept { stale }),
        1 => Just(Step::Expire),
        8 => prop::bool::weighted(0.1).prop_map(|out_of_order| Step::Answer { out_of_order }),
        2 => Just(Step::Notify(EventType::NodeDeleted)),
        1 => Just(Step::Notify(EventType::NodeChildrenChanged)),
        6 => (0..3 * SECOND).prop_map(|micros| Step::Pass { micros }),
        1 => (0..12 * SECOND).prop_map(|micros| Step::Stop { micros }),
    ]
}

/// Takes choices from a list, and when it is empty, the boring one.
pub(super) struct Choices(pub(super) Vec<u32>);

impl Chance for Choices {
    fn choose(&mut self, options: u32) -> u32 {
        self.0.pop().unwrap_or(0) % options
    }
}

/// The servers, as far as they have to remember anything.
#[derive(Default)]
struct Servers {
    connections: u32,
    /// Requests on the present connection: received, and answered.
    received: Vec<u32>,
    answers: Vec<Answer<Reply>>,
    now: u64,
}

impl Servers {
    /// Does a step, and remembers what was sent.
    fn step(&mut self, harness: &mut ClientHarness, step: Step) -> Vec<Output> {
        let outputs = match step {
            Step::Ask => self.keep(harness.ask(sync(), None)),
            Step::AskAndWatch => self.keep(harness.ask(exists("/a"), Some(watch().0))),
            Step::Close => self.keep(harness.close()),
            Step::Open => {
                self.connections += 1;
                harness.input(Input::Opened {
                    connection: ConnectionId(self.connections),
                })
            }
            Step::Refuse => harness.input(Input::Refused),
            Step::Break { stale } => harness.broken(self.connections - u32::from(stale)),
            Step::Accept { stale } => {
                let granted = ServerMessage::Connected {
                    session: Default::default(),
                    password: Default::default(),
                    timeout: TIMEOUT,
                    read_only: false,
                };
                harness.hear(self.connections - u32::from(stale), granted)
            }
            Step::Expire => harness.hear(self.connections, ServerMessage::Expired),
            Step::Answer { out_of_order } => {
                let next = usize::from(out_of_order).min(self.received.len().saturating_sub(1));
                if self.received.is_empty() {
                    return Vec::new();
                }
                let xid = self.received.remove(next);
                harness.reply(self.connections, xid, Ok(Response::Synced))
            }
            Step::Notify(kind) => harness.notify(self.connections, kind, "/a"),
            Step::Pass { micros } => {
                self.now += micros;
                let outputs = harness.pass_until(self.now);
                outputs.into_iter().map(|(_, output)| output).collect()
            }
            Step::Stop { micros } => {
                self.now += micros;
                harness.stop_until(self.now);
                Vec::new()
            }
        };
        self.remember(&outputs);
        outputs
    }

    fn keep(&mut self, (answer, outputs): (Answer<Reply>, Vec<Output>)) -> Vec<Output> {
        self.answers.push(answer);
        outputs
    }

    fn remember(&mut self, outputs: &[Output]) {
        for output in outputs {
            let Output::Send { message, .. } = output else {
                continue;
            };
            match message {
                ClientMessage::Connect { .. } => self.received.clear(),
                ClientMessage::Request { xid, .. } | ClientMessage::Close { xid } => {
                    self.received.push(xid.0);
                }
                ClientMessage::Ping
                | ClientMessage::Authenticate { .. }
                | ClientMessage::SetWatches(_) => {}
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn each_request_is_answered_once_and_a_closed_handle_is_silent(
        steps in prop::collection::vec(step(), 0..80),
        choices in prop::collection::vec(any::<u32>(), 0..20),
        local_expiry in any::<bool>(),
        impatient in any::<bool>(),
    ) {
        let mut settings = ZooKeeperClientConfig::new(TIMEOUT, 3);
        settings.request_timeout = impatient.then_some(SECOND);
        settings.local_expiry = local_expiry.then_some((4, 3));
        let mut harness = ClientHarness::new(settings);
        harness.chance = Box::new(Choices(choices));
        let mut servers = Servers { connections: 1, ..Servers::default() };
        harness.start();
        let mut unanswered = 0;
        // In the end the application closes the handle, and the servers fall silent.
        let end = [Step::Close, Step::Pass { micros: 60 * SECOND }];
        for step in steps.into_iter().chain(end) {
            let closed = harness.client.phase == Phase::Closed;
            let outputs = servers.step(&mut harness, step);
            prop_assert!(!closed || outputs.is_empty(), "after the end: {outputs:?}");
            if closed {
                prop_assert_eq!(harness.client.next_wake().micros(), u64::MAX);
            }
            // Each answer can be taken once, so what is counted as unanswered must be so.
            servers.answers.retain_mut(|answer| answered(answer).is_none());
            unanswered = servers.answers.len();
            prop_assert_eq!(unanswered, harness.client.requests_in_flight());
        }
        prop_assert_eq!(unanswered, 0);
        prop_assert_eq!(harness.client.state(), SessionState::Closed);
        prop_assert_eq!(harness.client.phase, Phase::Closed);
    }
}
