//! What is gone for good, in words.

use crate::network::ServerId;
use crate::plan::Fault;
use crate::world::SimulatedService;
use crate::world::World;

impl<S: SimulatedService> World<S> {
    /// `server-1 and server-2 are dead for good: what is left has no quorum`
    pub(crate) fn describe(&self, lacks: &str) -> String {
        let machines = (0..self.plan.service.machines()).map(ServerId);
        let gone = machines.filter(|machine| self.is_server_gone_for_good(*machine));
        let (dead, still): (Vec<ServerId>, Vec<ServerId>) =
            gone.partition(|machine| self.is_dead_for_good(*machine));
        let alone = self.plan.service.machines() == 1;
        let names = |machines: &[ServerId]| match alone {
            true => vec!["the only server".to_owned()],
            false => machines.iter().map(|id| self.name_of(*id)).collect(),
        };
        let mut parts = Vec::new();
        if !dead.is_empty() {
            parts.push(are(&names(&dead), "is dead", "are dead"));
        }
        if !still.is_empty() {
            parts.push(are(&names(&still), "stands still", "stand still"));
        }
        for fault in &self.struck.for_good {
            let fault = &self.plan.faults[*fault];
            if breaks_otherwise(&fault.inject) {
                parts.push(fault.text.clone());
            }
        }
        let gone = parts.join(", ");
        match lacks {
            "" => gone,
            lacks => format!("{gone}: {lacks}"),
        }
    }

    /// `server-1`, `observer-1`, `sentinel-2`
    fn name_of(&self, machine: ServerId) -> String {
        self.plan.service.name_of(machine.0)
    }
}

/// `server-1 and sentinel-2 are dead for good`
fn are(names: &[String], one: &str, several: &str) -> String {
    match names {
        [] => String::new(),
        [name] => format!("{name} {one} for good"),
        [first @ .., last] => format!("{} and {last} {several} for good", first.join(", ")),
    }
}

/// Whether a fault keeps servers from serving that neither die nor stand still.
fn breaks_otherwise(fault: &Fault) -> bool {
    matches!(
        fault,
        Fault::IsolateServer { .. }
            | Fault::Partition { .. }
            | Fault::HoldLink { .. }
            | Fault::SlowDisk { .. }
            | Fault::StallRaft { .. }
            | Fault::FullMemory { .. }
            | Fault::FullDisk { .. }
    )
}
