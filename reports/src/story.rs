//! One run told to a person, in the order in which a reader asks: what failed, how badly, who is
//! who, what happened, why that is wrong, how do I see it again.

use picklock_checker::outcome::Story;

use crate::commands::command_after;
use crate::explain;
use crate::style::Style;
use crate::timeline::{self, Detail, Scene};
use crate::words::{count, hanging, harmless, milliseconds};

/// The report on one run. Its last line is the command that shows the run again.
pub fn story(story: &Story, detail: Detail, style: &Style) -> String {
    story_with(story, &[], detail, style)
}

/// The same, with what else there is to say right after the summary, one line each.
pub(crate) fn story_with(
    story: &Story,
    remarks: &[String],
    detail: Detail,
    style: &Style,
) -> String {
    let scene = Scene::of(story, detail);
    let mut blocks = vec![
        summary(story, remarks, style),
        explain::cast(story, &scene, style),
        timeline::build(story, &scene, style).draw(style),
        explain::argument(story, &scene, style),
        again(story, style),
    ];
    blocks.retain(|block| !block.is_empty());
    blocks.join("\n")
}

/// What failed, and how badly.
fn summary(story: &Story, remarks: &[String], style: &Style) -> String {
    let width = style.columns();
    let mut lines = Vec::new();
    match &story.violated {
        Some((invariant, witness)) => {
            let text = format!("{invariant} violated: {}", witness.summary);
            lines.push(hanging("  ", &text, width));
            if let Some(overlap) = witness.overlap {
                let overlap = milliseconds(overlap);
                lines.push(format!(
                    "  overlap: {overlap} of virtual time, from {}",
                    witness.at
                ));
            }
        }
        None if story.history.broken.is_some() => {
            let why = story.history.broken.iter().map(ToString::to_string);
            let text = format!(
                "seed {} broke off: {}",
                story.seed,
                harmless(&why.collect::<String>())
            );
            lines.push(hanging("  ", &text, width));
        }
        None => {
            let events = count(story.history.events.len() as u64, "event");
            lines.push(format!("  seed {} violates nothing: {events}", story.seed));
        }
    }
    if let Some(smaller) = &story.smaller {
        lines.push(hanging("  shrunk: ", &harmless(&smaller.sizes), width));
        for needs in &smaller.needs {
            lines.push(hanging("    ", &harmless(needs), width));
        }
    }
    if !story.also.is_empty() {
        let also = story.also.join(", ");
        lines.push(hanging("  also violated by this run: ", &also, width));
    }
    let remarks = remarks.iter().map(|remark| harmless(remark));
    lines.extend(remarks.map(|remark| hanging("  ", &remark, width)));
    lines.push(String::new());
    lines.join("\n")
}

/// How to see it again, the command last. A run that was shrunk is another than the one that was found: the command
/// that keeps it shows it again, too.
fn again(story: &Story, style: &Style) -> String {
    let keep = story
        .smaller
        .as_ref()
        .and_then(|smaller| smaller.keep.as_deref());
    let is_other = story
        .smaller
        .as_ref()
        .is_some_and(|smaller| smaller.is_other);
    let hash = match keep {
        Some(_) if is_other => format!("{:016x}, of the shrunk run", story.hash),
        Some(_) | None => format!("{:016x}", story.hash),
    };
    let lines = [
        // Of a run that nothing could end there is none.
        ("Hash", Some(hash.as_str()).filter(|_| story.hash != 0)),
        ("Keep", keep),
        ("Why", story.why.as_deref()),
        ("Replay", Some(&story.replay)),
    ];
    let lines = lines
        .iter()
        .filter_map(|(name, text)| Some((name, (*text)?)));
    let lines = lines.map(|(name, text)| command_after(&format!("  {name:<9}"), text, style));
    lines.collect()
}
