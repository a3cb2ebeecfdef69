//! Throwaway.
use picklock_checker::*;
use picklock_scenarios::*;
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let names: Vec<&str> = INVARIANTS.iter().map(|i| i.name).collect();
    let metrics: Vec<&str> = METRICS.iter().map(|i| i.name).collect();
    let cat = Catalogue {
        algorithms: picklock_algorithms::registry::RECIPES,
        invariants: &names,
        metrics: &metrics,
    };
    let scenarios = match load(std::path::Path::new(&a[1]), &cat) {
        Ok(s) => s,
        Err(d) => {
            for d in d {
                println!("{d}");
            }
            return;
        }
    };
    let seeds: u64 = a[2].parse().unwrap();
    let only = a.get(3).cloned().unwrap_or_default();
    for s in scenarios {
        for c in &s.cases {
            if !only.is_empty() && c.name != only {
                continue;
            }
            let mut seen = std::collections::BTreeMap::new();
            let t = std::time::Instant::now();
            let mut events = 0;
            for seed in 0..seeds {
                let o = picklock_sim::simulate(&c.plan, seed);
                events += o.run.counts.engine_events;
                let e = Evidence::of(&o.run);
                if let Some(v) = picklock_checker::vacuity::vacuous_evidence(&e) {
                    seen.entry(format!("VACUOUS {v}"))
                        .or_insert((0, seed, String::new()))
                        .0 += 1;
                }
                for (n, v) in check_evidence(&e, INVARIANTS) {
                    let (k, t) = match v {
                        Verdict::Violated(w) => (format!("VIOLATED {n}"), w.summary),
                        Verdict::Undecided(u) => (format!("undecided {n}"), u),
                        Verdict::Holds => unreachable!(),
                    };
                    seen.entry(k).or_insert((0, seed, t)).0 += 1;
                }
                if !only.is_empty() && seed + 1 == seeds {
                    for e in &o.run.history.events {
                        println!("{:>12} {:?}", e.at.to_string(), e.what);
                    }
                    println!("{:?}", o.run.history.names);
                    for (n, v) in check_evidence(&Evidence::of(&o.run), INVARIANTS) {
                        println!("{n}: {v:#?}");
                    }
                }
            }
            println!(
                "== {} / {}   {:?} per seed, {} events",
                s.name,
                c.name,
                t.elapsed() / seeds as u32,
                events / seeds
            );
            for (k, (n, seed, t)) in seen {
                if !k.starts_with("undecided") {
                    println!("   {k}: {n} seeds, first {seed}: {t}");
                }
            }
        }
    }
}
