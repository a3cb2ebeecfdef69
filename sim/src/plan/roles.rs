//! What contenders are for: most want the lock, and some do something else for the others.

use std::time::Duration;

use super::{ContenderName, ContenderSettings, Workload};

impl ContenderSettings {
    /// Whether it wants no lock, and does something else for the others.
    pub fn wants_no_lock(&self) -> bool {
        self.reaper_interval.is_some() || self.releases_for_others
    }
}

impl Workload {
    /// How often a contender wants the lock.
    pub fn rounds_of(&self, name: ContenderName) -> u32 {
        let own = self.settings_of(name).and_then(|own| own.rounds);
        match self.wants_no_lock(name) {
            false => own.unwrap_or(self.rounds),
            true => 0,
        }
    }

    /// Whether a contender wants no lock, and does something else for the others.
    pub fn wants_no_lock(&self, name: ContenderName) -> bool {
        let own = self.settings_of(name);
        own.is_some_and(ContenderSettings::wants_no_lock)
    }

    /// The contender that gives back what the others hold, if there is one.
    pub fn releaser(&self) -> Option<ContenderName> {
        let mut own = self.contender_settings.iter();
        let releaser = own.find(|(_, own)| own.releases_for_others);
        releaser.map(|(name, _)| *name)
    }

    /// How often a contender runs the reaper of its recipe, if it wants no lock and does that.
    pub fn reaper_interval_of(&self, name: ContenderName) -> Option<Duration> {
        self.settings_of(name).and_then(|own| own.reaper_interval)
    }
}
