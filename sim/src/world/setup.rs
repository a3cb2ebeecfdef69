//! How a world begins: everybody in place, and nothing has happened yet.

use std::collections::BTreeMap;
use std::rc::Rc;

use picklock_algorithms::clients::zookeeper::Path;
use picklock_checker::VirtualTime;

use super::beliefs::Beliefs;
use super::for_good::Struck;
use super::redis::Redis;
use super::servers::Pace;
use super::sleeps::Sleeps;
use super::{
    BYSTANDER_PATH, Busy, Contender, FaultState, LOCK, LOCK_KEY, LOCK_PATH, ServerSlot, World,
    phases,
};
use crate::engine::{Tape, Timeline};
use crate::event::Event;
use crate::latency_samples::Samples;
use crate::network::{Connections, Latency, Links};
use crate::ownership::Ownership;
use crate::plan::{Ensemble, Plan, Service};
use crate::process::Process;
use crate::recorder::Recorder;
use crate::resource::Storage;
use crate::zookeeper::messages::ServerId;
use crate::zookeeper::state::{QuorumPeerConfig, Server};

/// A fault that waits for its trigger.
const ARMED: FaultState = FaultState {
    seen: 0,
    armed: true,
};

impl World {
    pub fn new(plan: Rc<Plan>, tape: Tape) -> Self {
        let mut world = Self::at_rest(plan, tape);
        world.arm_start();
        world
    }

    /// Everything is there, and nothing is going to happen yet.
    fn at_rest(plan: Rc<Plan>, mut tape: Tape) -> Self {
        let (ensemble, servers, lock_path) = service(&plan.service);
        let processes = processes(&plan);
        let contenders = plan.workload.contenders as usize;
        Self {
            now: VirtualTime::ZERO,
            redis: Redis::new(&plan.service, processes.len(), &mut tape),
            tape,
            timeline: Timeline::default(),
            recorder: recorder(&plan, &lock_path),
            lock_path,
            samples: Samples::default(),
            processes,
            contenders: (0..contenders).map(|_| contender(&plan)).collect(),
            clients: Vec::with_capacity(contenders + 1),
            connections: Connections::default(),
            servers,
            ownership: Ownership::new(plan.recipe.ownership, LOCK),
            storage: Storage::new(plan.workload.section.initial_value(), plan.resource.fenced),
            beliefs: Beliefs::default(),
            sleeps: Sleeps::of(&plan),
            spawned: Vec::new(),
            killed: Vec::new(),
            awakened: Vec::new(),
            all_run: true,
            clocks_agree: true,
            links_clear: true,
            partitions: Vec::new(),
            seen: None,
            ended: None,
            progress_bound: phases::progress_bound(&plan),
            lease: phases::lease(&plan.service),
            lease_resets: Vec::new(),
            in_turn: VirtualTime::NEVER,
            draining: false,
            links: Links::of(plan.service.machines()),
            sessions: BTreeMap::new(),
            client_latency: Latency::new(plan.network.client_latency),
            server_latency: Latency::new(plan.network.server_latency),
            faults: vec![ARMED; plan.faults.len()],
            faults_armed: plan.faults.len(),
            faults_active: 0,
            calm: false,
            settling: false,
            contenders_active: contenders,
            resource_in_flight: 0,
            busy: busy(contenders),
            told: None,
            last_commit: 0,
            last_release: VirtualTime::ZERO,
            spreading: Vec::new(),
            request_fate: None,
            reply_fate: None,
            answering: None,
            doomed_replies: Vec::new(),
            striking: 0,
            struck: Struck::default(),
            settled_waiters: BTreeMap::new(),
            values: 0,
            client_outputs: Vec::new(),
            speaking: None,
            said_meanwhile: Vec::new(),
            list_retries: Default::default(),
            server_outputs: Vec::new(),
            pace: Pace::from(&ensemble),
            ensemble,
            plan,
        }
    }

    fn arm_start(&mut self) {
        self.arrive_in_turn();
        for server in 0..self.servers.len() {
            self.arm_server(ServerId(server as u8));
        }
        for server in 0..self.redis.servers() {
            self.arm_redis(ServerId(server as u8));
        }
        self.arm_sentinels();
        self.arm_timed_faults();
        self.begin_calm_if_over();
        if !self.calm {
            let storm = phases::storm_limit(&self.plan);
            self.timeline
                .add(VirtualTime::ZERO + storm, Event::StormEnds);
        }
    }
}

/// An ensemble, its servers, and the lock's own node. If the service is another, nobody looks at the settings.
fn service(service: &Service) -> (Ensemble, Vec<ServerSlot>, Path) {
    match service {
        Service::ZooKeeper(ensemble) => {
            let (servers, lock_path) = formed(ensemble);
            (ensemble.clone(), servers, lock_path)
        }
        Service::Redis(_) => (Ensemble::default(), Vec::new(), LOCK_KEY.into()),
    }
}

/// The servers of an ensemble that has formed, and the lock's own node.
fn formed(ensemble: &Ensemble) -> (Vec<ServerSlot>, Path) {
    let settings = Rc::new(QuorumPeerConfig::from(ensemble));
    let nodes = ["/locks", LOCK_PATH, BYSTANDER_PATH].map(Path::from);
    let machines = Server::formed(&settings, &nodes);
    let [_, lock_path, _] = nodes;
    (
        machines.into_iter().map(ServerSlot::new).collect(),
        lock_path,
    )
}

fn recorder(plan: &Plan, lock: &str) -> Recorder {
    let mut recorder = Recorder::default();
    let contenders = 1..=plan.workload.contenders;
    recorder.history.contenders = contenders
        .map(|number| format!("contender-{number}"))
        .collect();
    recorder.history.faults = plan.faults.iter().map(|fault| fault.text.clone()).collect();
    // Roughly what each round has to tell.
    let rounds = plan
        .workload
        .contenders
        .saturating_mul(plan.workload.rounds) as usize;
    recorder.history.events.reserve(13 * rounds.min(1 << 8));
    recorder.history.names.reserve(rounds.min(1 << 8));
    recorder.history.locks = vec![lock.to_owned()];
    recorder
}

/// Contenders first, then bystanders, and last the operator.
fn processes(plan: &Plan) -> Vec<Process<Event>> {
    let people = plan.workload.contenders + plan.workload.bystanders;
    (0..=people).map(|_| Process::new()).collect()
}

fn contender(plan: &Plan) -> Contender {
    Contender {
        rounds_left: plan.workload.rounds,
        ..Contender::default()
    }
}

fn busy(contenders: usize) -> Busy {
    Busy {
        unstarted: contenders,
        ..Busy::default()
    }
}

impl ServerSlot {
    fn new(machine: Server) -> Self {
        Self {
            machine,
            up: true,
            deaths: Vec::new(),
            hung: false,
            backlog: Vec::new(),
            wake: VirtualTime::NEVER,
            busy_until: VirtualTime::ZERO,
            lag: 0,
            lag_until: VirtualTime::ZERO,
        }
    }
}
