//! Why a run contradicts a promise, in the form *Let … Then … However …: a contradiction*.

use picklock_checker::outcome::Story;
use picklock_checker::{ContenderId, EventKind, Mode, Witness};
use picklock_checker::{LockId, Step};

use crate::reasons::reasons;
use crate::style::{Glyphs, Style};
use crate::timeline::{Column, Names, Scene, place_and_name};
use crate::words::{count, hanging, rename, wrap};

/// Where the text of an explanation begins.
const INDENT: usize = 9;

/// Who is who: one line for each contender that has a lane. Empty if there is none.
pub(crate) fn cast(story: &Story, scene: &Scene, style: &Style) -> String {
    let mut text = String::new();
    for (index, (letter, who)) in people(story, scene, style).iter().enumerate() {
        let start = if index == 0 { "  Let" } else { "" };
        let first = format!("{start:<INDENT$}{letter} = ");
        text.push_str(&hanging(&first, who, style.columns()));
        text.push('\n');
    }
    let others = story.history.contenders.len() - scene.columns.len();
    if others > 0 && !scene.columns.is_empty() {
        let ellipsis = style.glyphs().ellipsis;
        let others = count(others as u64, "other");
        text.push_str(&format!("{:INDENT$}{ellipsis} and {others}\n", ""));
    }
    text
}

/// Who is who: the letter of each contender that has a lane, and what is to be known of it.
pub(crate) fn people(story: &Story, scene: &Scene, style: &Style) -> Vec<(String, String)> {
    let columns = scene.columns.iter();
    let who = |column: &Column| {
        let who = describe_contender(story, column, scene, style.glyphs());
        (column.letter.clone(), who)
    };
    columns.map(who).collect()
}

/// The sentences of the argument, with letters for the contenders that have a lane.
pub(crate) fn steps(story: &Story, scene: &Scene) -> Vec<String> {
    let Some((_, witness)) = &story.violated else {
        return Vec::new();
    };
    let columns = scene.columns.iter();
    let letters: Vec<_> = columns
        .map(|column| (column.name.clone(), column.letter.clone()))
        .collect();
    let sentences = sentences(witness);
    sentences
        .iter()
        .map(|sentence| rename(sentence, &letters))
        .collect()
}

/// What the service did that explains it, in sentences.
pub(crate) fn causes(story: &Story, scene: &Scene) -> Vec<String> {
    let reasons = reasons(story, scene);
    let sentence = |reason: &String| format!("{}.", capitalised(reason));
    reasons.iter().map(sentence).collect()
}

/// The argument, with letters for the contenders that have a lane. Empty if the run violates
/// nothing.
pub(crate) fn argument(story: &Story, scene: &Scene, style: &Style) -> String {
    let mut text = String::new();
    for (index, sentence) in steps(story, scene).iter().enumerate() {
        let start = if index == 0 { "  Then" } else { "" };
        for (line, words) in wrap(sentence, style.columns() - INDENT).iter().enumerate() {
            let start = if line == 0 { start } else { "" };
            text.push_str(&format!("{start:<INDENT$}{words}\n"));
        }
    }
    for reason in causes(story, scene) {
        for (line, words) in wrap(&reason, style.columns() - INDENT).iter().enumerate() {
            let start = if line == 0 { "  Cause" } else { "" };
            text.push_str(&format!("{start:<INDENT$}{words}\n"));
        }
    }
    text
}

/// What is to be known of a contender: its name, its place in the queue, its token.
fn describe_contender(story: &Story, column: &Column, scene: &Scene, glyphs: &Glyphs) -> String {
    let history = &story.history;
    let mut parts = vec![column.name.clone()];
    if let Some(process) = history.process(column.contender) {
        parts.push(format!("a task of process {process}"));
    }
    let Some(window) = scene.selection.windows.get(&column.contender) else {
        return parts.join(", ");
    };
    let events = history.events.get(window.clone()).unwrap_or_default();
    let start = *window.start();
    let queued = events.iter().enumerate().rev().find_map(|(after, event)| {
        if let EventKind::Queued {
            by,
            lock,
            place,
            name,
            mode,
        } = event.what
        {
            (by == column.contender).then_some((start + after, lock, (place, mode), name))
        } else {
            None
        }
    });
    if let Some((at, lock, (place, mode), name)) = queued {
        let of = history.lock_among_several(lock);
        let of = of.map_or(String::new(), |lock| format!(" of {lock}"));
        parts.push(place_and_name(place, name, history, glyphs) + &of);
        let names = Names {
            history,
            columns: &scene.columns,
        };
        match ahead(story, at, lock, (place, mode)) {
            Some(ahead) if ahead == column.contender => parts.push("behind itself".to_owned()),
            Some(ahead) => parts.push(format!("behind {}", names.of(ahead))),
            None => {}
        }
    }
    let entered = events.iter().rev().find_map(|event| {
        if let EventKind::Acquired {
            by, lock, token, ..
        } = event.what
        {
            (by == column.contender).then_some((event.at, lock, token))
        } else {
            None
        }
    });
    if let Some((at, lock, token)) = entered {
        let which = history.lock_among_several(lock);
        let which = which.map_or(String::new(), |lock| format!(" {lock}"));
        parts.push(match token {
            Some(token) => format!("entered{which} with token {}", token.0),
            None => format!("entered{which} at {at}"),
        });
    }
    parts.join(", ")
}

/// Who has the place right before this one at that moment, of those that it does not share the lock with.
fn ahead(
    story: &Story,
    at: usize,
    lock: LockId,
    (place, mode): (u64, Mode),
) -> Option<ContenderId> {
    let mut queue: Vec<(u64, ContenderId)> = Vec::new();
    for event in &story.history.events[..at] {
        if let EventKind::Queued {
            by,
            lock: of,
            place,
            mode: other,
            ..
        } = event.what
            && of == lock
            && mode.excludes(other)
        {
            queue.push((place, by));
        }
        if let EventKind::Unqueued {
            by,
            lock: of,
            place,
            ..
        } = event.what
            && of == lock
        {
            queue.retain(|&other| other != (place, by));
        }
    }
    let before = queue.into_iter().filter(|&(other, _)| other < place);
    before.max().map(|(_, by)| by)
}

/// The steps as sentences: the first that contradicts begins with "However", the last says so.
fn sentences(witness: &Witness) -> Vec<String> {
    let mut contradicted = false;
    let mut sentences = Vec::new();
    for step in &witness.argument {
        let (Step::Then(text) | Step::However(text)) = step;
        let text = text.trim().trim_end_matches('.');
        let text = text.strip_prefix("However, ").unwrap_or(text);
        let text = match step {
            Step::However(_) if !contradicted => {
                contradicted = true;
                format!("However, {}", in_midst(text))
            }
            Step::Then(_) | Step::However(_) => {
                capitalised(text.strip_prefix("Then ").unwrap_or(text))
            }
        };
        sentences.push(text);
    }
    let last = sentences.len().saturating_sub(1);
    for (index, sentence) in sentences.iter_mut().enumerate() {
        let ends = index == last && contradicted && !sentence.contains("contradiction");
        sentence.push_str(match (ends, sentence.contains(": ")) {
            (false, _) => ".",
            (true, false) => ": a contradiction.",
            (true, true) => ", a contradiction.",
        });
    }
    sentences
}

/// A sentence as it begins after a comma.
fn in_midst(text: &str) -> String {
    const SMALL: [&str; 11] = [
        "The", "An", "No", "It", "Its", "At", "Both", "Nothing", "This", "That", "There",
    ];
    match text.split_once(' ') {
        Some((first, rest)) if SMALL.contains(&first) => {
            format!("{} {rest}", first.to_lowercase())
        }
        Some(_) | None => text.to_owned(),
    }
}

/// A sentence as it begins; names of contenders, which have a digit in their first word, stay as
/// they are.
fn capitalised(text: &str) -> String {
    let first = text.split([' ', '\'']).next().unwrap_or(text);
    if first.contains(|letter: char| letter.is_ascii_digit()) {
        return text.to_owned();
    }
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| {
        first.to_uppercase().chain(letters).collect()
    })
}
