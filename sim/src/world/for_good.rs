//! What is gone for good, and whether what is left can serve.
//!
//! A fault without an end is not healed, in the calm neither. Whether everybody can still get the lock then depends on
//! what is left: that is said here, for the checker to judge progress by.

use picklock_checker::{ForGood, Gone, VirtualTime};

use super::World;
use crate::network::ServerId;
use crate::plan::{Fault, Service};
use crate::process::ProcessId;

/// What faults have struck that is not healed yet.
#[derive(Default)]
pub(super) struct Struck {
    /// Servers that are down or stand still, and by which fault.
    pub servers: Vec<(usize, ServerId)>,
    /// Faults that have struck, and that nothing heals.
    for_good: Vec<usize>,
    /// Since when what is left of the service cannot serve anybody, if that ever was so.
    unserved_since: Option<VirtualTime>,
}

impl World {
    /// A fault has struck that nothing heals.
    pub(super) fn is_gone_for_good(&mut self, fault: usize) {
        self.struck.for_good.push(fault);
        if self.struck.unserved_since.is_none() && self.why_nobody_serves().is_some() {
            self.struck.unserved_since = Some(self.now);
        }
    }

    /// Whether a server, or a Sentinel, has died and does not come back.
    pub(super) fn is_dead_for_good(&self, server: ServerId) -> bool {
        let mut struck = self.struck.servers.iter();
        struck.any(|(by, of)| {
            *of == server
                && match self.plan.faults[*by].inject {
                    Fault::CrashServer { restart_after, .. }
                    | Fault::PowerLoss { restart_after, .. } => restart_after.is_none(),
                    _ => false,
                }
        })
    }

    /// Whether a contender's process has died and does not come back.
    pub(super) fn is_contender_dead_for_good(&self, process: ProcessId) -> bool {
        let mut faults = self.struck.for_good.iter();
        faults.any(|fault| {
            matches!(self.plan.faults[*fault].inject,
                Fault::Crash { target, .. } if target.0 == process.0)
        })
    }

    /// What is gone for good when the run ends.
    pub fn gone_for_good(&self) -> ForGood {
        // What could not serve for a while may have been helped since: a replica was promoted by hand.
        let service = self.struck.unserved_since.and_then(|since| {
            let why = self.why_nobody_serves()?;
            Some(Gone { since, why })
        });
        ForGood {
            service,
            contenders: Vec::new(),
        }
    }

    /// Why what is left of the service can serve nobody, if so, whatever else heals.
    fn why_nobody_serves(&self) -> Option<String> {
        match &self.plan.service {
            Service::ZooKeeper(ensemble) => {
                self.too_few_of(ensemble.servers, "what is left has no quorum")
            }
            Service::Redis(deployment) => self.why_redis_does_not_serve(deployment),
        }
    }

    /// Says so if the majority of the first so many servers is dead for good.
    pub(super) fn too_few_of(&self, servers: u8, lacks: &str) -> Option<String> {
        let dead = self.dead_of((0..servers).map(ServerId));
        if (usize::from(servers) - dead.len()) * 2 > usize::from(servers) {
            return None;
        }
        if servers == 1 {
            return Some("the only server is dead for good".to_owned());
        }
        Some(format!("{} for good: {lacks}", self.are_dead(&dead)))
    }

    /// Those that are dead for good.
    pub(super) fn dead_of(&self, servers: impl Iterator<Item = ServerId>) -> Vec<ServerId> {
        servers
            .filter(|server| self.is_dead_for_good(*server))
            .collect()
    }

    /// `server-1 and sentinel-2 are dead`
    pub(super) fn are_dead(&self, dead: &[ServerId]) -> String {
        let names: Vec<String> = dead.iter().map(|server| self.name_of(*server)).collect();
        match &names[..] {
            [] => "nobody is dead".to_owned(),
            [one] => format!("{one} is dead"),
            [first @ .., last] => format!("{} and {last} are dead", first.join(", ")),
        }
    }

    /// `server-1`, `observer-1`, `sentinel-2`
    fn name_of(&self, machine: ServerId) -> String {
        let voters = self.plan.service.servers();
        let other = if self.redis.is_there() {
            "sentinel"
        } else {
            "observer"
        };
        match machine.0.checked_sub(voters) {
            None => format!("server-{}", machine.0 + 1),
            Some(place) => format!("{other}-{}", place + 1),
        }
    }
}
