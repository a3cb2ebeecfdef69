//! Which server is a replica.

use super::*;

#[test]
fn each_server_but_the_primary_is_a_replica() {
    let mut redis = SimulatedRedis::default();
    let replicas = |redis: &SimulatedRedis| [0, 1].map(|nth| redis.replica_for(nth).0);
    assert_eq!(replicas(&redis), [1, 2]);
    redis.primary = ServerId(1);
    assert_eq!(replicas(&redis), [0, 2]);
}
