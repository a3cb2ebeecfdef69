//! Redisson's `RPermitExpirableSemaphore` before 3.17: a permit whose lease is over is counted up again when it is
//! given back.
//!
//! # Source
//!
//! Redisson's change log, 3.17.0.
//!
//! # Steps
//!
//! As those of [`redisson_permit_expirable_semaphore`].
//!
//! # Hazards
//!
//! - A permit that another contender has taken out of the set when its lease was over is counted twice: from then on
//!   there is one too many (scenario `redis/expired-permit`).

use super::leased::Leased;
use super::redisson_permit_expirable_semaphore::{self, PermitExpirableSemaphore, RELEASE_EXPIRED};
use crate::{Build, Recipe, RecipeInput};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "redisson-permit-expirable-semaphore-expired",
    summary: "Redisson's RPermitExpirableSemaphore that counts a permit whose lease is over when it is given back.",
    source: "Redisson before 3.17.0",
    flaw: Some("a permit whose lease is over is counted up again"),
    inputs: &[RecipeInput::WallClock, RecipeInput::Channels],
    build: Build::SemaphoreOverRedis(&|redis, env, lease, permits| {
        let leased = Leased { redis, env, lease };
        Box::new(PermitExpirableSemaphore::new(
            leased,
            permits,
            RELEASE_EXPIRED,
        ))
    }),
    ..redisson_permit_expirable_semaphore::RECIPE
};
