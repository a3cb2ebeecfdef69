//! How many permits a semaphore has, and how many of them one call takes.

use super::{ContenderName, Workload};

impl Workload {
    /// How many may hold the lock at once.
    pub fn permits(&self) -> u32 {
        self.permits.unwrap_or(1)
    }

    /// How many permits a contender takes by one call.
    pub fn permits_per_acquire_of(&self, name: ContenderName) -> u32 {
        let own = self.settings_of(name);
        let own = own.and_then(|own| own.permits_per_acquire);
        own.unwrap_or(self.permits_per_acquire)
    }

    /// How many permits a contender takes by one call at the most.
    pub fn most_permits_per_acquire(&self) -> u32 {
        let permits = self.each(|name| self.permits_per_acquire_of(name));
        permits.map(|(permits, _)| permits).max().unwrap_or(1)
    }

    /// How many permits each contender takes by one call, where any takes several: none otherwise.
    pub fn permits_per_acquire_of_each(&self) -> Vec<u32> {
        if self.most_permits_per_acquire() == 1 {
            return Vec::new();
        }
        let names = (0..self.contenders).map(ContenderName);
        names
            .map(|name| self.permits_per_acquire_of(name))
            .collect()
    }

    /// Whether all contenders together take more permits than there are, so that some must wait.
    pub fn wants_more_than_permits(&self) -> bool {
        let permits = self.each(|name| match self.wants_no_lock(name) {
            false => u64::from(self.permits_per_acquire_of(name)),
            true => 0,
        });
        let wanted = permits.map(|(permits, of)| permits.saturating_mul(of));
        wanted.sum::<u64>() > u64::from(self.permits())
    }
}
