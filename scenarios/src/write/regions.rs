//! Spells out `[network.regions]` and `[network.between]`.

use picklock_sim::plan::{self, Region, Regions};
use toml_edit::{InlineTable, Table, Value};

use super::toml::{With, range, spelled_drawn};
use crate::describe::{contender, server};
use crate::sampled_parameters::{Drawn, SampledRegions};

/// The table of the network with its regions, if it has any.
pub(super) fn with_regions(network: Table, regions: &Regions) -> Table {
    if regions.is_empty() {
        return network;
    }
    let all = regions.all.iter();
    let all: InlineTable = all
        .map(|region| (region.name.as_str(), members(region)))
        .collect();
    let mut between = InlineTable::new();
    for ((one, other), latency) in &regions.between {
        let others = between.get_or_insert(one, InlineTable::new());
        if let Some(others) = others.as_inline_table_mut() {
            others.insert(other, range(*latency));
        }
    }
    network
        .with("regions", Value::from(all))
        .with("between", Value::from(between))
}

/// The table of the network with the regions that each seed draws.
pub(super) fn with_drawn(network: Table, drawn: &SampledRegions) -> Table {
    let (from, to) = drawn.number;
    let number = Drawn::Between(
        plan::Value::Whole(from.into()),
        plan::Value::Whole(to.into()),
    );
    let between: Value = drawn.between.iter().copied().map(range).collect();
    network
        .with("regions", spelled_drawn(&number))
        .with("between", between)
}

fn members(region: &Region) -> Value {
    let servers = region.servers.iter().map(|name| server(*name));
    let contenders = region.contenders.iter().map(|name| contender(*name));
    let resource = region.resource.then(|| "resource".to_owned());
    servers.chain(contenders).chain(resource).collect()
}
