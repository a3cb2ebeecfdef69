//! `picklock shrink`: of a run that fails, the smallest that still does, as a scenario file.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use crate::checker::Witness;
use crate::checker::outcome::Story;
use crate::free_file_name;
use crate::reports::story::story;
use crate::reports::timeline::Detail;
use crate::reports::words::{count, harmless};
use crate::scenarios::replay_command::ReplayCommand;
use crate::scenarios::shrink::{self, Budget, Cut, SearchLimit, Shrunk, reproduction};
use crate::scenarios::why::{self, Without};
use crate::scenarios::{Scenario, write};
use crate::sim::Simulated;
use crate::sim::plan::Plan;

use super::violating_run::{OneRun, ViolatingRun};
use crate::cli::console::{self, OutputArgs};
use crate::cli::exit;
use crate::cli::failure::Failure;
use crate::cli::progress::Work;
use crate::cli::threads;

const EXAMPLES: &str = "\
Examples:
  picklock shrink zookeeper/waiter-death --case zk-no-recheck --seed 0
  picklock shrink zookeeper/waiter-death --case zk-no-recheck --seed 0 --out regressions
  picklock shrink my-locks/outage.toml --seed 3 --out my-locks/outage-small.toml
  picklock shrink zookeeper/gc-pause --case zk-hardened-unfenced --seed 7
      --invariant no-stale-effect

Exit codes: 0 if the run was shrunk, and also if it holds and there is nothing to shrink; 3 if the run \
cannot tell; 5 if it broke off; 130 if the search was interrupted: the smallest run that it had found is \
written.";

/// Shrink a run that violates a promise, and write what is left of it as a scenario file.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Shrink {
    #[command(flatten)]
    run: OneRun,
    /// Where to write the scenario file: a file that ends in .toml, or a folder, which is made if it is not there.
    /// Without it, nothing is written, and the scenario file is shown below the story.
    #[arg(long, value_name = "PATH")]
    out: Option<PathBuf>,
    /// How many runs to try at most.
    #[arg(long, value_name = "N", default_value_t = Budget::default().runs,
        value_parser = clap::value_parser!(u32).range(1..))]
    runs: u32,
}

impl Shrink {
    /// Shrinks the run.
    ///
    /// # Errors
    ///
    /// [`Failure`], if there is no such run, or the file could not be written.
    pub fn execute(self, look: &OutputArgs) -> Result<u8, Failure> {
        let pool = threads::pool(self.run.jobs)?;
        let ran = self.run.run()?;
        let Some((invariant, _)) = &ran.violated else {
            console::print(&look.fitted(&format!("{}; nothing was written.\n", ran.held)))?;
            return Ok(ran.exit);
        };
        let work = Work::search();
        let target = self.target(&ran, invariant.name)?;
        if let Some(target) = &target {
            work.can_write(target.wanted())?;
        }
        let budget = Budget {
            runs: self.runs,
            ..Budget::default()
        };
        let choices = ran.simulated.choices.clone();
        let tell = |runs| work.shrinks(&ran.case.name, ran.seed, runs);
        let watch = SearchLimit::until(work.stop()).with_progress(&tell);
        let shrunk = shrink::shrink_choices(&ran.case, choices, invariant, budget, &watch);
        // The run that was looked at is the run that was given: it violates the same.
        let shrunk = shrunk.expect("the same choices give the same run");
        let small = reproduction(&ran.scenario, &ran.case, ran.seed, &shrunk);
        let style = look.stdout();
        let mut told = shrink::story(&ran.scenario, &ran.case, ran.seed, &shrunk);
        let shown = match target {
            None => as_a_file(&small),
            Some(target) => {
                let saved = save(small, target, &work, &mut told)?;
                told.why = Some(recorded(&saved).why(invariant.name));
                String::new()
            }
        };
        let is_alike =
            |plan: &Plan, run: &Simulated, witness: &Witness| shrunk.is_alike(plan, run, witness);
        let of = (*invariant, &is_alike as why::IsAlike<'_>);
        let needs = pool.install(|| why::needs(&shrunk.plan, of, why::OTHERS, work.stop()));
        if let Some(smaller) = &mut told.smaller {
            let needs = needs.iter().map(|need| need.describe(&shrunk.plan));
            smaller.needs = needs.collect();
        }
        let mut text = head(&ran, &shrunk, &needs);
        text.push_str(&story(&told, Detail::Essential, &style));
        // A file is to be copied: its lines stay as long as they are.
        let text = look.fitted(&text) + &shown;
        work.end();
        console::shown(console::print(&text))?;
        Ok(match work.is_stopped() {
            true => exit::INTERRUPTED,
            false => exit::AS_EXPECTED,
        })
    }

    /// What `--out` names: a file, or a folder, which is made if none is there.
    fn target(&self, ran: &ViolatingRun, invariant: &str) -> Result<Option<Target>, Failure> {
        let Some(out) = &self.out else {
            return Ok(None);
        };
        if out.extension().is_some_and(|end| end == "toml") {
            if std::fs::read_to_string(out).is_ok_and(|text| !shrink::is_reproduction(&text)) {
                let out = out.display();
                let problem = format!(
                    "--out names {out}, which shrink did not write, and nothing of it would be left"
                );
                let hint = "name another file, or a folder, where the run gets a name of its own";
                return Err(Failure::usage(problem, [hint.to_owned()]));
            }
            return Ok(Some(Target::File(out.clone())));
        }
        make_folder(out)?;
        let name = shrink::file_name(&ran.scenario, &ran.case, invariant);
        Ok(Some(Target::Folder(out.join(format!("{name}.toml")))))
    }
}

/// Where a reproduction is written to.
pub(super) enum Target {
    /// The file that `--out` names: what was there is replaced.
    File(PathBuf),
    /// A file of this name in a folder, or of one like it if another is there already, which may have been edited.
    Folder(PathBuf),
}

impl Target {
    /// The file that is written to if nothing is in the way.
    fn wanted(&self) -> &Path {
        match self {
            Self::File(file) | Self::Folder(file) => file,
        }
    }

    /// The file for such a text.
    fn file(&self, text: &str) -> PathBuf {
        match self {
            Self::File(file) => file.clone(),
            Self::Folder(file) => free_file_name::free(file, text),
        }
    }
}

/// Writes a reproduction down, and has its story say how to replay it from there. Answers it as it was saved.
pub(super) fn save(
    mut small: Scenario,
    target: Target,
    work: &Work,
    told: &mut Story,
) -> Result<Scenario, Failure> {
    let text = write(&small, &small.cases[0]);
    let file = target.file(&text);
    work.write(&file, text.as_bytes())?;
    small.path = file.display().to_string();
    told.replay = recorded(&small).replay();
    // It is kept already.
    if let Some(smaller) = &mut told.smaller {
        smaller.keep = None;
    }
    Ok(small)
}

/// A reproduction that is not kept, as the file that it would be.
pub(super) fn as_a_file(small: &Scenario) -> String {
    let text = write(small, &small.cases[0]);
    format!("\n  The run as a scenario file; --out keeps it:\n\n{text}\n")
}

/// The run that a file with a recorded run is about.
pub(super) fn recorded(saved: &Scenario) -> ReplayCommand<'_> {
    ReplayCommand {
        scenario: saved,
        case: &saved.cases[0],
        seed: 0,
        hash: None,
    }
}

/// Makes a folder, if it is not there.
pub(super) fn make_folder(folder: &Path) -> Result<(), Failure> {
    make_folder_of("--out", folder)
}

/// Makes the folder that an option names.
///
/// # Errors
///
/// [`Failure`], if it cannot be made.
pub(super) fn make_folder_of(option: &str, folder: &Path) -> Result<(), Failure> {
    std::fs::create_dir_all(folder).map_err(|error| {
        let problem = format!("cannot make the folder {}: {error}", folder.display());
        Failure::usage(problem, [format!("name another with {option}")])
    })
}

/// Why nothing is left to be tried, by what becomes of the run without each of its faults.
fn at_its_end(shrunk: &Shrunk, needs: &[Without]) -> String {
    let alike = needs.iter().filter(|need| !need.is_otherwise());
    if let Some(fault) = alike.filter_map(Without::unneeded).next() {
        return format!("nothing smaller was found, but without fault {fault} it can fail so, too");
    }
    let done = match shrunk.steps.is_empty() && !shrunk.has_changed() {
        true => "nothing could be taken away",
        false => "nothing more can be taken away",
    };
    match needs.iter().any(|need| need.unneeded().is_some()) {
        true => format!("{done} from this way to fail"),
        false => done.to_owned(),
    }
}

/// What was tried, and what came of it.
fn head(ran: &ViolatingRun, shrunk: &Shrunk, needs: &[Without]) -> String {
    let mut text = console::heading(&ran.scenario);
    let name = harmless(&ran.case.name);
    // Writing to a string cannot fail.
    let _ = writeln!(text, "{:>12}  {name}  seed {}", "SHRUNK", ran.seed);
    let tried = count(shrunk.tried.into(), "run");
    let done = match shrunk.cut {
        None => format!("{tried}; {}", at_its_end(shrunk, needs)),
        Some(Cut::Budget) => {
            format!("{tried}, and then the budget was used up; --runs allows for more")
        }
        Some(Cut::Time | Cut::Stopped) => format!("{tried}, and then it was interrupted"),
    };
    let (from, to) = (shrunk.from, shrunk.to);
    let operations = format!("{} to {}", from.operations, to.operations);
    let choices = format!("{} to {}", from.choices, to.choices);
    for line in [
        done,
        format!("operations {operations}, choices that are not zero {choices}"),
    ] {
        let _ = writeln!(text, "{:16}{line}", "");
    }
    text.push('\n');
    for (index, step) in shrunk.steps.iter().enumerate() {
        let _ = writeln!(text, "  {:>3}  {step}", index + 1);
    }
    text.push('\n');
    text
}
