//! The commands: what each is called, how many words it takes, and what it does; and all of them as one table.

mod blocking;
mod cluster;
mod connections;
mod counters;
mod databases;
mod expiry;
mod flags;
mod functions;
mod hash_expiry;
mod hashes;
mod keys;
mod lists;
mod options;
mod pubsub;
mod replicating;
mod scripting;
mod server;
mod sets;
mod strings;
mod transactions;
mod unsupported;
mod zset;
mod zset_ranges;

pub(crate) use cluster::check_part as check_cluster_part;
pub(crate) use connections::ping_value;

use std::sync::LazyLock;

use indexmap::IndexMap;
use picklock_clients::redis::short_name;
use rustc_hash::FxBuildHasher;

use crate::command_table::{Outcome, Row, Run, Traits, about, read, write, wrong_number};

const LISTS: &[&[Row]] = &[
    blocking::ROWS,
    cluster::ROWS,
    connections::ROWS,
    counters::ROWS,
    databases::ROWS,
    expiry::ROWS,
    functions::ROWS,
    hash_expiry::ROWS,
    hashes::ROWS,
    keys::ROWS,
    lists::ROWS,
    pubsub::ROWS,
    replicating::ROWS,
    scripting::ROWS,
    server::ROWS,
    sets::ROWS,
    zset::ROWS,
    zset_ranges::ROWS,
    strings::ROWS,
    transactions::ROWS,
    unsupported::ROWS,
];

type Table<K> = IndexMap<K, &'static Row, FxBuildHasher>;

fn rows() -> impl Iterator<Item = &'static Row> {
    LISTS.iter().flat_map(|list| list.iter())
}

static TABLE: LazyLock<Table<&'static [u8]>> =
    LazyLock::new(|| rows().map(|row| (row.name.as_bytes(), row)).collect());

/// The commands with short names, by those: locks use hardly any others, and they are found twice as fast.
static SHORT: LazyLock<Table<u64>> = LazyLock::new(|| {
    let short = rows().filter_map(|row| Some((short_name(row.name.as_bytes())?, row)));
    short.collect()
});

/// The longest name of a command.
const NAME_MAX: usize = 32;

/// The command of this name, in whatever letters.
pub(crate) fn find(name: &[u8]) -> Option<&'static Row> {
    if let Some(word) = short_name(name) {
        return SHORT.get(&word).copied();
    }
    let mut small = [0; NAME_MAX];
    let small = small.get_mut(..name.len())?;
    small.copy_from_slice(name);
    small.make_ascii_lowercase();
    TABLE.get(&*small).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_is_taken_twice_and_all_are_found_in_any_letters() {
        let rows: Vec<&Row> = rows().collect();
        assert_eq!(rows.len(), TABLE.len());
        for row in rows {
            assert_eq!(row.name, row.name.to_ascii_lowercase());
            let found = find(row.name.to_ascii_uppercase().as_bytes());
            assert_eq!(found.map(|found| found.name), Some(row.name));
        }
        assert!(find(&[b'a'; 100]).is_none());
        assert!(find(b"\0get").is_none());
    }
}
