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

/// At most so many names are worth a look.
pub const SUGGESTED: usize = 5;

/// The names that come nearest to `name`, the nearest first: those that have it as a part, and then those that need
/// the fewest letters changed. Five of them, or all if there are no more.
pub fn nearest_few<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let wanted = name.trim().to_lowercase().replace(['_', ' '], "-");
    let wanted: String = wanted.chars().take(64).collect();
    let mut few: Vec<&str> = candidates.into_iter().collect();
    few.sort_unstable();
    few.dedup();
    few.sort_by_cached_key(|candidate| {
        let has_it = !wanted.is_empty() && candidate.contains(&wanted);
        let distance = damerau_levenshtein(&wanted, candidate);
        let is_slip = distance <= (wanted.chars().count() / 3).max(1);
        (!is_slip, !has_it, distance)
    });
    few.truncate(SUGGESTED);
    few
}

/// So many names are shown whole.
const SHOWN_WHOLE: usize = 8;
/// What shows all that there are, by what is unknown.
const LISTS: &[(&str, &str)] = &[
    ("algorithm", "list algorithms"),
    ("invariant", "list invariants"),
    ("metric", "list metrics"),
    ("moment", "list sometimes"),
    ("fault", "list faults"),
    ("trigger", "list faults"),
    ("request", "list faults"),
    ("class of faults", "list faults"),
    ("client", "list clients"),
    ("scenario", "list scenarios"),
    ("schema", "schema"),
    ("key", "help scenario-keys"),
    ("command", "help"),
    ("command, topic, or word", "help"),
    ("kind", "list algorithms"),
    ("environment variable", "help environment"),
];

/// What there is instead of an unknown name, in a sentence for each line: all, if these are a few, or else the nearest
/// and the command of `program` that lists all.
pub fn what_there_is(what: &str, name: &str, known: &[&str], program: &str) -> Vec<String> {
    let listed = |names: &[&str]| {
        let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
        names.join(", ")
    };
    if known.len() <= SHOWN_WHOLE {
        return vec![format!("there is: {}", listed(known))];
    }
    let mut lines = vec![format!(
        "nearest: {}",
        listed(&nearest_few(name, known.iter().copied()))
    )];
    let list = LISTS.iter().find(|(kind, _)| *kind == what);
    lines.extend(list.map(|(_, list)| format!("`{} {list}` shows all", program)));
    lines
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

    #[test]
    fn the_nearest_few_begin_with_a_slip_and_with_parts() {
        let names = [
            "zk-hardened",
            "zk-no-recheck",
            "pause",
            "progress",
            "a",
            "b",
        ];
        assert_eq!(nearest_few("pauze", names)[0], "pause");
        assert_eq!(nearest_few("recheck", names)[0], "zk-no-recheck");
        assert_eq!(nearest_few("nothing-like-it", names).len(), SUGGESTED);
    }
}
