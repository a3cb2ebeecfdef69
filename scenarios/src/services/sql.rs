//! What scenarios know of SQL databases.

use picklock_algorithms::clients::ServiceKind;
use picklock_sim::plan::Service;
use picklock_sim::plan::sql::Sql;

use super::{ServiceExample, SupportedService};
use crate::keys::KeyTable;

pub(super) const ROW: SupportedService = SupportedService {
    measured: |recipe, lease| {
        let mut service = Service::for_build(recipe.build);
        if let Some(database) = service.get_mut::<Sql>() {
            database.lease = lease;
        }
        service
    },
    ranked_as: Some("database"),
    ..SupportedService::plain(
        ServiceKind::Sql,
        "A SQL database.",
        &SQL,
        ServiceExample {
            algorithm: "pg-advisory-lock",
            world: include_str!("sql.toml"),
        },
    )
};

/// [service.sql].
const SQL: KeyTable = KeyTable {
    title: "[service.sql]",
    about: "The database, its time-outs, and the lease of rows.",
    keys: &[Sql::KEYS],
};
