//! Spells out `[[contender]]`.

use picklock_sim::plan::{ContenderSettings, Workload};
use toml_edit::{ArrayOfTables, Table, Value};

use super::keyed;
use super::toml::{With, text};
use crate::describe::{contender, lock};
use crate::sampled_parameters::SampledContender;

/// A table for each contender that differs, and one for any that a seed may draw.
pub(super) fn contenders(workload: &Workload, any: Option<&SampledContender>) -> ArrayOfTables {
    let named = workload.contender_settings.iter();
    let named = named.map(|(name, settings)| {
        let locks = settings.locks.iter().map(|name| lock(*name));
        let locks = (!settings.locks.is_empty()).then(|| locks.collect::<Value>());
        one(&contender(*name), keyed(settings, |_| None)).with("locks", locks)
    });
    let any = any.map(|any| {
        let nothing = ContenderSettings::default();
        one("any", keyed(&nothing, |key| any.drawn(key)))
    });
    named.chain(any).collect()
}

/// The table of a contender: its name, and what it does otherwise.
fn one(name: &str, settings: Table) -> Table {
    let mut table = Table::new().with("name", text(name));
    table.extend(settings);
    table
}
