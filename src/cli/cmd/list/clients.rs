//! Client libraries, by the names that scenario files give them.

use serde_json::json;

use super::as_json::ClientRow;
use super::{Row, Table};
use crate::sim::plan::{Library, REDIS_LIBRARIES};

/// Those of `[service.zookeeper]`.
pub fn zookeeper() -> Table {
    let rows = Library::ALL.iter();
    let rows = rows.map(|(name, client)| row("zookeeper", name, client.meaning(), client.source()));
    Table {
        name: "clients-of-zookeeper",
        rows: rows.collect(),
    }
}

/// Those of `[service.redis]`.
pub fn redis() -> Table {
    let rows = REDIS_LIBRARIES.iter();
    let rows = rows.map(|client| row("redis", client.name, client.meaning, client.source));
    Table {
        name: "clients-of-redis",
        rows: rows.collect(),
    }
}

fn row(service: &'static str, name: &str, meaning: &str, source: &str) -> Row {
    Row {
        name: name.to_owned(),
        meaning: format!("{meaning} Source: {source}."),
        example: None,
        more: Vec::new(),
        all: json!(ClientRow {
            name: name.to_owned(),
            service,
            meaning: meaning.to_owned(),
            source: source.to_owned(),
        }),
    }
}
