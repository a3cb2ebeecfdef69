//! What breaks at Redis alone.

use crate::plan::Fault;
use crate::world::World;

impl World {
    /// Breaks something that only Redis has.
    pub(in crate::world) fn inject_at_redis(&mut self, fault: &Fault) {
        if let Fault::ServerClockJump { target, by_millis } = *fault
            && let Some(server) = self.server(target)
        {
            self.jump_redis(server, by_millis);
        }
        if let Fault::Promote { target } = *fault
            && let Some(server) = self.server(target)
        {
            self.promote_redis(server);
        }
        if let Fault::EvictKey { target } = *fault
            && let Some(server) = self.server(target)
        {
            self.evict_from_redis(server);
        }
    }
}
