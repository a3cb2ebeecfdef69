//! Which cases of the library show a thing, and how well.

use crate::algorithms::clients::RequestKind;
use crate::scenarios::{Case, Expectation, Scenario, Want};
use crate::sim::plan::{
    Fault, FaultKind, LockCall, PlannedFault, Reads, Regions, TriggerKind, TriggerValue,
};

/// Whether a case shows a thing, and how well: the least shows it best.
pub(super) type Shows = Box<dyn Fn(&Scenario, &Case) -> Option<usize>>;

/// Nothing shows it.
pub(super) fn nothing() -> Shows {
    Box::new(|_, _| None)
}

/// Cases of this scenario.
pub(super) fn scenario(name: String) -> Shows {
    Box::new(move |scenario, case| (scenario.name == name).then(|| rank(case)))
}

/// Cases that expect a violation of this invariant.
pub(super) fn violation(invariant: &'static str) -> Shows {
    Box::new(move |_, case| violates(case, Some(invariant)).then(|| size(case)))
}

/// Cases of this algorithm.
pub(super) fn algorithm(name: &'static str) -> Shows {
    of_case(move |case| case.algorithm.name == name)
}

/// Cases that inject faults of a kind, or else draw some.
pub(super) fn fault(name: &'static str) -> Shows {
    of_kinds(move |kind| kind.name() == name)
}

/// Cases with faults of which the kinds are such, or else cases that draw some.
pub(super) fn of_kinds(is_such: impl Fn(FaultKind) -> bool + 'static) -> Shows {
    Box::new(move |_, case| {
        let mut faults = case.plan.faults.iter();
        if faults.any(|fault| is_such(FaultKind::of(&fault.inject))) {
            return Some(rank(case));
        }
        let drawn = case.open.as_ref()?.faults.as_ref()?;
        let drawn = drawn.kinds.iter().any(|kind| is_such(*kind));
        drawn.then(|| 10_000 + rank(case))
    })
}

/// Cases with a fault that waits for a trigger.
pub(super) fn trigger(name: &'static str) -> Shows {
    of_fault(move |fault| TriggerKind::of(&fault.when).spec().name == name)
}

/// Cases with a fault that waits for a request.
pub(super) fn request(kind: RequestKind) -> Shows {
    of_fault(move |fault| {
        let fields = fault.when.fields();
        let mut values = fields.iter().map(|(_, value)| value);
        values.any(|value| matches!(value, TriggerValue::Request(asked) if *asked == kind))
    })
}

/// Cases with a bound for a metric.
pub(super) fn metric(name: &'static str) -> Shows {
    of_case(move |case| case.measures.iter().any(|measure| measure.metric == name))
}

/// Cases that are to come through a moment.
pub(super) fn moment(name: &'static str) -> Shows {
    of_case(move |case| case.sometimes.contains(&name))
}

/// Cases of which a file sets a key: when a fault strikes, or how contenders and their network are.
pub(super) fn key(name: &str) -> Shows {
    match name {
        "after" => of_fault(|fault| !fault.after.is_zero()),
        "times" => of_fault(|fault| fault.repeat.is_some()),
        "every" => of_fault(|fault| fault.repeat.is_some_and(|repeat| repeat.every.is_some())),
        "call" => of_fault(
            |fault| matches!(&fault.inject, Fault::Cancel { call, .. } if *call == LockCall::Release),
        ),
        "processing" => of_case(|case| !case.plan.processing_at_most().is_zero()),
        "locks" => of_case(|case| case.plan.workload.locks > 1),
        "tasks-per-process" | "share" => of_case(|case| case.plan.workload.tasks_per_process > 1),
        "reads" => of_case(|case| case.plan.workload.reads != Reads::Never),
        "permits" => of_case(|case| case.plan.workload.permits.is_some()),
        "contender" => of_case(|case| !case.plan.workload.contender_settings.is_empty()),
        "regions" | "between" => of_case(|case| case.plan.network.regions != Regions::default()),
        _ => nothing(),
    }
}

/// Cases that are such.
pub(super) fn of_case(is_such: impl Fn(&Case) -> bool + 'static) -> Shows {
    Box::new(move |_, case| is_such(case).then(|| rank(case)))
}

fn of_fault(is_such: impl Fn(&PlannedFault) -> bool + 'static) -> Shows {
    of_case(move |case| case.plan.faults.iter().any(&is_such))
}

/// What breaks says more than what holds.
fn rank(case: &Case) -> usize {
    usize::from(!violates(case, None)) * 1_000 + size(case)
}

/// Whether the case expects a violation, of this invariant or of any.
fn violates(case: &Case, invariant: Option<&str>) -> bool {
    let mut expectations = case.expectations.iter();
    expectations.any(|row| {
        matches!(row.want, Want::Violated { .. })
            && invariant.is_none_or(|name| name == row.invariant)
    })
}

/// How much there is to understand.
fn size(case: &Case) -> usize {
    let violated = |row: &&Expectation| matches!(row.want, Want::Violated { .. });
    let violated = case.expectations.iter().filter(violated).count();
    let drawn = usize::from(case.open.is_some()) * 100;
    let contenders = case.plan.workload.contenders as usize;
    drawn + violated * 20 + case.plan.faults.len() * 10 + contenders
}
