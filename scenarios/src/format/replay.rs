//! `[replay]`: the one run that a file is about, as it was recorded. `[saved]`: the seed that drew a plan.

use super::reader::{Fields, Item, Mistake, Mistakes};
use crate::program;
use crate::scenario::{Case, Recorded, RecordedRun, SavedPlan};

/// Longer tapes than this are taken for a mistake.
const LONGEST: usize = 10_000_000;

/// Reads `[replay]`, and gives it to the case that the file has.
pub(super) fn replay(file: &mut Fields, cases: &mut [Case], mistakes: &mut Mistakes) {
    let Some(item) = file.get("replay") else {
        return;
    };
    let Some(mut fields) = item.table("the table [replay]", mistakes) else {
        return;
    };
    let choices = fields.need("choices", "choices = [0, 3, 1]");
    let choices = choices.and_then(|item| choices_of(&item, mistakes));
    let was = was(&mut fields, mistakes);
    fields.finish(mistakes);
    match cases {
        [only] if only.open.is_some() => {
            let mistake = Mistake::new("a recorded run leaves nothing open");
            let help = format!("`{} plan` writes what a seed settles", program::command());
            mistakes.add(item.span, mistake.help(help));
        }
        [only] => {
            only.recorded = choices.map(|choices| Recorded { choices, was });
        }
        // A case with a mistake of its own is not there.
        [] => {}
        [_, ..] => {
            let mistake = Mistake::new("this file has several cases, and a recorded run is of one");
            let help = "keep the case that the run was of, and take the others away";
            mistakes.add(item.span, mistake.help(help));
        }
    }
}

/// Reads `[saved]`, and gives it to the case that the file has.
pub(super) fn saved(file: &mut Fields, cases: &mut [Case], mistakes: &mut Mistakes) {
    let Some(item) = file.get("saved") else {
        return;
    };
    let Some(mut fields) = item.table("the table [saved]", mistakes) else {
        return;
    };
    let seed = fields.need("seed", "seed = 7");
    let seed = seed.and_then(|item| item.integer(0..=i64::MAX, mistakes));
    let drawn = fields.get("drawn");
    let drawn = drawn.and_then(|item| item.boolean(mistakes)) == Some(true);
    let was = was(&mut fields, mistakes);
    fields.finish(mistakes);
    match cases {
        [only] if only.open.is_some() => {
            let mistake = Mistake::new("a saved plan leaves nothing open");
            let help = "take [saved] away: this is another plan for each seed";
            mistakes.add(item.span, mistake.help(help));
        }
        [only] if only.recorded.is_some() => {
            let mistake = Mistake::new("a recorded run has no seed");
            mistakes.add(item.span, mistake.help("take [saved] away, or [replay]"));
        }
        [only] => {
            let seed = seed.and_then(|seed| u64::try_from(seed).ok());
            only.saved = seed.map(|seed| SavedPlan { seed, drawn, was });
            only.drawn = drawn;
        }
        [] => {}
        [_, ..] => {
            let mistake = Mistake::new("this file has several cases, and a plan was saved for one");
            let help = "keep the case that the plan was drawn for, and take the others away";
            mistakes.add(item.span, mistake.help(help));
        }
    }
}

/// What is known of a run that was.
fn was(fields: &mut Fields, mistakes: &mut Mistakes) -> RecordedRun {
    let hash = fields.get("hash");
    let hash = hash.and_then(|item| hash_of(&item, mistakes));
    let picklock = fields.get("picklock");
    let picklock = picklock.and_then(|item| item.prose("a version such as \"0.1.0\"", mistakes));
    RecordedRun { hash, picklock }
}

fn choices_of(item: &Item, mistakes: &mut Mistakes) -> Option<Vec<u32>> {
    let items = item.list("a list of whole numbers", mistakes)?;
    if items.len() > LONGEST {
        let mistake = Mistake::new(format!("{} choices are too many", items.len()));
        let help = format!("expected at most {LONGEST}");
        mistakes.add(item.span.clone(), mistake.help(help));
        return None;
    }
    let choice = |item: &Item, mistakes: &mut Mistakes| {
        let number = item.integer(0..=i64::from(u32::MAX), mistakes)?;
        u32::try_from(number).ok()
    };
    // One that is wrong is told; the others need no telling then.
    items.iter().map(|item| choice(item, mistakes)).collect()
}

fn hash_of(item: &Item, mistakes: &mut Mistakes) -> Option<u64> {
    let text = item.text("a hash of 16 hexadecimal digits", mistakes)?;
    let digits = text.len() == 16 && text.bytes().all(|digit| digit.is_ascii_hexdigit());
    let hash = u64::from_str_radix(text, 16).ok().filter(|_| digits);
    if hash.is_none() {
        let mistake = Mistake::new("this is not the hash of a history");
        let help = "expected 16 hexadecimal digits, such as \"00c0ffee00c0ffee\"";
        mistakes.add(item.span.clone(), mistake.help(help));
    }
    hash
}
