//! Whatever a seed draws can be written, read back, and is the plan that it was: of every scenario that draws.

use picklock_scenarios::{BUILT_IN, Case, Catalogue, Scenario, parse, runner, write};

/// Scenarios whose leases are as short, and as long, as a file may say, and a service with few kinds of faults.
const EXTREMES: [(&str, &str); 4] = [
    (
        "lease-of-1ms",
        "[service.redis]\nlease = \"1ms\"\n[[case]]\nalgorithm = \"redis-compare-and-delete\"\n",
    ),
    (
        "session-of-1ms",
        "[service.zookeeper]\ntick = \"500us\"\nsession-timeout = \"1ms\"\n[[case]]\nalgorithm = \"zk-hardened\"\n",
    ),
    (
        "lease-of-5000h",
        "[service.redis]\nlease = \"5000h\"\n[[case]]\nalgorithm = \"redis-set-nx-px-del\"\n",
    ),
    (
        "lease-server",
        "[[case]]\nalgorithm = \"lease-lock-by-pid\"\n",
    ),
];

fn read(name: &str, text: &str) -> Result<Scenario, String> {
    parse(name, text, &Catalogue::EVERYTHING).map_err(|mistakes| {
        let told: Vec<String> = mistakes.iter().map(ToString::to_string).collect();
        told.join("\n")
    })
}

/// Why what a seed of a case draws cannot be kept, if so.
fn mistake(scenario: &Scenario, case: &Case, seed: u64) -> Option<String> {
    let settled = case.settled(seed);
    let text = write(scenario, &settled);
    let told = |what: String| {
        let (name, case) = (&scenario.name, &case.name);
        Some(format!("{name} {case} {seed}: {what}\n{text}"))
    };
    match read(&scenario.name, &text) {
        Err(why) => told(why),
        // The text says everything: what writes the same has been read the same.
        Ok(back) if write(scenario, &back.cases[0]) != text => told("another plan".to_owned()),
        Ok(_) => None,
    }
}

fn mistakes(scenario: &Scenario, seeds: u64) -> Vec<String> {
    let drawing = scenario.cases.iter().filter(|case| case.open.is_some());
    let each = |case| (0..seeds).filter_map(move |seed| mistake(scenario, case, seed));
    drawing.flat_map(each).collect()
}

#[test]
fn every_drawn_plan_of_the_library_is_read_back() {
    let mut all = Vec::new();
    for (name, text) in BUILT_IN {
        let scenario = read(name, text).unwrap_or_else(|why| panic!("{why}"));
        all.extend(mistakes(&scenario, 24));
    }
    assert!(all.is_empty(), "{} plans, first: {}", all.len(), all[0]);
}

#[test]
fn plans_at_the_edges_of_the_format_are_read_back_and_run() {
    for (name, text) in EXTREMES {
        let scenario = read(name, &format!("faults = \"any\"\n{text}"));
        let scenario = scenario.unwrap_or_else(|why| panic!("{name}: {why}"));
        let all = mistakes(&scenario, 60);
        assert!(all.is_empty(), "{} plans, first: {}", all.len(), all[0]);
        // A contender that asks again and again for hours of virtual time takes minutes.
        for seed in 0..if name.ends_with('h') { 0 } else { 4 } {
            let settled = scenario.cases[0].settled(seed);
            assert_eq!(runner::simulated(&settled, seed).broken(), None, "{name}");
        }
    }
}
