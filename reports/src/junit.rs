//! The results as JUnit XML, which continuous integration shows as tests: a suite per scenario, a test per case.
//!
//! There is no standard of this format. What is written is what the schema of Jenkins' xUnit plugin (`junit-10.xsd`)
//! has, and no more: GitHub's and GitLab's readers take all of that. A case that fails is a `failure`, one that broke
//! off or cannot tell an `error`, as the exit code has it. One that needs more seeds is `skipped`.

use std::io;
use std::time::Duration;

use picklock_checker::outcome::{CaseOutcome, ScenarioOutcome, Standing};
use quick_xml::Writer;
use quick_xml::events::{BytesDecl, BytesText, Event};

use crate::escape::legal;
use crate::problem::{Remark, of_case, seeds};
use crate::style::Style;
use crate::terminal::failure;
use crate::words::harmless;

/// The name of the suite of what is no case's.
const WHOLE: &str = "the whole run";

/// How many tests there are of each kind, and how long they took.
#[derive(Clone, Copy, Default)]
struct Totals {
    tests: usize,
    failures: usize,
    errors: usize,
    skipped: usize,
    took: Duration,
}

/// The results as JUnit XML, ended by a line break. `picklock` is the version of the program.
pub fn junit(outcomes: &[ScenarioOutcome], remarks: &[Remark], picklock: &str) -> String {
    let mut writer = Writer::new_with_indent(Vec::new(), b' ', 2);
    let written = document(&mut writer, outcomes, remarks, picklock);
    written.expect("nothing that is written to memory can fail");
    let text = String::from_utf8(writer.into_inner());
    text.expect("the writer was given text alone") + "\n"
}

fn document(
    writer: &mut Writer<Vec<u8>>,
    outcomes: &[ScenarioOutcome],
    remarks: &[Remark],
    picklock: &str,
) -> io::Result<()> {
    writer.write_event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None)))?;
    let cases = outcomes.iter().flat_map(|outcome| &outcome.cases);
    let mut all = Totals::of(cases);
    all.tests += remarks.len();
    all.failures += remarks.len();
    let root = writer.create_element("testsuites");
    let root = root.with_attribute(("name", "picklock"));
    let root = root.with_attributes(texts(&all.attributes()));
    root.write_inner_content(|writer| {
        for outcome in outcomes {
            suite(writer, outcome, picklock)?;
        }
        match remarks {
            [] => Ok(()),
            remarks => suite_of_the_run(writer, remarks),
        }
    })?;
    Ok(())
}

fn suite(
    writer: &mut Writer<Vec<u8>>,
    outcome: &ScenarioOutcome,
    picklock: &str,
) -> io::Result<()> {
    let totals = Totals::of(&outcome.cases);
    let first = outcome.cases.first().map(|case| &case.written);
    let file = first.filter(|written| !written.built_in && !written.file.is_empty());
    let mut attributes = vec![("name", legal(&outcome.name))];
    attributes.extend(totals.attributes());
    attributes.push(("skipped", totals.skipped.to_string()));
    attributes.extend(file.map(|file| ("file", legal(&file.file))));
    let element = writer.create_element("testsuite");
    element
        .with_attributes(texts(&attributes))
        .write_inner_content(|writer| {
            properties(writer, outcome, picklock)?;
            for case in &outcome.cases {
                test(writer, case)?;
            }
            Ok(())
        })?;
    Ok(())
}

/// What the schema has no place for in a test: the seeds, and what they came to.
fn properties(
    writer: &mut Writer<Vec<u8>>,
    outcome: &ScenarioOutcome,
    picklock: &str,
) -> io::Result<()> {
    let of_case = |case: &CaseOutcome| {
        let name = &case.case;
        [
            (format!("{name}.algorithm"), case.algorithm.clone()),
            (format!("{name}.seeds"), seeds(case)),
            (format!("{name}.hash"), format!("{:016x}", case.hash)),
        ]
    };
    let of_all = [
        ("picklock".to_owned(), picklock.to_owned()),
        ("claim".to_owned(), outcome.claim.clone()),
    ];
    let all: Vec<_> = of_all
        .into_iter()
        .chain(outcome.cases.iter().flat_map(of_case))
        .collect();
    let element = writer.create_element("properties");
    element.write_inner_content(|writer| {
        for (name, value) in &all {
            let attributes = [("name", legal(name)), ("value", legal(value))];
            let property = writer.create_element("property");
            property.with_attributes(texts(&attributes)).write_empty()?;
        }
        Ok(())
    })?;
    Ok(())
}

fn test(writer: &mut Writer<Vec<u8>>, case: &CaseOutcome) -> io::Result<()> {
    let attributes = [
        ("name", legal(&case.case)),
        // What stands before the last dot is a package to Jenkins.
        ("classname", legal(&case.scenario).replace('/', ".")),
        ("time", time(case.took)),
    ];
    let element = writer.create_element("testcase");
    let element = element.with_attributes(texts(&attributes));
    element.write_inner_content(|writer| {
        let kind = match case.standing {
            Standing::Holds | Standing::AsExpected => None,
            Standing::Skipped => Some("skipped"),
            Standing::Fail => Some("failure"),
            Standing::Undecided | Standing::Broken => Some("error"),
        };
        match kind {
            Some("skipped") => skipped(writer, case)?,
            Some(kind) => problem(writer, kind, case)?,
            None => {}
        }
        let found = case
            .findings
            .iter()
            .map(|finding| harmless(&finding.line) + "\n");
        let found = format!("{}seeds {}\n", found.collect::<String>(), seeds(case));
        let out = writer.create_element("system-out");
        out.write_text_content(BytesText::new(&legal(&found)))?;
        Ok(())
    })?;
    Ok(())
}

/// Why a case was skipped.
fn skipped(writer: &mut Writer<Vec<u8>>, case: &CaseOutcome) -> io::Result<()> {
    let mut lines = case.findings.iter();
    let line = lines.find(|finding| finding.standing == Standing::Skipped);
    let line = line.map(|finding| legal(&finding.line)).unwrap_or_default();
    let element = writer.create_element("skipped");
    element
        .with_attribute(("message", line.as_str()))
        .write_empty()?;
    Ok(())
}

/// Why a case is not as expected: what was found, the story of it, and the command that shows it again.
fn problem(writer: &mut Writer<Vec<u8>>, kind: &str, case: &CaseOutcome) -> io::Result<()> {
    let problems = of_case(case);
    let worst = problems.iter().max_by_key(|problem| problem.standing);
    let attributes = [
        (
            "type",
            worst.map(|problem| legal(problem.rule)).unwrap_or_default(),
        ),
        (
            "message",
            worst
                .map(|problem| legal(&problem.line))
                .unwrap_or_default(),
        ),
    ];
    let lines = problems.iter().map(|problem| problem.line.clone() + "\n");
    let mut text: String = lines.collect();
    match case.standing {
        Standing::Fail | Standing::Broken => {
            text = format!("{text}\n{}", failure(case, &Style::IN_A_FILE));
        }
        Standing::Undecided | Standing::Holds | Standing::AsExpected | Standing::Skipped => {
            let command = worst
                .map(|problem| problem.command.as_str())
                .unwrap_or_default();
            text = format!("{text}\n  Again    {command}\n");
        }
    }
    let element = writer.create_element(kind);
    element
        .with_attributes(texts(&attributes))
        .write_text_content(BytesText::new(&legal(&text)))?;
    Ok(())
}

fn suite_of_the_run(writer: &mut Writer<Vec<u8>>, remarks: &[Remark]) -> io::Result<()> {
    let number = remarks.len().to_string();
    let element = writer.create_element("testsuite").with_attributes([
        ("name", WHOLE),
        ("tests", number.as_str()),
        ("failures", number.as_str()),
        ("errors", "0"),
        ("time", "0"),
    ]);
    element.write_inner_content(|writer| {
        for Remark { about, text } in remarks {
            let name = [("name", legal(about)), ("classname", WHOLE.to_owned())];
            let test = writer.create_element("testcase");
            test.with_attributes(texts(&name))
                .write_inner_content(|writer| {
                    let message = [("type", legal(about)), ("message", legal(text))];
                    let failure = writer.create_element("failure");
                    failure
                        .with_attributes(texts(&message))
                        .write_text_content(BytesText::new(&legal(text)))?;
                    Ok(())
                })?;
        }
        Ok(())
    })?;
    Ok(())
}

impl Totals {
    fn of<'a>(cases: impl IntoIterator<Item = &'a CaseOutcome>) -> Self {
        let mut all = Self::default();
        for case in cases {
            all.tests += 1;
            all.took += case.took;
            match case.standing {
                Standing::Holds | Standing::AsExpected => {}
                Standing::Skipped => all.skipped += 1,
                Standing::Fail => all.failures += 1,
                Standing::Undecided | Standing::Broken => all.errors += 1,
            }
        }
        all
    }

    fn attributes(self) -> Vec<(&'static str, String)> {
        vec![
            ("tests", self.tests.to_string()),
            ("failures", self.failures.to_string()),
            ("errors", self.errors.to_string()),
            ("time", time(self.took)),
        ]
    }
}

/// Seconds. The schema wants no more than digits and a point.
fn time(took: Duration) -> String {
    format!("{:.3}", took.as_secs_f64())
}

fn texts<'a>(attributes: &'a [(&'a str, String)]) -> impl Iterator<Item = (&'a str, &'a str)> {
    attributes.iter().map(|(name, text)| (*name, text.as_str()))
}
