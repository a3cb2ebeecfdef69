//! Bystanders: clients that have nothing to do with the lock, and feel what it does to the service.

use std::rc::Rc;

use picklock_algorithms::clients::zookeeper::Path;

use crate::process::ProcessId;
use crate::shared::{Shared, environment, zookeeper};
use crate::world::BYSTANDER_PATH;

/// Runs a bystander: it reads something else on the same service, again and again, and measures how long that takes.
pub(crate) async fn bystand(shared: Rc<Shared>, process: ProcessId) {
    let env = environment(&shared, process);
    let zk = zookeeper(&shared, process);
    let path = Path::from(BYSTANDER_PATH);
    let every = shared.world.borrow().plan.workload.bystander_every;
    loop {
        env.sleep(every).await;
        let asked = shared.world.borrow().now;
        let answer = zk.exists(&path).await;
        let mut world = shared.world.borrow_mut();
        if answer.is_ok() {
            let took = picklock_checker::time::whole_micros(world.now - asked);
            if world.draining {
                world.samples.bystander.push(took);
            } else {
                world.samples.bystander_idle.push(took);
            }
        }
    }
}
