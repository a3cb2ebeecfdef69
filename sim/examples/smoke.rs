//! Throwaway.
use picklock_sim::plan::*;
use picklock_sim::simulate;
use std::time::Duration;
fn main() {
    let name = std::env::args()
        .nth(1)
        .unwrap_or("zk-predecessor-watch".into());
    let recipe = *picklock_algorithms::registry::find(&name).unwrap();
    let plan = Plan {
        recipe,
        service: Service::ZooKeeper(Ensemble::default()),
        network: Network::default(),
        workload: Workload {
            contenders: 3,
            rounds: 2,
            ..Workload::default()
        },
        resource: Resource { fenced: false },
        faults: vec![],
        event_budget: 1_000_000,
    };
    let out = simulate(&plan, 1);
    for event in &out.run.history.events {
        println!("{:>10} {:?}", event.at.to_string(), event.what);
    }
    println!("{:?} {:x}", out.run.counts, out.hash);
    println!("{:?}", picklock_checker::check_all(&out.run));
    let plan = Plan {
        workload: Workload {
            contenders: 5,
            rounds: 10,
            ..plan.workload.clone()
        },
        ..plan
    };
    let n = std::env::args().nth(2).map_or(2000, |n| n.parse().unwrap());
    let t = std::time::Instant::now();
    let mut events = 0;
    let mut hist = 0;
    let mut choices = 0;
    for seed in 0..n {
        let o = simulate(&plan, seed);
        events += o.run.counts.engine_events;
        hist += o.run.history.events.len();
        choices += o.choices.len();
        let v = picklock_checker::check_all(&o.run);
        if v.iter().any(|(_, v)| v.witness().is_some()) {
            println!("{seed} {v:?}");
        }
    }
    let d = t.elapsed();
    println!(
        "{:?} per run, {} runs/s, {} events/run, {} history, {} choices, {:.1} ns/event",
        d / n as u32,
        n as f64 / d.as_secs_f64(),
        events / n,
        hist / n as usize,
        choices / n as usize,
        d.as_nanos() as f64 / events as f64
    );
    let _ = Duration::ZERO;
}
