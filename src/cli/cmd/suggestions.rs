//! Suggestions for a name that nothing has.

use crate::scenarios::nearest;

/// At most so many are worth a look.
const MOST: usize = 5;

/// Hints of the names that come near: the one that a slip of the finger makes of it, and those that have a part of it.
pub(super) fn suggestions<'a>(
    name: &str,
    names: impl Iterator<Item = &'a str> + Clone,
) -> Vec<String> {
    let wanted = name.trim().to_lowercase().replace(['_', ' '], "-");
    let slip = nearest(name, names.clone());
    let has_it = |known: &&str| !wanted.is_empty() && known.contains(&wanted);
    let mut parts: Vec<&str> = names
        .filter(has_it)
        .filter(|known| Some(*known) != slip)
        .collect();
    parts.sort_by_key(|known| known.len());
    parts.truncate(MOST);
    let slip = slip.map(|slip| format!("did you mean `{slip}`?"));
    let parts = (!parts.is_empty()).then(|| format!("there is: {}", parts.join(", ")));
    slip.into_iter().chain(parts).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_and_a_part_of_a_name_are_near_and_another_word_is_not() {
        let names = ["zk-hardened", "zk-no-recheck", "pause", "progress"];
        let told = |name| suggestions(name, names.iter().copied());
        assert_eq!(told("pauze"), ["did you mean `pause`?"]);
        assert_eq!(told("recheck"), ["there is: zk-no-recheck"]);
        assert_eq!(told("zk"), ["there is: zk-hardened, zk-no-recheck"]);
        assert_eq!(told("etcd"), [""; 0]);
    }
}
