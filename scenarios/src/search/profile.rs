//! What a run in which nothing breaks teaches: the moments that there are, and what each is to those who take part.

use picklock_sim::SeenMoment;
use picklock_sim::plan::{ContenderName, Plan};

use super::fault_variants::Variant;
use super::hold_windows::HoldWindows;
use super::request_roles::RequestRoles;

/// A moment to aim at.
pub(super) struct InjectionPoint<'s> {
    /// How promising it is.
    pub(super) score: u32,
    pub(super) moment: &'s SeenMoment,
    /// Whom it strikes: whose moment it is, or who comes next.
    pub(super) by: ContenderName,
    pub(super) variant: Variant,
}

/// What a run in which nothing breaks has taught.
pub(super) struct Profile<'s> {
    pub(super) plan: &'s Plan,
    pub(super) seen: &'s [SeenMoment],
    pub(super) holds: HoldWindows,
    pub(super) request_roles: RequestRoles,
}

impl<'s> Profile<'s> {
    pub(super) fn of(plan: &'s Plan, seen: &'s [SeenMoment]) -> Self {
        Self {
            plan,
            seen,
            holds: HoldWindows::of(plan, seen),
            request_roles: RequestRoles::of(seen),
        }
    }
}
