//! `[replay]`: the one run that a file is about, as it was recorded.

use super::reader::{Fields, Item, Mistake, Mistakes};
use crate::scenario::{Case, Recorded};

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
    let hash = fields.get("hash");
    let hash = hash.and_then(|item| hash_of(&item, mistakes));
    let picklock = fields.get("picklock");
    let picklock = picklock.and_then(|item| item.prose("a version such as \"0.1.0\"", mistakes));
    fields.finish(mistakes);
    match cases {
        [only] if only.open.is_some() => {
            let mistake = Mistake::new("a recorded run leaves nothing open");
            let help = "`picklock plan` writes what a seed settles";
            mistakes.add(item.span, mistake.help(help));
        }
        [only] => {
            only.recorded = choices.map(|choices| Recorded {
                choices,
                hash,
                picklock,
            });
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
