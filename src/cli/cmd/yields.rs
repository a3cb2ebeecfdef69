//! `picklock yield`: in how many runs each bug is found.

mod measured;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use crate::checker::Broken;
use crate::reports::chart::Figure;
use crate::reports::run_charts::{self, YieldFigure};
use crate::reports::style::Style;
use crate::reports::table_of;
use crate::reports::words::harmless;
use crate::scenarios::replay_command::quoted;
use crate::scenarios::search::detection_rate::{Effort, PlanSource, Yield, measure};
use crate::scenarios::search::portfolio::strategy_name;
use crate::scenarios::{Case, Scenario, Want, program};
use crate::sim::broken::caught;
use crate::sim::plan::Strategy;

use super::charts::{self, Kind};
use super::select;
use crate::cli::console::{self, OutputArgs};
use crate::cli::exit;
use crate::cli::failure::Failure;
use crate::cli::progress::Work;
use crate::cli::threads;

pub use measured::Measured;
use measured::YieldRow;

const EXAMPLES: &str = "\
Examples:
  picklock yield                                      everything that the library expects to be violated
  picklock yield zookeeper/waiter-death --bases 20    one scenario, from 20 bases
  picklock yield --strategies --json yield.json       strategies of chance, compared

Every base begins with other seeds. The columns say in how many runs the first violation was found: at most \
so many from 50 % of the bases, and from 99 %. `file` runs the scenario as it stands, `swarm` draws faults \
of any kind in its world, `aimed` aims faults of its kinds at what happens there. `nearer`, which goes on \
from near misses, and `hunt`, all ways together, are measured if they are asked for.";

/// Measure in how many runs each expected violation is found.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Yields {
    /// A scenario file, a folder of them, or a scenario or group that comes with picklock; all of
    /// those if nothing is named.
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Only the cases of this name; may be given several times.
    #[arg(long = "case", value_name = "CASE")]
    cases: Vec<String>,
    /// From how many bases to begin.
    #[arg(long, value_name = "N", default_value_t = 200,
        value_parser = clap::value_parser!(u64).range(1..=10_000))]
    bases: u64,
    /// After how many runs to give up from each base.
    #[arg(long, value_name = "N", default_value_t = 2_000,
        value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    limit: u64,
    /// Measure only this way: `file`, `swarm`, `aimed`, `nearer`, or `hunt`; may be given several times.
    #[arg(long = "way", value_name = "WAY", value_parser = way, conflicts_with = "strategies")]
    ways: Vec<PlanSource>,
    /// Compare strategies of chance, each with faults of any kind, instead of ways to choose the faults.
    #[arg(long)]
    strategies: bool,
    /// How many threads to use; as many as the machine runs at once, if not given.
    #[arg(long, short, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=threads::MOST))]
    jobs: Option<u64>,
    /// Print a table in Markdown.
    #[arg(long)]
    markdown: bool,
    /// Write the figures to this file, as JSON.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Draw the figures to this file, as SVG.
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// The same as PNG.
    #[arg(long, value_name = "FILE")]
    png: Option<PathBuf>,
}

/// What was measured of a case: for each column, its yields.
struct Row<'s> {
    scenario: &'s Scenario,
    case: &'s Case,
    columns: Vec<Vec<Yield>>,
}

/// A way to search that is compared with others.
struct Column {
    name: String,
    way: PlanSource,
    /// The strategies that take turns; those of the file, if there are none.
    chance: Vec<Strategy>,
}

impl Column {
    fn ways(wanted: &[PlanSource]) -> Vec<Self> {
        let ways = PlanSource::ALL.into_iter().filter(|way| match wanted {
            [] => PlanSource::USUAL.contains(way),
            wanted => wanted.contains(way),
        });
        let columns = ways.map(|way| Self {
            name: way.name().to_owned(),
            way,
            chance: Vec::new(),
        });
        columns.collect()
    }

    fn strategies() -> Vec<Self> {
        let all = [
            Strategy::Even,
            Strategy::Extremes,
            Strategy::Delays(3),
            Strategy::Priorities(3),
            Strategy::Orders,
        ];
        let mut columns: Vec<Self> = all.into_iter().map(|way| Self::of(vec![way])).collect();
        columns.push(Self::of(all.to_vec()));
        columns
    }

    fn of(chance: Vec<Strategy>) -> Self {
        let name = match chance.as_slice() {
            [only] => strategy_name(*only),
            _ => "portfolio".to_owned(),
        };
        let way = PlanSource::Swarm;
        Self { name, way, chance }
    }

    /// The case as this column searches it.
    fn case(&self, case: &Case) -> Case {
        let mut case = case.clone();
        match self.chance.as_slice() {
            [] => {}
            [only] => {
                case.plan.network.chance = *only;
                if let Some(open) = &mut case.open {
                    open.chance.clear();
                }
            }
            several => case.open.get_or_insert_default().chance = several.to_vec(),
        }
        case
    }
}

/// Whether there is something to find: what a case expects to hold is not measured.
fn is_to_be_violated(case: &Case) -> bool {
    let mut wanted = case.expectations.iter().map(|row| &row.want);
    wanted.any(|want| matches!(want, Want::Violated { .. }))
}

fn way(name: &str) -> Result<PlanSource, String> {
    let mut ways = PlanSource::ALL.into_iter();
    let found = ways.find(|way| way.name() == name);
    found.ok_or_else(|| {
        let names = PlanSource::ALL.map(PlanSource::name).join(", ");
        format!("there is no way of that name: there are {names}")
    })
}

impl Yields {
    /// Measures, and prints a table. The exit code does not depend on the figures.
    ///
    /// # Errors
    ///
    /// [`Failure`], if not everything could be measured and shown.
    pub fn execute(self, look: &OutputArgs) -> Result<u8, Failure> {
        let mut scenarios = select::scenarios(&self.paths, &self.cases)?;
        for scenario in &mut scenarios {
            scenario.cases.retain(is_to_be_violated);
        }
        if scenarios.iter().all(|scenario| scenario.cases.is_empty()) {
            let problem = "none of these cases expects a violation, so there is nothing to find";
            let hint =
                "name scenarios that do: expect.INVARIANT.violated in their files".to_owned();
            return Err(Failure::usage(problem, [hint]));
        }
        let pool = threads::pool(self.jobs)?;
        let cases: usize = scenarios.iter().map(|scenario| scenario.cases.len()).sum();
        let columns = match self.strategies {
            true => Column::strategies(),
            false => Column::ways(&self.ways),
        };
        let steps = (cases * columns.len()) as u64;
        let work = Work::measuring(steps);
        if let Some(path) = &self.json {
            work.can_write_results(path)?;
        }
        for (_, path, option) in self.pictures() {
            work.can_write_report(path, option, "yield.svg")?;
        }
        let (bases, limit) = (self.bases, self.limit);
        let effort = Effort { bases, limit };
        let mut rows = Vec::new();
        for scenario in &scenarios {
            for case in &scenario.cases {
                work.at(format!("{} {}", scenario.name, case.name));
                let mut found = Vec::new();
                for column in &columns {
                    let case = column.case(case);
                    let measured = caught(|| pool.install(|| measure(&case, column.way, effort)));
                    found.push(measured.map_err(|why| broken(scenario, &case, &why))?);
                    work.seed_done();
                }
                rows.push(Row {
                    scenario,
                    case,
                    columns: found,
                });
            }
        }
        work.end();
        let text = match self.markdown {
            true => markdown(&columns, &rows),
            false => look.fitted(&table(&columns, &rows, &look.stdout())),
        };
        console::shown(console::print(&text))?;
        if let Some(path) = &self.json {
            work.write(
                path,
                console::json(&document(&columns, &rows, effort))?.as_bytes(),
            )?;
        }
        for (kind, path, _) in self.pictures() {
            charts::draw(&chart(&columns, &rows, effort), kind, path, &work)?;
        }
        Ok(exit::AS_EXPECTED)
    }

    /// The pictures that are wanted, each with its file and its option.
    fn pictures(&self) -> Vec<(Kind, &Path, &'static str)> {
        let svg = self
            .svg
            .iter()
            .map(|path| (Kind::Svg, path.as_path(), "--svg"));
        let png = self
            .png
            .iter()
            .map(|path| (Kind::Png, path.as_path(), "--png"));
        svg.chain(png).collect()
    }
}

/// The figures as a chart.
fn chart(columns: &[Column], rows: &[Row], effort: Effort) -> Figure {
    let several = rows
        .iter()
        .any(|row| row.scenario.name != rows[0].scenario.name);
    let figures = rows.iter().flat_map(|row| {
        let named = columns.iter().zip(&row.columns);
        named.flat_map(move |(column, yields)| {
            yields.iter().map(move |found| {
                let (case, invariant) = (&row.case.name, found.invariant);
                YieldFigure {
                    row: match several {
                        true => format!("{}, {case}, {invariant}", row.scenario.name),
                        false => format!("{case}, {invariant}"),
                    },
                    way: column.name.clone(),
                    median: found.percentile(50),
                    most: found.percentile(99),
                }
            })
        })
    });
    let figures: Vec<YieldFigure> = figures.collect();
    let (bases, limit, version) = (effort.bases, effort.limit, env!("CARGO_PKG_VERSION"));
    let of = match several {
        true => String::new(),
        false => format!("{}, ", rows.first().map_or("", |row| &row.scenario.name)),
    };
    let caption = [
        format!("{of}{bases} bases, {limit} runs from each at most, picklock {version}."),
        "A mark: found from half of the bases. The end of its line: from 99 of 100.".to_owned(),
    ];
    run_charts::yields(&figures, limit, &caption)
}

/// A run of a case broke off: nothing can be measured of it.
fn broken(scenario: &Scenario, case: &Case, why: &Broken) -> Failure {
    let (path, name) = (quoted(&scenario.path), quoted(&case.name));
    let program = program::command();
    Failure::Broken(format!(
        "a run broke off: {why}\n  scenario {}, case {}\n  again    {program} yield {path} --case {name}",
        scenario.name, case.name
    ))
}

/// A table for a terminal: a block per scenario, so that its columns fit beside the names of cases and promises.
fn table(columns: &[Column], rows: &[Row], style: &Style) -> String {
    let names = columns
        .iter()
        .flat_map(|way| [50, 99].map(|share| format!("{} {share} %", way.name)));
    let heads: Vec<String> = ["case", "invariant"]
        .map(str::to_owned)
        .into_iter()
        .chain(names)
        .collect();
    let cells = |row: &Row| {
        let sought = row.columns.first().map_or(0, Vec::len);
        let lines = (0..sought).map(|index| {
            let found = row.columns.iter().map(|column| &column[index]);
            let shown = found.flat_map(|way| [shown(way, 50), shown(way, 99)]);
            let names = [
                harmless(&row.case.name),
                row.columns[0][index].invariant.to_string(),
            ];
            names.into_iter().chain(shown).collect()
        });
        lines.collect::<Vec<Vec<String>>>()
    };
    let mut text = String::new();
    for group in rows.chunk_by(|a, b| a.scenario.name == b.scenario.name) {
        let lines: Vec<Vec<String>> = group.iter().flat_map(cells).collect();
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{}", harmless(&group[0].scenario.name));
        text.push_str(&table_of(&heads, &lines, 2, style));
        text.push('\n');
    }
    text + "  In how many runs the violation was found: at most so many from 50 % of the bases, and from 99 %.\n"
}

fn markdown(columns: &[Column], rows: &[Row]) -> String {
    let mut text = String::from("| scenario | case | invariant |");
    let mut line = String::from("| --- | --- | --- |");
    for column in columns {
        // Writing to a string cannot fail.
        let _ = write!(text, " {}: median | 99 % |", column.name);
        line.push_str(" ---: | ---: |");
    }
    let _ = writeln!(text, "\n{line}");
    for row in rows {
        let sought = row.columns.first().map_or(0, Vec::len);
        for index in 0..sought {
            let (scenario, case) = (harmless(&row.scenario.name), harmless(&row.case.name));
            let invariant = row.columns[0][index].invariant;
            let _ = write!(text, "| `{scenario}` | `{case}` | `{invariant}` |");
            for found in row.columns.iter().map(|column| &column[index]) {
                let (median, most) = (shown(found, 50), shown(found, 99));
                let _ = write!(text, " {median} | {most} |");
            }
            text.push('\n');
        }
    }
    text
}

fn shown(found: &Yield, hundredths: u64) -> String {
    match found.percentile(hundredths) {
        Some(runs) => runs.to_string(),
        None if found.found() == 0 => "never".to_owned(),
        None => format!("({} of {})", found.found(), found.bases()),
    }
}

fn document(columns: &[Column], rows: &[Row], effort: Effort) -> Measured {
    let figures = rows.iter().flat_map(|row| {
        let named = columns.iter().zip(&row.columns);
        named.flat_map(|(column, yields)| yields.iter().map(|found| figure(row, column, found)))
    });
    Measured {
        version: 1,
        picklock: env!("CARGO_PKG_VERSION"),
        bases: effort.bases,
        limit: effort.limit,
        yields: figures.collect(),
    }
}

fn figure(row: &Row, column: &Column, found: &Yield) -> YieldRow {
    YieldRow {
        scenario: row.scenario.name.clone(),
        case: row.case.name.clone(),
        algorithm: row.case.algorithm.name,
        invariant: found.invariant,
        way: column.name.clone(),
        found: found.found(),
        median: found.percentile(50),
        percentile_99: found.percentile(99),
    }
}
