//! When a session expires, in a thousand random cases.

use picklock_clients::zookeeper::CreateMode;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

use crate::messages::ClientMessage;
use crate::testing::*;

const TICK: u64 = 2 * SECOND;
const CASES: u64 = 1_000;

/// A client speaks for the last time at some moment; after how many microseconds its node is gone, and its timeout.
struct Case {
    through_leader: bool,
    timeout: u64,
    lived: u64,
}

impl Case {
    /// The last packet may leave the client at any moment against the ticks, and against the leader's pings.
    fn run(seed: u64, leader_dies: bool) -> Self {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let mut below = |options: u64| (u64::from(random.next_u32()) * options) >> 32;
        let server = below(3) as u8;
        let through_leader = server == 2;
        let seconds = 4 + below(17);
        let mut cluster = Cluster::formed(3, &["/q"]);
        cluster.run_for(below(4_000_000));
        let client = cluster.connect_for(server, seconds);
        let node = create("/q/x", CreateMode::Ephemeral);
        cluster.ask(client, node).unwrap();
        cluster.run_for(below(3_000_000));
        cluster.send(client, ClientMessage::Ping);
        let mut last = cluster.network.now().micros();
        cluster.run_for(2 * LATENCY);
        cluster.cut(client);
        if leader_dies {
            cluster.run_for(below(3_000_000));
            cluster.crash(2);
            while cluster.leader().is_none() {
                cluster.run_for(LATENCY);
            }
            last = cluster.network.now().micros();
        }
        while cluster.server(1).tree().get("/q/x").is_some() {
            cluster.run_for(LATENCY);
        }
        Self {
            through_leader,
            timeout: seconds * SECOND,
            lived: cluster.network.now().micros() - last,
        }
    }

    fn over(&self) -> u64 {
        self.lived.saturating_sub(self.timeout)
    }
}

/// D2.
#[test]
fn a_session_outlives_its_last_packet_by_its_timeout_and_up_to_a_tick_and_a_half() {
    // To the server, to the leader, and back as a commit, with the flushes of the logs.
    let way = 8 * LATENCY;
    let (mut at_leader, mut at_follower) = (0, 0);
    for seed in 0..CASES {
        let case = Case::run(seed, false);
        assert!(case.lived > case.timeout, "seed {seed}: {} µs", case.lived);
        let most = if case.through_leader {
            at_leader = case.over().max(at_leader);
            TICK
        } else {
            at_follower = case.over().max(at_follower);
            TICK + TICK / 2
        };
        assert!(case.over() <= most + way, "seed {seed}: {} µs", case.over());
    }
    // The bounds are come close to, so they are no wider than they must be.
    assert!(at_leader > TICK * 9 / 10, "{at_leader} µs");
    assert!(at_follower > TICK + TICK / 4, "{at_follower} µs");
}

/// D2 and D3.
#[test]
fn a_new_leader_counts_from_its_own_beginning() {
    for seed in 0..CASES / 5 {
        let case = Case::run(seed, true);
        let (least, most) = (
            case.timeout - 2 * LATENCY,
            case.timeout + TICK + 8 * LATENCY,
        );
        assert!(
            (least..=most).contains(&case.lived),
            "seed {seed}: {} µs",
            case.lived
        );
    }
}
