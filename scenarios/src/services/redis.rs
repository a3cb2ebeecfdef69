//! What scenarios know of Redis.

use std::time::Duration;

use picklock_algorithms::clients::{RequestKind, ServiceKind};
use picklock_algorithms::redis::leased::drift;
use picklock_sim::plan::{
    Deployment, Fsync, KeyspaceEvents, Persistence, Sentinels, Service, Value,
};

use super::{ServiceExample, SupportedService};
use crate::format::service::redis;
use crate::keys::redis::{NO_LIBRARY, REDIS};
use crate::units::write_duration;

pub(super) const ROW: SupportedService = SupportedService {
    read: Some(|usual, fields, open, mistakes| {
        let usual = usual.get::<Deployment>().cloned().unwrap_or_default();
        let (deployment, clients, servers) = redis::read(usual, fields, open, mistakes);
        (Service::Redis(deployment), clients, servers)
    }),
    // With all that clients go by: what is left out is not to be filled in from the library of the recipe.
    implied: |service| match service.sentinels() {
        0 => None,
        _ => Some(("client", Value::Named(NO_LIBRARY, None))),
    },
    measured: |recipe, lease| {
        let usual = Service::for_build(recipe.build);
        let version = usual.get().map(|usual: &Deployment| usual.version);
        Service::Redis(Deployment {
            version: version.unwrap_or_default(),
            servers: match recipe.name.starts_with("redlock") {
                true => 5,
                false => 1,
            },
            replicas: u8::from(recipe.requests.contains(&RequestKind::Wait)),
            // A server that keeps a log is asked whether it is on the disk.
            persistence: match recipe.requests.contains(&RequestKind::WaitAof) {
                true => Persistence::Log(Fsync::EverySecond),
                false => Persistence::None,
            },
            lease,
            command_time: Duration::ZERO,
            // Of keys that are deleted or expire.
            notify_keyspace_events: KeyspaceEvents::parse("gxE").unwrap_or_default(),
            ..Deployment::default()
        })
    },
    add_replicas,
    warnings: |service| {
        let deployment = service.get().into_iter();
        let warnings = deployment
            .flat_map(|deployment| REASONS.iter().filter_map(|reason| reason(deployment)));
        warnings.collect()
    },
    ranked_as: Some("cache"),
    ..SupportedService::plain(
        ServiceKind::Redis,
        "Redis.",
        &REDIS,
        ServiceExample {
            algorithm: "redis-compare-and-delete",
            world: include_str!("redis.toml"),
        },
    )
};

/// One server gets replicas and Sentinels: what takes over is what a lock has to fear.
fn add_replicas(service: &mut Service) {
    if let Some(deployment) = service.get_mut::<Deployment>()
        && deployment.servers == 1
    {
        deployment.replicas = deployment.replicas.max(2);
        deployment.sentinels = Some(Sentinels {
            down_after: Duration::from_secs(2),
            failover_timeout: Duration::from_secs(6),
            ..Sentinels::of(3)
        });
    }
}

/// The reasons for a warning: each answers why, if it applies.
const REASONS: [fn(&Deployment) -> Option<String>; 2] = [short_lease, even_servers];

/// A lease that is over before it has begun, for a client that takes the drift of clocks off it.
fn short_lease(deployment: &Deployment) -> Option<String> {
    let (lease, drift) = (deployment.lease, drift(deployment.lease));
    (lease <= drift).then(|| {
        format!(
            "a lease of {} is no longer than the {} by which clocks may drift apart meanwhile: a client that takes \
             them off, as Redlock does, never holds the lock",
            write_duration(lease),
            write_duration(drift)
        )
    })
}

/// An even number of servers: its majority can do without as many of them as with one server less.
fn even_servers(deployment: &Deployment) -> Option<String> {
    let servers = deployment.servers;
    (servers > 0 && servers.is_multiple_of(2)).then(|| {
        format!(
            "a majority of {servers} servers can do without {}, as a majority of {} can: one server more can fail, and \
             nothing is gained",
            (servers - 1) / 2,
            servers - 1
        )
    })
}
