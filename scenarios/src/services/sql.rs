//! What scenarios know of SQL databases.

use picklock_algorithms::clients::ServiceKind;
use picklock_algorithms::clients::sql::Dialect;
use picklock_sim::plan::Service;
use picklock_sim::plan::sql::Sql;

use super::{ServiceExample, SupportedService};
use crate::keys::KeyTable;

pub(super) const ROW: SupportedService = SupportedService {
    measured: |recipe, lease| {
        let fits = |(name, _): &(&str, Dialect)| match recipe.build.variants() {
            Some(variants) => variants.contains(name),
            None => true,
        };
        let database = Dialect::ALL.into_iter().find(fits);
        Service::Sql(Sql {
            database: database.map_or(Dialect::Postgres, |(_, dialect)| dialect),
            lease,
            ..Sql::default()
        })
    },
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
