//! What a run in which nothing breaks teaches: the moments that there are, and what each is to the contenders in it.

use std::time::Duration;

use picklock_checker::VirtualTime;
use picklock_sim::SeenMoment;
use picklock_sim::plan::{ContenderName, Plan, Trigger};

use super::fault_variants::Variant;
use super::hold_windows::HoldWindows;
use super::moment_class::{MomentClass, read};
use super::request_roles::{RequestRole, RequestRoles};

/// A moment to aim at.
#[derive(Clone, Copy)]
pub(super) struct InjectionPoint<'s> {
    /// How promising it is.
    pub(super) score: u32,
    pub(super) moment: &'s SeenMoment,
    /// Which contender it strikes: whose moment it is, or the next holder.
    pub(super) by: ContenderName,
    pub(super) variant: Variant,
}

/// What a moment is to a contender.
pub(super) struct MomentOwner<'s> {
    pub(super) moment: &'s SeenMoment,
    pub(super) class: MomentClass,
    pub(super) by: ContenderName,
    /// How much hangs on it.
    pub(super) suspense: u32,
}

/// What a run in which nothing breaks has taught.
pub(super) struct Profile<'s> {
    pub(super) plan: &'s Plan,
    pub(super) seen: &'s [SeenMoment],
    pub(super) holds: HoldWindows,
    /// Of each moment whose it is, in the order in which they were seen; before them the start, of each contender.
    pub(super) owners: Vec<MomentOwner<'s>>,
}

/// Before any request: clients look for a server, and open their sessions.
pub(super) static START: SeenMoment = SeenMoment {
    at: VirtualTime::ZERO,
    trigger: Trigger::At(Duration::ZERO),
    waiting: 0,
    held: false,
    leads: false,
};

impl<'s> Profile<'s> {
    pub(super) fn of(plan: &'s Plan, seen: &'s [SeenMoment]) -> Self {
        let mut profile = Self {
            plan,
            seen,
            holds: HoldWindows::of(plan, seen),
            owners: Vec::with_capacity(seen.len()),
        };
        for by in 0..plan.workload.contenders {
            let whose = (MomentClass::Connecting, ContenderName(by), 1);
            profile.owns(&START, whose, RequestRole::Whole);
        }
        let roles = RequestRoles::of(seen);
        for moment in seen {
            profile.owners_of(moment, roles.role(&moment.trigger));
        }
        profile
    }

    /// Notes whose moment it is: whose step it is, and, when the lock is given back, the next holder's.
    fn owners_of(&mut self, moment: &'s SeenMoment, role: RequestRole) {
        let Some((class, by, nth)) = read(&moment.trigger) else {
            return;
        };
        let class = role.class(class);
        self.owns(moment, (class, by, nth), role);
        let missed = moment.waiting > 0 && self.holds.can_miss_its_turn();
        if class != MomentClass::Releasing || !missed {
            return;
        }
        let entry = self.entry_after(moment, |next| next != by);
        if let Some((_, by, nth)) = entry.and_then(|entry| read(&entry.trigger)) {
            let whose = (MomentClass::Succeeding, by, nth);
            self.owns(moment, whose, RequestRole::Entry);
        }
    }

    fn owns(
        &mut self,
        moment: &'s SeenMoment,
        (class, by, nth): (MomentClass, ContenderName, u32),
        role: RequestRole,
    ) {
        let suspense = self.holds.suspense(moment, (by, nth), role);
        self.owners.push(MomentOwner {
            moment,
            class,
            by,
            suspense,
        });
    }
}
