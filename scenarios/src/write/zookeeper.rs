//! Spells out `[service.zookeeper]`.

use picklock_sim::plan::Ensemble;
use toml_edit::Table;

use super::sampled_parameters::one_of;
use super::toml::{With, count, text, time};
use crate::sampled_parameters::SampledParameters;

pub(crate) fn table(ensemble: &Ensemble, open: &SampledParameters) -> Table {
    let proposal_time = ensemble.proposal_time;
    let (observers, buffer) = (ensemble.observers, ensemble.jute_max_buffer);
    let (usual, interval) = (Ensemble::default(), ensemble.container_check_interval);
    Table::new()
        .with("servers", one_of(&open.servers, ensemble.servers, count))
        .with("tick", time(ensemble.tick))
        .with("sync-limit", count(ensemble.sync_limit))
        .with("init-limit", count(ensemble.init_limit))
        .with("session-timeout", time(ensemble.session_timeout))
        .with("fsync", time(ensemble.fsync))
        .with("read-time", time(ensemble.read_time))
        .with("write-time", time(ensemble.write_time))
        .with("notification-time", time(ensemble.notification_time))
        .with("version", text(ensemble.version.name()))
        .with(
            "client",
            one_of(&open.clients, ensemble.library, |it| text(it.name())),
        )
        .with(
            "min-session-timeout",
            ensemble.min_session_timeout.map(time),
        )
        .with(
            "max-session-timeout",
            ensemble.max_session_timeout.map(time),
        )
        .with(
            "proposal-time",
            (!proposal_time.is_zero()).then(|| time(proposal_time)),
        )
        .with("request-timeout", ensemble.request_timeout.map(time))
        .with("observers", (observers > 0).then(|| count(observers)))
        .with(
            "jute-max-buffer",
            (buffer != usual.jute_max_buffer).then(|| count(buffer)),
        )
        .with("read-only", ensemble.read_only.then(|| true.into()))
        .with(
            "extended-types",
            ensemble.extended_types.then(|| true.into()),
        )
        .with(
            "container-check-interval",
            (interval != usual.container_check_interval).then(|| time(interval)),
        )
        .with(
            "lock-node",
            (ensemble.lock_node != usual.lock_node).then(|| text(ensemble.lock_node.name())),
        )
}
