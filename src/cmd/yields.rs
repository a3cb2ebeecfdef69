//! `picklock yield`: in how many runs each bug is found.

use std::fmt::Write as _;
use std::path::PathBuf;

use picklock::scenarios::search::yields::{Effort, Way, Yield, measure};
use picklock::scenarios::{Case, Scenario};
use serde_json::{Value, json};

use super::choose;
use crate::console;
use crate::exit;
use crate::failure::Failure;
use crate::threads;
use crate::work::Work;

const EXAMPLES: &str = "\
Examples:
  picklock yield                                      everything that the library expects to be violated
  picklock yield zookeeper/waiter-death --bases 20    one scenario, from 20 bases
  picklock yield --json yield.json

Every base begins anew with other seeds. The columns tell after how many runs the first violation was
found: from half of the bases, and from 99 of 100. `file` runs the scenario as it stands, `swarm` draws
faults of any kind in its world, `aimed` aims faults of its kinds at what happens there.";

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
    /// How many threads to use; as many as the machine runs at once, if not given.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=threads::MOST))]
    jobs: Option<u64>,
    /// Write the figures to this file, as JSON.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

/// What was measured of a case.
struct Row<'s> {
    scenario: &'s Scenario,
    case: &'s Case,
    yields: Vec<Yield>,
}

impl Yields {
    /// Measures, and prints a table in Markdown. The exit code does not depend on the figures.
    ///
    /// # Errors
    ///
    /// [`Failure`], if not everything could be measured and shown.
    pub fn execute(self) -> Result<u8, Failure> {
        let scenarios = choose::scenarios(&self.paths, &self.cases)?;
        let pool = threads::pool(self.jobs)?;
        let cases: usize = scenarios.iter().map(|scenario| scenario.cases.len()).sum();
        let steps = (cases * Way::ALL.len()) as u64;
        let work = Work::begin(cases as u64, steps, true);
        if let Some(path) = &self.json {
            work.can_write(path)?;
        }
        let (bases, limit) = (self.bases, self.limit);
        let effort = Effort { bases, limit };
        let mut rows = Vec::new();
        for scenario in &scenarios {
            for case in &scenario.cases {
                work.at(format!("{} {}", scenario.name, case.name));
                let mut yields = Vec::new();
                for way in Way::ALL {
                    yields.extend(pool.install(|| measure(case, way, effort)));
                    work.seed_done();
                }
                rows.push(Row {
                    scenario,
                    case,
                    yields,
                });
                work.case_done();
            }
        }
        work.end();
        console::shown(console::print(&table(&rows)))?;
        if let Some(path) = &self.json {
            work.write(path, console::json(&document(&rows, effort))?.as_bytes())?;
        }
        Ok(exit::AS_EXPECTED)
    }
}

fn table(rows: &[Row]) -> String {
    let mut text = String::from(
        "| scenario | case | invariant | file: median | 99 % | swarm: median | 99 % | aimed: median | 99 % |\n\
         | --- | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |\n",
    );
    for Row {
        scenario,
        case,
        yields,
    } in rows
    {
        let of_file = yields.iter().filter(|it| it.way == Way::File);
        for invariant in of_file.map(|it| it.invariant) {
            let (scenario, case) = (&scenario.name, &case.name);
            // Writing to a string cannot fail.
            let _ = write!(text, "| `{scenario}` | `{case}` | `{invariant}` |");
            for found in yields.iter().filter(|it| it.invariant == invariant) {
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

fn document(rows: &[Row], effort: Effort) -> Value {
    let figures = rows.iter().flat_map(|row| {
        row.yields.iter().map(|found| {
            json!({
                "scenario": row.scenario.name,
                "case": row.case.name,
                "algorithm": row.case.algorithm.name,
                "invariant": found.invariant,
                "way": found.way.name(),
                "found": found.found(),
                "median": found.percentile(50),
                "percentile-99": found.percentile(99),
            })
        })
    });
    json!({
        "version": 1,
        "picklock": env!("CARGO_PKG_VERSION"),
        "bases": effort.bases,
        "limit": effort.limit,
        "yields": figures.collect::<Vec<_>>(),
    })
}
