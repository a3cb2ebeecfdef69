//! Exit codes, by name.

use crate::checker::outcome::Standing;

/// Everything came as the scenarios expect it.
pub const AS_EXPECTED: u8 = 0;
/// Something did not.
pub const NOT_AS_EXPECTED: u8 = 1;
/// The command or a file is wrong; nothing was found out.
pub const BAD_INPUT: u8 = 2;
/// Nothing was unexpected, but not everything could be told.
pub const UNDECIDED: u8 = 3;
/// Two runs of one seed differ.
pub const NOT_DETERMINISTIC: u8 = 4;
/// A run broke off: code of the recipe, or of picklock itself, panicked or would not come to an end.
pub const BROKEN: u8 = 5;
/// An interrupt, as a shell reports it of a program that Ctrl-C ended.
pub const INTERRUPTED: u8 = 130;

/// What all outcomes together mean: one that broke off outweighs one that is not as expected, and that one outweighs
/// one that cannot tell. Cases that were skipped count for nothing, and where all were, nothing was found out.
pub fn of(standings: impl IntoIterator<Item = Standing>) -> u8 {
    let told = |standing: &Standing| *standing != Standing::Skipped;
    let standings: Vec<Standing> = standings.into_iter().collect();
    let all_skipped = !standings.is_empty() && !standings.iter().any(told);
    match standings.into_iter().filter(told).max() {
        None if all_skipped => UNDECIDED,
        None | Some(Standing::Holds | Standing::AsExpected | Standing::Skipped) => AS_EXPECTED,
        Some(Standing::Undecided) => UNDECIDED,
        Some(Standing::Fail) => NOT_AS_EXPECTED,
        Some(Standing::Broken) => BROKEN,
    }
}

/// What the outcomes of one shard mean. What it cannot tell, all shards together may.
pub fn of_shard(standings: impl IntoIterator<Item = Standing>) -> u8 {
    match of(standings) {
        UNDECIDED => AS_EXPECTED,
        told => told,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_broken_outweighs_what_is_not_as_expected_and_that_what_is_undecided() {
        let broken = [Standing::Fail, Standing::Broken, Standing::Undecided];
        assert_eq!((of(broken), of_shard(broken)), (BROKEN, BROKEN));
        let all = [Standing::Fail, Standing::Undecided, Standing::Holds];
        assert_eq!(of(all), NOT_AS_EXPECTED);
        assert_eq!(of([Standing::Holds, Standing::Undecided]), UNDECIDED);
        assert_eq!(of([Standing::Holds, Standing::AsExpected]), AS_EXPECTED);
    }

    #[test]
    fn what_was_skipped_is_not_red_and_alone_it_is_not_green() {
        let skipped = [Standing::Skipped, Standing::Holds];
        assert_eq!(of(skipped), AS_EXPECTED);
        assert_eq!(of([Standing::Skipped, Standing::Fail]), NOT_AS_EXPECTED);
        assert_eq!(of([Standing::Skipped]), UNDECIDED);
        assert_eq!(of_shard([Standing::Skipped]), AS_EXPECTED);
    }
}
