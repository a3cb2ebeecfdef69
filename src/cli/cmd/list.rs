//! `picklock list`: what scenario files may speak of, and what comes with picklock.

mod algorithms;
mod as_json;
mod clients;
pub(super) mod faults;
mod filter;
mod lock_filter;
mod scenarios;

pub(super) use algorithms::known_of;
pub use as_json::Lists;
pub(super) use lock_filter::Filter;

use self::as_json::{ExampleRow, InvariantRow, MeaningRow, MetricRow};
use crate::algorithms::FaultClass;
use crate::checker::{DISTANCES, INVARIANTS, METRICS, SOMETIMES};
use crate::reports::fit::columns_of;
use crate::scenarios::program;
use clap::ValueEnum;
use serde_json::{Value, json};

use crate::cli::console::{self, OutputArgs};
use crate::cli::exit;
use crate::cli::failure::Failure;

const EXAMPLES: &str = "\
Examples:
  picklock list algorithms
  picklock list algorithms --family zookeeper --kind read-write
  picklock list scenarios --match barrier
  picklock list scenarios --fault pause --invariant no-stale-effect
  picklock list faults              each fault and trigger, as a scenario file writes it
  picklock list scenarios --json    the same for machines";

/// What something means has at least so many columns.
const LEAST: usize = 30;

/// Show what there is: algorithms, faults, invariants, metrics, client libraries, moments, distances, or scenarios.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct List {
    /// What to show: `algorithms`, `faults`, `invariants`, `metrics`, `clients`, `sometimes`, `distances`, or
    /// `scenarios`; or a word that `explain` knows.
    #[arg(value_name = "WHAT")]
    what: Vec<String>,
    #[command(flatten)]
    filter: filter::ListFilter,
    /// Show it as JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Listing {
    /// The lock algorithms that can be put to the test.
    Algorithms,
    /// What can break, and when.
    Faults,
    /// The promises that are checked.
    Invariants,
    /// The figures that scenarios can set bounds for.
    Metrics,
    /// The client libraries that a service can be given by name.
    #[value(alias = "libraries")]
    Clients,
    /// The moments that some run of a case has to reach: `sometimes` of a scenario.
    #[value(alias = "moments")]
    Sometimes,
    /// The ways to say how near a run came to an overlap.
    Distances,
    /// The scenarios that come with picklock.
    Scenarios,
}

/// A table: its name, and its rows.
struct Table {
    name: &'static str,
    rows: Vec<Row>,
}

/// What is shown of a thing.
struct Row {
    /// Its name.
    name: String,
    /// One sentence, or several.
    meaning: String,
    /// An example that is shown below it.
    example: Option<&'static str>,
    /// More that is said below it.
    more: Vec<String>,
    /// All that is known of it.
    all: Value,
}

impl List {
    /// The words that are the name of no list, but may be that of something else.
    pub fn words(&self) -> Option<&[String]> {
        let is_list = Listing::from_str(&self.what.join(" "), true).is_ok();
        (!is_list && !self.json && !self.what.is_empty()).then_some(&self.what)
    }

    /// Shows the tables.
    ///
    /// # Errors
    ///
    /// [`Failure`], if there is no such list or word, or it could not be printed.
    pub fn execute(self, look: &OutputArgs) -> Result<u8, Failure> {
        if self.what.is_empty() {
            let hint = format!("{} list {}", program::command(), LISTS.join("|"));
            return Err(Failure::usage("`list` needs to know what to list", [hint]));
        }
        let word = self.what.join(" ");
        let Ok(what) = Listing::from_str(&word, true) else {
            return Err(Failure::unknown("list", &word, &LISTS));
        };
        self.filter.suits(what)?;
        let mut tables = tables(what, &self.filter)?;
        self.filter.keep_matching(&mut tables)?;
        let text = if self.json {
            as_json(tables)?
        } else {
            look.fitted(&as_text(&tables, look.width().unwrap_or(usize::MAX)))
        };
        console::print(&text)?;
        Ok(exit::AS_EXPECTED)
    }
}

/// The names of all lists.
pub(super) const LISTS: [&str; 8] = [
    "algorithms",
    "faults",
    "invariants",
    "metrics",
    "clients",
    "sometimes",
    "distances",
    "scenarios",
];

/// The list of this name, if there is one.
///
/// # Errors
///
/// [`Failure`], if the library has mistakes.
pub(super) fn of_name(name: &str, look: &OutputArgs) -> Result<Option<String>, Failure> {
    let Ok(what) = Listing::from_str(name, true) else {
        return Ok(None);
    };
    let tables = tables(what, &filter::ListFilter::default())?;
    Ok(Some(as_text(&tables, look.stdout().columns())))
}

/// The tables of a listing.
fn tables(what: Listing, filter: &filter::ListFilter) -> Result<Vec<Table>, Failure> {
    let requests = faults::requests().into_iter();
    let classes = FaultClass::ALL.iter();
    Ok(match what {
        Listing::Algorithms => vec![algorithms::algorithms(filter)?],
        Listing::Faults => vec![
            examples("faults", faults::faults()),
            examples("triggers", faults::triggers()),
            examples("timing", faults::timing()),
            meanings(
                "classes",
                classes.map(|class| (class.name(), class.meaning())),
            ),
            meanings(
                "requests",
                requests.map(|(kind, meaning)| (kind.name(), meaning)),
            ),
            examples("circumstances", faults::circumstances()),
        ],
        Listing::Invariants => vec![invariants()],
        Listing::Metrics => vec![metrics()],
        Listing::Clients => vec![clients::zookeeper(), clients::redis()],
        Listing::Sometimes => {
            let rows = SOMETIMES.iter().map(|row| (row.name, row.meaning));
            vec![meanings("sometimes", rows)]
        }
        Listing::Distances => {
            let rows = DISTANCES.iter().map(|row| (row.name, row.meaning));
            vec![meanings("distances", rows)]
        }
        Listing::Scenarios => vec![scenarios::scenarios(filter)?],
    })
}

/// Every name that a list shows, with that of its table.
#[cfg(test)]
pub(super) fn names() -> Result<Vec<(&'static str, String)>, Failure> {
    let mut names = Vec::new();
    for what in Listing::value_variants() {
        for table in tables(*what, &filter::ListFilter::default())? {
            let rows = table.rows.into_iter();
            names.extend(rows.map(|row| (table.name, row.name)));
        }
    }
    Ok(names)
}

fn invariants() -> Table {
    let rows = INVARIANTS.iter().map(|invariant| Row {
        name: invariant.name.to_owned(),
        meaning: invariant.meaning.to_owned(),
        example: None,
        more: Vec::new(),
        all: json!(InvariantRow {
            name: invariant.name,
            meaning: invariant.meaning,
            truth: invariant.truth,
        }),
    });
    Table {
        name: "invariants",
        rows: rows.collect(),
    }
}

/// Things of which there is no more to say than what they mean.
fn meanings(
    name: &'static str,
    things: impl Iterator<Item = (&'static str, impl Into<String>)>,
) -> Table {
    let rows = things.map(|(name, meaning)| {
        let meaning = meaning.into();
        Row {
            name: name.to_owned(),
            example: None,
            more: Vec::new(),
            all: json!(MeaningRow {
                name,
                meaning: meaning.clone(),
            }),
            meaning,
        }
    });
    let rows = rows.collect();
    Table { name, rows }
}

fn metrics() -> Table {
    let rows = METRICS.iter().map(|metric| Row {
        name: metric.name.to_owned(),
        meaning: metric.meaning.to_owned(),
        example: None,
        more: Vec::new(),
        all: json!(MetricRow {
            name: metric.name,
            meaning: metric.meaning,
            unit: metric.unit,
        }),
    });
    Table {
        name: "metrics",
        rows: rows.collect(),
    }
}

fn examples(name: &'static str, rows: Vec<faults::Example>) -> Table {
    let rows = rows.into_iter().map(|row| Row {
        name: row.name.to_owned(),
        example: Some(row.example),
        more: Vec::new(),
        all: json!(ExampleRow {
            name: row.name,
            meaning: row.meaning.clone(),
            example: row.example,
        }),
        meaning: row.meaning,
    });
    Table {
        name,
        rows: rows.collect(),
    }
}

fn as_json(tables: Vec<Table>) -> Result<String, Failure> {
    let mut document = serde_json::Map::new();
    document.insert("version".to_owned(), json!(1));
    for table in tables {
        let rows = table.rows.into_iter().map(|row| row.all).collect();
        document.insert(table.name.to_owned(), Value::Array(rows));
    }
    console::json(&document)
}

/// Tables with their names aligned, under headings if there are several.
fn as_text(tables: &[Table], width: usize) -> String {
    let rows = tables.iter().flat_map(|table| &table.rows);
    let column = rows.map(|row| columns_of(&row.name)).max().unwrap_or(0);
    // Names that leave no room for what they mean have lines of their own.
    let below = column + 2 + LEAST > width;
    let indent = if below { 4 } else { column + 2 };
    let mut text = String::new();
    for (index, table) in tables.iter().enumerate() {
        if tables.len() > 1 {
            let space = if index == 0 { "" } else { "\n" };
            text.push_str(&format!("{space}{}:\n", table.name));
        }
        for row in &table.rows {
            let room = width.saturating_sub(indent);
            let mut lines = console::wrapped(&row.meaning, room);
            lines.extend(
                row.example
                    .into_iter()
                    .flat_map(|example| toml_lines(example, room)),
            );
            lines.extend(
                row.more
                    .iter()
                    .flat_map(|more| console::wrapped(more, room)),
            );
            let (name, between) = match below {
                true => (format!("{}\n{:indent$}", row.name, ""), ""),
                false => (format!("{:<column$}", row.name), "  "),
            };
            let lines = lines.join(&format!("\n{:indent$}", ""));
            text.push_str(&format!("{name}{between}{lines}\n"));
        }
    }
    text
}

/// A line of TOML, or, if there is no room for it, one for each key of its table, which says the same.
fn toml_lines(example: &str, room: usize) -> Vec<String> {
    let whole = vec![example.to_owned()];
    let table = example.split_once(" = { ");
    let Some((key, table)) = table.filter(|_| columns_of(example) > room) else {
        return whole;
    };
    let (Some(table), false) = (table.strip_suffix(" }"), key.contains('[')) else {
        return whole;
    };
    let mut depth = 0_i32;
    let keys = table.split(|letter: char| {
        depth += i32::from("[{".contains(letter)) - i32::from("]}".contains(letter));
        letter == ',' && depth == 0
    });
    keys.map(|field| format!("{key}.{}", field.trim()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_list_has_its_name() {
        let names = Listing::value_variants().iter();
        let names = names.filter_map(ValueEnum::to_possible_value);
        let names: Vec<_> = names.map(|value| value.get_name().to_owned()).collect();
        assert_eq!(names, LISTS);
    }

    #[test]
    fn an_example_that_is_too_wide_has_a_line_for_each_key() {
        let example = r#"inject.partition = { servers = ["a", "b"], for = "20s" }"#;
        let lines = [
            r#"inject.partition.servers = ["a", "b"]"#,
            r#"inject.partition.for = "20s""#,
        ];
        assert_eq!(toml_lines(example, 40), lines);
        assert_eq!(toml_lines(example, 80), [example]);
    }

    #[test]
    fn names_are_aligned_and_meanings_hang() {
        let row = |name: &str, meaning: &str, example, more: &[&str]| Row {
            name: name.to_owned(),
            meaning: meaning.to_owned(),
            example,
            more: more.iter().map(|line| (*line).to_owned()).collect(),
            all: Value::Null,
        };
        let rows = vec![
            row("a", "One two three four five six seven.", None, &[]),
            row(
                "long",
                "Six.",
                Some("a = 1"),
                &["Seven eight nine ten eleven twelve."],
            ),
        ];
        let table = Table { name: "t", rows };
        let text = as_text(&[table], 36);
        let expected = "\
a     One two three four five six
      seven.
long  Six.
      a = 1
      Seven eight nine ten eleven
      twelve.
";
        assert_eq!(text, expected);
    }
}
