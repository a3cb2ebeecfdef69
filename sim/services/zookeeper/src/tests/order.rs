//! Whatever breaks: writes take effect once, in one order that agrees with time, and what a session reads is a state
//! of that order and never goes back.
//!
//! The checker judges what clients have asked and been answered, against one copy of the tree: by the order of the log
//! that the ensemble has agreed on, and, for short runs, without it.

use std::rc::Rc;

use picklock_checker::linearizability::{
    Answered, Call, CallKind, Disorder, Store, check_order, find_order,
};
use picklock_clients::zookeeper::{CreateMode, Reply, Request, Response, SessionId, ZkError, Zxid};
use proptest::prelude::*;

use super::super::messages::{ConnectionId, ServerMessage, Xid};
use super::super::state::QuorumPeerConfig;
use super::super::testing::*;
use super::super::tree::DataTree;
use super::super::txn::TxnChange;
use super::faults::Tape;
use super::model::{Answer, Model, answer};

/// Nodes that are made, read, set, and deleted.
const PATHS: [&str; 3] = ["/q", "/q/a", "/q/b"];

#[derive(Clone, Debug)]
enum Step {
    Ask {
        client: usize,
        what: u8,
        path: usize,
    },
    Move {
        client: usize,
        server: u8,
    },
    Crash {
        server: u8,
    },
    Restart {
        server: u8,
    },
    Isolate {
        server: u8,
    },
    Hold {
        from: u8,
        to: u8,
    },
    Heal {
        lose: bool,
    },
    Run {
        micros: u64,
    },
}

fn step() -> impl Strategy<Value = Step> {
    let server = || 0..6_u8;
    let times =
        prop_oneof![4 => 100..5_000_u64, 2 => 100_000..600_000_u64, 2 => SECOND..15 * SECOND];
    prop_oneof![
        12 => (0..3_usize, 0..6_u8, 0..PATHS.len())
            .prop_map(|(client, what, path)| Step::Ask { client, what, path }),
        5 => (0..3_usize, server()).prop_map(|(client, server)| Step::Move { client, server }),
        2 => server().prop_map(|server| Step::Crash { server }),
        2 => server().prop_map(|server| Step::Restart { server }),
        2 => server().prop_map(|server| Step::Isolate { server }),
        1 => (server(), server()).prop_map(|(from, to)| Step::Hold { from, to }),
        2 => any::<bool>().prop_map(|lose| Step::Heal { lose }),
        8 => times.prop_map(|micros| Step::Run { micros }),
    ]
}

impl Store for Model {
    type Request = Request;
    type Answer = Answer;

    fn answer(&mut self, session: u32, request: &Request) -> Answer {
        self.request(SessionId(session.into()), request)
    }
}

/// What a client has asked.
struct Asked {
    client: usize,
    xid: Xid,
    request: Request,
    at: u64,
    /// When it was answered, what, and as of which zxid.
    answered: Option<(u64, Reply, Zxid)>,
}

/// A client: one session, over one connection after the other.
struct Client {
    connection: ConnectionId,
    session: SessionId,
    /// The newest zxid that it has seen.
    seen: Zxid,
    /// What was answered last.
    answered: Xid,
}

/// What has been asked and answered so far.
struct Play {
    cluster: Cluster,
    start: DataTree,
    clients: Vec<Client>,
    /// What was asked, in order.
    asked: Vec<Asked>,
    /// How often something was asked or heard.
    clock: u64,
}

impl Play {
    fn new(settings: QuorumPeerConfig) -> Self {
        let mut cluster = Cluster::of(Rc::new(settings), &["/q"]);
        let start = cluster.server(0).tree().clone();
        let clients = (0..3).map(|server| {
            let connection = cluster.connect_for(server, 40);
            Client {
                connection,
                session: cluster.connections[&connection].session,
                seen: Zxid(0),
                answered: Xid(0),
            }
        });
        let clients = clients.collect();
        Self {
            cluster,
            start,
            clients,
            asked: Vec::new(),
            clock: 0,
        }
    }

    /// Reads what has come for all clients.
    fn hear(&mut self) {
        self.clock += 1;
        for index in 0..self.clients.len() {
            for message in self.cluster.inbox(self.clients[index].connection) {
                let ServerMessage::Reply { xid, zxid, reply } = message else {
                    continue;
                };
                let client = &mut self.clients[index];
                assert!(zxid >= client.seen, "it went back to {zxid}");
                assert!(xid > client.answered, "{xid:?} was answered out of order");
                (client.seen, client.answered) = (zxid, xid);
                let mine = |asked: &&mut Asked| (asked.client, asked.xid) == (index, xid);
                let asked = self.asked.iter_mut().find(mine);
                asked.expect("what is answered was asked").answered =
                    Some((self.clock, reply, zxid));
            }
        }
    }

    fn ask(&mut self, client: usize, request: Request) {
        self.hear();
        let connection = self.clients[client].connection;
        if self.cluster.connections[&connection].open {
            let xid = self.cluster.request(connection, request.clone());
            self.asked.push(Asked {
                client,
                xid,
                request,
                at: self.clock,
                answered: None,
            });
        }
    }

    fn perform(&mut self, step: Step) {
        let servers = self.cluster.servers.len() as u8;
        match step {
            Step::Ask { client, what, path } => {
                let path = PATHS[path];
                let request = match what {
                    0 => create(path, CreateMode::Persistent),
                    1 => create(path, CreateMode::PersistentSequential),
                    2 => set_data(path, b"x"),
                    3 => delete(path),
                    4 => get_children(path, false),
                    _ => get_data(path, false),
                };
                self.ask(client, request);
            }
            Step::Move { client, server } => {
                self.hear();
                let server = server % servers;
                let (old, seen) = (self.clients[client].connection, self.clients[client].seen);
                if self.cluster.connections[&old].open {
                    self.cluster.cut(old);
                }
                let new = self.cluster.resume(old, server, seen);
                self.clients[client].connection = new;
                self.cluster.run_for(20 * LATENCY);
            }
            Step::Crash { server } if self.cluster.server(server % servers).is_running() => {
                // What has come is read before the connection is gone.
                self.hear();
                self.cluster.crash(server % servers);
            }
            Step::Restart { server } if !self.cluster.server(server % servers).is_running() => {
                self.cluster.restart(server % servers);
            }
            Step::Crash { .. } | Step::Restart { .. } => {}
            Step::Isolate { server } => self.cluster.isolate(server % servers),
            Step::Hold { from, to } => self.cluster.hold(from % servers, to % servers),
            Step::Heal { lose } => self.cluster.heal(lose),
            Step::Run { micros } => self.cluster.run_for(micros),
        }
    }

    /// What was asked and answered, and the order of the log. What a session is told only that it has ended is of no
    /// state and has no place.
    fn told(&self) -> (Vec<Call<Request, Answer>>, Vec<usize>) {
        let ended = [ZkError::SessionExpired, ZkError::SessionMoved];
        let is_of_a_state = |asked: &&Asked| match &asked.answered {
            Some((_, Err(error), _)) => !ended.contains(error),
            _ => true,
        };
        let asked: Vec<&Asked> = self.asked.iter().filter(is_of_a_state).collect();
        let mut order: Vec<(Zxid, usize)> = Vec::new();
        for txn in self.cluster.observer.committed.values() {
            let mine = |asked: &&Asked| {
                let session = self.clients[asked.client].session;
                (txn.session, txn.xid) == (Some(session), Some(asked.xid))
            };
            let refused = matches!(txn.change, TxnChange::Error(error) if ended.contains(&error));
            if let Some(index) = asked.iter().position(mine).filter(|_| !refused) {
                order.push((txn.zxid, index));
            }
        }
        let before = |zxid: Zxid| order.iter().take_while(|(at, _)| *at <= zxid).count();
        let call = |asked: &&Asked| Call {
            session: asked.client as u32,
            request: asked.request.clone(),
            kind: if asked.request.is_write() {
                CallKind::Write
            } else {
                CallKind::Read
            },
            asked: asked.at,
            answered: asked.answered.clone().map(|(at, reply, zxid)| Answered {
                at,
                answer: answer(reply),
                as_of: Some(before(zxid)),
            }),
        };
        let calls = asked.iter().map(call).collect();
        (calls, order.into_iter().map(|(_, index)| index).collect())
    }

    /// What the checker says of it, by the order of the log.
    fn judged(&self) -> Result<(), Disorder> {
        let (calls, order) = self.told();
        check_order(&Model::of(&self.start), &calls, &order)
    }

    /// The stats of what was read, with all their numbers, are those of a copy that has done all writes up to there.
    fn stats_are_those_of_the_order(&self) {
        let mut read = Vec::new();
        for asked in &self.asked {
            if let (
                Request::GetData { path, .. },
                Some((_, Ok(Response::Data { stat, .. }), zxid)),
            ) = (&asked.request, &asked.answered)
            {
                read.push((*zxid, path, **stat));
            }
        }
        read.sort_by_key(|(zxid, ..)| *zxid);
        let mut copy = self.start.clone();
        let mut txns = self.cluster.observer.committed.values().peekable();
        for (zxid, path, stat) in read {
            while let Some(txn) = txns.next_if(|txn| txn.zxid <= zxid) {
                copy.fast_forward(txn);
            }
            assert_eq!(copy.stat(path), Some(stat), "{path} as of {zxid}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn under_faults_writes_are_linearizable_and_reads_go_forward(
        (servers, observers) in prop_oneof![Just((3_u8, 0_u8)), Just((3, 1)), Just((5, 1))],
        steps in prop::collection::vec(step(), 1..150),
        tape in prop::collection::vec(any::<u32>(), 1..20),
    ) {
        let mut play = Play::new(QuorumPeerConfig { observers, ..(*settings(servers)).clone() });
        play.cluster.chance = Box::new(Tape(tape, 0));
        for step in steps {
            play.perform(step);
        }
        play.hear();
        prop_assert_eq!(play.judged(), Ok(()));
        play.stats_are_those_of_the_order();
    }

    /// Clients that see only their answers could not tell otherwise.
    #[test]
    fn what_clients_see_in_a_short_run_has_an_order(
        steps in prop::collection::vec(step(), 1..30),
        tape in prop::collection::vec(any::<u32>(), 1..20),
    ) {
        let mut play = Play::new((*settings(3)).clone());
        play.cluster.chance = Box::new(Tape(tape, 0));
        for step in steps {
            play.perform(step);
        }
        play.hear();
        let (mut calls, _) = play.told();
        let told = calls.iter_mut().filter_map(|call| call.answered.as_mut());
        told.for_each(|told| told.as_of = None);
        let start = Model::of(&play.start);
        let order = find_order(&start, &calls);
        prop_assert!(order.is_some(), "{:?}", calls);
        prop_assert_eq!(check_order(&start, &calls, &order.unwrap_or_default()), Ok(()));
    }
}

/// The property says something only if sessions go on elsewhere, and read and write there.
#[test]
fn a_session_that_moves_reads_and_writes_on() {
    let mut play = Play::new((*settings(3)).clone());
    let ask = |client, what, path| Step::Ask { client, what, path };
    for server in [1, 2, 0] {
        play.perform(ask(0, 1, 1));
        play.perform(ask(0, 4, 0));
        play.perform(ask(1, 2, 0));
        play.perform(Step::Run { micros: 20_000 });
        play.perform(Step::Move { client: 0, server });
    }
    play.hear();
    let (calls, order) = play.told();
    assert!(calls.iter().all(|call| call.answered.is_some()));
    assert_eq!((calls.len(), order.len()), (9, 6));
    assert_eq!(play.judged(), Ok(()));
}

/// Chance seldom comes to this.
#[test]
fn a_leader_that_is_cut_off_takes_no_place_in_the_order() {
    let mut play = Play::new((*settings(3)).clone());
    play.perform(Step::Isolate { server: 2 });
    let (client, path) = (2, 0);
    play.perform(Step::Ask {
        client,
        what: 2,
        path,
    });
    play.perform(Step::Run {
        micros: 14 * SECOND,
    });
    play.perform(Step::Move {
        client: 0,
        server: 0,
    });
    for what in [2, 5] {
        let client = 0;
        play.perform(Step::Ask { client, what, path });
    }
    play.perform(Step::Run { micros: 20_000 });
    play.hear();
    let (calls, order) = play.told();
    assert_eq!((calls.len(), order.len()), (3, 1));
    assert_eq!(
        calls.iter().filter(|call| call.answered.is_some()).count(),
        2
    );
    assert_eq!(play.judged(), Ok(()));
}

#[test]
fn a_read_of_what_is_not_yet_so_is_found_out() {
    let mut play = Play::new((*settings(3)).clone());
    play.perform(Step::Ask {
        client: 0,
        what: 2,
        path: 0,
    });
    play.perform(Step::Ask {
        client: 0,
        what: 5,
        path: 0,
    });
    play.perform(Step::Run { micros: 20_000 });
    play.hear();
    assert_eq!(play.judged(), Ok(()));
    let read = play.asked[1].answered.as_mut().expect("it was answered");
    read.2 = Zxid(1);
    assert_eq!(play.judged(), Err(Disorder::Unseen(1)));
}
