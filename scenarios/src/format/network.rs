//! `[network]`.

use picklock_sim::plan::{Network, Strategy};

use super::choice::choose;
use super::reader::{Fields, Item, Mistakes};
use super::regions::Unread;
use super::sampled_parameters::{ranges, settle, several};
use crate::sampled_parameters::SampledParameters;

const STRATEGIES: [(&str, StrategyKind); 5] = [
    ("even", StrategyKind::Even),
    ("extremes", StrategyKind::Extremes),
    ("delays", StrategyKind::Delays),
    ("priorities", StrategyKind::Priorities),
    ("orders", StrategyKind::Orders),
];

#[derive(Clone, Copy)]
enum StrategyKind {
    Even,
    Extremes,
    Delays,
    Priorities,
    Orders,
}

fn strategy(item: &Item, mistakes: &mut Mistakes) -> Option<Strategy> {
    let chosen = choose(item, "strategy of chance", &STRATEGIES, mistakes)?;
    let number = |mistakes: &mut Mistakes| {
        let number = chosen.integer(1..=100, mistakes)?;
        u32::try_from(number).ok()
    };
    if let StrategyKind::Even | StrategyKind::Extremes | StrategyKind::Orders = chosen.kind {
        chosen.bare(mistakes);
    }
    Some(match chosen.kind {
        StrategyKind::Even => Strategy::Even,
        StrategyKind::Extremes => Strategy::Extremes,
        StrategyKind::Delays => Strategy::Delays(number(mistakes)?),
        StrategyKind::Priorities => Strategy::Priorities(number(mistakes)?),
        StrategyKind::Orders => Strategy::Orders,
    })
}

/// Reads `[network]`, and what it leaves open.
/// Who lies in which region is read when it is known who takes part.
pub(super) fn read<'a>(
    file: &mut Fields<'a>,
    open: &mut SampledParameters,
    mistakes: &mut Mistakes,
) -> (Network, Unread<'a>) {
    let default = Network::default();
    let Some(mut fields) = file
        .get("network")
        .and_then(|item| item.table("the table [network]", mistakes))
    else {
        return (default, Unread::default());
    };
    let chance = fields.get("chance");
    let chance = chance.and_then(|item| several(&item, mistakes, strategy));
    let chance = settle(chance, &mut open.chance);
    let mut latency = |key, fallback, open| {
        let given = fields.get(key).and_then(|item| ranges(&item, mistakes));
        settle(given, open).unwrap_or(fallback)
    };
    let (client, server) = (&mut open.client_latency, &mut open.server_latency);
    let network = Network {
        chance: chance.unwrap_or(default.chance),
        client_latency: latency("latency", default.client_latency, client),
        server_latency: latency("server-latency", default.server_latency, server),
        regions: default.regions,
    };
    let regions = Unread::take(&mut fields);
    fields.finish(mistakes);
    (network, regions)
}
