//! Stratified sampling: the seeds of a range are spread evenly over what there is to try.
//!
//! Chance alone leaves gaps: of twenty kinds of faults, each drawn with even odds, one in three does not come in twenty
//! seeds. So the first fault of a plan takes its turn: of as many consecutive seeds as there are turns, each kind has
//! one first, or several, and from turn to turn the same kind strikes at another moment. All else is chance.

use picklock_algorithms::RecipeInput;
use picklock_sim::plan::{FaultKind, Plan};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// The stream of the generator that turns are drawn from: the letters "turns".
const STREAM: u64 = 0x0074_7572_6e73;

/// The golden section of all numbers of 32 bits: its multiples lie as evenly as can be, however many they are.
const GOLDEN: u32 = 0x9e37_79b9;

/// Those that the recipe can feel, if there are any: a jump of a clock that the recipe does not read changes nothing.
pub(super) fn felt(plan: &Plan, possible: Vec<FaultKind>) -> Vec<FaultKind> {
    let heeds = |sense| plan.recipe.inputs.contains(&sense);
    let kinds = possible.iter().copied();
    let kinds = kinds.filter(|kind| match kind {
        // It tells whose time to acquire is over, and nothing else.
        FaultKind::ClockJump => {
            heeds(RecipeInput::WallClock) && plan.workload.has_acquire_timeout()
        }
        FaultKind::LoseMessage => heeds(RecipeInput::Channels),
        _ => true,
    });
    let felt: Vec<FaultKind> = kinds.collect();
    if felt.is_empty() { possible } else { felt }
}

/// The kinds, each as often as it has turns.
pub(super) fn turns(plan: &Plan, kinds: &[FaultKind]) -> Vec<FaultKind> {
    let each = kinds.iter();
    let each = each.flat_map(|kind| std::iter::repeat_n(*kind, plan.service.turns(*kind)));
    each.collect()
}

/// For a kind that shows nothing by itself, those that show what it has done: a server misses what a full disk has not
/// taken when it starts again, and a client what has not come to a server when it turns to that one.
pub(super) fn shown_by(plan: &Plan, kind: FaultKind, possible: &[FaultKind]) -> Vec<FaultKind> {
    let shows: &[FaultKind] = match kind {
        FaultKind::FullDisk => &[FaultKind::CrashServer, FaultKind::PowerLoss],
        FaultKind::HoldLink if plan.service.row().replicates_asynchronously => &[
            FaultKind::CrashServer,
            FaultKind::HangServer,
            FaultKind::Promote,
        ],
        FaultKind::HoldLink | FaultKind::LagServer => &[FaultKind::Cut, FaultKind::LoseReply],
        _ => &[],
    };
    let there = shows.iter().filter(|kind| possible.contains(kind));
    there.copied().collect()
}

/// What a seed has to try first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SamplePoint {
    /// Which of the kinds, from 0.
    pub kind: usize,
    /// How far through the moments, by their odds, in parts of 2³².
    pub moment: u32,
}

impl SamplePoint {
    /// The turn of a seed, if there are so many kinds.
    pub(super) fn of(seed: u64, kinds: usize) -> Self {
        let all = kinds.max(1) as u64;
        let (round, index) = (seed / all, (seed % all) as usize);
        let mut random = ChaCha8Rng::seed_from_u64(round);
        random.set_stream(STREAM);
        let mut order: Vec<usize> = (0..kinds.max(1)).collect();
        for last in (1..order.len()).rev() {
            let other = (u64::from(random.next_u32()) * (last as u64 + 1)) >> 32;
            order.swap(last, other as usize);
        }
        let kind = order.get(index).copied().unwrap_or_default();
        // Kinds begin at different moments: else all of a round would strike at the same.
        let begin = (kind as u32).wrapping_mul(GOLDEN.rotate_left(16));
        let moment = (round as u32).wrapping_mul(GOLDEN).wrapping_add(begin);
        Self { kind, moment }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn of_as_many_seeds_as_there_are_kinds_each_begins_with_another() {
        for round in 0..50 {
            let seeds = round * 21..(round + 1) * 21;
            let kinds: BTreeSet<usize> = seeds.map(|seed| SamplePoint::of(seed, 21).kind).collect();
            assert_eq!(kinds.len(), 21);
        }
    }

    #[test]
    fn whatever_the_first_seed_a_kind_comes_to_every_tenth_of_its_moments_in_twenty_turns() {
        for first in [0, 1_000, 77_777] {
            for kind in 0..7 {
                let turns = (first..first + 7 * 21).map(|seed| SamplePoint::of(seed, 7));
                let moments = turns.filter(|turn| turn.kind == kind);
                let tenths: BTreeSet<u64> = moments
                    .map(|turn| (u64::from(turn.moment) * 10) >> 32)
                    .collect();
                assert_eq!(tenths.len(), 10, "kind {kind} from seed {first}");
            }
        }
    }

    #[test]
    fn the_turn_of_a_seed_is_the_same_for_ever() {
        let turn = SamplePoint::of(12_345, 20);
        // If this changes, every seed of a scenario that leaves its faults open means something else.
        assert_eq!((turn.kind, turn.moment), (17, 1_762_123_912));
    }

    #[test]
    fn without_kinds_there_is_a_turn_all_the_same() {
        assert_eq!(SamplePoint::of(u64::MAX, 0).kind, 0);
    }
}
