//! `picklock explain`: what a word means, and a scenario that shows it.

use std::fmt::Write as _;

use crate::algorithms::{FaultClass, Recipe};
use crate::checker::{DISTANCES, INVARIANTS, Invariant, METRICS, SOMETIMES, Truth};
use crate::scenarios::{Case, Expectation, Scenario, Want, nearest, program};
use crate::sim::plan::FaultKind;
use crate::sources;

use super::list::faults::{self, Example};
use super::list::known_of;
use crate::cli::console::{self, OutputArgs};
use crate::cli::exit;
use crate::cli::failure::Failure;

const EXAMPLES: &str = "\
Examples:
  picklock explain timely-loss         an invariant
  picklock explain lose-reply          a fault
  picklock explain zk-no-recheck       an algorithm
  picklock explain excuse              a word of the reports";

/// The words of the reports, as the glossary has them.
const ARCHITECTURE: &str = include_str!("../../../ARCHITECTURE.md");

/// How many scenarios to show of each.
const SHOWN: usize = 3;

/// Say what an invariant, a fault, an algorithm, or a word of the reports means, and which scenarios show it.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Explain {
    /// The word.
    #[arg(value_name = "WORD")]
    word: String,
}

/// Whether a case shows a thing, and how well: the least shows it best.
type Shows = Box<dyn Fn(&Case) -> Option<usize>>;

/// What is known of a word, of one thing that it is the name of.
struct Explained {
    name: String,
    /// What it is: `invariant`, `fault`.
    what: String,
    meaning: String,
    /// Lines below it.
    more: Vec<String>,
    /// Whether a case shows it, and how well: the least shows it best.
    shows: Shows,
}

impl Explain {
    /// Explains it.
    ///
    /// # Errors
    ///
    /// [`Failure`], if there is nothing of this name.
    pub fn execute(self, look: &OutputArgs) -> Result<u8, Failure> {
        let things = explained(&self.word);
        if things.is_empty() {
            let names = names();
            let near = nearest(&self.word, names.iter().map(String::as_str));
            let command = program::command();
            let hint = match near {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!(
                    "`{command} list algorithms`, `list faults`, and `list invariants` show what there is"
                ),
            };
            let problem = format!("nothing is called `{}`", self.word);
            return Err(Failure::usage(problem, [hint]));
        }
        let library = sources::library(&program::catalogue())?;
        let width = look.stdout().columns();
        let texts = things
            .iter()
            .map(|thing| text(&self.word, thing, &library, width));
        console::print(&texts.collect::<Vec<_>>().join("\n"))?;
        Ok(exit::AS_EXPECTED)
    }
}

/// All that has this name.
fn explained(word: &str) -> Vec<Explained> {
    let mut things = everything();
    things.retain(|thing| thing.name == word);
    things
}

/// Every name that can be explained.
fn names() -> Vec<String> {
    let mut names: Vec<String> = everything().into_iter().map(|it| it.name).collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// All that can be explained, in the order in which what has the same name is.
fn everything() -> Vec<Explained> {
    let mut things: Vec<Explained> = INVARIANTS.iter().map(of_invariant).collect();
    things.extend(faults::faults().into_iter().map(of_fault));
    things.extend(program::algorithms().iter().map(of_algorithm));
    for example in faults::triggers() {
        let mut trigger = worded(example.name, "a trigger of a fault", &example.meaning);
        trigger.more.push(example.example.to_owned());
        things.push(trigger);
    }
    for class in FaultClass::ALL {
        let (name, command) = (class.name(), program::command());
        let mut of_faults = worded(name, "a class of faults", class.meaning());
        of_faults.more = vec![format!("{command} matrix --fault {name}")];
        things.push(of_faults);
    }
    for metric in METRICS {
        things.push(worded(metric.name, "a metric", metric.meaning));
    }
    for moment in SOMETIMES {
        things.push(worded(
            moment.name,
            "a moment of the protocol",
            moment.meaning,
        ));
    }
    for distance in DISTANCES {
        things.push(worded(
            distance.name,
            "a distance to an overlap",
            distance.meaning,
        ));
    }
    for (words, meaning) in glossary() {
        let words = words.split(", ");
        things.extend(words.map(|word| worded(word, "a word of the reports", meaning)));
    }
    things
}

fn of_invariant(invariant: &Invariant) -> Explained {
    let name = invariant.name;
    Explained {
        name: name.to_owned(),
        what: format!("an invariant, of {}", of_truth(invariant.truth)),
        meaning: invariant.meaning.to_owned(),
        more: Vec::new(),
        shows: Box::new(move |case| violates(case, Some(name)).then(|| size(case))),
    }
}

fn of_fault(example: Example) -> Explained {
    let name = example.name;
    let injects = move |case: &Case| {
        let mut faults = case.plan.faults.iter();
        faults.any(|fault| FaultKind::of(&fault.inject).name() == name)
    };
    Explained {
        name: name.to_owned(),
        what: "a fault".to_owned(),
        meaning: example.meaning,
        more: vec![example.example.to_owned()],
        shows: Box::new(move |case| (injects(case) && violates(case, None)).then(|| size(case))),
    }
}

fn of_algorithm(recipe: &Recipe) -> Explained {
    let flaw = recipe.flaw.map(|flaw| format!("flaw: {flaw}"));
    let (name, command) = (recipe.name, program::command());
    let matrix = format!("under each class of faults: {command} matrix {name}");
    Explained {
        name: name.to_owned(),
        what: "an algorithm".to_owned(),
        meaning: recipe.summary.to_owned(),
        more: flaw
            .into_iter()
            .chain(known_of(recipe))
            .chain([matrix])
            .collect(),
        shows: Box::new(move |case| {
            let is_of_it = case.algorithm.name == name;
            // What breaks it says more than where it holds.
            let holds = usize::from(!violates(case, None)) * 1_000;
            is_of_it.then(|| holds + size(case))
        }),
    }
}

/// What is explained in words alone.
fn worded(name: &str, what: &str, meaning: &str) -> Explained {
    Explained {
        name: name.to_owned(),
        what: what.to_owned(),
        meaning: meaning.to_owned(),
        more: Vec::new(),
        shows: Box::new(|_| None),
    }
}

/// The rows of the glossary: the words, and what they mean.
fn glossary() -> impl Iterator<Item = (&'static str, &'static str)> {
    let from = ARCHITECTURE
        .lines()
        .skip_while(|line| *line != "## Glossary");
    from.filter_map(|line| {
        let (words, meaning) = line
            .strip_prefix("| ")?
            .strip_suffix(" |")?
            .split_once(" | ")?;
        (words != "word" && words != "---").then_some((words, meaning))
    })
}

fn of_truth(truth: Truth) -> &'static str {
    match truth {
        Truth::Belief => "what contenders believe",
        Truth::Ownership => "what the service says",
        Truth::Effect => "what the resource has accepted",
        Truth::Service => "how contenders are served",
    }
}

/// Whether the case expects a violation, of this invariant or of any.
fn violates(case: &Case, invariant: Option<&str>) -> bool {
    let mut expectations = case.expectations.iter();
    expectations.any(|it| {
        matches!(it.want, Want::Violated { .. })
            && invariant.is_none_or(|name| name == it.invariant)
    })
}

/// How much there is to understand.
fn size(case: &Case) -> usize {
    let violated = |it: &&Expectation| matches!(it.want, Want::Violated { .. });
    let violated = case.expectations.iter().filter(violated).count();
    let drawn = usize::from(case.open.is_some()) * 100;
    let contenders = case.plan.workload.contenders as usize;
    drawn + violated * 20 + case.plan.faults.len() * 10 + contenders
}

fn text(word: &str, thing: &Explained, library: &[Scenario], width: usize) -> String {
    let mut text = format!("{word}: {}\n", thing.what);
    let mut say = |what: &str| {
        for line in console::wrapped(what, width.saturating_sub(2)) {
            let _ = writeln!(text, "  {line}");
        }
    };
    say(&sentence(&thing.meaning));
    thing.more.iter().for_each(|more| say(more));
    let cases = library
        .iter()
        .flat_map(|scenario| scenario.cases.iter().map(move |case| (scenario, case)));
    let mut shown: Vec<(usize, &Scenario, &Case)> = cases
        .filter_map(|(scenario, case)| Some(((thing.shows)(case)?, scenario, case)))
        .collect();
    shown.sort_by_key(|(size, _, _)| *size);
    let mut scenarios: Vec<&str> = Vec::new();
    shown.retain(|(_, scenario, _)| {
        let is_new = !scenarios.contains(&scenario.name.as_str());
        scenarios.push(&scenario.name);
        is_new
    });
    shown.truncate(SHOWN);
    for (index, (_, scenario, case)) in shown.iter().enumerate() {
        let _ = write!(text, "\n  {}\n", scenario.claim);
        let because = (index == 0).then(|| scenario.because.trim());
        for line in because
            .map(|it| console::wrapped(it, width - 4))
            .unwrap_or_default()
        {
            let _ = writeln!(text, "    {line}");
        }
        let command = program::command();
        let _ = writeln!(
            text,
            "    {command} run {} --case {}",
            scenario.name, case.name
        );
    }
    text
}

/// With a capital letter, and a full stop.
fn sentence(text: &str) -> String {
    let mut letters = text.trim_end_matches('.').chars();
    let first = letters.next().map(|it| it.to_uppercase().to_string());
    format!("{}{}.", first.unwrap_or_default(), letters.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_explained_and_each_invariant_is_shown_by_a_scenario() {
        for name in names() {
            assert!(!explained(&name).is_empty(), "{name}");
        }
        let library = sources::library(&program::catalogue()).expect("it has no mistakes");
        for invariant in INVARIANTS {
            let thing = explained(invariant.name).remove(0);
            let text = text(invariant.name, &thing, &library, 100);
            assert!(text.contains(" run "), "nothing shows {}", invariant.name);
        }
    }

    #[test]
    fn the_words_of_the_reports_are_those_of_the_glossary() {
        let words: Vec<&str> = glossary().map(|(words, _)| words).collect();
        for word in ["calm", "excuse", "near miss", "holder, waiter"] {
            assert!(words.contains(&word), "{word}: {words:?}");
        }
    }
}
