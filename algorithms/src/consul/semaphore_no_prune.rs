//! Consul's own semaphore, without the look which holders live.
//!
//! # Source
//!
//! hashicorp/consul, `api/semaphore.go`, without `pruneDeadHolders`.
//!
//! # Steps
//!
//! Those of [`semaphore`], but step 3 strikes out no holder.
//!
//! # Guarantees
//!
//! - Those of [`semaphore`], as long as no holder dies.
//!
//! # Hazards
//!
//! - The permit of a dead holder stays taken for ever (scenario `consul/semaphore-holder-crash`).

use super::OverConsul;
use super::semaphore::{self, Semaphore};
use crate::{Build, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "consul-semaphore-no-prune",
    summary: "Consul's own semaphore, without the look which holders live.",
    source: "hashicorp/consul, api/semaphore.go, without pruneDeadHolders",
    flaw: Some("the permit of a dead holder stays taken"),
    build: Build::Other(&OverConsul(&|consul, env, lock| {
        Box::new(Semaphore::new(consul, env, lock, false))
    })),
    ..semaphore::RECIPE
};
