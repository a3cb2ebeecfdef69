//! The key `service`, of a file and of a case.

use super::key::{Holds, Variant};
use crate::services::{ALL, SupportedService};

/// What the lock stands on.
pub(super) const SERVICE: Holds = Holds::Variants(&VARIANTS);

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
