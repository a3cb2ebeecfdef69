//! The results as GitHub's workflows read them: annotations, which are lines of the output, and a summary in Markdown.

use std::fmt::Write as _;

use picklock_checker::outcome::{CaseOutcome, ScenarioOutcome, Standing};

use crate::problem::{Problem, Remark, of_case, problems};
use crate::style::Style;
use crate::summary::counted;
use crate::terminal::{failure, verdict};
use crate::words::harmless;

/// GitHub takes a summary of 1 MiB at most; this much is left to the other commands of a step.
const MOST: usize = 900 * 1024;

/// A line for each thing that is not as expected, which GitHub shows beside the line of the scenario file.
pub fn annotations(outcomes: &[ScenarioOutcome], remarks: &[Remark]) -> String {
    let of_cases = problems(outcomes).map(|problem| annotation(&problem));
    let of_the_run = remarks.iter().map(|remark| {
        let (title, text) = (property(&remark.about), message(&remark.text));
        format!("::error title={title}::{text}\n")
    });
    of_cases.chain(of_the_run).collect()
}

fn annotation(found: &Problem) -> String {
    let case = found.case;
    let level = match found.standing {
        Standing::Undecided => "warning",
        Standing::Holds | Standing::AsExpected | Standing::Skipped => "notice",
        Standing::Fail | Standing::Broken => "error",
    };
    let title = format!("{} {}", case.scenario, case.case);
    let mut text = format!("::{level} title={}", property(&title));
    let written = &case.written;
    if !written.built_in && !written.file.is_empty() {
        // Writing to a string cannot fail.
        let _ = write!(text, ",file={}", property(&written.file));
        if let Some(line) = written.line {
            let _ = write!(text, ",line={line}");
        }
    }
    let told = format!("{}\n{}: {}", found.line, found.again, found.command);
    format!("{text}::{}\n", message(&told))
}

/// What a step summary shows: how much there was, a table of what is not as expected, and the story of each failure.
/// `exit` is the exit code.
pub fn step_summary(outcomes: &[ScenarioOutcome], remarks: &[Remark], exit: u8) -> String {
    let mut text = format!("## picklock: exit {exit}\n\n{}.\n", counted(outcomes));
    let cases = outcomes.iter().flat_map(|outcome| &outcome.cases);
    let wrong: Vec<&CaseOutcome> = cases.filter(|case| !of_case(case).is_empty()).collect();
    if !wrong.is_empty() {
        text.push_str("\n| scenario | case | | what was found |\n| --- | --- | --- | --- |\n");
    }
    for case in &wrong {
        let lines = of_case(case);
        let lines: Vec<_> = lines.iter().map(|problem| escaped(&problem.line)).collect();
        let (scenario, name) = (escaped(&case.scenario), escaped(&case.case));
        let (word, lines) = (verdict(case.standing), lines.join("<br>"));
        // Writing to a string cannot fail.
        let _ = writeln!(text, "| {scenario} | {name} | {word} | {lines} |");
    }
    for remark in remarks {
        let _ = write!(text, "\n{}\n", escaped(&remark.text));
    }
    let failed = |case: &&&CaseOutcome| matches!(case.standing, Standing::Fail | Standing::Broken);
    for (place, case) in wrong.iter().filter(failed).enumerate() {
        let story = story(case);
        if text.len() + story.len() > MOST {
            let left = wrong.iter().filter(failed).count() - place;
            let _ = write!(
                text,
                "\n{left} more failed. Their stories are left out: GitHub takes a summary of 1 MiB at most. \
                 They are in the output of the step.\n"
            );
            break;
        }
        text.push_str(&story);
    }
    text
}

/// The story of a failure, folded up.
fn story(case: &CaseOutcome) -> String {
    let told = failure(case, &Style::IN_A_FILE);
    let (scenario, name) = (escaped(&case.scenario), escaped(&case.case));
    let fence = fence(&told);
    format!(
        "\n<details><summary>{scenario} {name}</summary>\n\n{fence}text\n{}\n{fence}\n\n</details>\n",
        told.trim_end()
    )
}

/// More backticks than the text has in a row: nothing in it ends the block.
fn fence(text: &str) -> String {
    let runs = text.split(|letter| letter != '`').map(str::len);
    "`".repeat(runs.max().unwrap_or(0).max(2) + 1)
}

/// Output of which GitHub's runner takes no line for a command, whatever names and claims are in it.
pub fn without_commands(text: &str) -> String {
    let lines = text.split_inclusive('\n').map(|line| {
        let rest = line.trim_start();
        let line = match rest.strip_prefix("::") {
            Some(after) => format!("{}: :{after}", &line[..line.len() - rest.len()]),
            None => line.to_owned(),
        };
        // An older form, which counts anywhere in a line.
        line.replace("##[", "## [")
    });
    lines.collect()
}

/// The message of a command: one line, of which the runner shows several.
fn message(text: &str) -> String {
    let lines = text
        .split('\n')
        .map(|line| harmless(line).replace('%', "%25"));
    lines.collect::<Vec<_>>().join("%0A")
}

/// A value of a property of a command.
fn property(text: &str) -> String {
    let text = message(text).replace(':', "%3A");
    text.replace(',', "%2C")
}

/// The text as Markdown and HTML show it, whatever is in it.
fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for letter in harmless(text).chars() {
        match letter {
            // A reference to a character never is structure, neither in Markdown nor in HTML.
            '&' | '<' | '>' | '"' | '\'' | '|' | '`' | '*' | '_' | '[' | ']' | '(' | ')' | '\\'
            | '~' | '#' | '!' | '@' | '$' | ':' => {
                // Writing to a string cannot fail.
                let _ = write!(escaped, "&#{};", u32::from(letter));
            }
            other => escaped.push(other),
        }
    }
    escaped
}
