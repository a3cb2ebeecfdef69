//! The statistics of a case over its seeds. They can be added to, saved, and merged with those of other shards.

mod broken;
mod doubt;
mod judge;
mod phrases;

use std::collections::BTreeMap;
use std::ops::Range;
use std::time::Duration;

use picklock_checker::outcome::{Breakage, Nearest, Sample, SeedOutcome, SeedRange, SimilarSeeds};
use picklock_checker::time::whole_micros;
use picklock_checker::{Counts, Nearness, Verdict, Witness};
use serde::{Deserialize, Serialize};

use crate::digest::digest;
use crate::scenario::Case;
use crate::shard::{Seeds, Shard};

pub(crate) use crate::scenario::ENOUGH_SEEDS;

/// What has been seen of a case so far, by one shard or by several that were joined.
///
/// Nothing in it depends on the order in which seeds were added or tallies joined.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tally {
    /// All seeds of which this is a part.
    seeds: Range<u64>,
    /// More were asked for than the file takes.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    left_out: bool,
    /// Into how many shards they are split.
    of: u64,
    /// By shard: how many of its seeds ran, which are its first.
    ran: BTreeMap<u64, u64>,
    /// The wrapping sum of [`mixed`] over the seeds.
    hash: u64,
    counts: Counts,
    /// Why runs as a whole say nothing: how many seeds gave each reason.
    vacuous: BTreeMap<String, u64>,
    /// By such a reason: the detail of the lowest seed that gave it.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    vacuous_detail: BTreeMap<String, (u64, String)>,
    /// By invariant: how many of the runs that say nothing as a whole violate it all the same.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    violated_though_vacuous: BTreeMap<String, u64>,
    /// By invariant: how many seeds left it undecided, and why the first did.
    unknown: BTreeMap<String, Unknown>,
    /// By invariant: in how many seeds it was not looked at because of the faults that were drawn.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    excused: BTreeMap<String, u64>,
    /// By invariant: how many of the seeds that say something say nothing of it: excused, moot, or undecided.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    silent: BTreeMap<String, u64>,
    /// The moments that seeds came through, each with how many did.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    reached: BTreeMap<String, u64>,
    /// By distance: the least, and the lowest seed that has it.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    nearest: BTreeMap<String, Nearest>,
    violated: BTreeMap<String, ViolationCount>,
    /// The first run that broke off, and how many did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    broken: Option<Breakage>,
    /// Real time that it took; nothing that others should see.
    #[serde(skip)]
    took: Duration,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Unknown {
    /// The first of these seeds, whose reason it is.
    seed: u64,
    seeds: u64,
    reason: String,
}

/// The first violation of an invariant, and how often it was seen.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ViolationCount {
    seed: u64,
    seeds: u64,
    witness: Witness,
    /// The seeds that violate it, grouped by the digest of their argument without names and numbers.
    alike: BTreeMap<String, SimilarSeeds>,
}

impl ViolationCount {
    /// Whether the seeds that are alike are all that there are.
    fn adds_up(&self, inside: impl Fn(u64) -> bool) -> bool {
        let seeds = self.alike.values().map(|alike| alike.seeds);
        let mut first = self.alike.values().flat_map(|alike| &alike.first);
        seeds.fold(0, u64::saturating_add) == self.seeds && first.all(|kept| inside(kept.seed))
    }
}

impl Tally {
    /// Nothing yet, of the seeds that a case takes of those that are asked for.
    pub fn of(case: &Case, asked: &Seeds) -> Self {
        let seeds = case.seeds(asked);
        let left_out = case.recorded.is_none() && seeds != *asked;
        Self {
            left_out,
            ..Self::new(&seeds)
        }
    }

    /// Nothing yet, of these seeds.
    pub(crate) fn new(seeds: &Seeds) -> Self {
        Self {
            seeds: seeds.range.clone(),
            left_out: false,
            of: seeds.shard.of(),
            ran: BTreeMap::from([(seeds.shard.index(), 0)]),
            hash: 0,
            counts: Counts::default(),
            vacuous: BTreeMap::new(),
            vacuous_detail: BTreeMap::new(),
            violated_though_vacuous: BTreeMap::new(),
            unknown: BTreeMap::new(),
            excused: BTreeMap::new(),
            silent: BTreeMap::new(),
            reached: BTreeMap::new(),
            nearest: BTreeMap::new(),
            violated: BTreeMap::new(),
            broken: None,
            took: Duration::ZERO,
        }
    }

    /// Adds the outcome of the next seed of a shard.
    pub(crate) fn add(&mut self, shard: Shard, outcome: SeedOutcome) {
        *self.ran.entry(shard.index()).or_default() += 1;
        self.hash = self.hash.wrapping_add(mixed(outcome.seed, outcome.hash));
        self.counts.add(&outcome.counts);
        let undecided = outcome
            .verdicts
            .iter()
            .filter_map(|(name, verdict)| match verdict {
                Verdict::Undecided(_) => Some(name),
                Verdict::Holds | Verdict::Violated(_) => None,
            });
        let silent = outcome.excused.iter().chain(&outcome.moot);
        for invariant in silent.chain(undecided) {
            if outcome.vacuous.is_none() {
                *self.silent.entry((*invariant).to_owned()).or_default() += 1;
            }
        }
        for moment in outcome.reached.names() {
            match self.reached.get_mut(moment) {
                Some(seeds) => *seeds += 1,
                None => drop(self.reached.insert(moment.to_owned(), 1)),
            }
        }
        self.came_near(outcome.seed, outcome.nearness);
        if let Some(why) = outcome.broken {
            self.broke_off(outcome.seed, outcome.hash, why);
        }
        for invariant in outcome.excused {
            *self.excused.entry(invariant.to_owned()).or_default() += 1;
        }
        let (seed, seeds) = (outcome.seed, 1);
        let says_nothing = outcome.vacuous.is_some();
        if let Some(reason) = outcome.vacuous {
            if let Some(here) = outcome.vacuous_detail {
                self.note_vacuous_detail(reason.clone(), (seed, here));
            }
            *self.vacuous.entry(reason).or_default() += 1;
        }
        let hash = outcome.hash;
        for (invariant, verdict) in outcome.verdicts {
            match verdict {
                Verdict::Holds => {}
                Verdict::Undecided(reason) => self.left_unknown(
                    invariant.to_owned(),
                    Unknown {
                        seed,
                        seeds,
                        reason,
                    },
                ),
                Verdict::Violated(witness) => {
                    if says_nothing {
                        let seeds = self.violated_though_vacuous.entry(invariant.to_owned());
                        *seeds.or_default() += 1;
                    }
                    let first = vec![Sample { seed, hash }];
                    let alike = (digest(&witness.kind()), SimilarSeeds { seeds, first });
                    let seen = ViolationCount {
                        seed,
                        seeds,
                        witness: *witness,
                        alike: BTreeMap::from([alike]),
                    };
                    self.saw(invariant.to_owned(), seen);
                }
            }
        }
    }

    /// Adds the real time that seeds took.
    pub(crate) fn spend(&mut self, time: Duration) {
        self.took += time;
    }

    /// Adds what other shards of the same seeds have seen. That they are others, and of the same seeds, is for the
    /// caller to know.
    pub(crate) fn join(&mut self, other: Self) {
        for (shard, ran) in other.ran {
            *self.ran.entry(shard).or_default() += ran;
        }
        self.hash = self.hash.wrapping_add(other.hash);
        self.counts.add(&other.counts);
        for (reason, seeds) in other.vacuous {
            *self.vacuous.entry(reason).or_default() += seeds;
        }
        for (reason, here) in other.vacuous_detail {
            self.note_vacuous_detail(reason, here);
        }
        for (ours, theirs) in [
            (&mut self.excused, other.excused),
            (&mut self.silent, other.silent),
            (&mut self.reached, other.reached),
            (
                &mut self.violated_though_vacuous,
                other.violated_though_vacuous,
            ),
        ] {
            for (invariant, seeds) in theirs {
                *ours.entry(invariant).or_default() += seeds;
            }
        }
        for (name, theirs) in other.nearest {
            let ours = self.nearest.entry(name).or_insert(theirs);
            *ours = theirs.min(*ours);
        }
        for (invariant, unknown) in other.unknown {
            self.left_unknown(invariant, unknown);
        }
        for (invariant, seen) in other.violated {
            self.saw(invariant, seen);
        }
        if let Some(theirs) = other.broken {
            self.also_broke_off(theirs);
        }
        self.took += other.took;
    }

    /// A run says nothing as a whole: of the lowest seed with such a reason it is told how that was.
    fn note_vacuous_detail(&mut self, reason: String, here: (u64, String)) {
        let told = self.vacuous_detail.entry(reason);
        let told = told.or_insert_with(|| here.clone());
        if here.0 < told.0 {
            *told = here;
        }
    }

    fn came_near(&mut self, seed: u64, nearness: Nearness) {
        for (name, near) in nearness.found() {
            let micros = whole_micros(near.distance);
            let new = Nearest { micros, seed };
            match self.nearest.get_mut(name) {
                Some(old) => *old = new.min(*old),
                None => drop(self.nearest.insert(name.to_owned(), new)),
            }
        }
    }

    fn left_unknown(&mut self, invariant: String, new: Unknown) {
        let Some(old) = self.unknown.get_mut(&invariant) else {
            self.unknown.insert(invariant, new);
            return;
        };
        old.seeds += new.seeds;
        if new.seed < old.seed {
            (old.seed, old.reason) = (new.seed, new.reason);
        }
    }

    fn saw(&mut self, invariant: String, new: ViolationCount) {
        let Some(old) = self.violated.get_mut(&invariant) else {
            self.violated.insert(invariant, new);
            return;
        };
        old.seeds += new.seeds;
        for (kind, theirs) in new.alike {
            old.alike.entry(kind).or_default().join(theirs);
        }
        if new.seed < old.seed {
            (old.seed, old.witness) = (new.seed, new.witness);
        }
    }

    /// How many seeds have run.
    pub fn seeds(&self) -> u64 {
        self.ran.values().sum()
    }

    /// Whether it is what one shard of several saw.
    fn is_part(&self) -> bool {
        (self.ran.len() as u64) < self.of
    }

    /// How many seeds there are from the first of all to the one of the violation, that one included: whether they ran
    /// here or in another shard.
    fn found_after(&self, seen: &ViolationCount) -> u64 {
        seen.seed - self.seeds.start + 1
    }

    /// How many of the first so many seeds of all have run.
    fn ran_of_the_first(&self, number: u64) -> u64 {
        let ran = self.ran.iter().map(|(shard, ran)| {
            let before = shard - 1;
            let its = number.saturating_sub(before).div_ceil(self.of);
            its.min(*ran)
        });
        ran.sum()
    }

    /// Whether this is what can have been seen of these seeds.
    pub(crate) fn fits(&self, seeds: &Seeds) -> bool {
        let inside = |seed: u64| seeds.range.contains(&seed);
        self.seeds == seeds.range
            && self.of == seeds.shard.of()
            && self.ran.len() == 1
            && (self.ran.get(&seeds.shard.index())).is_some_and(|ran| *ran <= seeds.len())
            && self.nearest.values().all(|nearest| inside(nearest.seed))
            && (self.violated.values()).all(|seen| inside(seen.seed) && seen.adds_up(inside))
            && self.unknown.values().all(|unknown| inside(unknown.seed))
            && (self.broken.iter()).all(|broken| inside(broken.seed))
    }

    /// The seeds that have run, in as few stretches as it takes, ascending by their first.
    fn ran(&self) -> Vec<SeedRange> {
        let mut stretches: Vec<SeedRange> = Vec::new();
        let mut row = 0;
        loop {
            // In these rows of one seed per shard the same shards have run.
            let running: Vec<u64> = (self.ran.iter())
                .filter(|(_, ran)| **ran > row)
                .map(|(shard, _)| *shard)
                .collect();
            let ends = self.ran.values().filter(|ran| **ran > row).min();
            let Some(&end) = ends else {
                return stretches;
            };
            let all = running.len() as u64 == self.of;
            let seed = |row: u64, shard: u64| self.seeds.start + row * self.of + (shard - 1);
            let new = if all {
                vec![(seed(row, 1), seed(end - 1, self.of), 1)]
            } else {
                let of_shard = |&shard: &u64| (seed(row, shard), seed(end - 1, shard), self.of);
                running.iter().map(of_shard).collect()
            };
            for (first, last, step) in new {
                push(&mut stretches, first, last, step);
            }
            row = end;
        }
    }
}

/// Adds a stretch, to the one before it if the two are one.
fn push(stretches: &mut Vec<SeedRange>, first: u64, last: u64, step: u64) {
    let step = if first == last { 1 } else { step };
    if let Some(before) = stretches.last_mut()
        && before.to == first
        && before.step == 1
        && step == 1
    {
        before.to = last + 1;
        return;
    }
    stretches.push(SeedRange {
        from: first,
        to: last + 1,
        step,
    });
}

/// A seed and the hash of its run as one number that is spread over all others, so that a sum of many says whether they
/// are the same, in whatever order they are added. `docs/results.md` says it for others.
fn mixed(seed: u64, hash: u64) -> u64 {
    finished(finished(seed.wrapping_add(0x9e37_79b9_7f4a_7c15)) ^ hash)
}

/// The finaliser of SplitMix64.
fn finished(word: u64) -> u64 {
    let word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}

#[cfg(test)]
mod tests;
