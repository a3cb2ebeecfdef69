//! Spells out `[[fault]]`.

use std::time::Duration;

use picklock_sim::plan::{
    Fault, FaultKind, Field, PlannedFault, Trigger, TriggerKind, TriggerValue,
};

use crate::describe::{contender, server, signed_millis};
use crate::units::write_duration;

/// The lines of a fault.
pub(super) fn lines(planned: &PlannedFault) -> Vec<String> {
    let mut lines = vec![
        "[[fault]]".to_owned(),
        format!("when.{}", trigger(&planned.when)),
    ];
    if !planned.after.is_zero() {
        lines.push(format!("after = {}", time(planned.after)));
    }
    lines.push(format!("inject.{}", fault(&planned.inject)));
    lines.push(String::new());
    lines
}

fn time(duration: Duration) -> String {
    format!("\"{}\"", write_duration(duration))
}

/// `acquired = { by = "contender-1", nth = 1 }`
fn trigger(trigger: &Trigger) -> String {
    if let Trigger::At(at) = trigger {
        return format!("at = {}", time(*at));
    }
    let value = |value| match value {
        TriggerValue::Contender(name) => quoted(&contender(name)),
        TriggerValue::Server(name) => quoted(&server(name)),
        TriggerValue::Request(request) => quoted(request.name()),
        TriggerValue::Nth(nth) => nth.to_string(),
        TriggerValue::Fault(fault) => (fault + 1).to_string(),
    };
    let fields = trigger.fields().into_iter();
    let said: Vec<String> = fields
        .map(|(key, it)| format!("{key} = {}", value(it)))
        .collect();
    let name = TriggerKind::of(trigger).spec().name;
    format!("{name} = {{ {} }}", said.join(", "))
}

/// `pause = { target = "contender-1", for = "20s" }`
fn fault(fault: &Fault) -> String {
    let name = FaultKind::of(fault).name();
    let fields = fault.fields();
    let said: Vec<String> = fields
        .iter()
        .filter_map(|(key, field)| said(key, field))
        .collect();
    match said.as_slice() {
        [] => format!("{name} = {{}}"),
        said => format!("{name} = {{ {} }}", said.join(", ")),
    }
}

/// `for = "20s"`. What lasts for good says nothing.
fn said(key: &str, field: &Field) -> Option<String> {
    let value = match field {
        Field::Contender(name) => quoted(&contender(*name)),
        Field::Server(name) => quoted(&server(*name)),
        Field::Contenders(names) if names.is_empty() => return None,
        Field::Contenders(names) => list(names.iter().map(|name| contender(*name))),
        Field::Servers(names) => list(names.iter().map(|name| server(*name))),
        Field::Direction(direction) => quoted(direction.name()),
        Field::Lasts(lasts) => time(lasts.duration()?),
        Field::Duration(duration) => time(*duration),
        Field::MaybeDuration(duration) => time((*duration)?),
        Field::Millis(millis) => quoted(&signed_millis(*millis)),
        Field::PartsPerMillion(parts) => parts.to_string(),
    };
    Some(format!("{key} = {value}"))
}

fn quoted(text: &str) -> String {
    format!("\"{text}\"")
}

/// `["server-1", "server-2"]`
fn list(names: impl Iterator<Item = String>) -> String {
    let names: Vec<String> = names.map(|name| quoted(&name)).collect();
    format!("[{}]", names.join(", "))
}
