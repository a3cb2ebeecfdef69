//! What stands where the promise breaks.

use picklock_checker::{EventKind, History, Vocabulary};

use super::lane::Lane;
use crate::style::Style;

/// The words for it, if so many are inside at that moment; and whether the run ends then.
pub(super) fn words(invariant: &str, inside: usize, vocabulary: Vocabulary, ends: bool) -> String {
    let words = match invariant {
        // No contender waits then: one got the lock, and lost it each time.
        "progress" if ends => "no progress",
        "mutual-exclusion" if vocabulary == Vocabulary::Election => {
            return format!("{inside} lead");
        }
        "mutual-exclusion" if inside == 2 => "both inside",
        "mutual-exclusion" if inside > 2 => return format!("{inside} inside"),
        "exclusive-ownership" => "two owners",
        "no-stale-effect" => "stale write",
        "no-lost-update" => "lost update",
        "fencing-monotonic" => "token too low",
        "progress" => match vocabulary {
            Vocabulary::Lock => "never gets it",
            Vocabulary::Election => "never leads",
            Vocabulary::Barrier | Vocabulary::CountDownLatch => "never passes",
            Vocabulary::DoubleBarrier => "never gets through",
        },
        "no-orphan" => "an orphan",
        "own-release-only" => "not its own",
        "fifo" | "bounded-bypass" | "no-starvation" => "out of turn",
        "reentrancy" => "entries do not count",
        "timely-loss" => "believes too long",
        "all-or-none" => "not all of them",
        "permits-conserved" => "permits do not add up",
        _ => "breaks here",
    };
    words.to_owned()
}

/// The words for it, if it happens with this event.
pub(crate) fn words_at(invariant: &str, history: &History, event: usize) -> String {
    let mut lanes = vec![Lane::default(); history.contenders.len()];
    let glyphs = Style::PLAIN.glyphs();
    for event in history.events.iter().take(event + 1) {
        if let Some(lane) = event.what.by().and_then(|by| lanes.get_mut(by.0 as usize)) {
            lane.apply(&event.what, history, glyphs);
        }
    }
    let inside = lanes.iter().filter(|lane| lane.is_inside()).count();
    let ends = matches!(history.events[event].what, EventKind::Ended { .. });
    words(invariant, inside, history.vocabulary, ends)
}
