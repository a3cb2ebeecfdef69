//! A plan that is worth a try.

use picklock_sim::plan::Plan;

/// A plan to try.
#[derive(Clone)]
pub struct Candidate {
    /// The plan.
    pub plan: Plan,
    /// It matters which servers chance leads to.
    pub depends_on_server: bool,
    /// It was chosen for what chance had decided in the run that taught, and fits best if chance decides it again.
    pub as_seen: bool,
    /// Chance can spare its victim.
    pub elusive: bool,
}

impl Candidate {
    /// Whether it can be tried in another world of its kind: whomever it may strike is there.
    pub(super) fn fits(&self, world: &Plan) -> bool {
        self.plan.workload.contenders <= world.workload.contenders
            && self.plan.service.servers() <= world.service.servers()
    }
}
