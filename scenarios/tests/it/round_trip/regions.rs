//! Regions, and how far they are from each other.

use picklock_sim::plan::{Region, Regions, ServerName};
use proptest::prelude::*;

use super::plans::span;

/// Two regions, or none.
pub fn regions() -> BoxedStrategy<Regions> {
    let two = (span(), prop::option::of(span())).prop_map(|(apart, within)| {
        let us = Region {
            name: "us".to_owned(),
            servers: vec![ServerName::Number(0)],
            ..Region::default()
        };
        let eu = Region {
            name: "eu-west".to_owned(),
            resource: true,
            ..Region::default()
        };
        let apart = (Regions::pair("us", "eu-west"), apart);
        let within = within.map(|within| (Regions::pair("us", "us"), within));
        Regions {
            all: vec![us, eu],
            between: within.into_iter().chain([apart]).collect(),
        }
    });
    prop_oneof![Just(Regions::default()), two].boxed()
}
