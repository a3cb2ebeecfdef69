//! A family: the recipes over a service that lists them itself, and their hazards.

use crate::Recipe;
use crate::hazard::Hazard;

/// The recipes over a service, and their hazards.
pub(crate) struct Family {
    /// The recipes, in the order in which they are shown.
    pub(crate) recipes: &'static [Recipe],
    /// What some of them do not keep under which faults.
    pub(crate) hazards: &'static [Hazard],
}
