//! Documents that are made of rows: what stands in them is what the program, the recipes, and the library say. Where
//! one is stale, a test says so, and [`COMMAND`] writes it again. Pictures are made so, too: `guide.rs`, `charts.rs`.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use super::common::picklock;
use picklock::algorithms::library::LIBRARIES;
use picklock::algorithms::registry::{self, RECIPES};
use picklock::checker::invariants::{INVARIANTS, Truth};
use picklock::scenarios::keys::reference;
use picklock::scenarios::{Catalogue, Scenario, Want};
use picklock::sources;

/// Writes every document again that is stale: each of the tests that it runs writes those that it looks at.
const COMMAND: &str = "PICKLOCK_UPDATE=1 cargo test -p picklock --test it documents";

/// How many scenarios in which a library's lock keeps its promises its row names.
const SHOWN: usize = 4;

/// Held while a document is read and written: several tests may look at parts of one.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// Whether documents are to be written again.
pub fn are_written() -> bool {
    std::env::var_os("PICKLOCK_UPDATE").is_some()
}

/// Holds a document, by its path in the repository, against what becomes of it if it is made again, and writes that if
/// documents are to be written.
pub fn is_made(path: &str, again: impl FnOnce(&str) -> String) {
    let _held = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    let kept = fs::read_to_string(&file).unwrap_or_default();
    let made = again(&kept);
    if kept != made && are_written() {
        let folder = file.parent().expect("a file is in a folder");
        fs::create_dir_all(folder).expect("it can be made");
        fs::write(&file, made).expect("it can be written");
        return;
    }
    let line = (1..).zip(kept.lines().zip(made.lines()));
    let mut differ = line.filter(|(_, (kept, made))| kept != made);
    let differs = differ
        .next()
        .map(|(line, (_, made))| format!(" line {line} ought to be\n{made}"));
    assert!(
        kept == made,
        "{path} is stale: {COMMAND} writes it again;{}",
        differs.unwrap_or_default()
    );
}

/// What a command prints.
fn printed(arguments: &[&str]) -> String {
    let done = picklock(arguments);
    assert_eq!(done.code, Some(0), "{done:?}");
    done.stdout
}

/// A page with these rows in its table of this head.
fn with_rows(page: &str, head: &str, rows: impl IntoIterator<Item = String>) -> String {
    let from = page
        .find(head)
        .unwrap_or_else(|| panic!("no table begins with {head}"));
    let (before, table) = page.split_at(from);
    let is_of_table = |line: &&str| line.starts_with('|');
    let old = table
        .lines()
        .take_while(is_of_table)
        .map(|line| line.len() + 1);
    let after = &table[old.sum::<usize>()..];
    let head: Vec<String> = table.lines().take(2).map(str::to_owned).collect();
    let lines: Vec<String> = head.into_iter().chain(rows).collect();
    format!("{before}{}\n{after}", lines.join("\n"))
}

fn library() -> Vec<Scenario> {
    sources::library(&Catalogue::EVERYTHING).expect("it has no mistakes")
}

/// What a case of the library expects to be broken: the algorithm, the scenario, the promise, and within how many
/// seeds.
fn broken(library: &[Scenario]) -> Vec<(&str, &str, &str, u64)> {
    let cases = library
        .iter()
        .flat_map(|scenario| scenario.cases.iter().map(move |case| (scenario, case)));
    let broken = cases.flat_map(|(scenario, case)| {
        case.expectations
            .iter()
            .filter_map(move |expected| match &expected.want {
                Want::Violated { within_seeds, .. } => Some((
                    case.algorithm.name,
                    scenario.name.as_str(),
                    expected.invariant,
                    *within_seeds,
                )),
                Want::Holds
                | Want::Excused { .. }
                | Want::Undecided { .. }
                | Want::Unchecked { .. } => None,
            })
    });
    broken.collect()
}

/// What breaks a recipe: the scenarios that break the same promises stand together.
fn breaks(broken: &[(&str, &str, &str, u64)], recipe: &str) -> String {
    let mut promises: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (_, scenario, promise, _) in broken.iter().filter(|row| row.0 == recipe) {
        let promises = promises.entry(scenario).or_default();
        if !promises.contains(promise) {
            promises.push(promise);
        }
    }
    let mut scenarios: Vec<(Vec<&str>, Vec<&str>)> = Vec::new();
    for (scenario, promises) in promises {
        match scenarios.iter_mut().find(|(of, _)| *of == promises) {
            Some((_, scenarios)) => scenarios.push(scenario),
            None => scenarios.push((promises, vec![scenario])),
        }
    }
    let breaks = scenarios
        .iter()
        .map(|(promises, by)| format!("{} → {}", names(by), names(promises)));
    breaks.collect::<Vec<_>>().join("; ")
}

fn names(names: &[&str]) -> String {
    let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    names.join(", ")
}

#[test]
fn the_reference_is_what_the_program_writes() {
    is_made("docs/scenario-keys.md", |_| reference::page());
}

/// The verbs that the README shows: all are in docs/command-line.md.
const FIRST_VERBS: [&str; 6] = ["run", "replay", "why", "hunt", "matrix", "explain"];

#[test]
fn the_tables_of_verbs_are_what_the_help_says() {
    let help = printed(&["--help"]);
    let commands = help.lines().skip_while(|line| *line != "Commands:");
    let commands = commands.skip(1).take_while(|line| !line.is_empty());
    let mut verbs: Vec<(&str, String)> = Vec::new();
    for line in commands {
        let (verb, said) = line.trim().split_once(' ').unwrap_or((line, ""));
        // A sentence that goes on stands below its beginning.
        match verbs.last_mut() {
            Some((_, sentence)) if line.starts_with("   ") => {
                *sentence = format!("{sentence} {}", line.trim());
            }
            _ => verbs.push((verb, said.trim().to_owned())),
        }
    }
    assert!(verbs.len() >= 12, "{help}");
    let row = |(verb, said): &(&str, String)| format!("| `{verb}` | {said} |");
    let first = verbs.iter().filter(|(verb, _)| FIRST_VERBS.contains(verb));
    let first: Vec<String> = first.map(row).collect();
    assert_eq!(first.len(), FIRST_VERBS.len());
    let head = "| verb | what it does |";
    is_made("README.md", |page| with_rows(page, head, first));
    let all = verbs.iter().map(row);
    is_made("docs/command-line.md", |page| with_rows(page, head, all));
}

/// The locks of the README's table, each the best known of its service or library.
const KNOWN_LOCKS: [&str; 10] = [
    "curator-mutex",
    "kazoo-lock",
    "redis-compare-and-delete",
    "redisson-lock",
    "redlock",
    "redis-py-lock",
    "etcd-mutex",
    "consul-lock",
    "pg-advisory-lock",
    "memcached-add-lock",
];

#[test]
fn the_table_of_known_locks_is_a_part_of_the_matrix() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let matrix = fs::read_to_string(root.join("docs/matrix.md")).expect("it can be read");
    let cells = |line: &str| -> Vec<String> {
        let cells = line.trim_matches('|').split('|');
        cells.map(|cell| cell.trim().to_owned()).collect()
    };
    let head = "| lock | crash | pause | connection-loss | delay | partition | server-crash | clock | deletion |";
    let classes = cells(head).split_off(1);
    let rows = KNOWN_LOCKS.map(|lock| {
        let beginning = format!("| `{lock}` |");
        let mut before: Vec<&str> = Vec::new();
        let row = matrix.lines().find(|line| {
            before.push(line);
            line.starts_with(&beginning)
        });
        let row = cells(row.unwrap_or_else(|| panic!("the matrix has no {lock}")));
        let columns = before
            .iter()
            .rfind(|line| line.starts_with("| algorithm |"));
        let columns = cells(columns.expect("a table has a head"));
        let finding = |class: &String| {
            let at = columns.iter().position(|column| column == class);
            let cell = &row[at.expect("a class has a column")];
            // The first finding of a cell is its worst; what holds needs no count.
            let worst = cell.split(',').next().unwrap_or_default();
            let worst = if worst.starts_with("safe") {
                "safe"
            } else {
                worst
            };
            worst.to_owned()
        };
        let findings: Vec<String> = classes.iter().map(finding).collect();
        format!("| `{lock}` | {} |", findings.join(" | "))
    });
    is_made("README.md", |page| with_rows(page, head, rows));
}

#[test]
fn the_table_of_invariants_says_what_each_means() {
    let truth = |truth| match truth {
        Truth::Belief => "belief",
        Truth::Ownership => "service",
        Truth::Effect => "effect",
        Truth::Service => "how they are served",
    };
    let row = |name: &str, of, meaning: &str| {
        format!("| [`{name}`]({name}.md) | {} | {meaning} |", truth(of))
    };
    let rows = INVARIANTS
        .iter()
        .map(|invariant| row(invariant.name, invariant.truth, invariant.meaning));
    let head = "| invariant | truth | in one sentence |";
    is_made("docs/guide/invariants/README.md", |page| {
        with_rows(page, head, rows)
    });
}

#[test]
fn the_page_of_recipes_says_what_each_is_what_breaks_it_and_what_it_costs() {
    let library = library();
    let broken = broken(&library);
    let rows = RECIPES.iter().map(|recipe| {
        let breaks = breaks(&broken, recipe.name);
        format!("| `{}` | {} | {breaks} |", recipe.name, recipe.summary)
    });
    let costs = printed(&["cost", "--markdown"]);
    let mut costs = costs.lines();
    let of_costs = costs.next().expect("a table has a head");
    let costs = costs.skip(1).map(str::to_owned);
    let head = "| algorithm | what it is | what breaks it (scenario → promise) |";
    is_made("docs/recipes.md", |page| {
        with_rows(&with_rows(page, head, rows), of_costs, costs)
    });
}

#[test]
fn the_page_of_libraries_says_what_each_promises_and_what_breaks_it() {
    let library = library();
    let broken = broken(&library);
    let row = |recipe: &str| {
        let source = registry::find(recipe).map_or("", |recipe| recipe.source);
        let holds = library.iter().filter(|scenario| {
            let mut cases = scenario.cases.iter();
            let has_it = cases.any(|case| case.algorithm.name == recipe);
            has_it
                && !broken
                    .iter()
                    .any(|row| row.0 == recipe && row.1 == scenario.name)
        });
        let holds: Vec<&str> = holds.map(|scenario| scenario.name.as_str()).collect();
        let more = match holds.len().saturating_sub(SHOWN) {
            0 => String::new(),
            more => format!(", and {more} more"),
        };
        let shown = names(&holds[..holds.len().min(SHOWN)]);
        let first = broken.iter().find(|row| row.0 == recipe).map(|row| row.1);
        let command = first.or(holds.first().copied()).unwrap_or_default();
        format!(
            "| `{recipe}` | {source} | {} | {shown}{more} | `picklock run {command} --case {recipe}` |",
            breaks(&broken, recipe)
        )
    };
    is_made("docs/libraries.md", |page| {
        let (head, _) = page.split_once("\n## ").unwrap_or((page, ""));
        let sections = LIBRARIES.iter().map(|of| {
            let rows: Vec<String> = of.recipes.iter().map(|recipe| row(recipe)).collect();
            let (name, language) = (of.name, of.language);
            let (promise, helps, rows) = (of.promise, of.helps, rows.join("\n"));
            format!(
                "\n## {name} ({language})\n\n**Promises:** {promise}\\\n**Helps:** {helps}.\n\n\
                 | recipe | version looked at | what breaks it | what does not | see it |\n\
                 |---|---|---|---|---|\n{rows}\n"
            )
        });
        format!("{}\n{}", head.trim_end(), sections.collect::<String>())
    });
}

#[test]
fn the_record_has_what_the_library_expects_and_every_flaw() {
    let library = library();
    let broken = broken(&library);
    let count = |seeds: u64| match seeds {
        1 => "1 seed".to_owned(),
        _ => format!("{seeds} seeds"),
    };
    let row = |line: &str| {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let [_, bug, wrong, algorithm, scenario, promise, within, _] = cells[..] else {
            return line.to_owned();
        };
        let is_it = |row: &&(&str, &str, &str, u64)| {
            let names = [row.0, row.1, row.2].map(|name| format!("`{name}`"));
            names == [algorithm, scenario, promise]
        };
        let expected: Vec<String> = broken
            .iter()
            .filter(is_it)
            .map(|row| count(row.3))
            .collect();
        let is_expected = expected.iter().any(|seeds| seeds == within);
        match expected.first().filter(|_| !is_expected) {
            Some(within) => {
                format!("| {bug} | {wrong} | {algorithm} | {scenario} | {promise} | {within} |")
            }
            None => line.to_owned(),
        }
    };
    is_made("TRACK_RECORD.md", |page| {
        let head = "| bug | what goes wrong | algorithm | scenario | invariant | found within |";
        let mut rows: Vec<String> = page
            .lines()
            .skip_while(|line| *line != head)
            .skip(2)
            .take_while(|line| line.starts_with('|'))
            .map(row)
            .collect();
        for recipe in RECIPES {
            let named = format!("| `{}` |", recipe.name);
            let Some(flaw) = recipe.flaw.filter(|_| !page.contains(&named)) else {
                continue;
            };
            let expected = broken.iter().find(|row| row.0 == recipe.name);
            rows.extend(expected.map(|(algorithm, scenario, promise, seeds)| {
                let within = count(*seeds);
                format!(
                    "| {} | {flaw} | `{algorithm}` | `{scenario}` | `{promise}` | {within} |",
                    recipe.summary
                )
            }));
        }
        with_rows(page, head, rows)
    });
}

#[test]
fn the_matrix_has_a_row_of_each_recipe() {
    is_made("docs/matrix.md", |page| {
        // All of it takes too long to be measured unasked: .ci/run compares the whole page.
        if are_written() {
            return picklock(&["matrix", "--markdown"]).stdout;
        }
        let is_row = |line: &&str| line.starts_with("| `");
        let names: Vec<&str> = page
            .lines()
            .filter(is_row)
            .filter_map(|line| line.split('`').nth(1))
            .collect();
        let missing: Vec<&str> = RECIPES
            .iter()
            .map(|recipe| recipe.name)
            .filter(|name| !names.contains(name))
            .collect();
        match missing.is_empty() {
            true => page.to_owned(),
            false => format!("{page}Rows are missing: {missing:?}"),
        }
    });
}

#[test]
fn a_table_gets_other_rows_and_the_rest_of_its_page_stays() {
    let page = "one\n\n| a | b |\n| - | - |\n| 1 | 2 |\n| 3 | 4 |\n\ntwo\n";
    let made = with_rows(page, "| a | b |", ["| 5 | 6 |".to_owned()]);
    assert_eq!(made, "one\n\n| a | b |\n| - | - |\n| 5 | 6 |\n\ntwo\n");
}
