//! Spells out `[[contender]]`.

use picklock_sim::plan::{ContenderName, ContenderSettings, Workload};
use toml_edit::{ArrayOfTables, Table, Value};

use super::sampled_parameters::number;
use super::toml::{With, count, hold, range, text, time};
use crate::describe::{contender, lock, signed_millis};
use crate::sampled_parameters::SampledContender;
use crate::units::reads;

/// A table for each contender that differs, and one for any that a seed may draw.
pub(super) fn contenders(workload: &Workload, any: Option<&SampledContender>) -> ArrayOfTables {
    let named = workload.contender_settings.iter();
    let named = named.map(|(name, settings)| one(*name, settings));
    named.chain(any.map(open)).collect()
}

fn one(name: ContenderName, settings: &ContenderSettings) -> Table {
    let locks = &settings.locks;
    let names = locks.iter().map(|name| lock(*name));
    let offset = settings.clock_offset_millis;
    let offset = (offset != 0).then(|| signed_millis(offset).into());
    Table::new()
        .with("name", text(&contender(name)))
        .with("hold", settings.hold.map(hold))
        .with("rounds", settings.rounds.map(count))
        .with("reads", settings.reads.map(|it| text(&reads(it))))
        .with("conversion", settings.conversion.map(|it| text(it.name())))
        .with(
            "permits-per-acquire",
            settings.permits_per_acquire.map(count),
        )
        .with(
            "locks",
            (!locks.is_empty()).then(|| names.collect::<Value>()),
        )
        .with("think", settings.think.map(range))
        .with("processing", settings.processing.map(range))
        .with("acquire-timeout", settings.acquire_timeout.map(time))
        .with("latency", settings.latency.map(range))
        .with("clock-offset", offset)
}

fn open(any: &SampledContender) -> Table {
    let list = |ranges: &[_]| -> Option<Value> {
        (!ranges.is_empty()).then(|| ranges.iter().copied().map(range).collect())
    };
    let offset = any.clock_offset_millis;
    let offset =
        offset.map(|(from, to)| format!("{}..{}", signed_millis(from), signed_millis(to)).into());
    Table::new()
        .with("name", text("any"))
        .with("hold", any.hold.map(range))
        .with(
            "rounds",
            any.rounds.map(|rounds| number(Some(rounds), rounds.0)),
        )
        .with("reads", any.reads.map(|it| text(&reads(it))))
        .with("think", list(&any.think))
        .with("processing", list(&any.processing))
        .with("acquire-timeout", any.acquire_timeout.map(range))
        .with("latency", list(&any.latency))
        .with("clock-offset", offset)
}
