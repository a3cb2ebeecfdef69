//! Throwaway.
use picklock_scenarios::herd::*;
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let e = Experiment {
        recipe: *picklock_algorithms::registry::find(&a[1]).unwrap(),
        contenders: a[2].parse().unwrap(),
        hold: if a.len() > 3 {
            picklock_sim::plan::Hold::For(std::time::Duration::from_millis(a[3].parse().unwrap()))
        } else {
            picklock_sim::plan::Hold::Settled
        },
        servers: 1,
        seed: 1,
    };
    let t = std::time::Instant::now();
    let m = e.run();
    let d = t.elapsed();
    println!(
        "{m:?} {:?} {:?} {:.0} ns/event",
        e.formula(),
        d,
        d.as_nanos() as f64 / m.counts.engine_events as f64
    );
}
