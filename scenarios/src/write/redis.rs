//! Spells out `[service.redis]`.

use picklock_sim::plan::{
    Cluster, ConnectionMode, Deployment, Persistence, ReadFrom, Sentinels, SwitchMaster,
};
use toml_edit::{Table, Value};

use super::toml::{With, count, spelled, text, time};
use crate::format::{NO_LIBRARY, PERSISTENCE};
use crate::sampled_parameters::SampledParameters;

pub(crate) fn table(deployment: &Deployment, open: &SampledParameters) -> Table {
    let pool = match deployment.connections {
        ConnectionMode::Multiplexed => None,
        ConnectionMode::Pool(size) => Some(Value::from_iter([("pool", count(size))])),
    };
    let load_time = deployment.load_time;
    let wanted = deployment.min_replicas_to_write;
    let max_lag = deployment.min_replicas_max_lag;
    let read_from = deployment.read_from;
    let events = deployment.notify_keyspace_events;
    let threshold = deployment.busy_reply_threshold;
    let usual = Deployment::default().busy_reply_threshold;
    let table = Table::new()
        .with(
            "servers",
            match open.choices("servers") {
                [] => count(deployment.servers),
                choices => choices.iter().map(spelled).collect(),
            },
        )
        .with("replicas", count(deployment.replicas))
        .with("persistence", text(persistence(&deployment.persistence)))
        .with("lease", time(deployment.lease))
        .with("timeout", time(deployment.timeout))
        .with("connect-timeout", time(deployment.connect_timeout))
        .with("retries", count(deployment.retries))
        .with("retry-pause", time(deployment.retry_pause))
        .with("retry-pause-max", deployment.retry_pause_max.map(time))
        .with("replay", deployment.replay.then(|| true.into()))
        .with("resend", (!deployment.resend).then(|| false.into()))
        .with(
            "close-on-timeout",
            deployment.close_on_timeout.map(Value::from),
        )
        .with("tcp-user-timeout", deployment.tcp_user_timeout.map(time))
        .with("command-time", time(deployment.command_time))
        .with("connections", pool)
        .with("load-time", (!load_time.is_zero()).then(|| time(load_time)))
        .with(
            "serve-stale-data",
            (!deployment.serve_stale_data).then(|| false.into()),
        )
        .with(
            "notify-keyspace-events",
            (!events.is_none()).then(|| text(&events.all_letters())),
        )
        .with(
            "busy-reply-threshold",
            (threshold != usual).then(|| time(threshold)),
        )
        .with("min-replicas-to-write", (wanted > 0).then(|| count(wanted)))
        .with("min-replicas-max-lag", (wanted > 0).then(|| time(max_lag)));
    let table = match &deployment.sentinels {
        Some(it) => sentinels(table, it),
        None => table,
    };
    let table = match &deployment.cluster {
        Some(it) => table
            .with("cluster", cluster(it))
            .with("poll", it.poll.map(time)),
        None => table,
    };
    table.with(
        "read-from",
        (read_from != ReadFrom::Primary).then(|| text(read_from.name())),
    )
}

fn persistence(kept: &Persistence) -> &'static str {
    let mut named = PERSISTENCE.iter();
    let found = named.find(|(_, make)| make() == *kept);
    found.map_or("none", |(name, _)| name)
}

/// With all that clients go by: what is left out is not to be filled in from the library of the recipe.
fn sentinels(table: Table, sentinels: &Sentinels) -> Table {
    let subscribed = sentinels.switch_master;
    table
        .with("sentinels", count(sentinels.number))
        .with("quorum", count(sentinels.quorum))
        .with("down-after", time(sentinels.down_after))
        .with("failover-timeout", time(sentinels.failover_timeout))
        .with("parallel-syncs", count(sentinels.parallel_syncs))
        .with("client", text(NO_LIBRARY))
        .with("poll", sentinels.poll.map(time))
        .with(
            "switch-master",
            (subscribed != SwitchMaster::Nowhere).then(|| text(subscribed.name())),
        )
}

fn cluster(cluster: &Cluster) -> Value {
    Value::from_iter([
        ("primaries", count(cluster.primaries)),
        ("replicas-of-each", count(cluster.replicas)),
        ("node-timeout", time(cluster.node_timeout)),
        ("validity-factor", count(cluster.validity_factor)),
    ])
}
