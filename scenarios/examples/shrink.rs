//! Shrinks every failure of the library, and prints a table of what came of it.

use std::sync::atomic::AtomicBool;

use picklock_checker::{Evidence, Verdict, invariants};
use picklock_scenarios::clock::Stopwatch;
use picklock_scenarios::shrink::{Budget, SearchLimit, shrink};
use picklock_scenarios::{BUILT_IN, Case, Catalogue, Want, parse, runner};

fn main() {
    println!(
        "| scenario | case | violates | seed | contenders | faults | operations | events | choices | runs | time |"
    );
    println!("| --- | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |");
    let mut times = Vec::new();
    for (name, text) in BUILT_IN {
        let scenario = parse(name, text, &Catalogue::EVERYTHING);
        let scenario = scenario.unwrap_or_else(|mistakes| panic!("{}", mistakes[0]));
        for case in &scenario.cases {
            for expectation in &case.expectations {
                let Want::Violated { within_seeds, .. } = expectation.want else {
                    continue;
                };
                times.extend(row(name, case, expectation.invariant, within_seeds));
            }
        }
    }
    times.sort_unstable();
    println!("\nmedian {} ms of {}", times[times.len() / 2], times.len());
}

fn row(name: &str, case: &Case, invariant: &str, within_seeds: u64) -> Option<u128> {
    let invariant = invariants::find(invariant)?;
    let violates = |seed: &u64| {
        let run = runner::simulated(case, *seed).run;
        let looked_at = runner::wanted(&case.settled(*seed), invariant.name).is_some();
        looked_at && matches!((invariant.check)(&Evidence::of(&run)), Verdict::Violated(_))
    };
    let seed = (0..within_seeds).find(violates)?;
    let watch = Stopwatch::start();
    let no_stop = AtomicBool::new(false);
    let shrunk = shrink(
        case,
        seed,
        invariant,
        Budget::default(),
        &SearchLimit::until(&no_stop),
    )?;
    let took = watch.elapsed().as_millis();
    let (from, to) = (shrunk.from, shrunk.to);
    println!(
        "| {name} | {} | {} | {seed} | {} to {} | {} to {} | {} to {} | {} to {} | {} to {} | {}{} | {took} ms |",
        case.name,
        invariant.name,
        from.contenders,
        to.contenders,
        from.faults,
        to.faults,
        from.operations,
        to.operations,
        from.events,
        to.events,
        from.choices,
        to.choices,
        shrunk.tried,
        if shrunk.cut.is_none() {
            ""
        } else {
            " (not done)"
        },
    );
    Some(took)
}
