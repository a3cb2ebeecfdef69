//! The section of one run: what broke, why, its diagram, and how to see it again.

use picklock_checker::outcome::{Standing, Story};

use super::links::linked;
use super::{Reasons, RunSection};
use crate::diagram::svg::inline;
use crate::escape::escaped;
use crate::explain;
use crate::story::story;
use crate::style::Style;
use crate::terminal::verdict;
use crate::timeline::{Detail, Scene};
use crate::words::milliseconds;

/// How the story is told that a terminal would print.
const TERMINAL: Style = Style::IN_A_FILE;

/// The section, which has this number.
pub(super) fn section(run: &RunSection<'_>, number: usize) -> String {
    let (scenario, case) = (escaped(run.scenario), escaped(run.case));
    let word = verdict(run.standing);
    let class = class(run.standing);
    let (begin, end) = match run.folded {
        true => ("<details class=\"fold\"><summary>", "</summary>"),
        false => ("", ""),
    };
    let mut out = format!(
        "<section class=\"run\" id=\"run-{number}\">\n{begin}<h2><span class=\"verdict {class}\">{word}</span> \
         {scenario}, {case}</h2>{end}\n<p class=\"claim\">{}</p>\n",
        escaped(run.claim)
    );
    out.push_str(&broken_promise(run.story));
    if !run.remarks.is_empty() {
        let remarks = run
            .remarks
            .iter()
            .map(|remark| format!("<li>{}</li>", escaped(remark)));
        out.push_str(&format!(
            "<ul class=\"remarks\">{}</ul>\n",
            remarks.collect::<String>()
        ));
    }
    out.push_str(&explanation(run.story, number));
    if let Some(reasons) = &run.reasons {
        out.push_str(&why(run.story, reasons, number));
    }
    out.push_str(&diagram(run, number));
    out.push_str(&commands(run.story));
    out.push_str(&texts(run, number));
    if run.folded {
        out.push_str("</details>\n");
    }
    out.push_str("</section>\n");
    out
}

/// The class of a standing in the style sheet.
pub(super) fn class(standing: Standing) -> &'static str {
    match standing {
        Standing::Holds => "holds",
        Standing::AsExpected => "expected",
        Standing::Skipped | Standing::Undecided => "undecided",
        Standing::Fail | Standing::Broken => "fail",
    }
}

/// What broke, and how badly.
fn broken_promise(story: &Story) -> String {
    let mut lines = Vec::new();
    match (&story.violated, &story.history.broken) {
        (Some((invariant, witness)), _) => {
            let (invariant, summary) = (escaped(invariant), escaped(&witness.summary));
            lines.push(format!("<strong>{invariant} violated:</strong> {summary}"));
            if let Some(overlap) = witness.overlap {
                let overlap = milliseconds(overlap);
                lines.push(format!(
                    "overlap: {overlap} of virtual time, from {}",
                    witness.at
                ));
            }
        }
        (None, Some(why)) => lines.push(format!(
            "<strong>seed {} broke off:</strong> {}",
            story.seed,
            escaped(&why.to_string())
        )),
        (None, None) => lines.push(format!("seed {} violates nothing", story.seed)),
    }
    if let Some(smaller) = &story.smaller {
        lines.push(format!("shrunk: {}", escaped(&smaller.sizes)));
        lines.extend(smaller.needs.iter().map(|need| escaped(need)));
    }
    if !story.also.is_empty() {
        let also = escaped(&story.also.join(", "));
        lines.push(format!("also violated by this run: {also}"));
    }
    format!("<p class=\"what\">{}</p>\n", lines.join("<br>\n"))
}

/// Who is who, and why it is a contradiction.
fn explanation(story: &Story, number: usize) -> String {
    let scene = Scene::of(story, Detail::Essential);
    let people = explain::people(story, &scene, &TERMINAL);
    let mut out = String::new();
    if !people.is_empty() {
        out.push_str("<dl class=\"who\">");
        for ((letter, who), column) in people.iter().zip(&scene.columns) {
            let color = column.contender.0 % 7;
            let (letter, who) = (escaped(letter), escaped(who));
            out.push_str(&format!(
                "<dt class=\"c{color}\">{letter}</dt><dd>{who}</dd>"
            ));
        }
        out.push_str("</dl>\n");
    }
    let steps = explain::steps(story, &scene);
    for sentence in &steps {
        let sentence = linked(sentence, &scene.columns, number);
        out.push_str(&format!("<p class=\"step\">{sentence}</p>\n"));
    }
    for sentence in explain::causes(story, &scene) {
        let sentence = linked(&sentence, &scene.columns, number);
        out.push_str(&format!("<p class=\"step\"><b>Cause:</b> {sentence}</p>\n"));
    }
    out
}

/// Why it happened, with a link to what the turning choice decided.
fn why(story: &Story, reasons: &Reasons, number: usize) -> String {
    let columns = Scene::of(story, Detail::Essential).columns;
    let needs = reasons.needs.iter();
    let needs = needs.map(|need| format!("<li>{}</li>", escaped(need)));
    let mut out = format!(
        "<h3>Which faults it needs</h3>\n<ul class=\"remarks\">{}</ul>\n<h3>When it became inevitable</h3>\n",
        needs.collect::<String>()
    );
    for sentence in &reasons.turning {
        let sentence = linked(sentence, &columns, number);
        out.push_str(&format!("<p class=\"step\">{sentence}</p>\n"));
    }
    if let Some(turning) = &reasons.likelihood.turning {
        let (event, label) = (turning.event, escaped(&turning.label));
        out.push_str(&format!(
            "<p class=\"step\"><a href=\"#diagram-{number}\" data-event=\"{event}\">The {label} in the \
             diagram</a></p>\n"
        ));
    }
    let past = escaped(&reasons.past);
    out.push_str(&format!(
        "<h3>What led to it</h3>\n<p class=\"step\">{past}</p>\n"
    ));
    out
}

/// The diagram: for a screen by the code of the page, and for paper as it is.
fn diagram(run: &RunSection<'_>, number: usize) -> String {
    let name = format!("Space-time diagram of {}, {}", run.scenario, run.case);
    let mut out = String::new();
    for note in &run.diagram.notes {
        out.push_str(&format!("<p class=\"cut\">{}</p>\n", escaped(note)));
    }
    let label = escaped(&name);
    out.push_str(&format!(
        "<figure id=\"diagram-{number}\">\n<div class=\"live\" data-run=\"{number}\" \
         data-name=\"{label}\" hidden></div>\n{}</figure>\n",
        inline(&run.still, &name)
    ));
    out
}

/// How to see it again.
fn commands(story: &Story) -> String {
    let keep = story
        .smaller
        .as_ref()
        .and_then(|smaller| smaller.keep.as_deref());
    let lines = [
        ("Replay", Some(story.replay.as_str())),
        ("Why", story.why.as_deref()),
        ("Keep", keep),
    ];
    let mut out = String::from("<dl class=\"commands\">");
    for (name, command) in lines {
        let Some(command) = command else { continue };
        let command = escaped(command);
        out.push_str(&format!(
            "<dt>{name}</dt><dd><code>{command}</code><button type=\"button\" data-copy hidden>Copy</button></dd>"
        ));
    }
    if story.hash != 0 {
        out.push_str(&format!(
            "<dt>Hash</dt><dd><code>{:016x}</code></dd>",
            story.hash
        ));
    }
    out.push_str("</dl>\n");
    out
}

/// The story as a terminal prints it, and the plan.
fn texts(run: &RunSection<'_>, number: usize) -> String {
    let told = escaped(&story(run.story, Detail::Essential, &TERMINAL));
    let mut out = format!(
        "<details><summary>The story as a terminal prints it</summary>\n<pre>{told}</pre></details>\n"
    );
    if let Some(plan) = &run.plan {
        let (name, text) = (escaped(&plan.name), escaped(&plan.text));
        out.push_str(&format!(
            "<details><summary>The plan, as a scenario file: {name}</summary>\n<p><button type=\"button\" \
             data-copy=\"plan-{number}\" hidden>Copy</button> <button type=\"button\" data-save=\"plan-{number}\" \
             data-name=\"{name}\" hidden>Save</button></p>\n<pre id=\"plan-{number}\">{text}</pre></details>\n"
        ));
    }
    out
}
