//! Cases of one name.

use std::collections::BTreeSet;

use super::case::Named;
use super::reader::{Mistake, Mistakes};

/// Refuses two cases of one name: results and commands could not tell them apart.
pub(super) fn refuse_namesakes(cases: &[Named], mistakes: &mut Mistakes) {
    for index in repeated(cases.iter().map(|named| named.case.name.as_str())) {
        let (named, name) = (&cases[index], &cases[index].case.name);
        let suffix = match named.fenced {
            Some(true) => "fenced",
            Some(false) => "unfenced",
            None => "again",
        };
        let mistake = Mistake::new(format!("two cases are called `{name}`"))
            .label("the second one")
            .help(format!(
                "give it a name of its own: name = \"{name}-{suffix}\""
            ));
        mistakes.add(named.span.clone(), mistake);
    }
}

/// The places of names that stand before, too.
fn repeated<N: Ord>(names: impl Iterator<Item = N>) -> Vec<usize> {
    let mut before = BTreeSet::new();
    let names = names.enumerate();
    let repeated = names.filter_map(|(index, name)| (!before.insert(name)).then_some(index));
    repeated.collect()
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::cmp::Ordering;

    use super::*;

    /// A name that counts how often it is compared.
    #[derive(Clone, Copy)]
    struct Counted<'c>(usize, &'c Cell<usize>);

    impl Ord for Counted<'_> {
        fn cmp(&self, other: &Self) -> Ordering {
            self.1.set(self.1.get() + 1);
            self.0.cmp(&other.0)
        }
    }

    impl PartialOrd for Counted<'_> {
        fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
            Some(self.cmp(other))
        }
    }

    impl PartialEq for Counted<'_> {
        fn eq(&self, other: &Self) -> bool {
            self.cmp(other) == Ordering::Equal
        }
    }

    impl Eq for Counted<'_> {}

    #[test]
    fn names_are_not_each_compared_with_all_others() {
        let compared = Cell::new(0);
        let names = |all: usize| (0..all).chain([3, 0]).map(|name| Counted(name, &compared));
        assert_eq!(repeated(names(20_000)), [20_000, 20_001]);
        assert!(compared.get() < 20_000 * 100, "{}", compared.get());
    }
}
