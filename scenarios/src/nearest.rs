//! Suggests the known name that is nearest to a misspelt one.

use strsim::damerau_levenshtein;

/// The candidate nearest to `name`, if one is near enough to be worth a question.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    const LONGEST_NAME: usize = 64;
    if name.is_empty() || name.len() > LONGEST_NAME {
        return None;
    }
    let name = name.trim().to_lowercase().replace(['_', ' '], "-");
    let allowed = (name.chars().count() / 3).max(1);
    candidates
        .into_iter()
        .map(|candidate| (damerau_levenshtein(&name, candidate), candidate))
        .filter(|(distance, candidate)| {
            *distance <= allowed && *distance < candidate.chars().count()
        })
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_is_near_and_another_word_is_not() {
        let names = ["pause", "crash", "expire-session"];
        assert_eq!(nearest("pauze", names), Some("pause"));
        assert_eq!(nearest("Expire_Session", names), Some("expire-session"));
        assert_eq!(nearest("explode", names), None);
        assert_eq!(nearest("", names), None);
        assert_eq!(nearest("q", ["s"]), None);
    }
}
