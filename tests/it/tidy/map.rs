//! The map: the core that every run goes through, catalogues of what it knows, and satellites that look at it.
//!
//! A satellite imports the core and the catalogues; neither imports a satellite. The command line calls all of them.
//! Each crate has so many lines of code, and no more.

use std::collections::BTreeMap;

use crate::tidy::imports::Crate;
use crate::tidy::scan::code_of;
use crate::tidy::tree::{Breach, File, Tree};

/// Where a file lies on the map.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Circle {
    /// What every run goes through: engine, host, world, plan, contenders, checker, runner, format, texts.
    Core,
    /// What grows with every addition: services, recipes, invariants, faults, keys.
    Catalogue,
    /// What looks at the core, and what a run does without: comparisons with real servers, search, pictures, tools.
    Satellite,
    /// The command line, which calls all of them.
    CommandLine,
}

/// The circle of each folder or file; the longest that fits counts.
const MAP: &[(&str, Circle)] = &[
    ("algorithms/", Circle::Catalogue),
    ("checker/", Circle::Core),
    ("checker/src/invariants/", Circle::Catalogue),
    ("examples/", Circle::Satellite),
    ("reports/", Circle::Core),
    ("reports/src/chart", Circle::Satellite),
    ("reports/src/compare", Circle::Satellite),
    ("reports/src/diagram", Circle::Satellite),
    ("reports/src/envelope", Circle::Satellite),
    ("reports/src/herd", Circle::Satellite),
    ("reports/src/html", Circle::Satellite),
    ("reports/src/run_charts", Circle::Satellite),
    ("scenarios/", Circle::Core),
    ("scenarios/src/keys", Circle::Catalogue),
    ("scenarios/src/search", Circle::Satellite),
    ("scenarios/src/services", Circle::Catalogue),
    ("sim/", Circle::Core),
    ("sim/services/", Circle::Catalogue),
    ("sim/src/plan/fault.rs", Circle::Catalogue),
    ("sim/src/plan/trigger.rs", Circle::Catalogue),
    ("sim/src/services", Circle::Catalogue),
    ("src/", Circle::CommandLine),
    ("tools/", Circle::Satellite),
    ("verify/", Circle::Satellite),
];

/// Files of the core that import a satellite still. There may be no others.
const INWARD: &[&str] = &[
    "scenarios/src/bench.rs",
    "scenarios/src/generate/moments.rs",
    "scenarios/src/shrink/reproduction.rs",
];

/// How many lines of code the crate in a folder may have, unit tests, comments and blank lines aside.
const BUDGETS: &[(&str, usize)] = &[
    ("", 9_850),
    ("algorithms/", 20_400),
    ("algorithms/clients/", 7_300),
    ("checker/", 8_600),
    ("examples/first-lock/", 320),
    ("reports/", 11_000),
    ("scenarios/", 21_400),
    ("sim/", 22_900),
    ("sim/machines/", 400),
    ("sim/services/chubby/", 1_450),
    ("sim/services/consul/", 1_300),
    ("sim/services/etcd/", 3_950),
    ("sim/services/lease_server/", 210),
    ("sim/services/memcached/", 900),
    ("sim/services/redis/", 16_450),
    ("sim/services/sql/", 4_200),
    ("sim/services/zookeeper/", 9_900),
    ("tools/broken/", 280),
    ("tools/mutants/", 1_150),
    ("verify/", 11_600),
];

/// How many lines of code the core may have in all.
const CORE: usize = 50_000;

/// The circle of a file, if it is on the map.
fn circle(path: &str) -> Option<Circle> {
    let on_map = MAP.iter().filter(|(place, _)| path.starts_with(place));
    let longest = on_map.max_by_key(|(place, _)| place.len());
    longest.map(|(_, circle)| *circle)
}

/// Whether a file is there for tests alone.
fn is_test(path: &str) -> bool {
    let mut parts = path.split('/');
    parts.any(|part| ["tests", "tests.rs", "benches", "testkit"].contains(&part))
}

/// How many lines of code a file has.
fn lines_of_code(file: &File) -> usize {
    let code = code_of(&file.text);
    let code = code.split("#[cfg(test)]").next().unwrap_or_default();
    code.lines().filter(|line| !line.trim().is_empty()).count()
}

/// The folder of the crate that a file belongs to.
fn folder_of<'t>(tree: &'t Tree, path: &str) -> &'t str {
    let manifests = tree.files.iter();
    let folders = manifests.filter_map(|file| file.path.strip_suffix("Cargo.toml"));
    let above = folders.filter(|folder| path.starts_with(folder));
    above.max_by_key(|folder| folder.len()).unwrap_or_default()
}

/// Files that are not on the map, and imports of satellites by what they look at.
pub fn imports_run_inward(tree: &Tree) -> Vec<Breach> {
    let mut breaches = Vec::new();
    let sources = tree.rust().filter(|file| !is_test(&file.path));
    for file in sources.filter(|file| circle(&file.path).is_none()) {
        let remedy = "add its folder to MAP in tests/it/tidy/map.rs";
        breaches.push(file.breach(1, "is not on the map", remedy));
    }
    let roots = tree
        .rust()
        .filter(|file| file.path.ends_with("src/lib.rs") && !is_test(&file.path));
    for root in roots {
        let read = Crate::read(tree, &root.path);
        for (place, imported) in read.imports() {
            let path = read.path(&place);
            let is_inner = matches!(circle(path), Some(Circle::Core | Circle::Catalogue));
            let imported = imported.iter().map(|place| read.path(place));
            let mut satellites =
                imported.filter(|path| circle(path) == Some(Circle::Satellite) && is_inner);
            match (satellites.next(), INWARD.contains(&path)) {
                (Some(satellite), false) => breaches.push(Breach {
                    path: path.to_owned(),
                    line: 1,
                    rule: format!("imports a satellite: {satellite}"),
                    remedy: "move what both need into the core".to_owned(),
                }),
                (None, true) => breaches.push(Breach {
                    path: path.to_owned(),
                    line: 1,
                    rule: "imports no satellite any more".to_owned(),
                    remedy: "take it out of INWARD in tests/it/tidy/map.rs".to_owned(),
                }),
                (Some(_), true) | (None, false) => {}
            }
        }
    }
    breaches
}

/// Crates, and a core, that have more lines of code than they may, or a budget far above what they have.
pub fn crates_keep_their_budgets(tree: &Tree) -> Vec<Breach> {
    beyond(tree, BUDGETS, CORE)
}

fn beyond(tree: &Tree, budgets: &[(&str, usize)], core: usize) -> Vec<Breach> {
    let mut of_crates: BTreeMap<&str, usize> = BTreeMap::new();
    let mut of_core = 0;
    for file in tree.rust().filter(|file| !is_test(&file.path)) {
        let lines = lines_of_code(file);
        *of_crates.entry(folder_of(tree, &file.path)).or_default() += lines;
        if matches!(circle(&file.path), Some(Circle::Core | Circle::CommandLine)) {
            of_core += lines;
        }
    }
    let crates = of_crates.iter().map(|(folder, lines)| {
        let known = budgets.iter().find(|(known, _)| known == folder);
        (*folder, *lines, known.map_or(0, |(_, budget)| *budget))
    });
    let all = crates.chain([("the core: ", of_core, core)]);
    let unkept = all.filter(|(_, lines, budget)| lines > budget || lines * 10 < budget * 9);
    let breaches = unkept.map(|(folder, lines, budget)| Breach {
        path: format!("{folder}Cargo.toml"),
        line: 1,
        rule: format!("has {lines} lines of code, and a budget of {budget}"),
        remedy: "take something out, or set its row in tests/it/tidy/map.rs and say why".to_owned(),
    });
    breaches.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(files: &[(&str, &str)]) -> Tree {
        let file = |(path, text): &(&str, &str)| File {
            path: (*path).into(),
            text: (*text).into(),
        };
        Tree {
            files: files.iter().map(file).collect(),
        }
    }

    const ROOT: (&str, &str) = ("scenarios/src/lib.rs", "mod cost;\npub mod search;");

    #[test]
    fn an_import_of_a_satellite_is_found() {
        let search = (
            "scenarios/src/search.rs",
            "use crate::cost::Cost;\npub struct Hunt;",
        );
        let cost = ("scenarios/src/cost.rs", "pub struct Cost;");
        assert_eq!(imports_run_inward(&tree(&[ROOT, search, cost])), []);
        let cost = (
            "scenarios/src/cost.rs",
            "use crate::search::Hunt;\npub struct Cost;",
        );
        let found = imports_run_inward(&tree(&[ROOT, search, cost]));
        assert_eq!(found.len(), 1);
        assert!(
            found[0]
                .to_string()
                .starts_with("scenarios/src/cost.rs:1: imports a satellite")
        );
    }

    #[test]
    fn a_file_that_is_not_on_the_map_is_found() {
        let found = imports_run_inward(&tree(&[("cloud/src/lib.rs", "")]));
        assert!(found[0].to_string().contains("is not on the map"));
    }

    #[test]
    fn a_crate_above_or_far_below_its_budget_is_found() {
        let manifest = ("sim/Cargo.toml", "");
        let code = (
            "sim/src/lib.rs",
            "// why\nfn a() {}\n\nfn b() {}\n#[cfg(test)]\nmod tests {}",
        );
        let tree = tree(&[manifest, code, ("sim/src/tests.rs", "fn c() {}")]);
        assert_eq!(beyond(&tree, &[("sim/", 2)], 2), []);
        for (crates, core) in [(1, 2), (3, 2), (2, 1)] {
            let found = beyond(&tree, &[("sim/", crates)], core);
            assert_eq!(found.len(), 1, "{found:?}");
            assert!(
                found[0].rule.starts_with("has 2 lines of code"),
                "{found:?}"
            );
        }
    }
}
