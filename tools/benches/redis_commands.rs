//! What commands cost.

use std::hint::black_box;
use std::rc::Rc;

use criterion::{Criterion, criterion_group, criterion_main};
use picklock_checker::VirtualTime;
use picklock_clients::redis::{Command, Value};
use picklock_machines::{Boring, Machine};
use picklock_redis::{ConnectionId, Input, Now, Output, Server, ServerConfig};

const RELEASE: &str = "if redis.call('get', KEYS[1]) == ARGV[1] then \
     return redis.call('del', KEYS[1]) else return 0 end";

struct Bench {
    server: Server,
    out: Vec<Output>,
}

impl Bench {
    fn new() -> Self {
        Self {
            server: Server::new(Rc::new(ServerConfig::default())),
            out: Vec::new(),
        }
    }

    fn ask(&mut self, command: &Command) -> Option<Value> {
        let now = Now {
            monotonic: VirtualTime::ZERO,
            wall_micros: 1_700_000_000_000_000,
        };
        let input = Input::Received {
            connection: ConnectionId(0),
            command: command.clone(),
        };
        self.server.handle(now, input, &mut Boring, &mut self.out);
        match self.out.pop() {
            Some(Output::ToClient { value, .. }) => Some(value),
            _ => None,
        }
    }
}

fn commands(criterion: &mut Criterion) {
    let mut bench = Bench::new();
    let set = Command::new("SET").arg("lock").arg("owner-1");
    let set = set.arg("NX").arg("PX").number(30_000);
    let del = Command::new("DEL").arg("lock");
    let sha = bench.ask(&Command::new("SCRIPT").arg("LOAD").arg(RELEASE));
    let sha = sha.as_ref().and_then(Value::bytes).unwrap_or_default();
    let release = Command::new("EVALSHA").arg(sha).arg("1");
    let release = release.arg("lock").arg("owner-1");
    let by_text = Command::new("EVAL").arg(RELEASE).arg("1");
    let by_text = by_text.arg("lock").arg("owner-1");

    let mut group = criterion.benchmark_group("redis");
    group.bench_function("set-nx-px-and-del", |bencher| {
        bencher.iter(|| {
            black_box(bench.ask(&set));
            black_box(bench.ask(&del))
        });
    });
    group.bench_function("set-nx-px-refused", |bencher| {
        bench.ask(&set);
        bencher.iter(|| black_box(bench.ask(&set)));
    });
    group.bench_function("compare-and-delete-of-another", |bencher| {
        bench.ask(&Command::new("SET").arg("lock").arg("owner-2"));
        bencher.iter(|| black_box(bench.ask(&release)));
    });
    group.bench_function("set-and-compare-and-delete", |bencher| {
        bench.ask(&del);
        bencher.iter(|| {
            black_box(bench.ask(&set));
            black_box(bench.ask(&release))
        });
    });
    group.bench_function("set-and-compare-and-delete-by-text", |bencher| {
        bencher.iter(|| {
            black_box(bench.ask(&set));
            black_box(bench.ask(&by_text))
        });
    });
    group.finish();
}

criterion_group!(benches, commands);
criterion_main!(benches);
