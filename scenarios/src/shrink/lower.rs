//! Candidates for a smaller number.

/// Lower numbers to try in the place of one.
pub(super) fn lower(number: u32, least: u32) -> Vec<u32> {
    let mut lower: Vec<u32> = (least..number.min(least + 3)).collect();
    let (half, less) = (number / 2, number.saturating_sub(1));
    lower.extend([half, less].into_iter().filter(|to| *to > least + 2));
    lower.dedup();
    lower
}
