//! Nothing outside a service knows services: what differs between them is asked of their settings and their rows.
//!
//! Files of a service bear its name, or lie in a folder that does. All others may name variants of `Service` and
//! `ServiceKind`, and the settings of a service, only as often as the table below says: rows of faults and triggers say
//! what they are of. Its numbers may only fall.

use std::collections::BTreeMap;

use crate::tidy::scan::code_of;
use crate::tidy::tree::{File, Tree};

/// Where the services stand with their settings, a line each: `    Redis(super::Deployment),`.
const LIST: &str = "sim/src/plan/service.rs";

/// The folders that may not know services, as far as they are not of one.
const FOLDERS: [&str; 6] = [
    "algorithms/src/",
    "checker/src/",
    "reports/src/",
    "scenarios/src/",
    "sim/src/",
    "src/",
];

/// How often files name services that are of none.
const TABLE: &[(&str, usize)] = &[
    // How a lock is built over a handle.
    ("algorithms/src/lock.rs", 2),
    // The list, and what the plan shows of it to other crates.
    ("sim/src/plan.rs", 2),
    ("sim/src/plan/service.rs", 14),
    // The list of adapters.
    ("sim/src/services.rs", 6),
    // Rows that say which service they are of.
    ("sim/src/plan/fault.rs", 18),
    // Which client library a case has.
    ("src/cli/cmd/explain/subjects.rs", 4),
    // Which real servers are asked.
    ("src/cli/cmd/verify.rs", 5),
];

/// The services: the variant, and the type of the settings.
fn services(tree: &Tree) -> Vec<(&str, &str)> {
    let lines = tree.text(LIST).lines();
    let rows = lines.filter_map(|line| {
        let (variant, settings) = line.trim().split_once("(super::")?;
        let settings = settings.strip_suffix("),")?;
        Some((variant, settings.rsplit("::").next()?))
    });
    rows.collect()
}

/// Whether a file is one of a service: `zookeeper.rs`, `services/redis/links.rs`, `redis_client.rs`.
fn is_of_service(file: &File, services: &[(&str, &str)]) -> bool {
    let names = services.iter().map(|(variant, _)| variant.to_lowercase());
    let names: Vec<String> = names.collect();
    let mut parts = file.path.split('/').map(|part| part.replace('_', ""));
    parts.any(|part| names.iter().any(|name| part.starts_with(name.as_str())))
}

/// How often a file names services, its unit tests aside.
fn named(file: &File, services: &[(&str, &str)]) -> usize {
    let code = code_of(&file.text);
    let code = code.split("#[cfg(test)]").next().unwrap_or_default();
    let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
    let paths = code.split(|c| !is_part(c));
    let is_one = |path: &&str| {
        let names: Vec<&str> = path.split("::").collect();
        let of_enum = names.windows(2).any(|two| {
            ["Service", "ServiceKind"].contains(&two[0]) && is_variant(two[1], services)
        });
        of_enum
            || services
                .iter()
                .any(|(_, settings)| names.contains(settings))
    };
    paths.filter(is_one).count()
}

fn is_variant(name: &str, services: &[(&str, &str)]) -> bool {
    services.iter().any(|(variant, _)| *variant == name)
}

/// Where the table says something else than the tree.
fn differences(tree: &Tree, table: &[(&str, usize)]) -> Vec<String> {
    let services = services(tree);
    let files = tree.rust().filter(|file| {
        let is_there = FOLDERS.iter().any(|folder| file.path.starts_with(folder));
        is_there && !file.is_test() && !is_of_service(file, &services)
    });
    let mut counts: BTreeMap<&str, [usize; 2]> = BTreeMap::new();
    for file in files {
        counts.entry(&file.path).or_default()[0] = named(file, &services);
    }
    for (path, may) in table {
        counts.entry(path).or_default()[1] = *may;
    }
    let found = counts.into_iter().filter_map(|(path, [is, may])| {
        if is > may {
            return Some(format!(
                "{path}: names services {is} times, and may {may} times: ask ServiceSettings, ServiceRow \
                 (sim/src/plan), or SupportedService (scenarios/src/services.rs)"
            ));
        }
        (is < may).then(|| {
            format!("{path}: names services {is} times: lower its row in tests/it/tidy/services.rs")
        })
    });
    found.collect()
}

#[test]
fn only_a_service_knows_services() {
    let tree = Tree::of_repository();
    assert!(services(&tree).len() > 2, "{LIST} lists the services");
    let found = differences(&tree, TABLE);
    assert!(found.is_empty(), "\n\n{}\n", found.join("\n"));
}

#[test]
fn a_file_that_knows_a_service_is_found() {
    let file = |path: &str, text: &str| File {
        path: path.to_owned(),
        text: text.to_owned(),
    };
    let knows = "match kind { ServiceKind::LeaseServer => 1, _ => get::<Deployment>() }";
    let tree = Tree {
        files: vec![
            file(
                LIST,
                "    Redis(super::Deployment),\n    LeaseServer(super::Lease),\n",
            ),
            file("scenarios/src/cost.rs", knows),
            file(
                "scenarios/src/write.rs",
                "// Service::Redis\nlet it = \"Service::Redis\";",
            ),
            file(
                "scenarios/src/herd.rs",
                "fn a() {}\n#[cfg(test)]\nmod tests { Service::Redis }",
            ),
            file("scenarios/src/services/lease_server.rs", knows),
            file("sim/src/services/redis/links.rs", knows),
            file("scenarios/tests/it/cost.rs", knows),
        ],
    };
    let listed = (LIST, 2);
    let right = [listed, ("scenarios/src/cost.rs", 2)];
    let found = differences(&tree, &right);
    assert!(found.is_empty(), "{found:?}");
    let wrong = [listed, ("scenarios/src/cost.rs", 1), ("src/gone.rs", 1)];
    let found = differences(&tree, &wrong);
    let [more, fewer] = &found[..] else {
        panic!("{found:?}");
    };
    assert!(more.starts_with("scenarios/src/cost.rs: names services 2 times, and may 1"));
    assert!(fewer.starts_with("src/gone.rs: names services 0 times: lower"));
}
