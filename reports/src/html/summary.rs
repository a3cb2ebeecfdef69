//! What ran, and how it stands: the tables at the top of a page, by folder and scenario, failures first.

use std::cmp::Reverse;

use picklock_checker::outcome::{CaseOutcome, Finding, ScenarioOutcome, Standing};

use super::section::class;
use crate::escape::escaped;
use crate::summary::counted;
use crate::terminal::verdict;
use crate::words::count;

/// The section of a case, if it has one.
pub(super) type Link<'l> = dyn Fn(&str, &str) -> Option<usize> + 'l;

/// How cases can stand, the worst first.
const STANDINGS: [Standing; 6] = [
    Standing::Broken,
    Standing::Fail,
    Standing::Undecided,
    Standing::Skipped,
    Standing::AsExpected,
    Standing::Holds,
];

/// What to type to find cases, and what to sort them by; the code of the page shows it.
const FILTER: &str = "<p class=\"filter\" hidden><label>Find <input type=\"search\" placeholder=\"scenario, case, \
                      finding\"></label> <label>Verdict <select data-by=\"verdict\"><option value=\"\">all</option>\
                      </select></label> <label>Sort by <select data-by=\"order\"><option value=\"verdict\">verdict\
                      </option><option value=\"name\">name</option><option value=\"seeds\">seeds</option></select>\
                      </label></p>\n";

/// Folders and scenarios, each folded if nothing in it failed. If the page has charts, it leads to them.
pub(super) fn summary(outcomes: &[ScenarioOutcome], link: &Link<'_>, charts: bool) -> String {
    let charts = match charts {
        true => " <a href=\"#charts\">Charts</a>",
        false => "",
    };
    let mut out = format!(
        "<section id=\"summary\">\n<h2>Summary</h2>\n<p>{}.{charts}</p>\n{FILTER}",
        counted(outcomes)
    );
    let mut folders: Vec<(&str, Vec<&ScenarioOutcome>)> = Vec::new();
    for outcome in outcomes {
        let folder = outcome
            .name
            .rsplit_once('/')
            .map_or("", |(folder, _)| folder);
        match folders.iter_mut().find(|(name, _)| *name == folder) {
            Some((_, scenarios)) => scenarios.push(outcome),
            None => folders.push((folder, vec![outcome])),
        }
    }
    folders.sort_by_key(|(_, scenarios)| Reverse(worst(scenarios)));
    let one = folders.len() == 1;
    for (folder, mut scenarios) in folders {
        scenarios.sort_by_key(|outcome| Reverse(worst(&[outcome])));
        let content: String = scenarios
            .iter()
            .map(|outcome| scenario(outcome, link, one && scenarios.len() == 1))
            .collect();
        if folder.is_empty() {
            out.push_str(&content);
            continue;
        }
        let open = one || rank(worst_standing(&scenarios)) > 0;
        let head = format!("{}/", escaped(folder));
        out.push_str(&folded(
            "folder",
            (&head, &tally(&scenarios)),
            open,
            &content,
        ));
    }
    out.push_str("</section>\n");
    out
}

/// Something that a click opens.
fn folded(class: &str, (head, told): (&str, &str), open: bool, content: &str) -> String {
    let open = if open { " open" } else { "" };
    format!(
        "<details class=\"{class}\"{open}><summary><b>{head}</b> {told}</summary>\n{content}</details>\n"
    )
}

/// The cases of a scenario.
fn scenario(outcome: &ScenarioOutcome, link: &Link<'_>, alone: bool) -> String {
    let mut cases: Vec<&CaseOutcome> = outcome.cases.iter().collect();
    cases.sort_by_key(|case| Reverse(rank(case.standing)));
    let rows = cases
        .iter()
        .map(|case| row(case, link(&case.scenario, &case.case)));
    let table = format!(
        "<div class=\"wide\"><table class=\"cases\">\n<thead><tr><th>Verdict</th><th>Case</th><th>Seeds</th>\
         <th>Findings</th></tr></thead>\n<tbody>\n{}</tbody></table></div>\n",
        rows.collect::<String>()
    );
    let open = alone || worst(&[outcome]) > 0;
    let name = escaped(&outcome.name);
    folded("scenario", (&name, &tally(&[outcome])), open, &table)
}

/// How many cases of these stand how, the worst first.
fn tally(outcomes: &[&ScenarioOutcome]) -> String {
    let number = |standing: Standing| {
        let cases = outcomes.iter().flat_map(|outcome| &outcome.cases);
        cases.filter(|case| case.standing == standing).count()
    };
    let found = STANDINGS
        .iter()
        .map(|&standing| (standing, number(standing)));
    let found = found
        .filter(|(_, number)| *number > 0)
        .map(|(standing, number)| {
            let (word, class) = (verdict(standing), class(standing));
            format!("<span class=\"verdict {class}\">{number} {word}</span>")
        });
    found.collect::<Vec<_>>().join(" ")
}

/// The standing of these that a reader looks for first.
fn worst_standing(outcomes: &[&ScenarioOutcome]) -> Standing {
    let cases = outcomes.iter().flat_map(|outcome| &outcome.cases);
    let standings = cases.map(|case| case.standing);
    standings
        .max_by_key(|standing| rank(*standing))
        .unwrap_or(Standing::Holds)
}

fn worst(outcomes: &[&ScenarioOutcome]) -> u8 {
    rank(worst_standing(outcomes))
}

/// The higher, the sooner a reader wants to see it.
fn rank(standing: Standing) -> u8 {
    match standing {
        Standing::Broken => 3,
        Standing::Fail => 2,
        Standing::Undecided => 1,
        Standing::Holds | Standing::AsExpected | Standing::Skipped => 0,
    }
}

fn row(case: &CaseOutcome, section: Option<usize>) -> String {
    let (word, class) = (verdict(case.standing), class(case.standing));
    let name = escaped(&case.case);
    let name = match section {
        Some(number) => format!("<a href=\"#run-{number}\">{name}</a>"),
        None => name,
    };
    let told = |finding: &&Finding| finding.standing != Standing::Holds;
    let findings = case.findings.iter().filter(told);
    let mut findings: Vec<String> = findings.map(|finding| escaped(&finding.line)).collect();
    if case.standing == Standing::Undecided {
        let reasons = case.undecided.iter();
        findings.extend(reasons.map(|(why, seeds)| {
            let seeds = count(*seeds, "seed");
            format!("{} ({seeds})", escaped(why))
        }));
    }
    // What has no section can still be seen.
    if let (None, Some(story)) = (section, &case.story) {
        findings.push(format!("<code>{}</code>", escaped(&story.replay)));
    }
    let most = case.seeds_at_most;
    let most = most.map(|most| format!(" (seeds-at-most {most})"));
    let (seeds, most) = (case.seeds, most.unwrap_or_default());
    let findings = findings.join("<br>");
    let rank = rank(case.standing);
    format!(
        "<tr data-verdict=\"{word}\" data-rank=\"{rank}\"><td><span class=\"verdict {class}\">{word}</span></td>\
         <td>{name}</td><td>{seeds}{most}</td><td>{findings}</td></tr>\n"
    )
}
