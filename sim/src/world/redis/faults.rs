//! What breaks at Redis alone.

use std::time::Duration;

use crate::plan::Fault;
use crate::world::World;

impl World {
    /// Breaks something that only Redis has; answers how long it lasts, if it has to be healed.
    pub(in crate::world) fn inject_at_redis(&mut self, fault: &Fault) -> Option<Duration> {
        if let Fault::PowerLoss {
            target,
            restart_after,
        } = *fault
        {
            let server = self.server(target)?;
            self.struck_servers.push((self.striking, server));
            self.power_goes(server);
            return restart_after;
        }
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
        None
    }
}
