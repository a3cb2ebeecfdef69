//! Whatever breaks, what was committed stays, and all servers come to agree.

use std::rc::Rc;

use picklock_clients::zookeeper::{CreateMode, Response, SessionId};
use picklock_machines::Chance;
use proptest::prelude::*;

use super::super::state::QuorumPeerConfig;
use super::super::testing::*;
use super::super::txn::TxnChange;

/// Draws from a list over and over.
pub(super) struct Tape(pub(super) Vec<u32>, pub(super) usize);

impl Chance for Tape {
    fn choose(&mut self, options: u32) -> u32 {
        self.1 += 1;
        self.0[self.1 % self.0.len()] % options
    }
}

#[derive(Clone, Debug)]
enum Step {
    Write { server: u8, ephemeral: bool },
    Crash { server: u8 },
    Restart { server: u8 },
    Isolate { server: u8 },
    Hold { from: u8, to: u8 },
    HoldAcks,
    Heal { lose: bool },
    Run { micros: u64 },
}

fn step() -> impl Strategy<Value = Step> {
    let server = || 0..5_u8;
    let times = prop_oneof![100..5_000_u64, 100_000..600_000_u64, SECOND..15 * SECOND];
    prop_oneof![
        6 => (server(), any::<bool>())
            .prop_map(|(server, ephemeral)| Step::Write { server, ephemeral }),
        2 => server().prop_map(|server| Step::Crash { server }),
        2 => server().prop_map(|server| Step::Restart { server }),
        1 => server().prop_map(|server| Step::Isolate { server }),
        1 => (server(), server()).prop_map(|(from, to)| Step::Hold { from, to }),
        1 => Just(Step::HoldAcks),
        2 => any::<bool>().prop_map(|lose| Step::Heal { lose }),
        6 => times.prop_map(|micros| Step::Run { micros }),
    ]
}

/// Runs the steps, then lets everything heal. Answers the paths whose making was acknowledged.
fn weather(cluster: &mut Cluster, steps: Vec<Step>) -> Vec<String> {
    let servers = cluster.servers.len() as u8;
    let mut asked = Vec::new();
    for step in steps {
        match step {
            Step::Write { server, ephemeral } => {
                let server = server % servers;
                if cluster.server(server).is_serving() {
                    let client = cluster.connect(server);
                    let (name, mode) = if ephemeral {
                        ("/q/e-", CreateMode::EphemeralSequential)
                    } else {
                        ("/q/p-", CreateMode::PersistentSequential)
                    };
                    if cluster.connections[&client].session != SessionId(0) {
                        asked.push((client, cluster.request(client, create(name, mode))));
                    }
                }
            }
            Step::Crash { server } => {
                if cluster.server(server % servers).is_running() {
                    cluster.crash(server % servers);
                }
            }
            Step::Restart { server } => {
                if !cluster.server(server % servers).is_running() {
                    cluster.restart(server % servers);
                }
            }
            Step::Isolate { server } => cluster.isolate(server % servers),
            Step::Hold { from, to } => cluster.hold(from % servers, to % servers),
            Step::HoldAcks => cluster.hold_acks(),
            Step::Heal { lose } => cluster.heal(lose),
            Step::Run { micros } => cluster.run_for(micros),
        }
    }
    cluster.heal(true);
    for id in 0..servers {
        if !cluster.server(id).is_running() {
            cluster.restart(id);
        }
    }
    cluster.settle();
    cluster.run_for(10 * SECOND);
    cluster.settle();
    // A server that is left out can join the next leader, or the one after that.
    while cluster.servers.iter().any(|one| cluster.is_left_out(one)) {
        if let Some(leader) = cluster.leader() {
            cluster.crash(leader.0);
            cluster.run_for(SECOND);
            cluster.restart(leader.0);
        }
        cluster.settle();
    }
    let made = asked.into_iter().filter_map(|(client, xid)| {
        match cluster.reply_to(client, xid)?.ok()? {
            Response::Created { path, .. } => Some(path.to_string()),
            _ => None,
        }
    });
    made.collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_was_committed_stays_and_all_agree(
        (servers, observers) in prop_oneof![Just((1_u8, 0_u8)), Just((3, 0)), Just((3, 2)), Just((5, 0))],
        steps in prop::collection::vec(step(), 1..120),
        tape in prop::collection::vec(any::<u32>(), 1..20),
    ) {
        let settings = QuorumPeerConfig { observers, ..(*settings(servers)).clone() };
        let mut cluster = Cluster::of(Rc::new(settings), &["/q"]);
        cluster.chance = Box::new(Tape(tape, 0));
        let made = weather(&mut cluster, steps);
        cluster.run_for(30 * SECOND);
        let leaders = cluster.servers.iter().filter(|server| server.is_leader());
        assert_eq!(leaders.count(), 1);
        let tree = cluster.server(0).tree();
        for server in &cluster.servers {
            assert_eq!(server.tree(), tree);
        }
        for path in made.iter().filter(|path| path.contains("p-")) {
            assert!(tree.get(path).is_some(), "{path} was acknowledged and is gone");
        }
        for txn in cluster.observer.committed.values() {
            if let TxnChange::Create(made) = &txn.change {
                let stays = made.owner == SessionId(0);
                assert_eq!(tree.get(&made.path).is_some(), stays, "{txn:?}");
            }
        }
        // No client was heard for long enough: every session is gone.
        assert_eq!(tree.sessions().count(), 0);
    }
}
