//! The algorithms that scenario files may name.

/// Those of the registry.
#[cfg(not(feature = "broken-recipes"))]
pub(crate) use picklock_algorithms::registry::RECIPES as KNOWN;

#[cfg(feature = "broken-recipes")]
pub(crate) use with_broken::KNOWN;

/// Those of the registry, and some that break off: for tests alone.
#[cfg(feature = "broken-recipes")]
mod with_broken {
    use picklock_algorithms::Recipe;
    use picklock_algorithms::registry::RECIPES;

    use crate::faulty::{FATAL, FAULTY, FICKLE, THREADED};

    const LISTS: [&[Recipe]; 5] = [RECIPES, FAULTY, FICKLE, FATAL, &[THREADED]];

    const NUMBER: usize = {
        let (mut number, mut list) = (0, 0);
        while list < LISTS.len() {
            number += LISTS[list].len();
            list += 1;
        }
        number
    };

    const ALL: [Recipe; NUMBER] = {
        let mut all = [RECIPES[0]; NUMBER];
        let (mut at, mut list) = (0, 0);
        while list < LISTS.len() {
            let mut place = 0;
            while place < LISTS[list].len() {
                all[at] = LISTS[list][place];
                at += 1;
                place += 1;
            }
            list += 1;
        }
        all
    };

    pub(crate) const KNOWN: &[Recipe] = &ALL;
}
