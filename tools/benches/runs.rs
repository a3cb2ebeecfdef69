//! Whole simulations: short runs with checking, acquisitions, simulated time, herds, one write, and one read.

use std::hint::black_box;
use std::rc::Rc;
use std::time::Duration;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use picklock_algorithms::registry;
use picklock_checker::{VirtualTime, check_all};
use picklock_clients::zookeeper::{Acl, CreateMode, Data, Path, Request, SessionId, Zxid};
use picklock_machines::Boring;
use picklock_sim::plan::{
    Arrival, ContenderName, Ensemble, Fault, Hold, Network, Plan, PlannedFault, Resource, Section,
    Service, Trigger, Workload,
};
use picklock_sim::simulate;
use picklock_zookeeper::messages::{ClientMessage, ConnectionId, Password, ServerId, Xid};
use picklock_zookeeper::state::{Input, Output, QuorumPeerConfig, Server};
use picklock_zookeeper::txn::ReapRule;

fn plan(recipe: &str, workload: Workload) -> Plan {
    Plan {
        recipe: *registry::find(recipe).expect("the registry has it"),
        service: Service::ZooKeeper(Ensemble::default()),
        network: Network::default(),
        workload,
        resource: Resource { fenced: false },
        faults: Vec::new(),
        event_budget: 1_000_000,
    }
}

/// Three servers, five contenders who come ten times each.
fn short_plan() -> Plan {
    let workload = Workload {
        contenders: 5,
        rounds: 10,
        ..Workload::default()
    };
    plan("zk-predecessor-watch", workload)
}

/// A contender is paused for longer than its lease.
fn lease_plan() -> Plan {
    let target = ContenderName(0);
    let fault = PlannedFault {
        when: Trigger::Acquired { by: target, nth: 1 },
        after: Duration::ZERO,
        repeat: None,
        inject: Fault::Pause {
            target,
            length: Duration::from_secs(20).into(),
        },
        text: "pause contender-1 for 20s".to_owned(),
    };
    let mut plan = plan("zk-predecessor-watch", Workload::default());
    plan.faults.push(fault);
    plan
}

/// All wait behind one, and one leaves at a time.
fn herd_plan(recipe: &str, contenders: u32) -> Plan {
    let latency = Duration::from_micros(500);
    let workload = Workload {
        contenders,
        arrive: Arrival::BehindHolder,
        hold: Hold::Settled,
        section: Section::Nothing,
        ..Workload::default()
    };
    let mut plan = plan(recipe, workload);
    plan.service = Service::ZooKeeper(Ensemble {
        servers: 1,
        session_timeout: Duration::from_secs(40),
        ..Ensemble::default()
    });
    plan.network.client_latency = (latency, latency);
    plan.event_budget = u64::MAX;
    plan
}

fn runs(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("runs");
    let mut seed = 0;
    let mut run = |plan: &Plan| {
        seed += 1;
        let simulated = simulate(plan, seed);
        black_box(check_all(&simulated.run));
        simulated
    };
    let short = short_plan();
    group.throughput(Throughput::Elements(1));
    group.bench_function("short run, checked", |bencher| bencher.iter(|| run(&short)));
    let acquisitions = run(&short).run.counts.grants;
    group.throughput(Throughput::Elements(acquisitions));
    group.bench_function("acquisitions, checked", |bencher| {
        bencher.iter(|| run(&short))
    });
    let lease = lease_plan();
    // Virtual microseconds: a throughput of 100 G elements a second is 100,000 times real time.
    let micros = run(&lease).run.counts.virtual_time_micros;
    group.throughput(Throughput::Elements(micros));
    group.bench_function("lease-scale run, virtual microseconds", |bencher| {
        bencher.iter(|| run(&lease));
    });
    group.finish();
}

fn herds(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("herd of 200");
    group.sample_size(10);
    for recipe in ["zk-children-watch", "zk-same-name"] {
        let plan = herd_plan(recipe, 200);
        let wakeups = simulate(&plan, 1).run.counts.wakeups;
        group.throughput(Throughput::Elements(wakeups));
        group.bench_function(recipe, |bencher| bencher.iter(|| simulate(&plan, 1)));
    }
    group.finish();
}

/// An ensemble that has formed, with one client at a follower; messages arrive at once.
struct Bench {
    servers: Vec<Server>,
    now: VirtualTime,
    answers: usize,
    xid: u32,
}

const CLIENT: ConnectionId = ConnectionId(0);
const AT: ServerId = ServerId(0);

impl Bench {
    fn new() -> Self {
        let settings = Rc::new(QuorumPeerConfig::from(&Ensemble::default()));
        let mut bench = Self {
            servers: Server::formed(&settings, &[(Path::from("/a"), ReapRule::Never)]),
            now: VirtualTime::ZERO,
            answers: 0,
            xid: 0,
        };
        bench.say(ClientMessage::Connect {
            session: SessionId(0),
            password: Password(0),
            timeout: 40_000_000,
            last_zxid: Zxid(0),
            read_only: false,
        });
        bench
    }

    fn ask(&mut self, request: Request) {
        self.xid += 1;
        let xid = Xid(self.xid);
        self.say(ClientMessage::Request { xid, request });
    }

    /// Lets a message arrive, and all that follows from it.
    fn say(&mut self, message: ClientMessage) {
        let wanted = self.answers + 1;
        let connection = CLIENT;
        let mut inputs = vec![(
            AT,
            Input::Client {
                connection,
                message,
            },
        )];
        let mut out = Vec::new();
        while let Some((to, input)) = inputs.pop() {
            let server = &mut self.servers[usize::from(to.0)];
            server.handle(self.now, input, &mut Boring, &mut out);
            for output in out.drain(..).rev() {
                match output {
                    Output::ToPeer {
                        to: peer,
                        message,
                        at,
                    } => {
                        self.now = self.now.max(at);
                        inputs.push((peer, Input::Peer { from: to, message }));
                    }
                    Output::ToClient { .. } => self.answers += 1,
                    Output::Notify { .. }
                    | Output::CloseClient { .. }
                    | Output::Proposed { .. }
                    | Output::Committed(_)
                    | Output::SessionExpired { .. }
                    | Output::BecameLeader
                    | Output::StartedServing
                    | Output::StoppedServing => {}
                }
            }
        }
        assert_eq!(self.answers, wanted, "each request has one answer");
    }
}

fn requests(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("three servers");
    group.throughput(Throughput::Elements(1));
    let mut bench = Bench::new();
    let path = Path::from("/a/b");
    let mode = CreateMode::Ephemeral;
    bench.ask(Request::create(
        Rc::clone(&path),
        b"",
        mode,
        Acl::OPEN,
        false,
    ));
    group.bench_function("one write", |bencher| {
        bencher.iter(|| {
            bench.ask(Request::SetData {
                path: Rc::clone(&path),
                data: Data::empty(),
                version: None,
            });
        });
    });
    group.bench_function("one read", |bencher| {
        bencher.iter(|| {
            bench.ask(Request::Exists {
                path: Rc::clone(&path),
                watch: false,
            });
        });
    });
    group.finish();
}

criterion_group!(benches, runs, herds, requests);
criterion_main!(benches);
