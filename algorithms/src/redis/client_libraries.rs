//! On which client library of Redis a published recipe stands.

use crate::Recipe;

/// Each library, by its name in scenario files, and the recipes that are part of it or were written on it. All others
/// are patterns for any client.
const LIBRARIES: &[(&str, &[&str])] = &[
    (
        "go-redis",
        &[
            "bsm-redislock",
            "bsm-redislock-own-token",
            "redsync",
            "redsync-hardened",
        ],
    ),
    (
        "ioredis",
        &[
            "bull-queue-timers-first",
            "bullmq-worker",
            "node-redlock",
            "node-redlock-hardened",
            "redis-error-is-refusal",
        ],
    ),
    (
        "lettuce",
        &[
            "redis-deadline-from-answer",
            "spring-redis-lock-registry",
            "spring-redis-lock-registry-pub-sub",
            "spring-redis-lock-registry-pub-sub-hardened",
            "spring-redis-lock-registry-renewal-ended",
            "spring-redis-lock-registry-renewed",
        ],
    ),
    (
        "redis-py",
        &[
            "python-redis-lock",
            "python-redis-lock-3",
            "python-redis-lock-auto-renewal",
            "python-redis-lock-auto-renewal-hardened",
            "redis-error-is-lock",
            "redis-py-asyncio-lock",
            "redis-py-lock",
            "redis-py-lock-extend",
            "redis-py-lock-one-token",
            "redis-py-lock-reacquire",
        ],
    ),
    (
        "redisson",
        &[
            "redisson-batch-not-redirected",
            "redisson-client-id",
            "redisson-count-down-latch",
            "redisson-count-down-latch-no-look",
            "redisson-failed-renewal",
            "redisson-fair-lock",
            "redisson-fair-lock-kept-place",
            "redisson-fair-lock-seconds",
            "redisson-fenced-lock",
            "redisson-fenced-lock-get-token",
            "redisson-kept-count",
            "redisson-lock",
            "redisson-lock-and-read-lock",
            "redisson-lock-if-held",
            "redisson-lock-replicated",
            "redisson-message-only",
            "redisson-multi-lock",
            "redisson-multi-lock-blind-expire",
            "redisson-multi-lock-doubled-lease",
            "redisson-multi-lock-hardened",
            "redisson-multi-lock-leased",
            "redisson-multi-lock-no-wait",
            "redisson-multi-lock-of-servers",
            "redisson-multi-lock-seconds",
            "redisson-no-latch",
            "redisson-permit-expirable-semaphore",
            "redisson-permit-expirable-semaphore-expired",
            "redisson-read-write-lock",
            "redisson-read-write-lock-not-renewed",
            "redisson-read-write-lock-told",
            "redisson-red-lock",
            "redisson-red-lock-2",
            "redisson-red-lock-2-force-unlock",
            "redisson-red-lock-leased",
            "redisson-scripts-sent-once",
            "redisson-semaphore",
            "redisson-semaphore-counts-one",
            "redisson-semaphore-reset",
            "redisson-spin-lock",
            "redisson-spin-lock-budget-first",
            "redisson-spin-lock-no-latch",
            "redisson-unlock-missing-key",
        ],
    ),
];

impl Recipe {
    /// The client library of Redis that it stands on, if it stands on one.
    pub fn client_library(&self) -> Option<&'static str> {
        let of_this = |(_, recipes): &&(&str, &[&str])| recipes.contains(&self.name);
        LIBRARIES.iter().find(of_this).map(|(library, _)| *library)
    }
}

#[cfg(test)]
mod tests {
    use super::LIBRARIES;
    use crate::registry::RECIPES;

    #[test]
    fn every_row_names_recipes_that_there_are() {
        for name in LIBRARIES.iter().flat_map(|(_, recipes)| *recipes) {
            let known = RECIPES.iter().any(|recipe| recipe.name == *name);
            assert!(known, "{name}");
        }
    }

    #[test]
    fn a_recipe_named_after_a_library_stands_on_it() {
        for recipe in RECIPES {
            for (library, _) in LIBRARIES {
                let named = recipe.name.starts_with(library);
                assert!(
                    !named || recipe.client_library() == Some(library),
                    "{}",
                    recipe.name
                );
            }
        }
    }
}
