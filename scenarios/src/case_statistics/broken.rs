//! Runs of a case that broke off.

use picklock_checker::Broken;
use picklock_checker::outcome::{Breakage, Finding, Standing};

use super::Tally;

impl Tally {
    /// The run of a seed broke off.
    pub(super) fn broke_off(&mut self, seed: u64, hash: u64, why: Broken) {
        self.also_broke_off(Breakage {
            seed,
            hash,
            seeds: 1,
            why,
        });
    }

    /// Others did.
    pub(super) fn also_broke_off(&mut self, others: Breakage) {
        match &mut self.broken {
            Some(ours) => ours.join(others),
            None => self.broken = Some(others),
        }
    }

    /// How many runs broke off.
    pub(super) fn seeds_broken(&self) -> u64 {
        self.broken.as_ref().map_or(0, |broken| broken.seeds)
    }

    /// That runs broke off, if any did.
    pub(super) fn breakage(&self) -> Option<Finding> {
        let broken = self.broken.as_ref()?;
        let first = self.seed_and_share(broken.seed, broken.seeds);
        Some(Finding {
            name: "broken".to_owned(),
            standing: Standing::Broken,
            line: format!("broken at {first}: {}", broken.why),
            can_tell: None,
        })
    }
}
