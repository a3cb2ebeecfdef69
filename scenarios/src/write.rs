//! Spells a case out as a scenario file, so that a run can be saved and told again.

mod fault;
mod sampled_parameters;
mod toml;

use picklock_sim::plan::{
    Arrival, Cluster, Connections, Deployment, Ensemble, Hold, Network, Persistence, ReadFrom,
    Section, Sentinels, Service, Workload,
};

use self::toml::{number, prose, text};
use crate::format::{PERSISTENCE, checked_by_default};
use crate::sampled_parameters::Open;
use crate::scenario::{
    Case, Expectation, Measure, Recorded, RecordedRun, SavedPlan, Scenario, Want,
};
use crate::units::{write_duration, write_range};

/// Writes a scenario file with this case of the scenario alone. Nothing is left to defaults, so
/// that the file means the same for a later version; it parses back to an equal plan.
pub fn write(scenario: &Scenario, case: &Case) -> String {
    let mut lines = vec![format!("claim = {}", text(&scenario.claim))];
    if !scenario.because.is_empty() {
        lines.push(format!("because = {}", prose(&scenario.because)));
    }
    if !scenario.source.is_empty() {
        lines.push(format!("source = {}", text(&scenario.source)));
    }
    let fenced = fencing(case.plan.resource.fenced);
    lines.push(format!("resource = \"{fenced}\""));
    let settled = Open::default();
    let open = case.open.as_ref().unwrap_or(&settled);
    // The budget of what is left open follows from what each seed settles.
    if !open.is_open() || open.budget_given {
        lines.push(format!("event-budget = {}", case.plan.event_budget));
    }
    lines.extend(open.faults.as_ref().map(sampled_parameters::faults));
    lines.push(String::new());
    match &case.plan.service {
        Service::ZooKeeper(ensemble) => lines.extend(zookeeper(ensemble, open)),
        Service::Redis(deployment) => lines.extend(redis(deployment, open)),
    }
    lines.extend(network(&case.plan.network, open));
    lines.extend(workload(&case.plan.workload, open));
    for planned in &case.plan.faults {
        lines.extend(fault::lines(planned));
    }
    lines.extend(case_lines(case));
    lines.extend(case.recorded.as_ref().map(replay).unwrap_or_default());
    lines.extend(case.saved.as_ref().map(saved).unwrap_or_default());
    let mut file = lines.join("\n");
    file.push('\n');
    file
}

fn fencing(fenced: bool) -> &'static str {
    if fenced { "fenced" } else { "unfenced" }
}

fn zookeeper(ensemble: &Ensemble, open: &Open) -> Vec<String> {
    let time = |duration| text(&write_duration(duration));
    let mut lines = vec![
        "[service.zookeeper]".to_owned(),
        format!(
            "servers = {}",
            sampled_parameters::one_of(&open.servers, ensemble.servers, |it| it.to_string())
        ),
        format!("tick = {}", time(ensemble.tick)),
        format!("sync-limit = {}", ensemble.sync_limit),
        format!("init-limit = {}", ensemble.init_limit),
        format!("session-timeout = {}", time(ensemble.session_timeout)),
        format!("fsync = {}", time(ensemble.fsync)),
        format!("read-time = {}", time(ensemble.read_time)),
        format!("write-time = {}", time(ensemble.write_time)),
        format!("notification-time = {}", time(ensemble.notification_time)),
        format!("version = {}", text(ensemble.version.name())),
        format!("client = {}", text(ensemble.library.name())),
    ];
    for (key, bound) in [
        ("min-session-timeout", ensemble.min_session_timeout),
        ("max-session-timeout", ensemble.max_session_timeout),
    ] {
        lines.extend(bound.map(|bound| format!("{key} = {}", time(bound))));
    }
    if !ensemble.proposal_time.is_zero() {
        lines.push(format!("proposal-time = {}", time(ensemble.proposal_time)));
    }
    let patience = ensemble.request_timeout;
    lines.extend(patience.map(|patience| format!("request-timeout = {}", time(patience))));
    if ensemble.observers > 0 {
        lines.push(format!("observers = {}", ensemble.observers));
    }
    if ensemble.jute_max_buffer != Ensemble::default().jute_max_buffer {
        lines.push(format!("jute-max-buffer = {}", ensemble.jute_max_buffer));
    }
    lines.extend(ensemble.read_only.then(|| "read-only = true".to_owned()));
    lines.push(String::new());
    lines
}

fn persistence(kept: &Persistence) -> &'static str {
    let mut named = PERSISTENCE.iter();
    let found = named.find(|(_, make)| make() == *kept);
    found.map_or("none", |(name, _)| name)
}

fn sentinels(sentinels: &Sentinels) -> Vec<String> {
    let time = |duration| text(&write_duration(duration));
    let mut lines = vec![
        format!("sentinels = {}", sentinels.number),
        format!("quorum = {}", sentinels.quorum),
        format!("down-after = {}", time(sentinels.down_after)),
        format!("failover-timeout = {}", time(sentinels.failover_timeout)),
        format!("parallel-syncs = {}", sentinels.parallel_syncs),
    ];
    lines.extend(sentinels.poll.map(|poll| format!("poll = {}", time(poll))));
    lines
}

fn cluster(cluster: &Cluster) -> String {
    format!(
        "cluster = {{ primaries = {}, replicas-of-each = {}, node-timeout = {}, validity-factor = {} }}",
        cluster.primaries,
        cluster.replicas,
        text(&write_duration(cluster.node_timeout)),
        cluster.validity_factor
    )
}

fn redis(deployment: &Deployment, open: &Open) -> Vec<String> {
    let time = |duration| text(&write_duration(duration));
    let mut lines = vec![
        "[service.redis]".to_owned(),
        format!(
            "servers = {}",
            sampled_parameters::one_of(&open.servers, deployment.servers, |it| it.to_string())
        ),
        format!("replicas = {}", deployment.replicas),
        format!(
            "persistence = {}",
            text(persistence(&deployment.persistence))
        ),
        format!("lease = {}", time(deployment.lease)),
        format!("timeout = {}", time(deployment.timeout)),
        format!("connect-timeout = {}", time(deployment.connect_timeout)),
        format!("retries = {}", deployment.retries),
        format!("retry-pause = {}", time(deployment.retry_pause)),
        format!("command-time = {}", time(deployment.command_time)),
    ];
    if let Connections::Pool(size) = deployment.connections {
        lines.push(format!("connections = {{ pool = {size} }}"));
    }
    if !deployment.load_time.is_zero() {
        lines.push(format!("load-time = {}", time(deployment.load_time)));
    }
    if !deployment.serve_stale_data {
        lines.push("serve-stale-data = false".to_owned());
    }
    if deployment.min_replicas_to_write > 0 {
        let (least, lag) = (
            deployment.min_replicas_to_write,
            deployment.min_replicas_max_lag,
        );
        lines.push(format!("min-replicas-to-write = {least}"));
        lines.push(format!("min-replicas-max-lag = {}", time(lag)));
    }
    lines.extend(deployment.sentinels.iter().flat_map(sentinels));
    if let Some(it) = &deployment.cluster {
        lines.push(cluster(it));
        lines.extend(it.poll.map(|poll| format!("poll = {}", time(poll))));
    }
    if deployment.read_from != ReadFrom::Primary {
        lines.push(format!("read-from = {}", text(deployment.read_from.name())));
    }
    lines.push(String::new());
    lines
}

fn network(network: &Network, open: &Open) -> Vec<String> {
    let ranges = |choices: &[_], only| {
        sampled_parameters::one_of(choices, only, |it| text(&write_range(it)))
    };
    vec![
        "[network]".to_owned(),
        format!(
            "chance = {}",
            sampled_parameters::one_of(&open.chance, network.chance, sampled_parameters::strategy)
        ),
        format!(
            "latency = {}",
            ranges(&open.client_latency, network.client_latency)
        ),
        format!(
            "server-latency = {}",
            ranges(&open.server_latency, network.server_latency)
        ),
        String::new(),
    ]
}

fn workload(workload: &Workload, open: &Open) -> Vec<String> {
    let time = |duration| text(&write_duration(duration));
    let arrive = sampled_parameters::one_of(&open.arrive, workload.arrive, |arrive| match arrive {
        Arrival::Together => text("together"),
        Arrival::InOrder => text("in-order"),
        Arrival::BehindHolder => text("behind-holder"),
        Arrival::InOrderBehindHolder => text("in-order-behind-holder"),
        Arrival::Within(within) => format!("{{ within = {} }}", time(within)),
    });
    let hold = match (open.hold, workload.hold) {
        (Some(range), _) => text(&write_range(range)),
        (None, Hold::For(length)) => time(length),
        (None, Hold::Settled) => text("settled"),
    };
    let think =
        sampled_parameters::one_of(&open.think, workload.think, |it| text(&write_range(it)));
    let section = match workload.section {
        Section::Write => text("write"),
        Section::Count => text("count"),
        Section::Nothing => text("nothing"),
        Section::Sell { stock } => format!("{{ sell = {{ stock = {stock} }} }}"),
        Section::DelayedWrite { delay } => format!("{{ delayed-write = {} }}", time(delay)),
    };
    let mut lines = vec![
        "[workload]".to_owned(),
        format!(
            "contenders = {}",
            sampled_parameters::number(open.contenders, workload.contenders)
        ),
        format!("arrive = {arrive}"),
        format!(
            "rounds = {}",
            sampled_parameters::number(open.rounds, workload.rounds)
        ),
        format!("hold = {hold}"),
        format!("think = {think}"),
        format!("section = {section}"),
        format!("bystanders = {}", workload.bystanders),
        format!("bystander-every = {}", time(workload.bystander_every)),
    ];
    let patience = workload.patience;
    lines.extend(patience.map(|patience| format!("patience = {}", time(patience))));
    lines.extend((workload.entries > 1).then(|| format!("entries = {}", workload.entries)));
    if let Some(bound) = workload.progress_bound {
        lines.push(format!("progress-bound = {}", time(bound)));
    }
    if let Some(storm) = workload.storm {
        lines.push(format!("storm = {}", time(storm)));
    }
    lines.push(String::new());
    lines
}

fn case_lines(case: &Case) -> Vec<String> {
    let mut lines = vec![
        "[[case]]".to_owned(),
        format!("algorithm = {}", text(case.algorithm.name)),
    ];
    if case.name != case.algorithm.name {
        lines.push(format!("name = {}", text(&case.name)));
    }
    let wants = case.expectations.iter();
    lines.extend(wants.filter_map(|expectation| expect(expectation, case)));
    if !case.sometimes.is_empty() {
        let moments: Vec<String> = case.sometimes.iter().map(|it| text(it)).collect();
        lines.push(format!("sometimes = [{}]", moments.join(", ")));
    }
    lines.extend(case.measures.iter().map(measure));
    lines
}

/// A run that was recorded; its choices in lines of twenty.
fn replay(recorded: &Recorded) -> Vec<String> {
    let mut lines = vec![String::new(), "[replay]".to_owned()];
    let row = |row: &[u32]| {
        let row: Vec<String> = row.iter().map(u32::to_string).collect();
        row.join(", ")
    };
    let mut rows = recorded.choices.chunks(20);
    match (rows.next(), rows.len()) {
        (None, _) => lines.push("choices = []".to_owned()),
        (Some(only), 0) => lines.push(format!("choices = [{}]", row(only))),
        (Some(first), _) => {
            lines.push("choices = [".to_owned());
            let rows = std::iter::once(first).chain(rows);
            lines.extend(rows.map(|choices| format!("    {},", row(choices))));
            lines.push("]".to_owned());
        }
    }
    lines.extend(was(&recorded.was));
    lines
}

/// The seed that drew the plan.
fn saved(saved: &SavedPlan) -> Vec<String> {
    let mut lines = vec![String::new(), "[saved]".to_owned()];
    lines.push(format!("seed = {}", saved.seed));
    if saved.drawn {
        lines.push("drawn = true".to_owned());
    }
    lines.extend(was(&saved.was));
    lines
}

fn was(was: &RecordedRun) -> impl Iterator<Item = String> {
    let hash = was.hash.map(|hash| format!("hash = \"{hash:016x}\""));
    let version = was.picklock.as_ref();
    let version = version.map(|version| format!("picklock = {}", text(version)));
    hash.into_iter().chain(version)
}

/// Silence means that what is checked by default holds.
fn expect(expectation: &Expectation, case: &Case) -> Option<String> {
    let Expectation { invariant, want } = expectation;
    let section = case.plan.workload.section;
    let silent = checked_by_default(invariant, case.algorithm.claims, section);
    match want {
        Want::Holds if silent => None,
        Want::Holds => Some(format!("expect.{invariant} = \"holds\"")),
        Want::Excused { because } => Some(format!(
            "expect.{invariant}.excused = {{ because = {} }}",
            text(because)
        )),
        Want::Undecided { because } => Some(format!(
            "expect.{invariant}.undecided = {{ because = {} }}",
            text(because)
        )),
        Want::Unchecked { because: None } => Some(format!("expect.{invariant} = \"unchecked\"")),
        Want::Unchecked {
            because: Some(because),
        } => {
            let because = text(because);
            Some(format!(
                "expect.{invariant}.unchecked = {{ because = {because} }}"
            ))
        }
        Want::Violated {
            because,
            within_seeds,
        } => Some(format!(
            "expect.{invariant}.violated = {{ because = {}, within-seeds = {within_seeds} }}",
            text(because)
        )),
    }
}

fn measure(measure: &Measure) -> String {
    let least = measure
        .at_least
        .map(|least| format!("at-least = {}", number(least)));
    let most = measure
        .at_most
        .map(|most| format!("at-most = {}", number(most)));
    let bounds: Vec<String> = [least, most].into_iter().flatten().collect();
    format!("measure.{} = {{ {} }}", measure.metric, bounds.join(", "))
}
