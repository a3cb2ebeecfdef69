//! `picklock matrix`: each algorithm under each class of faults.

use std::path::PathBuf;

use clap::Args;
use rayon::prelude::*;

use crate::algorithms::{FaultClass, Recipe};
use crate::cli::console::OutputArgs;
use crate::cli::exit;
use crate::cli::failure::Failure;
use crate::cli::progress::Work;
use crate::cli::threads;
use crate::reports::matrix::{Matrix, MatrixCell, MatrixRow, Named, Standing, VERSION};
use crate::reports::matrix::{html, json, markdown, table};
use crate::scenarios::matrix::{self, Word};
use crate::scenarios::{Scenario, program};
use crate::sim::plan::FaultKind;

use super::list::Filter;

mod cells;

const EXAMPLES: &str = "\
Examples:
  picklock matrix --family redis --fault pause
  picklock matrix zk-hardened zk-predecessor-watch --details
  picklock matrix --markdown > docs/matrix.md

A cell is a case of many runs: the seed of each draws its world and its faults, and all faults are of one \
class. `picklock replay matrix/CLASS` shows a run of a cell.

Exit codes: 0 if every claim is kept, 1 if one is broken, 3 if a cell is undecided, 5 if a run broke off.";

/// Show what each algorithm keeps under each class of faults, beside what it claims.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct MatrixArgs {
    /// The algorithms; all, if none is named.
    #[arg(value_name = "ALGORITHM")]
    algorithms: Vec<String>,
    #[command(flatten)]
    filter: Filter,
    /// Only faults of these classes, such as `pause` or `connection-loss`.
    #[arg(long = "fault", value_name = "CLASS,…", value_delimiter = ',')]
    faults: Vec<String>,
    /// How many seeds each cell runs.
    #[arg(long, value_name = "N", default_value_t = 40,
        value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    seeds: u64,
    /// Show a run for everything that was seen, and not only for claims that are broken.
    #[arg(long)]
    details: bool,
    /// Print a page of Markdown.
    #[arg(long)]
    markdown: bool,
    /// How many threads to use; as many as the machine runs at once, if not given.
    #[arg(long, short, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=threads::MOST))]
    jobs: Option<u64>,
    /// Write the matrix to this file, as a page of HTML.
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Write the matrix to this file, as JSON.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

/// A cell that is to be measured: its algorithm, and its class.
type Asked<'a> = (&'a Recipe, FaultClass);

impl MatrixArgs {
    /// Measures the cells, and shows them.
    ///
    /// # Errors
    ///
    /// [`Failure`], if an algorithm or a class is not known, a run broke off, or a file cannot be written.
    pub fn execute(self, look: &OutputArgs) -> Result<u8, Failure> {
        let classes = self.classes()?;
        let catalogue = program::catalogue();
        let swarms = matrix::swarms(&catalogue)?;
        let recipes = self.recipes(&matrix::list(program::algorithms(), &swarms))?;
        let pool = threads::pool(self.jobs)?;
        let asked: Vec<Asked> = recipes
            .iter()
            .flat_map(|recipe| classes.iter().map(move |class| (recipe, *class)))
            .collect();
        let work = Work::measuring(asked.len() as u64);
        for path in self.json.iter().chain(&self.html) {
            work.can_write_results(path)?;
        }
        let scenarios = classes
            .iter()
            .map(|class| matrix::scenario(*class, &recipes, &swarms));
        let scenarios: Vec<Scenario> = scenarios.collect();
        let measured: Vec<Result<Option<MatrixCell>, Failure>> = pool.install(|| {
            let each = asked
                .par_iter()
                .enumerate()
                .map(|(place, (recipe, class))| {
                    work.at(format!("{} under {}", recipe.name, class.name()));
                    let scenario = &scenarios[place % classes.len()];
                    let cell = cells::cell(scenario, recipe, *class, self.seeds, &work);
                    work.seed_done();
                    cell
                });
            each.collect()
        });
        work.end();
        let cells = measured.into_iter().collect::<Result<Vec<_>, Failure>>()?;
        let shown = self.matrix(&recipes, &classes, cells);
        work.print(&match self.markdown {
            true => markdown(&shown),
            false => {
                let width = look.width().unwrap_or(100);
                look.fitted(&table(&shown, width, self.details, &look.stdout()))
            }
        })?;
        if let Some(path) = &self.json {
            work.write(path, json(&shown).as_bytes())?;
        }
        if let Some(path) = &self.html {
            work.write(path, html(&shown).as_bytes())?;
        }
        Ok(if shown.number(Standing::ClaimBroken) > 0 {
            exit::NOT_AS_EXPECTED
        } else if shown.number(Standing::Undecided) > 0 {
            exit::UNDECIDED
        } else {
            exit::AS_EXPECTED
        })
    }

    fn matrix(
        &self,
        recipes: &[Recipe],
        classes: &[FaultClass],
        cells: Vec<Option<MatrixCell>>,
    ) -> Matrix {
        let mut cells = cells.into_iter();
        let rows = recipes.iter().map(|recipe| MatrixRow {
            algorithm: recipe.name.to_owned(),
            family: recipe.build.service().name().to_owned(),
            kind: recipe.ownership.kind.name().to_owned(),
            flaw: recipe.flaw.map(str::to_owned),
            cells: cells.by_ref().take(classes.len()).collect(),
        });
        let named = |(name, meaning): (&str, &str)| Named {
            name: name.to_owned(),
            meaning: meaning.to_owned(),
        };
        Matrix {
            version: VERSION,
            picklock: env!("CARGO_PKG_VERSION").to_owned(),
            command: program::command().to_owned(),
            seeds: self.seeds,
            words: Word::ALL
                .map(|word| named((word.name(), word.meaning())))
                .to_vec(),
            classes: classes
                .iter()
                .map(|class| named((class.name(), class.meaning())))
                .collect(),
            rows: rows.collect(),
        }
    }

    fn classes(&self) -> Result<Vec<FaultClass>, Failure> {
        if self.faults.is_empty() {
            return Ok(FaultClass::ALL.to_vec());
        }
        let names = FaultClass::ALL.map(FaultClass::name);
        let mut classes = Vec::new();
        for name in &self.faults {
            let mut kinds = FaultKind::ALL.iter();
            let class = match FaultClass::find(name) {
                Some(class) => class,
                None => match kinds.find(|kind| kind.name() == name) {
                    Some(kind) => {
                        let problem = format!("`{name}` is a fault, and no class of faults");
                        let hint = format!("it is of the class `{}`", kind.class().name());
                        return Err(Failure::usage(problem, [hint]));
                    }
                    None => return Err(Failure::unknown("class of faults", name, &names)),
                },
            };
            classes.push(class);
        }
        classes.sort_unstable();
        classes.dedup();
        Ok(classes)
    }

    /// The algorithms that are asked for: by name, or of those that stand in the matrix unasked.
    fn recipes(&self, listed: &[Recipe]) -> Result<Vec<Recipe>, Failure> {
        let taken = self.filter.recipes()?;
        let known = program::algorithms();
        let names: Vec<&str> = known.iter().map(|recipe| recipe.name).collect();
        if let Some(name) = self
            .algorithms
            .iter()
            .find(|name| !names.contains(&name.as_str()))
        {
            return Err(Failure::unknown("algorithm", name, &names));
        }
        let is_listed = |recipe: &Recipe| listed.iter().any(|own| own.name == recipe.name);
        let is_asked = |recipe: &Recipe| match self.algorithms.is_empty() {
            true => is_listed(recipe),
            false => self.algorithms.iter().any(|name| name == recipe.name),
        };
        let asked = taken.into_iter().filter(|recipe| is_asked(recipe));
        let asked: Vec<Recipe> = asked.copied().collect();
        if asked.is_empty() {
            let problem = "none of these algorithms is of this family and kind";
            let hint = "leave `--family` or `--kind` out".to_owned();
            return Err(Failure::usage(problem, [hint]));
        }
        Ok(asked)
    }
}
