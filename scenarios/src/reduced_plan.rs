//! Plans without some of their faults or contenders: what is left is counted again, and names follow.

use picklock_sim::plan::{
    ContenderName, Fault, LockName, Plan, PlannedFault, ServerName, Trigger, Workload,
};

use crate::describe;
use crate::fault_fields::{Parts, moment, place};

/// The plan without these faults, and without those that wait for one of them.
pub(crate) fn without_faults(plan: &Plan, gone: impl Fn(usize, &PlannedFault) -> bool) -> Plan {
    let mut kept: Vec<Option<usize>> = Vec::new();
    let mut faults = Vec::new();
    for (index, fault) in plan.faults.iter().enumerate() {
        // A fault may wait for one that stands below it, so the whole chain is looked up.
        let lost = waits_for(plan, index).any(|index| gone(index, &plan.faults[index]));
        kept.push((!lost).then_some(faults.len()));
        if !lost {
            faults.push(fault.clone());
        }
    }
    for fault in &mut faults {
        if let Trigger::Fired { fault: awaited } = &mut fault.when
            && let Some(Some(index)) = kept.get(*awaited)
        {
            *awaited = *index;
        }
    }
    Plan {
        faults,
        ..plan.clone()
    }
}

/// The plan without a fault, and the places of those that waited for it and are gone, too.
pub(crate) fn without_fault(plan: &Plan, fault: usize) -> (Plan, Vec<usize>) {
    let less = without_faults(plan, |index, _| index == fault);
    let waits = |index: &usize| *index != fault && waits_for(plan, *index).any(|on| on == fault);
    (less, (0..plan.faults.len()).filter(waits).collect())
}

/// The contender that a fault waits for, and those that it strikes; none, if it strikes all.
pub(crate) fn contenders_of(fault: &PlannedFault) -> (Option<ContenderName>, Vec<ContenderName>) {
    let PlannedFault { when, inject, .. } = &mut fault.clone();
    if let Fault::Partition { .. } = inject {
        return (moment(when).0.map(|name| *name), Vec::new());
    }
    let parts = Parts::of(inject);
    let of_servers = parts.servers.into_iter().chain(place(when));
    let struck = parts
        .contender
        .into_iter()
        .chain(of_servers.filter_map(of_contender));
    let struck = struck.map(|name| *name).collect();
    (moment(when).0.map(|name| *name), struck)
}

/// A fault, the one that it waits for, the one that that waits for, and so on.
fn waits_for(plan: &Plan, index: usize) -> impl Iterator<Item = usize> {
    let next = |index: &usize| match plan.faults[*index].when {
        Trigger::Fired { fault } if fault < plan.faults.len() => Some(fault),
        _ => None,
    };
    // Faults may wait for each other in a circle; none of them ever fires then.
    std::iter::successors(Some(index), next).take(plan.faults.len())
}

/// The plan with these contenders alone, the first becoming the first and so on. Faults that name another go, too.
pub(crate) fn with_contenders(plan: &Plan, stays: impl Fn(u32) -> bool) -> Plan {
    let all = 0..plan.workload.contenders;
    let staying: Vec<u32> = all.filter(|index| stays(*index)).collect();
    let new_name = |name: ContenderName| {
        let index = staying.iter().position(|index| *index == name.0)?;
        Some(ContenderName(u32::try_from(index).ok()?))
    };
    let mut less = without_faults(plan, |_, fault| {
        let mut fault = fault.clone();
        rename(&mut fault, &new_name).is_none()
    });
    for fault in &mut less.faults {
        // Those that cannot be renamed are gone.
        let _ = rename(fault, &new_name);
        describe::update_text(fault);
    }
    let settings = plan.workload.contender_settings.iter();
    let settings = settings.filter_map(|(name, own)| Some((new_name(*name)?, own.clone())));
    less.workload.contender_settings = settings.collect();
    // All contenders come to the same barriers.
    let own_locks = plan.rendezvous().is_none();
    for (new, old) in (0..).zip(&staying).filter(|_| own_locks) {
        keep_locks(&plan.workload, ContenderName(*old), &mut less.workload, new);
    }
    less.network.regions.keep(&new_name, &|_| true);
    // The first contenders count down.
    less.workload.count = plan.workload.count.map(|count| {
        let left = staying.iter().filter(|old| **old < count).count();
        u32::try_from(left).unwrap_or(count).max(1)
    });
    less.workload.contenders = u32::try_from(staying.len()).unwrap_or(u32::MAX);
    less
}

/// A contender takes the same locks in the same order under its new name.
fn keep_locks(workload: &Workload, old: ContenderName, less: &mut Workload, new: u32) {
    let rounds = workload.rounds_with_locks(workload.rounds_of(old));
    let rounds = rounds.min(workload.locks);
    let locks = |of: &Workload, name| -> Vec<LockName> {
        (0..rounds).map(|round| of.lock_of(name, round)).collect()
    };
    let (taken, new) = (locks(workload, old), ContenderName(new));
    if locks(less, new) != taken {
        less.contender_settings.entry(new).or_default().locks = taken;
    }
}

/// Takes machines that are not there any more out of their regions.
pub(crate) fn without_the_gone(plan: &mut Plan) {
    if !plan.network.regions.is_empty() {
        let machines = (0..plan.service.machines()).map(|machine| plan.service.name_of(machine));
        let machines: Vec<String> = machines.collect();
        let is_there = |name| machines.contains(&describe::server(name));
        plan.network.regions.keep(&Some, &is_there);
    }
}

/// Gives the contenders of a fault their new names; `None`, if one has none.
fn rename(
    fault: &mut PlannedFault,
    new_name: &dyn Fn(ContenderName) -> Option<ContenderName>,
) -> Option<()> {
    let PlannedFault { when, inject, .. } = fault;
    if let Fault::Partition { contenders, .. } = inject {
        // Without one of its clients it still cuts off the others.
        *contenders = contenders.iter().filter_map(|old| new_name(*old)).collect();
    }
    let parts = Parts::of(inject);
    let servers = parts.servers.into_iter().chain(place(when));
    for name in parts
        .contender
        .into_iter()
        .chain(servers.filter_map(of_contender))
    {
        *name = new_name(*name)?;
    }
    if let Some(name) = moment(when).0 {
        *name = new_name(*name)?;
    }
    Some(())
}

/// The contender that a server is named after.
fn of_contender(server: &mut ServerName) -> Option<&mut ContenderName> {
    match server {
        ServerName::Of(contender) => Some(contender),
        ServerName::Leader
        | ServerName::Primary
        | ServerName::Follower(_)
        | ServerName::Observer(_)
        | ServerName::Number(_)
        | ServerName::Sentinel(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use picklock_algorithms::registry::RECIPES;
    use picklock_sim::plan::{Ensemble, Network, Resource, Service};

    use super::*;

    fn plan(contenders: u32, faults: Vec<(Trigger, Fault)>) -> Plan {
        let planned = |(when, inject): (Trigger, Fault)| PlannedFault {
            when,
            after: Duration::ZERO,
            repeat: None,
            text: describe::fault(&inject),
            inject,
        };
        Plan {
            recipe: RECIPES[0],
            service: Service::ZooKeeper(Ensemble::default()),
            network: Network::default(),
            workload: Workload {
                contenders,
                ..Workload::default()
            },
            resource: Resource { fenced: false },
            faults: faults.into_iter().map(planned).collect(),
            event_budget: 1_000,
        }
    }

    fn cut(contender: u32) -> Fault {
        Fault::Cut {
            target: ContenderName(contender),
        }
    }

    fn when(contender: u32) -> Trigger {
        Trigger::Acquired {
            by: ContenderName(contender),
            nth: 1,
        }
    }

    #[test]
    fn faults_that_wait_for_a_lost_one_go_and_the_others_shift() {
        let faults = vec![
            (Trigger::Fired { fault: 1 }, cut(0)),
            (when(0), cut(1)),
            (when(1), cut(0)),
            (Trigger::Fired { fault: 2 }, cut(1)),
        ];
        let less = without_faults(&plan(2, faults), |index, _| index == 1);
        let left: Vec<Trigger> = less.faults.into_iter().map(|fault| fault.when).collect();
        assert_eq!(left, [when(1), Trigger::Fired { fault: 0 }]);
    }

    #[test]
    fn names_follow_the_contenders_that_stay() {
        let faults = vec![(when(2), cut(2)), (when(1), cut(0))];
        let less = with_contenders(&plan(3, faults), |index| index != 1);
        assert_eq!(less.workload.contenders, 2);
        assert_eq!(less.faults.len(), 1);
        assert_eq!(less.faults[0].when, when(1));
        assert_eq!(less.faults[0].text, "cut contender-2");
    }

    #[test]
    fn contenders_that_stay_take_the_locks_that_they_took() {
        let mut plan = plan(4, Vec::new());
        (plan.workload.locks, plan.workload.rounds) = (2, 3);
        let less = with_contenders(&plan, |index| index % 2 == 1);
        for (new, old) in [(0, 1), (1, 3)] {
            for round in 0..3 {
                let taken = plan.workload.lock_of(ContenderName(old), round);
                assert_eq!(less.workload.lock_of(ContenderName(new), round), taken);
            }
        }
        // Those whose turns are the same need no mention.
        let less = with_contenders(&plan, |index| index < 3);
        assert!(less.workload.contender_settings.is_empty());
    }

    #[test]
    fn a_partition_outlives_the_contenders_on_its_sides() {
        let partition = |contenders: &[u32]| Fault::Partition {
            servers: vec![ServerName::Number(0)],
            contenders: contenders.iter().copied().map(ContenderName).collect(),
            length: Duration::from_secs(5).into(),
        };
        let plan = plan(
            4,
            vec![(Trigger::At(Duration::ZERO), partition(&[0, 2, 3]))],
        );
        let less = with_contenders(&plan, |index| index > 1);
        assert_eq!(less.faults[0].inject, partition(&[0, 1]));
        let text = "partition server-1, contender-1 and contender-2 from all others for 5s";
        assert_eq!(less.faults[0].text, text);
        let without = with_contenders(&plan, |index| index == 1);
        assert_eq!(without.faults[0].inject, partition(&[]));
    }
}
