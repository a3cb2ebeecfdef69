//! Rows of recipes that no run could judge: a rule of another service, or a promise that says nothing of its kind.

use crate::{Claim, LockKind, OwnershipRule, Recipe};

/// What is wrong with a row, and what would be right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecipeMistake {
    /// What is wrong, in one sentence without a full stop.
    pub problem: String,
    /// What would be right.
    pub help: String,
}

impl Recipe {
    /// What is wrong with it. Its runs would blame a sound lock, or look at nothing that it promises.
    pub fn mistakes(&self) -> Vec<RecipeMistake> {
        let rule = self.rule_mistake();
        let rule_fits = rule.is_none();
        let claims = self.claims.iter().filter(|_| rule_fits);
        let claims = claims.filter_map(|claim| self.claim_mistake(*claim));
        rule.into_iter().chain(claims).collect()
    }

    /// Why nothing that it asks for makes a contender the owner.
    fn rule_mistake(&self) -> Option<RecipeMistake> {
        let (name, rule, service) = (self.name, self.ownership, self.build.service());
        if !rule.can_be_read_from(service) {
            let title = service.title();
            let rights = [
                (OwnershipRule::LOWEST_CHILD, "OwnershipRule::LOWEST_CHILD"),
                (OwnershipRule::KEY, "OwnershipRule::KEY"),
                (OwnershipRule::SESSION, "OwnershipRule::SESSION"),
            ];
            let mut right = rights
                .iter()
                .filter(|(rule, _)| rule.can_be_read_from(service));
            let right = right.next().map_or("OwnershipRule::KEY", |(_, name)| name);
            return Some(RecipeMistake {
                problem: format!(
                    "`{name}` stands on {title}, where no owner can be read from {}",
                    rule.owners.state()
                ),
                help: format!(
                    "say in its `Recipe` how its owner is read from {title}: `ownership: {right}`"
                ),
            });
        }
        let is_built_of_several = self.build.multi_lock().is_some();
        let is_of_several = rule.kind == LockKind::MultiLock;
        (is_built_of_several != is_of_several).then(|| RecipeMistake {
            problem: format!("`{name}` is a multi-lock by one of `ownership` and `build` alone"),
            help: "an `ownership` of the kind `MultiLock` goes with a `Build::MultiLockOver…`"
                .to_owned(),
        })
    }

    fn claim_mistake(&self, claim: Claim) -> Option<RecipeMistake> {
        let (name, kind) = (self.name, self.ownership.kind.name());
        let invariant = claim.invariant();
        (!self.ownership.is_judged_by(invariant)).then(|| RecipeMistake {
            problem: format!(
                "`{name}` promises `{invariant}`, which says nothing of a {kind} whose owner is read from {}",
                self.ownership.owners.state()
            ),
            help: format!("take `Claim::{claim:?}` out of its `claims`"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::OwnershipRule;
    use crate::lock::BASIC_CLAIMS;
    use crate::ownership_rule::every_child;
    use crate::registry::RECIPES;

    fn over_redis() -> Recipe {
        let of_redis = |recipe: &&Recipe| recipe.name == "redis-compare-and-delete";
        *RECIPES.iter().find(of_redis).unwrap()
    }

    fn problems(recipe: Recipe) -> Vec<String> {
        let mistakes = recipe.mistakes().into_iter();
        mistakes.map(|mistake| mistake.problem).collect()
    }

    #[test]
    fn every_algorithm_can_be_judged_by_what_its_row_says() {
        let wrong = RECIPES.iter().flat_map(Recipe::mistakes);
        assert_eq!(wrong.collect::<Vec<_>>(), []);
    }

    #[test]
    fn a_rule_that_its_service_cannot_meet_is_a_mistake() {
        for ownership in [
            OwnershipRule::LOWEST_CHILD,
            OwnershipRule::NODE,
            OwnershipRule::BARRIER,
            OwnershipRule::parties(every_child),
        ] {
            let recipe = Recipe {
                ownership,
                ..over_redis()
            };
            let problem = format!(
                "`redis-compare-and-delete` stands on Redis, where no owner can be read from {}",
                ownership.owners.state()
            );
            assert_eq!(problems(recipe), [problem]);
        }
        let by_key = Recipe {
            ownership: OwnershipRule::KEY,
            ..RECIPES[0]
        };
        assert_eq!(problems(by_key).len(), 1);
    }

    #[test]
    fn a_multi_lock_is_built_and_owned_as_one() {
        let mut of_several = RECIPES.iter();
        let of_several = of_several.find(|recipe| recipe.build.multi_lock().is_some());
        let of_several = *of_several.unwrap();
        let ownership = OwnershipRule::LOWEST_CHILD;
        assert_eq!(
            problems(Recipe {
                ownership,
                ..of_several
            })
            .len(),
            1
        );
        let ownership = OwnershipRule::LOWEST_CHILD_OF_EACH;
        assert_eq!(
            problems(Recipe {
                ownership,
                ..RECIPES[0]
            })
            .len(),
            1
        );
    }

    #[test]
    fn a_promise_that_says_nothing_of_the_kind_is_a_mistake() {
        let barrier = Recipe {
            ownership: OwnershipRule::BARRIER,
            claims: BASIC_CLAIMS,
            ..RECIPES[0]
        };
        let wrong = problems(barrier);
        assert_eq!(wrong.len(), BASIC_CLAIMS.len() - 1, "all but `progress`");
        assert!(
            wrong[0].starts_with("`zk-hardened` promises `mutual-exclusion`, which says nothing")
        );
        let with = |claims| {
            problems(Recipe {
                claims,
                ..over_redis()
            })
        };
        assert_eq!(with(&[Claim::Fifo]).len(), 1);
        assert_eq!(with(&[Claim::Barrier]).len(), 1);
        assert_eq!(with(&[Claim::AllOrNone]).len(), 1);
        assert_eq!(with(&[Claim::FencingMonotonic, Claim::Reentrancy]), [""; 0]);
        let semaphore = Recipe {
            ownership: OwnershipRule::EVERY_LEASE,
            claims: &[Claim::FencingMonotonic, Claim::Reentrancy],
            ..RECIPES[0]
        };
        assert_eq!(problems(semaphore).len(), 2);
    }
}
