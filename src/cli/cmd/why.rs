//! `picklock why`: which faults a failure needed, when it became inevitable, and what led to it.

mod page;

use std::fmt::Write as _;
use std::path::PathBuf;

use crate::checker::outcome::Story;
use crate::checker::{History, Invariant, ServiceEvent, Witness};
use crate::reports::story::story;
use crate::reports::timeline::Detail;
use crate::reports::words::count;
use crate::scenarios::why::{
    Moment, TurningMoment, ViolationShare, Without, past, service_past, turning_moment, without,
};
use crate::scenarios::{runner, why};
use schemars::JsonSchema;
use serde::Serialize;

use super::page::EXAMPLE;
use super::violating_run::{OneRun, ViolatingRun};
use crate::cli::console::{self, OutputArgs};
use crate::cli::exit;
use crate::cli::failure::Failure;
use crate::cli::progress::Work;
use crate::cli::threads;

const EXAMPLES: &str = "\
Examples:
  picklock why zookeeper/waiter-death --case zk-no-recheck --seed 0
  picklock why regressions/waiter-death-zk-no-recheck-mutual-exclusion.toml
  picklock why zookeeper/unsorted-children --case zk-unsorted --seed 3 --html why.html

Exit codes: 0, and also if the run holds and there is nothing to explain; 3 if it cannot tell;
5 if it broke off.";

/// Of more events than this, only those are shown that the violation needs, unless all are asked for.
const ROWS: usize = 40;

/// Say why a run violates a promise: without which fault it would not, when it became inevitable,
/// and what led to it.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Why {
    #[command(flatten)]
    run: OneRun,
    /// How many runs to compare with, without each fault.
    #[arg(long, value_name = "N", default_value_t = why::OTHERS,
        value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    runs: u64,
    /// How many runs to try from each moment on.
    #[arg(long, value_name = "N", default_value_t = 50,
        value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    samples: u64,
    /// Show all of what led to the violation, however much it is.
    #[arg(long)]
    full: bool,
    /// Write the answers to this file, as JSON.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Write a page to this file: the run as `replay --html` shows it, the answers, and above the lanes of its diagram
    /// how likely the violation was as the run went on.
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
}

/// The answers.
struct Answers<'a> {
    ran: &'a ViolatingRun,
    invariant: &'static Invariant,
    witness: &'a Witness,
    without: Vec<Without>,
    turning: TurningMoment,
    past: Vec<usize>,
    /// What servers did and found on the way.
    service_past: Vec<usize>,
}

impl Why {
    /// Finds the reasons.
    ///
    /// # Errors
    ///
    /// [`Failure`], if there is no such run, or it could not be reported.
    pub fn execute(self, look: &OutputArgs) -> Result<u8, Failure> {
        let pool = threads::pool(self.run.jobs)?;
        let ran = self.run.run()?;
        let Some((invariant, witness)) = &ran.violated else {
            console::print(&look.fitted(&format!("{}; there is nothing to explain.\n", ran.held)))?;
            return Ok(ran.exit);
        };
        let work = Work::explaining();
        work.at(format!(
            "{}: which faults and which choices it needs",
            ran.case.name
        ));
        if let Some(path) = &self.json {
            work.can_write_results(path)?;
        }
        if let Some(path) = &self.html {
            work.can_write_report(path, "--html", EXAMPLE)?;
        }
        let (plan, history) = (&ran.case.plan, &ran.simulated.run.history);
        let run = (ran.simulated.choices.as_slice(), history);
        let past = past(plan, history, &witness.events_until_broken(history));
        let (without, turning) = pool.install(|| {
            let without = without(plan, (invariant, &|_, _, _| true), self.runs, work.stop());
            let turning = turning_moment(plan, invariant, run, self.samples, work.stop());
            (without, turning)
        });
        let answers = Answers {
            ran: &ran,
            invariant,
            witness,
            without,
            turning,
            service_past: service_past(history, &past),
            past,
        };
        work.end();
        if let Some(path) = &self.json {
            work.write(path, console::json(&answers.as_json())?.as_bytes())?;
        }
        if let Some(path) = &self.html {
            work.write(path, answers.page().as_bytes())?;
        }
        console::shown(console::print(&look.fitted(&answers.text(self.full, look))))?;
        Ok(exit::AS_EXPECTED)
    }
}

impl Answers<'_> {
    fn text(&self, full: bool, look: &OutputArgs) -> String {
        let Self { ran, witness, .. } = self;
        let columns = look.stdout().columns();
        let mut text = console::heading(&ran.scenario);
        let violated = format!("{} violated: {}", self.invariant.name, witness.summary);
        for line in console::wrapped(&violated, columns - 2) {
            let _ = writeln!(text, "  {line}");
        }
        text.push_str("\nWhich faults it needs\n\n");
        for without in &self.without {
            let line = without.describe(&ran.case.plan);
            for line in console::wrapped(&line, columns - 2) {
                let _ = writeln!(text, "  {line}");
            }
        }
        text.push_str("\nWhen it became inevitable\n\n");
        for line in self.describe_turning_moment() {
            let _ = writeln!(text, "{}", format!("  {line}").trim_end());
        }
        let (led, all) = self.describe_past();
        let _ = write!(
            text,
            "\nWhat led to it: {led} of {all}\n\n  By the order of each contender's own events, of the \
             service's grants, of the resource's writes,\n  and by what faults wait for and strike. \
             Messages are no part of it:\n  the command at the end shows them with --trace.\n\n",
        );
        let detail = match full || self.past.len() <= ROWS {
            true => Detail::Full,
            false => Detail::Essential,
        };
        text.push_str(&story(&self.reduced_story(), detail, &look.stdout()));
        text
    }

    /// How many events led to it, and of how many.
    fn describe_past(&self) -> (usize, String) {
        let all = self.ran.simulated.run.history.events.len();
        (self.past.len(), count(all as u64, "event"))
    }

    fn describe_turning_moment(&self) -> Vec<String> {
        let mut lines = Vec::new();
        if let Some((_, after)) = self.turning.jump {
            let moments = self.moments();
            lines.extend(moments.iter().map(|moment| self.moment(moment, &after)));
            lines.push(String::new());
        }
        lines.extend(self.describe_turn());
        lines
    }

    /// The moments of the curve and those beside the jump, in order.
    fn moments(&self) -> Vec<Moment> {
        let mut moments = self.turning.curve.clone();
        moments.extend(self.turning.jump.iter().flat_map(|jump| [jump.0, jump.1]));
        moments.sort_by_key(|moment| moment.kept);
        moments.dedup();
        moments
    }

    /// Whether one choice turned it: less than a fifth may be luck.
    fn is_turned(&self) -> bool {
        let jump = self.turning.jump;
        jump.is_some_and(|(before, after)| {
            (after.share.violated - before.share.violated) * 5 >= before.share.of
        })
    }

    /// Which choice turned it, and where that shows.
    fn describe_turn(&self) -> Vec<String> {
        let history = &self.ran.simulated.run.history;
        let Some((before, after)) = self.turning.jump else {
            let share = self.turning.curve.first().map(|moment| moment.share);
            let share = share.unwrap_or_default();
            return vec![format!(
                "from the start: whatever is drawn, it is violated in {} of {}",
                share.violated, share.of
            )];
        };
        let (few, many, of) = (before.share.violated, after.share.violated, before.share.of);
        let turned = match self.is_turned() {
            true => format!("choice {} turned it", after.kept),
            false => format!("no choice turned it alone; {} did most", after.kept),
        };
        let mut lines = vec![format!(
            "{turned}: violated in {few} of {of} before, in {many} after"
        )];
        if let Some(event) = history.events.get(before.settled) {
            lines.push(format!(
                "what it decided shows first at {}: {}",
                event.at,
                history.describe(&event.what)
            ));
        }
        lines
    }

    fn moment(&self, moment: &Moment, after: &Moment) -> String {
        let history = &self.ran.simulated.run.history;
        let at = moment
            .settled
            .checked_sub(1)
            .and_then(|index| history.events.get(index));
        let at = at.map_or_else(|| "the start".to_owned(), |event| event.at.to_string());
        let here = if moment == after { "   ◀" } else { "" };
        let ViolationShare { violated, of, .. } = moment.share;
        let length = (violated * 40).checked_div(of).unwrap_or(0) as usize;
        format!(
            "{:>6} choices kept, up to {at:>10}: {violated:>4} of {of}  {:<40}{here}",
            moment.kept,
            "#".repeat(length),
        )
    }

    /// The run with nothing in it but what led to the violation.
    fn reduced_story(&self) -> Story {
        let ran = self.ran;
        let outcome = runner::judge(&ran.case, ran.seed, &ran.simulated);
        let whole = &ran.simulated.run.history;
        let mut simulated = ran.simulated.clone();
        let events = self.past.iter().map(|index| whole.events[*index]);
        simulated.run.history.events = events.collect();
        let service = self.service_past.iter().map(|index| {
            let event = whole.service[*index].clone();
            let after = self.past.partition_point(|index| *index < event.after);
            ServiceEvent { after, ..event }
        });
        simulated.run.history.service = service.collect();
        let index = |event: &usize| self.past.binary_search(event).ok();
        let witness = Witness {
            events: self.witness.events.iter().filter_map(index).collect(),
            ..self.witness.clone()
        };
        let violated = (self.invariant.name.to_owned(), witness);
        let (scenario, case) = (&ran.scenario, &ran.case);
        let told = runner::story(scenario, case, simulated, &outcome, Some(violated));
        // This is it.
        Story { why: None, ..told }
    }

    fn as_json(&self) -> WhyAnswers<'_> {
        let history = &self.ran.simulated.run.history;
        WhyAnswers {
            version: 1,
            picklock: env!("CARGO_PKG_VERSION"),
            scenario: &self.ran.scenario.name,
            case: &self.ran.case.name,
            seed: self.ran.seed,
            hash: format!("{:016x}", self.ran.simulated.hash),
            invariant: self.invariant.name,
            witness: self.witness,
            without: self.without.iter().map(WithoutJson::of).collect(),
            curve: self.turning.curve.iter().map(MomentJson::of).collect(),
            turning_choice: self.turning.jump.map(|(_, after)| after.kept),
            turning_event: self.turning.event(),
            past: &self.past,
            service_past: &self.service_past,
            history,
        }
    }
}

/// The answers for machines; the schema only ever gains keys within a version. Events are named by their place in the
/// history, from zero.
#[derive(Serialize, JsonSchema)]
pub struct WhyAnswers<'a> {
    /// The version of this schema.
    version: u32,
    /// The version of the program.
    picklock: &'a str,
    /// The scenario.
    scenario: &'a str,
    /// The case.
    case: &'a str,
    /// The seed.
    seed: u64,
    /// The hash of the history, 16 hexadecimal digits.
    hash: String,
    /// The promise that is violated.
    invariant: &'a str,
    /// What contradicts itself, and why.
    witness: &'a Witness,
    /// One for the whole plan, and one for each fault.
    without: Vec<WithoutJson<'a>>,
    /// Moments of the run.
    curve: Vec<MomentJson>,
    /// The choice that made the violation likelier by the most, from one; null if none did.
    turning_choice: Option<usize>,
    /// The first event that was not settled before it.
    turning_event: Option<usize>,
    /// The events that led to the violation.
    past: &'a [usize],
    /// What servers did and found on the way, by its place in `history.service`.
    service_past: &'a [usize],
    /// The whole history; events are named by their place in it, from zero.
    history: &'a History,
}

/// What is left of the violation without a fault: its number, from one; none for the whole plan.
#[derive(Serialize, JsonSchema)]
struct WithoutJson<'a> {
    /// The fault, from one; null for the whole plan.
    fault: Option<usize>,
    /// The places of the faults that went with it, from zero.
    with_it: &'a [usize],
    /// How many runs violate the promise.
    violated: u64,
    /// How many cannot tell.
    undecided: u64,
    /// Of so many runs.
    of: u64,
}

impl<'a> WithoutJson<'a> {
    fn of(without: &'a Without) -> Self {
        Self {
            fault: without.fault.map(|fault| fault + 1),
            with_it: &without.with_it,
            violated: without.share.violated,
            undecided: without.share.undecided,
            of: without.share.of,
        }
    }
}

/// How likely the violation is, once so many choices are as they were.
#[derive(Serialize, JsonSchema)]
struct MomentJson {
    /// How many choices are as they were.
    kept: usize,
    /// How many events of the history are the same whatever is drawn then.
    settled: usize,
    /// How many runs violate the promise.
    violated: u64,
    /// Of so many runs.
    of: u64,
}

impl MomentJson {
    fn of(moment: &Moment) -> Self {
        Self {
            kept: moment.kept,
            settled: moment.settled,
            violated: moment.share.violated,
            of: moment.share.of,
        }
    }
}
