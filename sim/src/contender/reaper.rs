//! A contender that wants no lock: it runs the reaper of its recipe.

use std::time::Duration;

use super::Contender;
use crate::plan::ContenderName;
use crate::world::SimulatedService;

impl<S: SimulatedService> Contender<S> {
    /// How often it runs the reaper, if it wants no lock.
    pub(super) fn reaper_interval(&self) -> Option<Duration> {
        let world = self.shared.world.borrow();
        world
            .plan
            .workload
            .reaper_interval_of(ContenderName(self.id.0))
    }

    /// Runs the reaper again and again, as long as the process lives. The end of the run does not wait for it.
    pub(super) async fn reap(&mut self, interval: Duration) {
        if let Some(first) = S::first_session(&self.shared, self.id) {
            first.await;
        }
        self.finish();
        loop {
            self.sleep(interval).await;
            self.locks.reap().await;
        }
    }
}
