//! A report as one page: a summary, and a section for each run that is worth looking at, with its diagram.
//!
//! The page is one file that needs no network: its style and its code are part of it. Whatever comes from a scenario or
//! from a run is escaped, and the code of the page writes text only.

mod data;
mod links;
mod matrix;
mod section;
mod summary;

use picklock_checker::outcome::{ScenarioOutcome, Standing, Story};

use crate::diagram::{Diagram, Scope, Strip, Traffic};
use crate::escape::escaped;

/// A page should not be larger than this, in bytes.
pub const LARGEST: usize = 2_000_000;
/// What a diagram of it may take, if it is the only one: beside it stand the same for paper, the story, and the plan.
pub const DIAGRAM: usize = 1_600_000;

/// A run with a section of its own.
#[derive(Clone, Debug)]
pub struct RunSection<'a> {
    /// The scenario.
    pub scenario: &'a str,
    /// What the scenario claims.
    pub claim: &'a str,
    /// The case.
    pub case: &'a str,
    /// How it stands.
    pub standing: Standing,
    /// What to say about that, one line each.
    pub remarks: Vec<String>,
    /// Its story.
    pub story: &'a Story,
    /// Everything, or as much as fits.
    pub diagram: Diagram,
    /// What the explanation shows, for paper.
    pub still: Diagram,
    /// Why it violates a promise, if that was asked.
    pub reasons: Option<Reasons>,
    /// The scenario file that shows it again.
    pub plan: Option<PlanFile>,
    /// The page shows its title alone until a reader opens it.
    pub folded: bool,
}

/// Why a run violates a promise, as `picklock why` finds it; a sentence each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reasons {
    /// Which faults it needs.
    pub needs: Vec<String>,
    /// When it became inevitable.
    pub turning: Vec<String>,
    /// What led to it.
    pub past: String,
    /// How likely the violation was as the run went on.
    pub likelihood: Strip,
}

impl RunSection<'_> {
    /// Says why, in sentences and above the lanes of both diagrams.
    pub fn explain(&mut self, reasons: Reasons) {
        for diagram in [&mut self.diagram, &mut self.still] {
            diagram.add_strips(vec![reasons.likelihood.clone()]);
        }
        self.reasons = Some(reasons);
    }
}

/// A scenario file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanFile {
    /// What to call it.
    pub name: String,
    /// What is in it.
    pub text: String,
}

/// A page in the making: sections are added for as long as they fit.
#[derive(Debug)]
pub struct Page {
    sections: Vec<Section>,
    size: usize,
}

/// A section as it stands in the page.
#[derive(Debug)]
struct Section {
    scenario: String,
    case: String,
    html: String,
    data: String,
}

/// What the page is about.
#[derive(Clone, Copy, Debug)]
pub struct Head<'a> {
    /// Its title.
    pub title: &'a str,
    /// The version of picklock.
    pub picklock: &'a str,
    /// What stands above all sections, a paragraph each.
    pub lead: &'a [String],
    /// All that ran; empty, if the page is about one run.
    pub outcomes: &'a [ScenarioOutcome],
    /// Charts of what ran, as SVG that takes the page's colours.
    pub charts: &'a [String],
}

const STYLE: &str = include_str!("html/report.css");
const CODE: [&str; 10] = [
    include_str!("html/scale.js"),
    include_str!("html/model.js"),
    include_str!("html/story.js"),
    include_str!("html/links.js"),
    include_str!("html/thin.js"),
    include_str!("html/strokes.js"),
    include_str!("html/strips.js"),
    include_str!("html/draw.js"),
    include_str!("html/view.js"),
    include_str!("html/page.js"),
];
const SUMMARY: &str = include_str!("html/summary.js");

/// The diagram of a run of which as much is shown as takes no more than so many bytes of a page.
pub fn fitting(
    story: &Story,
    traffic: &Traffic,
    bytes: usize,
    causes: &dyn Fn(usize) -> Vec<usize>,
) -> Diagram {
    let mut guess = bytes;
    loop {
        let scope = Scope::Whole { bytes: guess };
        let diagram = Diagram::of(story, traffic, scope, causes);
        let takes = data::json(&diagram).len();
        if takes <= bytes || guess < 1_000 {
            return diagram;
        }
        // What events take is only known when they are written.
        guess = (guess as u128 * bytes as u128 / takes as u128 * 9 / 10) as usize;
    }
}

impl Page {
    /// An empty page that will have this head.
    pub fn new(head: Head<'_>) -> Self {
        let mut page = Self {
            sections: Vec::new(),
            size: 0,
        };
        // Its code comes with the first section.
        let code: usize = CODE.iter().map(|code| code.len()).sum();
        page.size = page.html(head).len() + code + SUMMARY.len() + 200;
        page
    }

    /// Adds a section if it still fits. Whether it did. The first always does.
    pub fn add(&mut self, run: &RunSection<'_>) -> bool {
        let number = self.sections.len() + 1;
        let section = Section {
            scenario: run.scenario.to_owned(),
            case: run.case.to_owned(),
            html: section::section(run, number),
            data: data::json(&run.diagram),
        };
        let size = section.html.len() + section.data.len() + 200;
        if number > 1 && self.size + size > LARGEST {
            return false;
        }
        self.size += size;
        self.sections.push(section);
        true
    }

    /// The page.
    pub fn html(&self, head: Head<'_>) -> String {
        let lead = head.lead.iter();
        let lead = lead.map(|line| format!("<p class=\"lead\">{}</p>\n", escaped(line)));
        let mut out: String = lead.collect();
        if !head.outcomes.is_empty() {
            let link = |scenario: &str, case: &str| {
                let mut sections = self.sections.iter();
                let is_of =
                    |section: &Section| section.scenario == scenario && section.case == case;
                let place = sections.position(is_of)?;
                Some(place + 1)
            };
            let charts = !head.charts.is_empty();
            out.push_str(&summary::summary(head.outcomes, &link, charts));
            out.push_str(&matrix::matrix(head.outcomes, &link));
        }
        for section in &self.sections {
            out.push_str(&section.html);
        }
        out.push_str(&charts(head.charts));
        let mut code = String::new();
        for (index, section) in self.sections.iter().enumerate() {
            let (number, data) = (index + 1, &section.data);
            code.push_str(&format!(
                "<script type=\"application/json\" id=\"data-{number}\">{data}</script>\n"
            ));
        }
        if !self.sections.is_empty() {
            code.push_str("<script>\n\"use strict\";\n");
            CODE.iter().for_each(|one| code.push_str(one));
            if !head.outcomes.is_empty() {
                code.push_str(SUMMARY);
            }
            code.push_str("</script>\n");
        }
        document(head.title, head.picklock, &out, &code)
    }
}

/// The charts, below all else.
fn charts(charts: &[String]) -> String {
    if charts.is_empty() {
        return String::new();
    }
    let figures: String = charts.iter().map(|svg| figure(svg)).collect();
    format!("<section id=\"charts\">\n<h2>Charts</h2>\n{figures}</section>\n")
}

/// A chart as a page has it.
pub(crate) fn figure(svg: &str) -> String {
    format!("<figure class=\"wide\">\n{svg}</figure>\n")
}

/// A page with a title, its content, and the code below it. Content and code are HTML.
pub(crate) fn document(title: &str, picklock: &str, content: &str, code: &str) -> String {
    let (title, version) = (escaped(title), escaped(picklock));
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; \
         script-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<title>{title}</title>\n<style>\n{STYLE}</style>\n\
         </head>\n<body>\n<header>\n<h1>picklock report</h1>\n<p class=\"by\">picklock {version}. All times are \
         virtual.</p>\n\
         </header>\n<main>\n{content}</main>\n{code}</body>\n</html>\n"
    )
}
