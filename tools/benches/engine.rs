//! The bare engine: 3 servers, 5 clients, 100 messages.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use picklock_sim::engine_benches;

fn engine(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("engine");
    group.throughput(Throughput::Elements(1));
    let mut seed = 0;
    group.bench_function("small simulation, futures", |bencher| {
        bencher.iter(|| {
            seed += 1;
            engine_benches::with_futures(seed)
        });
    });
    group.bench_function("small simulation, no futures", |bencher| {
        bencher.iter(|| {
            seed += 1;
            engine_benches::without_futures(seed)
        });
    });
    group.finish();
}

criterion_group!(benches, engine);
criterion_main!(benches);
