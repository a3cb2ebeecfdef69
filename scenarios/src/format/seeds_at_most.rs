//! `seeds-at-most`: with how many seeds a run may be content.

use super::reader::{Fields, Mistake, Mistakes};
use crate::scenario::{Case, ENOUGH_SEEDS, Expectation, Want};

/// Reads it, and gives it to all cases.
pub(super) fn read(file: &mut Fields, cases: &mut [Case], mistakes: &mut Mistakes) {
    let Some(item) = file.get("seeds-at-most") else {
        return;
    };
    let least = i64::try_from(ENOUGH_SEEDS).unwrap_or(i64::MAX);
    let Some(most) = item.integer(least..=i64::MAX, mistakes) else {
        return;
    };
    let most = most.unsigned_abs();
    for case in cases {
        let needs = case.expectations.iter().filter_map(needed);
        // Such a case would be skipped for ever.
        if let Some(needs) = needs.max().filter(|needs| *needs > most) {
            let name = &case.name;
            let mistake =
                Mistake::new(format!("`{name}` needs {needs} seeds, and may take {most}"))
                    .label("it expects a violation `within-seeds` that no run gives it")
                    .help(format!("write seeds-at-most = {needs}, or more"));
            mistakes.add(item.span.clone(), mistake);
        }
        case.seeds_at_most = Some(most);
    }
}

/// How many seeds an expectation needs, if it says so.
fn needed(expectation: &Expectation) -> Option<u64> {
    match expectation.want {
        Want::Violated { within_seeds, .. } => Some(within_seeds),
        Want::Holds | Want::Excused { .. } | Want::Undecided { .. } | Want::Unchecked { .. } => {
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::format::parse;
    use crate::scenario::{Case, Catalogue, Recorded, RecordedRun, Scenario};
    use crate::shard::Seeds;
    use crate::write::write;

    /// A scenario whose file says so, with a case that expects a violation within 30 seeds.
    fn saying(most: &str) -> Result<Scenario, String> {
        let text = format!(
            "seeds-at-most = {most}\n[[case]]\nalgorithm = \"zk-no-recheck\"\n\
             expect.mutual-exclusion.violated = {{ because = \"a test\", within-seeds = 30 }}"
        );
        let scenario = parse("test", &text, &Catalogue::EVERYTHING);
        scenario.map_err(|mistakes| mistakes[0].to_string())
    }

    #[test]
    fn the_first_seeds_that_are_asked_for_are_taken() {
        let mut scenario = saying("30").unwrap();
        let case = &mut scenario.cases[0];
        let seeds = |case: &Case, range| case.seeds(&Seeds::all(range)).range;
        assert_eq!(seeds(case, 0..100), 0..30);
        assert_eq!(seeds(case, 90..200), 90..120);
        assert_eq!(seeds(case, 90..95), 90..95);
        assert_eq!(seeds(case, u64::MAX - 3..u64::MAX), u64::MAX - 3..u64::MAX);
        case.seeds_at_most = None;
        assert_eq!(seeds(case, 0..100), 0..100);
    }

    #[test]
    fn a_file_takes_as_many_seeds_as_its_expectations_need() {
        let told = saying("29").unwrap_err();
        assert!(
            told.contains("`zk-no-recheck` needs 30 seeds, and may take 29"),
            "{told}"
        );
        assert!(told.contains("seeds-at-most = 30, or more"), "{told}");
        // Moments and drawn plans need these, whatever the file expects.
        let told = saying("19").unwrap_err();
        assert!(told.contains("20"), "{told}");
    }

    #[test]
    fn a_saved_case_takes_as_many_seeds_as_its_file() {
        let mut scenario = saying("30").unwrap();
        let text = write(&scenario, &scenario.cases[0]);
        let again = parse("test", &text, &Catalogue::EVERYTHING).unwrap();
        assert_eq!(again.cases[0].seeds_at_most, Some(30));
        scenario.cases[0].recorded = Some(Recorded {
            choices: Vec::new(),
            was: RecordedRun::default(),
        });
        let text = write(&scenario, &scenario.cases[0]);
        assert!(
            !text.contains("seeds-at-most"),
            "a recorded run has one seed"
        );
    }
}
