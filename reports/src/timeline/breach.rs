//! What stands where the promise breaks.

use picklock_checker::Vocabulary;

/// The words for it, if so many are inside at that moment.
pub(super) fn words(invariant: &str, inside: usize, vocabulary: Vocabulary) -> String {
    let words = match invariant {
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
            Vocabulary::Barrier => "never gets through",
        },
        "no-orphan" => "nobody's",
        "own-release-only" => "not its own",
        "fifo" | "bounded-bypass" => "out of turn",
        "timely-loss" => "believes too long",
        _ => "breaks here",
    };
    words.to_owned()
}
