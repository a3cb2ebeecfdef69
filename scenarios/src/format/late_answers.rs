//! Refuses a network on which no answer can come in time: whatever a client asks for, it gives up.

use std::ops::Range;
use std::time::Duration;

use picklock_sim::plan::{ContenderName, Plan};

use super::reader::{Fields, Item, Mistake, Mistakes};
use crate::sampled_parameters::SampledParameters;
use crate::scenario::Case;
use crate::units::write_duration;

/// Refuses a latency of which there and back, at its lowest, is longer than a client waits: that of `[network]`, if a
/// contender goes by it, and that of each `[[contender]]`. Regions may bring a server nearer, and are not looked into.
pub(super) fn refuse_late_answers(
    file: &Fields,
    cases: &[Case],
    open: &SampledParameters,
    mistakes: &mut Mistakes,
) {
    if !mistakes.is_empty() {
        return;
    }
    let contenders = file.peek("contender").and_then(|item| item.as_list());
    for contender in contenders.into_iter().flatten() {
        for latency in latencies(&contender, mistakes) {
            refuse(latency, cases.iter().map(|case| &case.plan), mistakes);
        }
    }
    let plans = cases.iter().map(|case| &case.plan);
    let near = plans.filter(|plan| open.regions.is_none() && goes_by_network(plan));
    let written = file.peek("network");
    let written = written.map_or_else(Vec::new, |network| latencies(&network, mistakes));
    if written.is_empty() {
        for plan in near {
            let lowest = plan.network.client_latency.0;
            refuse(
                (place_of_timeout(file, plan, mistakes), lowest),
                [plan],
                mistakes,
            );
        }
    } else {
        for latency in written {
            refuse(latency, near.clone(), mistakes);
        }
    }
}

/// Refuses a latency, of which this is the lowest, if no answer comes in time in one of these plans.
fn refuse<'p>(
    (place, lowest): (Range<usize>, Duration),
    plans: impl IntoIterator<Item = &'p Plan>,
    mistakes: &mut Mistakes,
) {
    let round_trip = lowest * 2;
    let late = plans.into_iter().find_map(|plan| {
        let mut late = plan.service.answer_timeouts();
        late.retain(|(_, timeout)| *timeout < round_trip);
        (!late.is_empty()).then_some((plan, late))
    });
    let Some((plan, late)) = late else {
        return;
    };
    let round_trip = write_duration(round_trip);
    let waits = late
        .iter()
        .map(|(key, timeout)| format!("`{key}` is {}", write_duration(*timeout)));
    let waits: Vec<String> = waits.collect();
    let longer = late
        .iter()
        .map(|(key, _)| format!("a `{key}` of at least {round_trip}"));
    let longer: Vec<String> = longer.collect();
    let shortest = late.iter().map(|(_, timeout)| *timeout).min();
    let mistake = Mistake::new("no answer of a server can come in time")
        .label(format!(
            "there and back takes {round_trip} or longer, but {}",
            waits.join(", and ")
        ))
        .help(format!(
            "write a `latency` of at most {}, or in [service.{}] {}",
            write_duration(shortest.unwrap_or_default() / 2),
            plan.service.kind().name(),
            longer.join(" and "),
        ));
    mistakes.add(place, mistake);
}

/// Whether a contender has the latency that the network says, to every server.
fn goes_by_network(plan: &Plan) -> bool {
    let own = &plan.workload.contender_settings;
    let has_own = |name| own.get(&name).is_some_and(|own| own.latency.is_some());
    let mut contenders = (0..plan.workload.contenders).map(ContenderName);
    plan.network.regions.is_empty() && contenders.any(|name| !has_own(name))
}

/// The latencies that a table gives: where each stands, and its lowest.
fn latencies(table: &Item, mistakes: &mut Mistakes) -> Vec<(Range<usize>, Duration)> {
    let Some(item) = field(table, "latency", mistakes) else {
        return Vec::new();
    };
    let items = item.as_list().unwrap_or_else(|| vec![item]);
    let lowest = |item: Item| Some((item.span.clone(), item.range(mistakes)?.0));
    items.into_iter().filter_map(lowest).collect()
}

/// Where the file says how long a client waits for an answer.
fn place_of_timeout(file: &Fields, plan: &Plan, mistakes: &mut Mistakes) -> Range<usize> {
    let service = file.peek("service");
    let of_kind = service.and_then(|item| field(&item, plan.service.kind().name(), mistakes));
    let keys = plan.service.answer_timeouts();
    let mut written = keys
        .iter()
        .filter_map(|(key, _)| field(of_kind.as_ref()?, key, mistakes));
    written.next().map_or_else(|| file.span(), |item| item.span)
}

/// What stands behind a key of a table.
fn field<'a>(table: &Item<'a>, key: &str, mistakes: &mut Mistakes) -> Option<Item<'a>> {
    table.table("a table", mistakes)?.peek(key)
}
