//! Which locks to show, of all that there are.

use crate::algorithms::Recipe;
use crate::algorithms::clients::ServiceKind;
use crate::cli::cmd::services::{one_of, service_named};
use crate::cli::failure::Failure;
use crate::scenarios::program;

/// Which locks to show.
#[derive(Debug, Default, clap::Args)]
pub(in crate::cli::cmd) struct Filter {
    #[arg(long, value_name = "SERVICE", value_parser = service_named, help = help_of_family())]
    family: Option<ServiceKind>,
    /// Only locks of this kind, such as `mutex` or `read-write`.
    #[arg(long, value_name = "KIND")]
    kind: Option<String>,
}

/// What `--family` says of itself.
fn help_of_family() -> String {
    format!(
        "Only what stands on this service: {}",
        one_of(|service| format!("`{}`", service.name()))
    )
}

impl Filter {
    /// Whether a family is given, and whether a kind is.
    pub(super) fn given(&self) -> [bool; 2] {
        [self.family.is_some(), self.kind.is_some()]
    }

    /// Those that it takes of all that the program knows.
    ///
    /// # Errors
    ///
    /// [`Failure`], if there is no such kind, or none of it in the family.
    pub(in crate::cli::cmd) fn recipes(&self) -> Result<Vec<&'static Recipe>, Failure> {
        let known = program::algorithms();
        if let Some(kind) = &self.kind {
            let kinds = known.iter().map(|lock| lock.ownership.kind.name());
            let mut kinds: Vec<&str> = kinds.collect();
            kinds.sort_unstable();
            kinds.dedup();
            if !kinds.contains(&kind.as_str()) {
                return Err(Failure::unknown("kind", kind, &kinds));
            }
        }
        let taken: Vec<_> = known.iter().filter(|recipe| self.takes(recipe)).collect();
        if taken.is_empty() {
            let of_kind = known.iter().filter(|lock| self.is_of_kind(lock));
            let mut families: Vec<&str> = of_kind.map(|lock| lock.build.service().name()).collect();
            families.sort_unstable();
            families.dedup();
            let problem = "no algorithm of this family is of this kind".to_owned();
            let hint = format!("there are some over {}", families.join(", "));
            return Err(Failure::usage(problem, [hint]));
        }
        Ok(taken)
    }

    /// Whether it takes an algorithm.
    pub(super) fn takes(&self, recipe: &Recipe) -> bool {
        self.family
            .is_none_or(|family| recipe.build.service() == family)
            && self.is_of_kind(recipe)
    }

    fn is_of_kind(&self, recipe: &Recipe) -> bool {
        let of_kind = |kind: &String| recipe.ownership.kind.name() == kind;
        self.kind.as_ref().is_none_or(of_kind)
    }
}
