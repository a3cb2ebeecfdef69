//! The reference of the format: all rows as a page in Markdown.

use super::defaults::default_of;
use super::file::FILE;
use super::specs::{self, Body, Spec};
use crate::listed::listed;
use picklock_sim::plan::{Holds, Key, KeyTable, Variant};

const HEAD: &str = "\
# Keys of scenario files

Every table of a scenario file, every key, its type, and what is so without it. [scenarios.md](scenarios.md) says how
they play together. `picklock schema scenario` prints the same for editors, see [schemas.md](schemas.md).

This page is written by the program: `PICKLOCK_UPDATE=1 cargo test -p picklock --test it documents`.

A *duration* is one number and one unit: `us`, `ms`, `s`, `m`, `h`, as in `\"1.5s\"`. A *range* of durations is
`\"1ms..5ms\"`, both ends included; a duration is a range of its own. A number that may be a *drawn range*
(`\"2..5\"`), and a *list to choose from*, are settled by each seed in its own way: see [plans.md](plans.md).
";

/// The page.
pub fn page() -> String {
    let mut page = HEAD.to_owned();
    for table in tables() {
        section(&table, &mut page);
    }
    specs_section("When: triggers", "`when`", &specs::triggers(), &mut page);
    specs_section("Inject: faults", "`inject`", &specs::faults(), &mut page);
    page
}

/// All tables of a scenario file, the head first.
pub fn tables() -> Vec<KeyTable> {
    let mut tables = vec![FILE];
    let mut next = 0;
    while let Some(table) = tables.get(next).copied() {
        for key in table.keys() {
            tables_in(&key.holds, &mut tables);
        }
        next += 1;
    }
    tables
}

/// The tables with a heading of their own, such as `[workload]`, that have a key of this name.
pub(crate) fn tables_with(name: &str) -> Vec<&'static str> {
    let has_it =
        |table: &KeyTable| table.title.starts_with('[') && table.keys().any(|key| key.name == name);
    tables()
        .iter()
        .filter(|table| has_it(table))
        .map(|table| table.title)
        .collect()
}

/// Adds the tables that can stand somewhere, unless they are there.
fn tables_in(holds: &Holds, tables: &mut Vec<KeyTable>) {
    match holds {
        Holds::Table(table) | Holds::Tables(table) => {
            let is_new = tables.iter().all(|known| known.title != table.title);
            tables.extend(is_new.then_some(**table));
        }
        Holds::Variants(_, variants) => {
            for holds in variants.iter().filter_map(|variant| variant.holds.as_ref()) {
                tables_in(holds, tables);
            }
        }
        Holds::ByWord(_, _, value) | Holds::OneOrList(value) | Holds::List(value) => {
            tables_in(value, tables);
        }
        _ => {}
    }
}

fn section(table: &KeyTable, page: &mut String) {
    let title = match table.title.contains('[') {
        true => format!("`{}`", table.title),
        false => table.title.to_owned(),
    };
    page.push_str(&format!("\n## {title}\n\n{}\n\n", table.about));
    page.push_str("| key | type | without it | means |\n| --- | --- | --- | --- |\n");
    for key in table.keys() {
        let Key { name, means, .. } = key;
        page.push_str(&format!(
            "| `{name}` | {} | {} | {means} |\n",
            type_of(&key.holds),
            without(key),
        ));
    }
    for key in table.keys() {
        if let Some(variants) = variants_of(&key.holds) {
            page.push_str(&format!("\n`{}`:\n\n", key.name));
            for variant in variants {
                page.push_str(&format!("- {}: {}\n", written(variant), variant.means));
            }
        }
    }
}

/// What is so without a key, in Markdown.
pub fn without(key: &Key) -> String {
    match key.is_needed {
        true => "needed".to_owned(),
        false => default_of(key),
    }
}

/// The variants that can stand behind a key.
fn variants_of(holds: &Holds) -> Option<&'static [Variant]> {
    match holds {
        Holds::Variants(_, variants) => Some(variants),
        Holds::OneOrList(value) | Holds::ByWord(_, _, value) => variants_of(value),
        _ => None,
    }
}

/// How a variant is written, with what belongs to it in words.
fn written(variant: &Variant) -> String {
    let Variant { name, holds, .. } = variant;
    let word = format!("`\"{name}\"`");
    let table = holds.as_ref().map(|holds| match holds {
        Holds::Table(table) => {
            let keys: Vec<&str> = table.keys().map(|key| key.name).collect();
            match keys.len() > 4 {
                true => format!("`{name} = {{ … }}`"),
                false => format!("`{name} = {{ {} }}`", keys.join(", ")),
            }
        }
        other => format!("`{{ {name} = … }}` ({})", type_of(other)),
    });
    match table {
        Some(table) if variant.is_word => format!("{word}, or {table}"),
        Some(table) => table,
        None => word,
    }
}

fn whole(least: i64, most: i64) -> String {
    match most {
        i64::MAX => format!("a whole number from {least}"),
        _ => format!("a whole number from {least} to {most}"),
    }
}

/// So many names are listed; more are in `picklock list`.
const MOST_LISTED: usize = 6;

/// In words, what can stand there.
fn type_of(holds: &Holds) -> String {
    match holds {
        Holds::Text | Holds::Claim => "a string".to_owned(),
        Holds::CaseName => "a string of small letters, digits, and hyphens".to_owned(),
        Holds::Boolean => "`true` or `false`".to_owned(),
        Holds::Whole(least, most) => whole(*least, *most),
        Holds::WholeOrRange(least, most) => {
            format!("{}, or a drawn range", whole(*least, *most))
        }
        Holds::OneOf(numbers) => {
            let numbers: Vec<String> = numbers.iter().map(i64::to_string).collect();
            listed(&numbers)
        }
        Holds::Number => "a number".to_owned(),
        Holds::Duration => "a duration".to_owned(),
        Holds::DurationOrZero => "a duration, or zero".to_owned(),
        Holds::DurationOrRange => "a duration, or a drawn range".to_owned(),
        Holds::Range => "a range of durations".to_owned(),
        Holds::SignedDuration => "a duration, negative or not".to_owned(),
        Holds::SignedRange => "a range of durations, negative or not".to_owned(),
        Holds::Hold => "a duration, a drawn range, or `\"settled\"`".to_owned(),
        Holds::Rate => "a rate such as `\"5%\"`".to_owned(),
        Holds::Reads => "`\"never\"`, `\"always\"`, or a rate such as `\"50%\"`".to_owned(),
        Holds::Bytes => "bytes: a whole number, or such as `\"4MiB\"`".to_owned(),
        Holds::Hash => "16 hexadecimal digits".to_owned(),
        Holds::KeyspaceEvents => "letters such as `\"Exg\"`".to_owned(),
        Holds::Contender => "a contender such as `\"contender-1\"`".to_owned(),
        Holds::ContenderNames => "a contender, a list of them, or `\"any\"`".to_owned(),
        Holds::Server => "a server such as `\"leader\"` or `\"server-1\"`".to_owned(),
        Holds::Lock => "a lock such as `\"lock-a\"`".to_owned(),
        Holds::Words(words) => {
            let words: Vec<String> = (words.names)()
                .iter()
                .map(|word| format!("`\"{word}\"`"))
                .collect();
            match words.len() > MOST_LISTED {
                true => "a name".to_owned(),
                false => listed(&words),
            }
        }
        Holds::Variants(..) => "one of several, see below the table".to_owned(),
        Holds::List(items) => format!("a list, each {}", type_of(items)),
        Holds::OneOrList(value) => format!("{}, or a list to choose from", type_of(value)),
        Holds::Either(all) => {
            let all: Vec<String> = all.iter().map(type_of).collect();
            all.join(", or ")
        }
        Holds::Table(_) => "a table".to_owned(),
        Holds::Tables(_) => "tables".to_owned(),
        Holds::ByWord(..) => "a table by name".to_owned(),
        Holds::MachinesByRegion => "a table of lists: who lies in which region".to_owned(),
        Holds::LatenciesByRegions => "a table of ranges by two regions".to_owned(),
        Holds::Trigger => "[a trigger](#when-triggers)".to_owned(),
        Holds::Fault => "[a fault](#inject-faults)".to_owned(),
    }
}

fn specs_section(title: &str, key: &str, specs: &[Spec], page: &mut String) {
    page.push_str(&format!(
        "\n## {title}\n\n{key} of a `[[fault]]` is one of these, with its fields; those in brackets may \
         be left out.\n\n"
    ));
    page.push_str("| name | fields | means | example |\n| --- | --- | --- | --- |\n");
    for Spec {
        name,
        means,
        example,
        body,
    } in specs
    {
        let fields = match body {
            Body::Value(holds) => type_of(holds),
            Body::Fields(keys) => {
                let shown = keys.iter().map(|key| match key.is_needed {
                    true => format!("`{}`", key.name),
                    false => format!("[`{}`]", key.name),
                });
                shown.collect::<Vec<_>>().join(", ")
            }
        };
        page.push_str(&format!(
            "| `{name}` | {fields} | {means} | `{example}` |\n"
        ));
    }
    page.push_str("\n| field | type | without it | means |\n| --- | --- | --- | --- |\n");
    let mut told: Vec<(&str, String)> = Vec::new();
    for key in specs.iter().flat_map(|spec| match &spec.body {
        Body::Value(_) => &[][..],
        Body::Fields(keys) => keys,
    }) {
        let row = format!("{} | {} | {}", type_of(&key.holds), without(key), key.means);
        if told
            .iter()
            .all(|(name, known)| *name != key.name || *known != row)
        {
            page.push_str(&format!("| `{}` | {row} |\n", key.name));
            told.push((key.name, row));
        }
    }
}
