//! Spells out `[[fault]]`.

use picklock_sim::plan::{
    Fault, FaultKind, Field, LockCall, PlannedFault, Trigger, TriggerKind, TriggerValue,
};
use toml_edit::{Table, Value};

use super::toml::{With, count, range, time};
use crate::describe::{contender, server, signed_millis};

/// The table of a fault.
pub(super) fn fault(planned: &PlannedFault) -> Table {
    let (moment, when) = trigger(&planned.when);
    let (kind, inject) = injected(&planned.inject);
    let after = (!planned.after.is_zero()).then(|| time(planned.after));
    Table::new()
        .with(&format!("when.{moment}"), when)
        .with("after", after)
        .with("times", planned.repeat.map(|repeat| count(repeat.times)))
        .with("every", planned.repeat.and_then(|of| of.every).map(time))
        .with(&format!("inject.{kind}"), inject)
}

/// `acquired = { by = "contender-1", nth = 1 }`
fn trigger(trigger: &Trigger) -> (&'static str, Value) {
    let name = TriggerKind::of(trigger).spec().name;
    if let Trigger::At(at) = trigger {
        return (name, time(*at));
    }
    let value = |value| {
        Some(match value {
            TriggerValue::Contender(name) => contender(name).into(),
            TriggerValue::Server(name) => server(name).into(),
            TriggerValue::MaybeServer(name) => server(name?).into(),
            TriggerValue::Request(request) => request.name().into(),
            TriggerValue::Nth(nth) => count(nth),
            TriggerValue::Fault(fault) => count(fault + 1),
        })
    };
    let fields = trigger.fields().into_iter();
    let said = fields.filter_map(|(key, field)| Some((key, value(field)?)));
    (name, said.collect())
}

/// `pause = { target = "contender-1", for = "20s" }`
fn injected(fault: &Fault) -> (&'static str, Value) {
    let fields = fault.fields();
    let said = fields
        .iter()
        .filter_map(|(key, field)| Some((*key, value(field)?)));
    (FaultKind::of(fault).name(), said.collect())
}

/// What a field is set to. What lasts for good says nothing.
fn value(field: &Field) -> Option<Value> {
    Some(match field {
        Field::Contender(name) => contender(*name).into(),
        Field::Server(name) => server(*name).into(),
        Field::Contenders(names) if names.is_empty() => return None,
        Field::Contenders(names) => names.iter().map(|name| contender(*name)).collect(),
        Field::Servers(names) => names.iter().map(|name| server(*name)).collect(),
        Field::Direction(direction) => direction.name().into(),
        Field::Call(LockCall::Acquire) => return None,
        Field::Call(call) => call.name().into(),
        Field::FaultDuration(lasts) => time(lasts.duration()?),
        Field::Duration(duration) => time(*duration),
        Field::MaybeDuration(duration) => time((*duration)?),
        Field::Range(between) => range(*between),
        Field::Flag(is_so) => is_so.then(|| true.into())?,
        Field::Rate(rate) => rate.to_string().into(),
        Field::Millis(millis) => signed_millis(*millis).into(),
        Field::PartsPerMillion(parts) => count(*parts),
    })
}
