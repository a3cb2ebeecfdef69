//! What ran, and how it stands: the table at the top of a page.

use picklock_checker::outcome::{CaseOutcome, Finding, ScenarioOutcome, Standing};

use super::section::class;
use crate::escape::escaped;
use crate::summary::counted;
use crate::terminal::verdict;
use crate::words::count;

/// The section of a case, if it has one.
pub(super) type Link<'l> = dyn Fn(&str, &str) -> Option<usize> + 'l;

/// The table: what is not as expected first. If the page has charts, it leads to them.
pub(super) fn summary(outcomes: &[ScenarioOutcome], link: &Link<'_>, charts: bool) -> String {
    let mut cases: Vec<&CaseOutcome> = outcomes.iter().flat_map(|it| &it.cases).collect();
    cases.sort_by_key(|case| std::cmp::Reverse(rank(case.standing)));
    let mut out = format!(
        "<section id=\"summary\">\n<h2>Summary</h2>\n<p>{}.{}</p>\n<div class=\"wide\"><table>\n\
         <thead><tr><th>Verdict</th><th>Case</th><th>Seeds</th><th>Findings</th></tr></thead>\n<tbody>\n",
        counted(outcomes),
        if charts {
            " <a href=\"#charts\">Charts</a>"
        } else {
            ""
        }
    );
    for case in cases {
        out.push_str(&row(case, link(&case.scenario, &case.case)));
    }
    out.push_str("</tbody></table></div>\n</section>\n");
    out
}

/// The higher, the sooner somebody wants to see it.
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
    let name = format!("{}, {}", escaped(&case.scenario), escaped(&case.case));
    let name = match section {
        Some(number) => format!("<a href=\"#run-{number}\">{name}</a>"),
        None => name,
    };
    let told = |it: &&Finding| it.standing != Standing::Holds;
    let findings = case.findings.iter().filter(told);
    let mut findings: Vec<String> = findings.map(|it| escaped(&it.line)).collect();
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
    format!(
        "<tr><td><span class=\"verdict {class}\">{word}</span></td><td>{name}</td><td>{seeds}{most}</td>\
         <td>{findings}</td></tr>\n"
    )
}
