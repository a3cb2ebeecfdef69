//! Whatever breaks: writes take effect once, in one order that agrees with time, and what a session reads is a state
//! of that order and never goes back.

use std::collections::BTreeMap;
use std::rc::Rc;

use picklock_algorithms::clients::zookeeper::{
    CreateMode, Reply, Request, Response, SessionId, ZkError, Zxid,
};
use proptest::prelude::*;

use super::super::messages::{ConnectionId, ServerMessage, Xid};
use super::super::state::Settings;
use super::super::testing::*;
use super::super::tree::DataTree;
use super::super::txn::{Txn, TxnChange};
use super::faults::Tape;

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

/// What a client has asked.
struct Asked {
    request: Request,
    /// The newest write that anybody knew to be done by then.
    floor: Zxid,
}

/// A client: one session, over one connection after the other.
struct Client {
    connection: ConnectionId,
    session: SessionId,
    asked: BTreeMap<Xid, Asked>,
    /// The newest zxid that it was told of.
    seen: Zxid,
    /// What was answered last.
    answered: Xid,
}

/// What has been asked and answered so far.
struct Play {
    cluster: Cluster,
    start: DataTree,
    clients: Vec<Client>,
    /// The newest write of whomever that was answered.
    done: Zxid,
    /// What was read, as of which zxid.
    reads: Vec<(Zxid, Request, Reply)>,
}

impl Play {
    fn new(settings: Settings) -> Self {
        let mut cluster = Cluster::of(Rc::new(settings), &["/q"]);
        let start = cluster.server(0).tree().clone();
        let clients = (0..3).map(|server| {
            let connection = cluster.connect_for(server, 40);
            Client {
                connection,
                session: cluster.connections[&connection].session,
                asked: BTreeMap::new(),
                seen: Zxid(0),
                answered: Xid(0),
            }
        });
        let clients = clients.collect();
        Self {
            cluster,
            start,
            clients,
            done: Zxid(0),
            reads: Vec::new(),
        }
    }

    fn txn_of(&self, session: SessionId, xid: Xid) -> Option<&Rc<Txn>> {
        let mut all = self.cluster.committed.values();
        all.find(|txn| (txn.session, txn.xid) == (Some(session), Some(xid)))
    }

    /// Reads what has come for everybody.
    fn hear(&mut self) {
        for place in 0..self.clients.len() {
            let (connection, session) = {
                let client = &self.clients[place];
                (client.connection, client.session)
            };
            for message in self.cluster.inbox(connection) {
                let ServerMessage::Reply { xid, zxid, reply } = message else {
                    continue;
                };
                assert!(zxid >= self.clients[place].seen, "it went back to {zxid}");
                self.clients[place].seen = zxid;
                assert!(
                    xid > self.clients[place].answered,
                    "{xid:?} was answered out of order"
                );
                self.clients[place].answered = xid;
                let request = self.clients[place].asked[&xid].request.clone();
                if request.is_write() {
                    let txn = self
                        .txn_of(session, xid)
                        .expect("what is answered is committed");
                    assert!(txn.zxid <= zxid, "it was answered before it was applied");
                    assert_eq!(
                        effect(&txn.change),
                        reply.as_ref().map(shown).map_err(|e| *e)
                    );
                    self.done = self.done.max(txn.zxid);
                } else if reply != Err(ZkError::SessionExpired) {
                    // A leader tells whose session it has ended no more than that.
                    self.reads.push((zxid, request, reply));
                }
            }
        }
    }

    fn ask(&mut self, client: usize, request: Request) {
        self.hear();
        let floor = self.done;
        let client = &mut self.clients[client];
        if self.cluster.connections[&client.connection].open {
            let xid = self.cluster.request(client.connection, request.clone());
            client.asked.insert(xid, Asked { request, floor });
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

    /// Each write once at most, and after whatever was done when it was asked.
    fn writes_have_their_place(&self) -> usize {
        let mut placed = 0;
        for client in &self.clients {
            for (xid, asked) in client.asked.iter().filter(|(_, it)| it.request.is_write()) {
                let mine =
                    |txn: &&Rc<Txn>| (txn.session, txn.xid) == (Some(client.session), Some(*xid));
                let times: Vec<Zxid> = self
                    .cluster
                    .committed
                    .values()
                    .filter(mine)
                    .map(|txn| txn.zxid)
                    .collect();
                assert!(times.len() <= 1, "{xid:?} took effect at {times:?}");
                assert!(
                    times.iter().all(|zxid| *zxid > asked.floor),
                    "{xid:?} took effect before it was asked"
                );
                placed += times.len();
            }
        }
        placed
    }

    /// What was read is what one copy shows that has done all writes up to there, one after the other.
    fn reads_are_states_of_the_order(&mut self) {
        let mut copy = self.start.clone();
        let mut txns = self.cluster.committed.values().peekable();
        self.reads.sort_by_key(|(zxid, ..)| *zxid);
        for (zxid, request, reply) in &self.reads {
            while let Some(txn) = txns.next_if(|txn| txn.zxid <= *zxid) {
                copy.fast_forward(txn);
            }
            match (request, reply) {
                (Request::GetData { path, .. }, Ok(Response::Data { stat, .. })) => {
                    assert_eq!(copy.stat(path), Some(**stat), "{path} as of {zxid}");
                }
                (Request::GetChildren { path, .. }, Ok(Response::Children(children))) => {
                    let there = copy.children(path).expect("a node with children");
                    assert!(children.names().eq(there.names()), "{path} as of {zxid}");
                }
                (Request::GetData { path, .. } | Request::GetChildren { path, .. }, Err(error)) => {
                    assert_eq!(*error, ZkError::NoNode);
                    assert!(copy.get(path).is_none(), "{path} as of {zxid}");
                }
                other => panic!("{other:?}"),
            }
        }
    }
}

/// What a transaction says of itself, as far as its client is told.
fn effect(change: &TxnChange) -> Result<String, ZkError> {
    match change {
        TxnChange::Create(made) => Ok(format!("made {}", made.path)),
        TxnChange::SetData { version, .. } => Ok(format!("set to version {version:?}")),
        TxnChange::Error(error) => Err(*error),
        _ => Ok("done".to_owned()),
    }
}

fn shown(response: &Response) -> String {
    match response {
        Response::Created { path, .. } => format!("made {path}"),
        Response::Set(stat) => format!("set to version {:?}", stat.version),
        _ => "done".to_owned(),
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
        let mut play = Play::new(Settings { observers, ..(*settings(servers)).clone() });
        play.cluster.chance = Box::new(Tape(tape, 0));
        for step in steps {
            play.perform(step);
        }
        play.hear();
        play.writes_have_their_place();
        play.reads_are_states_of_the_order();
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
    assert_eq!(play.writes_have_their_place(), 6);
    assert_eq!(play.reads.len(), 3);
    play.reads_are_states_of_the_order();
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
    assert_eq!(play.reads.len(), 1);
    assert_eq!(play.writes_have_their_place(), 1);
    play.reads_are_states_of_the_order();
}

#[test]
#[should_panic(expected = "as of")]
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
    play.reads[0].0 = Zxid(1);
    play.reads_are_states_of_the_order();
}
