//! `picklock explain`: what a word means, and a scenario that shows it.

mod glossary;
mod invariant_pages;
mod shown_by;
mod subjects;
mod words;

use std::fmt::Write as _;

use crate::scenarios::{Case, Scenario, program};
use crate::sources;

use crate::cli::console::{self, OutputArgs};
use crate::cli::failure::Failure;
use crate::cli::markdown;
use subjects::Subject;

const EXAMPLES: &str = "\
Examples:
  picklock explain timely-loss             an invariant
  picklock explain lose-reply              a fault
  picklock explain zk-no-recheck           an algorithm
  picklock explain zookeeper/gc-pause      a scenario
  picklock explain near miss               a word of the reports";

/// How many scenarios to show of each.
const SHOWN: usize = 3;

/// Say what an invariant, a fault, an algorithm, or a word of the reports means, and which scenarios show it.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Explain {
    /// The word, or several that belong together: whatever `list` shows, and every word of the reports.
    #[arg(value_name = "WORD", required = true)]
    pub(super) word: Vec<String>,
}

/// All that can be explained.
fn all(library: &[Scenario]) -> Vec<Subject> {
    let mut subjects = subjects::all(library);
    subjects.extend(words::of_matrix());
    subjects.extend(words::of_searches());
    subjects.extend(words::of_arrivals());
    subjects.extend(words::of_events());
    subjects.extend(words::of_keys());
    subjects
}

/// What there is to say of a word, if it is the name of anything.
pub(super) fn explanation(word: &str, look: &OutputArgs) -> Result<Option<String>, Failure> {
    let library = sources::library(&program::catalogue())?;
    let joined = |words: &str| words.replace([' ', '_'], "-");
    let wanted = joined(&word.to_lowercase());
    let mut subjects = all(&library);
    // A key such as `contenders` hides no word such as `contender`.
    let is_it = |subject: &Subject| joined(&subject.name) == wanted;
    let mut words = subjects.iter().filter(|subject| !subject.is_key());
    let singular = wanted.strip_suffix('s');
    let singular = singular.filter(|_| !words.any(is_it));
    subjects.retain(|subject| is_it(subject) || singular == Some(&*joined(&subject.name)));
    let width = look.stdout().columns();
    let mut told = Vec::new();
    let texts = subjects
        .iter()
        .map(|subject| text(subject, &library, &mut told, width));
    let texts: Vec<String> = texts.collect();
    Ok((!texts.is_empty()).then(|| texts.join("\n")))
}

/// Every name that can be explained.
pub(super) fn names() -> Result<Vec<String>, Failure> {
    let library = sources::library(&program::catalogue())?;
    let mut names: Vec<String> = all(&library)
        .into_iter()
        .map(|subject| subject.name)
        .collect();
    names.sort_unstable();
    names.dedup();
    Ok(names)
}

/// What there is to say of a subject. Scenarios that were shown with another are not shown again.
fn text<'l>(
    subject: &Subject,
    library: &'l [Scenario],
    told: &mut Vec<&'l str>,
    width: usize,
) -> String {
    let mut text = format!("{}: {}\n", subject.name, subject.what);
    let mut say = |what: &str| {
        for line in console::wrapped(what, width.saturating_sub(2)) {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "  {line}");
        }
    };
    say(&sentence(&subject.meaning));
    subject.more.iter().for_each(|more| say(more));
    if let Some(page) = &subject.page {
        text.push('\n');
        for line in markdown::render(page, width.saturating_sub(2)).lines() {
            let _ = writeln!(text, "{}", format!("  {line}").trim_end());
        }
    }
    let mut shown = shown(subject, library);
    shown.retain(|(scenario, _)| !told.contains(&scenario.name.as_str()));
    told.extend(shown.iter().map(|(scenario, _)| scenario.name.as_str()));
    if !shown.is_empty() {
        text.push_str("\n  Scenarios that show it\n");
    }
    for (index, (scenario, case)) in shown.into_iter().enumerate() {
        text.push_str(&example(scenario, case, index == 0, width));
    }
    text
}

/// The cases that show it best, one of each scenario.
fn shown<'l>(subject: &Subject, library: &'l [Scenario]) -> Vec<(&'l Scenario, &'l Case)> {
    let cases = library
        .iter()
        .flat_map(|scenario| scenario.cases.iter().map(move |case| (scenario, case)));
    let mut shown: Vec<(usize, &Scenario, &Case)> = cases
        .filter_map(|(scenario, case)| Some(((subject.shows)(scenario, case)?, scenario, case)))
        .collect();
    shown.sort_by_key(|(rank, _, _)| *rank);
    let mut scenarios: Vec<&str> = Vec::new();
    shown.retain(|(_, scenario, _)| {
        let is_new = !scenarios.contains(&scenario.name.as_str());
        scenarios.push(&scenario.name);
        is_new
    });
    shown.truncate(SHOWN);
    shown
        .into_iter()
        .map(|(_, scenario, case)| (scenario, case))
        .collect()
}

/// A case that shows it: what is claimed, why, and the command that runs it.
fn example(scenario: &Scenario, case: &Case, is_first: bool, width: usize) -> String {
    let mut text = String::from("\n");
    for line in console::wrapped(&scenario.claim, width.saturating_sub(2)) {
        let _ = writeln!(text, "  {line}");
    }
    let because = is_first.then_some(&scenario.because);
    for line in because
        .map(|line| console::wrapped(line, width.saturating_sub(4)))
        .unwrap_or_default()
    {
        let _ = writeln!(text, "    {line}");
    }
    let (command, name, case) = (program::command(), &scenario.name, &case.name);
    let _ = writeln!(text, "    {command} run {name} --case {case}");
    text
}

/// With a capital letter, and a full stop.
fn sentence(text: &str) -> String {
    let mut letters = text.trim_end_matches('.').chars();
    let first = letters.next().map(|first| first.to_uppercase().to_string());
    format!("{}{}.", first.unwrap_or_default(), letters.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::cmd::list;

    fn library() -> Vec<Scenario> {
        sources::library(&program::catalogue()).expect("it has no mistakes")
    }

    #[test]
    fn whatever_a_list_shows_is_explained() {
        let names = names().expect("the library has no mistakes");
        let listed = list::names().expect("the library has no mistakes");
        assert!(listed.len() > 600, "{}", listed.len());
        for (table, name) in listed {
            assert!(names.contains(&name), "{table}: {name}");
        }
    }

    /// Nothing to run shows the words that are left, and of what is listed these alone.
    #[test]
    fn what_can_be_explained_is_shown_by_scenarios_of_the_library() {
        let library = library();
        let subjects = all(&library);
        let words = |subject: &&Subject| subject.what == "a word of the reports";
        let unseen = subjects
            .iter()
            .filter(|subject| !words(subject) && shown(subject, &library).is_empty());
        let unseen: Vec<&str> = unseen.map(|subject| subject.name.as_str()).collect();
        insta::assert_snapshot!(unseen.join("\n"));
    }

    #[test]
    fn the_words_of_the_reports_are_those_of_the_glossary_each_with_a_scenario_that_exists() {
        let library = library();
        let mut words = Vec::new();
        for row in glossary::rows() {
            let Some(name) = row.seen_in else {
                continue;
            };
            assert!(library.iter().any(|own| own.name == name), "{name}");
            words.extend(row.words);
        }
        for word in [
            "undecided",
            "excused",
            "near miss",
            "herd",
            "belief",
            "ownership",
            "effect",
            "fencing token",
            "calm",
            "holder",
            "waiter",
        ] {
            assert!(words.contains(&word), "{word}: {words:?}");
        }
    }

    #[test]
    fn a_long_claim_is_wrapped_and_commands_are_not() {
        let library = library();
        for subject in all(&library)
            .iter()
            .filter(|subject| subject.what == "a word of the reports")
        {
            for line in text(subject, &library, &mut Vec::new(), 60).lines() {
                let is_command = line.trim_start().starts_with("picklock ");
                assert!(is_command || line.chars().count() <= 60, "{line}");
            }
        }
    }
}
