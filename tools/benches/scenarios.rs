//! Whole runs: short ones, one of leases, and herds.

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use picklock_algorithms::registry::find;
use picklock_checker::check_all;
use picklock_scenarios::bench::{lease_run, short_run};
use picklock_scenarios::herd::Experiment;
use picklock_sim::simulate;

/// Three servers, five contenders, ten acquisitions each: 50 elements are 50 acquisitions.
fn short(criterion: &mut Criterion) {
    let plan = short_run();
    let mut group = criterion.benchmark_group("short run");
    group.throughput(Throughput::Elements(50));
    let mut seed = 0;
    group.bench_function("simulated", |bencher| {
        bencher.iter(|| {
            seed += 1;
            simulate(&plan, seed).hash
        });
    });
    group.bench_function("simulated and checked", |bencher| {
        bencher.iter(|| {
            seed += 1;
            check_all(&simulate(&plan, seed).run).len()
        });
    });
    group.bench_function("checked", |bencher| {
        bencher.iter_batched(
            || simulate(&plan, 1).run,
            |run| check_all(&run).len(),
            BatchSize::SmallInput,
        );
    });
    group.finish();
}

/// A holder that sleeps through its session: about 25 s of virtual time.
fn lease(criterion: &mut Criterion) {
    let plan = lease_run();
    let mut seed = 0;
    criterion.bench_function("run of leases", |bencher| {
        bencher.iter(|| {
            seed += 1;
            simulate(&plan, seed).hash
        });
    });
}

/// 201 contenders: about 20,000 wake-ups for the herds, 200 for the queue.
fn herds(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("herd of 201");
    group.sample_size(10);
    for name in ["zk-predecessor-watch", "zk-children-watch", "zk-same-name"] {
        let Some(recipe) = find(name).copied() else {
            continue;
        };
        let experiment = Experiment::of(recipe, 201);
        group.bench_function(name, |bencher| bencher.iter(|| experiment.run().hash));
    }
    group.finish();
}

criterion_group!(benches, short, lease, herds);
criterion_main!(benches);
