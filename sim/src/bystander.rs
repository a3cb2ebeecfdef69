//! Bystanders: clients that have nothing to do with the lock, and feel what it does to the service.

use std::rc::Rc;

use picklock_checker::time::whole_micros;

use crate::process::Thread;
use crate::simulated_environment::environment;
use crate::world::Shared;
use crate::world::SimulatedService;

/// Runs the bystander at this place: it reads something else on the same service, again and again, and measures how
/// long that takes. Those of several independent servers read from one each, in turn.
pub(crate) async fn bystand<S: SimulatedService>(
    shared: Rc<Shared<S>>,
    thread: Thread,
    index: u32,
) {
    let env = environment(&shared, thread);
    let read = S::bystander(&shared, thread, index);
    let every = shared.world.borrow().plan.workload.bystander_every;
    loop {
        env.sleep(every).await;
        let asked = shared.world.borrow().now;
        let answered = read().await;
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
