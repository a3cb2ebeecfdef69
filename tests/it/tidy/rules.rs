//! The rules.

use std::collections::BTreeSet;

use crate::tidy::scan::{Function, code_of, functions, line_of, manifest, names_in_docs};
use crate::tidy::tree::{Breach, File, Tree};

/// The longest line of Rust, in characters.
const LINE: usize = 120;
/// The longest file, in lines.
const FILE: usize = 400;
/// The longest file of tests.
const TEST_FILE: usize = 600;
/// The longest function, in lines.
pub const FUNCTION: usize = 70;

/// Functions that may be longer, and why: each is one match, which says one thing of each variant.
pub const TABLES: &[(&str, &str, &str)] = &[
    (
        "checker/src/evidence/collect.rs",
        "take",
        "what each event is evidence of",
    ),
    (
        "checker/src/notation/read.rs",
        "happening",
        "what each word of the notation says",
    ),
    (
        "scenarios/src/search/fault_weights.rs",
        "promise",
        "how promising each kind of fault is",
    ),
    (
        "reports/src/timeline/lane.rs",
        "apply",
        "what each event draws",
    ),
    (
        "reports/tests/it/common.rs",
        "what",
        "a word for each event",
    ),
    (
        "reports/src/timeline/note.rs",
        "said",
        "a note for each event",
    ),
    (
        "verify/src/zookeeper/protocol/encode.rs",
        "request",
        "the fields of each request",
    ),
    (
        "scenarios/src/search/fault_weights.rs",
        "between",
        "a number for each kind of fault",
    ),
    (
        "scenarios/src/search/fault_parameters.rs",
        "fault",
        "the worst of each kind of fault",
    ),
    (
        "sim/src/recorder.rs",
        "fields",
        "what each event says in the hash, which never changes",
    ),
];

/// Which crates of the workspace the crate of a service may depend on.
const OF_SERVICE: &[&str] = &["picklock-checker", "picklock-clients", "picklock-machines"];

/// Which crates of the workspace a crate may depend on.
const PICTURE: &[(&str, &[&str])] = &[
    ("picklock-checker", &[]),
    ("picklock-clients", &[]),
    ("picklock-algorithms", &["picklock-clients"]),
    ("picklock-machines", &["picklock-checker"]),
    ("picklock-lease-server", OF_SERVICE),
    (
        "picklock-etcd",
        &[
            "picklock-checker",
            "picklock-clients",
            // Itself, with the fixtures of its tests.
            "picklock-etcd",
            "picklock-machines",
        ],
    ),
    ("picklock-memcached", OF_SERVICE),
    ("picklock-sql", OF_SERVICE),
    ("picklock-consul", OF_SERVICE),
    ("picklock-chubby", OF_SERVICE),
    (
        "picklock-testkit",
        &["picklock-checker", "picklock-machines"],
    ),
    (
        "picklock-redis",
        &[
            "picklock-checker",
            "picklock-clients",
            "picklock-machines",
            // Itself, with the fixtures of its tests.
            "picklock-redis",
            "picklock-testkit",
        ],
    ),
    (
        "picklock-zookeeper",
        &[
            "picklock-checker",
            "picklock-clients",
            "picklock-machines",
            "picklock-testkit",
        ],
    ),
    (
        "picklock-sim",
        &[
            "picklock-algorithms",
            "picklock-checker",
            "picklock-chubby",
            "picklock-clients",
            "picklock-consul",
            "picklock-etcd",
            "picklock-lease-server",
            "picklock-machines",
            "picklock-memcached",
            "picklock-redis",
            "picklock-sql",
            "picklock-zookeeper",
        ],
    ),
    (
        "picklock-scenarios",
        &["picklock-algorithms", "picklock-checker", "picklock-sim"],
    ),
    ("picklock-reports", &["picklock-checker"]),
    (
        "picklock-verify",
        &[
            "picklock-algorithms",
            "picklock-checker",
            "picklock-clients",
            "picklock-etcd",
            "picklock-machines",
            "picklock-memcached",
            "picklock-redis",
            "picklock-sim",
            "picklock-sql",
            "picklock-testkit",
            "picklock-zookeeper",
        ],
    ),
    ("picklock-mutants", &[]),
    (
        "picklock-broken",
        &[
            "picklock",
            "picklock-algorithms",
            "picklock-checker",
            "picklock-scenarios",
            "picklock-sim",
        ],
    ),
    ("first-lock", &["picklock"]),
    (
        "picklock-benches",
        &[
            "picklock-algorithms",
            "picklock-checker",
            "picklock-clients",
            "picklock-machines",
            "picklock-redis",
            "picklock-scenarios",
            "picklock-sim",
            "picklock-zookeeper",
        ],
    ),
    (
        "picklock",
        &[
            "picklock-algorithms",
            "picklock-checker",
            "picklock-mutants",
            "picklock-reports",
            "picklock-scenarios",
            "picklock-sim",
            "picklock-verify",
        ],
    ),
];

pub fn recipes_in_registry(tree: &Tree) -> Vec<Breach> {
    let registry = "algorithms/src/registry.rs";
    let folders = [
        ("algorithms/src/zookeeper/", registry, "zk::"),
        ("algorithms/src/redis/", registry, "redis::"),
        (
            "algorithms/src/lease_server/",
            "algorithms/src/lease_server.rs",
            "",
        ),
    ];
    let (row, after) = ("pub const RECIPE:", "::RECIPE,");
    let of_folder = |(folder, list, before)| listed(tree, folder, row, list, before, after);
    folders.into_iter().flat_map(of_folder).collect()
}

pub fn invariants_in_slice(tree: &Tree) -> Vec<Breach> {
    let folder = "checker/src/invariants/";
    let slice = "checker/src/invariants.rs";
    listed(
        tree,
        folder,
        "pub const INVARIANT:",
        slice,
        "",
        "::INVARIANT,",
    )
}

/// Every file of a folder that has a row has a line in the list.
fn listed(
    tree: &Tree,
    folder: &str,
    row: &str,
    list: &str,
    before: &str,
    after: &str,
) -> Vec<Breach> {
    let lines: BTreeSet<&str> = tree.text(list).lines().map(str::trim).collect();
    let mut breaches = Vec::new();
    for file in tree.rust().filter(|file| file.path.starts_with(folder)) {
        let Some(line) = line_of(&file.text, row) else {
            continue;
        };
        let entry = format!("{before}{}{after}", file.stem());
        if !lines.contains(entry.as_str()) {
            let remedy = format!("add `{entry}` to {list}");
            breaches.push(file.breach(line, "has a row that is in no list", remedy));
        }
    }
    breaches
}

/// A file that no `mod` names is not even compiled.
pub fn files_are_modules(tree: &Tree) -> Vec<Breach> {
    let mut breaches = Vec::new();
    for file in tree.rust() {
        let Some((folder, _)) = file.path.rsplit_once('/') else {
            continue;
        };
        let is_root = matches!(file.stem(), "lib" | "main" | "mod" | "build");
        if is_root || !(folder.ends_with("src") || folder.contains("/src/")) {
            continue;
        }
        let parents = [
            format!("{folder}.rs"),
            format!("{folder}/mod.rs"),
            format!("{folder}/lib.rs"),
            format!("{folder}/main.rs"),
        ];
        let declaration = format!("mod {};", file.stem());
        let declares = |parent: &String| {
            tree.text(parent)
                .lines()
                .any(|line| line.ends_with(&declaration))
        };
        if !parents.iter().any(declares) {
            let remedy = format!("add `{declaration}` to its parent, or delete the file");
            breaches.push(file.breach(1, "is in no module", remedy));
        }
    }
    breaches
}

pub fn dependencies_fit_picture(tree: &Tree) -> Vec<Breach> {
    let mut breaches = Vec::new();
    for file in tree
        .files
        .iter()
        .filter(|file| file.path.ends_with("Cargo.toml"))
    {
        let (name, dependencies) = manifest(&file.text);
        let Some((_, allowed)) = PICTURE.iter().find(|(known, _)| *known == name) else {
            let remedy =
                "add the crate to PICTURE in tests/it/tidy/rules.rs and to ARCHITECTURE.md";
            breaches.push(file.breach(1, "is of a crate that the picture does not have", remedy));
            continue;
        };
        for (line, dependency) in dependencies {
            if dependency.starts_with("picklock") && !allowed.contains(&dependency) {
                let rule = format!("makes {name} depend on {dependency}");
                let remedy =
                    "move what you need, or change PICTURE and ARCHITECTURE.md and say why";
                breaches.push(file.breach(line, rule, remedy));
            }
        }
    }
    breaches
}

pub fn named_scenarios_exist(tree: &Tree) -> Vec<Breach> {
    let known: BTreeSet<&str> = tree.scenarios().map(|(name, _)| name).collect();
    let mut breaches = Vec::new();
    for file in tree
        .rust()
        .filter(|file| file.path.starts_with("algorithms/"))
    {
        for (line, name) in names_in_docs(&file.text) {
            if !known.contains(name) {
                let rule = format!("names the scenario `{name}`, which is not under scenarios/");
                breaches.push(file.breach(
                    line,
                    rule,
                    "write the scenario, or name one that exists",
                ));
            }
        }
    }
    breaches
}

pub fn flaws_are_on_record(tree: &Tree) -> Vec<Breach> {
    let record = tree.text("TRACK_RECORD.md");
    let mut breaches = Vec::new();
    for file in tree
        .rust()
        .filter(|file| file.path.starts_with("algorithms/"))
    {
        let Some(line) = line_of(&file.text, "flaw: Some(") else {
            continue;
        };
        // The row with the flaw may not be the first of its file.
        let before = file.text.split("flaw: Some(").next().unwrap_or_default();
        let name = before
            .rsplit("name: \"")
            .next()
            .and_then(|rest| rest.split('"').next());
        let name = format!("`{}`", name.unwrap_or_default());
        if !record.contains(&name) {
            let remedy = format!("add a row for {name} to TRACK_RECORD.md");
            breaches.push(file.breach(line, "has a flaw that is not on record", remedy));
        }
    }
    breaches
}

/// Each row is what a case of its scenario expects. Rests until there are scenarios.
pub fn record_is_expected(tree: &Tree) -> Vec<Breach> {
    let record = tree
        .files
        .iter()
        .find(|file| file.path == "TRACK_RECORD.md");
    let Some(record) = record.filter(|_| tree.scenarios().next().is_some()) else {
        return Vec::new();
    };
    let mut breaches = Vec::new();
    for (number, line) in (1..).zip(record.text.lines()) {
        let cells: Vec<&str> = line
            .split('|')
            .map(|cell| cell.trim().trim_matches('`'))
            .collect();
        let [_, _, _, algorithm, scenario, invariant, within, _] = cells[..] else {
            continue;
        };
        let Some((seeds, _)) = within.split_once(" seed") else {
            continue;
        };
        let expected = |text: &str| {
            let algorithm = format!("algorithm = \"{algorithm}\"");
            let violated = format!("expect.{invariant}.violated");
            let within = format!("within-seeds = {seeds} }}");
            text.split("[[case]]").any(|case| {
                let says = |line: &str| line.starts_with(&violated) && line.ends_with(&within);
                case.lines().any(|line| line == algorithm) && case.lines().any(says)
            })
        };
        if !tree
            .scenarios()
            .any(|(name, file)| name == scenario && expected(&file.text))
        {
            let rule = format!("says what no case of `{scenario}` expects");
            let remedy = "make the row and the scenario agree on algorithm, invariant, and seeds";
            breaches.push(record.breach(number, rule, remedy));
        }
    }
    breaches
}

pub fn files_are_short(tree: &Tree) -> Vec<Breach> {
    let mut breaches = Vec::new();
    for file in tree.rust() {
        let most = if file.is_test() { TEST_FILE } else { FILE };
        let lines = file.text.lines().count();
        if lines > most {
            let rule = format!("is {lines} lines long, and may be {most}");
            breaches.push(file.breach(most + 1, rule, "split it along a noun"));
        }
    }
    breaches
}

pub fn functions_are_short(tree: &Tree) -> Vec<Breach> {
    let mut breaches = Vec::new();
    for file in tree.rust() {
        for function in functions(&code_of(&file.text)) {
            let Function { name, line, lines } = function;
            let is_table =
                |(path, table, _): &(&str, &str, &str)| *path == file.path && *table == name;
            let table = TABLES.iter().any(is_table);
            if lines > FUNCTION && !table {
                let rule = format!("has `{name}`, {lines} lines long, and it may be {FUNCTION}");
                let remedy = "give its parts names; if it is one match, add it to TABLES";
                breaches.push(file.breach(line, rule, remedy));
            } else if lines <= FUNCTION && table {
                let rule = format!("has `{name}`, which needs no exception any more");
                breaches.push(file.breach(
                    line,
                    rule,
                    "remove it from TABLES in tests/it/tidy/rules.rs",
                ));
            }
        }
    }
    breaches
}

/// What the world would know a service by.
const OF_A_SERVICE: [&str; 5] = [
    "crate::services",
    "picklock_zookeeper",
    "picklock_redis",
    "picklock_lease_server",
    "picklock_clients::zookeeper",
];

pub fn world_knows_no_service(tree: &Tree) -> Vec<Breach> {
    let world =
        |file: &&File| file.path == "sim/src/world.rs" || file.path.starts_with("sim/src/world/");
    let files = tree.rust().filter(world);
    let lines = files.flat_map(|file| file.text.lines().enumerate().map(move |line| (file, line)));
    let named = lines.filter(|(_, (_, line))| OF_A_SERVICE.iter().any(|word| line.contains(word)));
    let breach = |(file, (place, _)): (&File, (usize, &str))| {
        let remedy = "ask for it by SimulatedService (sim/src/world/host/service.rs)";
        file.breach(place + 1, "the world knows a service", remedy)
    };
    named.map(breach).collect()
}

pub fn lines_are_short(tree: &Tree) -> Vec<Breach> {
    let mut breaches = Vec::new();
    for file in tree.rust() {
        for (number, line) in (1..).zip(file.text.lines()) {
            let length = line.chars().count();
            if length > LINE {
                let rule = format!("is {length} characters wide, and may be {LINE}");
                breaches.push(file.breach(number, rule, "break the line"));
            }
        }
    }
    breaches
}

pub fn words_are_allowed(tree: &Tree) -> Vec<Breach> {
    // In pieces, or this file would break its own rule.
    let in_code = [
        ("todo!(", "do it"),
        ("unimplemented!(", "implement it, or return an error"),
        ("dbg!(", "remove it"),
        ("[allow(", "use #[expect(…, reason = \"…\")]"),
        ("unsafe ", "find another way; the workspace forbids it"),
    ];
    let in_text = [
        (concat!("FIX", "ME"), "fix it, or write an issue"),
        (concat!("XX", "X"), "fix it, or write an issue"),
    ];
    let mut breaches = Vec::new();
    for file in tree.rust() {
        let code = code_of(&file.text);
        for (number, (text, code)) in (1..).zip(file.text.lines().zip(code.lines())) {
            let banned = in_code.iter().filter(|(word, _)| code.contains(word));
            for (word, remedy) in
                banned.chain(in_text.iter().filter(|(word, _)| text.contains(word)))
            {
                breaches.push(file.breach(number, format!("has `{}`", word.trim()), *remedy));
            }
        }
    }
    breaches
}

pub fn paths_are_relative(tree: &Tree) -> Vec<Breach> {
    let folders = [
        concat!("/ho", "me/"),
        concat!("/wo", "rk/"),
        concat!("/tm", "p/"),
    ];
    let mut breaches = Vec::new();
    for file in &tree.files {
        for (number, line) in (1..).zip(file.text.lines()) {
            for folder in folders {
                let starts = |(place, _): (usize, &str)| {
                    !line[..place].ends_with(|before: char| {
                        before.is_alphanumeric() || "_-.})~/".contains(before)
                    })
                };
                if line.match_indices(folder).any(starts) {
                    let rule = format!("names a path under {folder}");
                    breaches.push(file.breach(number, rule, "name it relative to the repository"));
                }
            }
        }
    }
    breaches
}

pub fn build_output_is_ignored(tree: &Tree) -> Vec<Breach> {
    let Some(file) = tree.files.iter().find(|file| file.path == ".gitignore") else {
        return Vec::new();
    };
    let ignored = file
        .text
        .lines()
        .any(|line| matches!(line.trim(), "target" | "target/"));
    let breach = || {
        file.breach(
            1,
            "ignores only one folder of build output",
            "write `target/`, without a leading slash",
        )
    };
    (!ignored).then(breach).into_iter().collect()
}
