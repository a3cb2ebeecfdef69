//! The key `service`, of a file and of a case.

use crate::services::{ALL, SupportedService};
use picklock_sim::plan::{Holds, Variant};

/// What the lock stands on.
pub(super) const SERVICE: Holds = Holds::Variants("service", &VARIANTS);

const VARIANTS: [Variant; ALL.len()] = {
    let mut variants = [variant(ALL[0]); ALL.len()];
    let mut place = 1;
    while place < ALL.len() {
        variants[place] = variant(ALL[place]);
        place += 1;
    }
    variants
};

const fn variant(service: &'static SupportedService) -> Variant {
    Variant::or_word(
        service.kind.name(),
        Holds::Table(service.keys),
        service.means,
    )
}
