//! Bystanders: clients that have nothing to do with the lock, and feel what it does to the service.

use std::rc::Rc;

use picklock_algorithms::clients::ServiceKind;
use picklock_algorithms::clients::redis::Redis;
use picklock_algorithms::clients::zookeeper::{Path, ZooKeeper};
use picklock_checker::time::whole_micros;

use crate::process::ProcessId;
use crate::simulated_handles::{Shared, environment, redis, zookeeper};
use crate::world::{BYSTANDER_KEY, BYSTANDER_PATH};

/// What a bystander reads.
enum Elsewhere {
    Node(ZooKeeper, Path),
    /// A key on one of several independent servers, or beside the lock's.
    Key(Redis),
}

impl Elsewhere {
    fn of(shared: &Rc<Shared>, process: ProcessId, place: u32) -> Self {
        let service = shared.world.borrow().plan.service.kind();
        match service {
            ServiceKind::ZooKeeper => {
                Self::Node(zookeeper(shared, process), Path::from(BYSTANDER_PATH))
            }
            ServiceKind::Redis => {
                let redis = redis(shared, process);
                Self::Key(redis.at(place % redis.nodes().max(1)))
            }
        }
    }

    /// Reads it; answers whether there was an answer.
    async fn read(&self) -> bool {
        match self {
            Self::Node(zk, path) => zk.exists(path).await.is_ok(),
            Self::Key(redis) => redis.get(BYSTANDER_KEY).await.is_ok(),
        }
    }
}

/// Runs the bystander at this place: it reads something else on the same service, again and again, and measures how
/// long that takes. Those of several independent servers read from one each, in turn.
pub(crate) async fn bystand(shared: Rc<Shared>, process: ProcessId, place: u32) {
    let env = environment(&shared, process);
    let elsewhere = Elsewhere::of(&shared, process, place);
    let every = shared.world.borrow().plan.workload.bystander_every;
    loop {
        env.sleep(every).await;
        let asked = shared.world.borrow().now;
        let answered = elsewhere.read().await;
        let mut world = shared.world.borrow_mut();
        if answered {
            let took = whole_micros(world.now - asked);
            if world.draining {
                world.samples.bystander.push(took);
            } else {
                world.samples.bystander_idle.push(took);
            }
        }
    }
}
