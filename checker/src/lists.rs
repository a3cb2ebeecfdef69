//! Lists in sentences: a long one is cut, with a count of what is left out, so that no sentence grows with a run.

/// So many are named; of more, some and how many others.
const NAMED: usize = 8;

/// `a, b, c`
pub fn listed(all: &[impl AsRef<str>]) -> String {
    match cut(all) {
        Some(cut) => cut,
        None => joined(all),
    }
}

/// `a, b, and c`, where the last of three or more comes after `, and `.
pub fn named(all: &[impl AsRef<str>], and: &str) -> String {
    match all {
        [] => String::new(),
        [one] => one.as_ref().to_owned(),
        [one, other] => format!("{} and {}", one.as_ref(), other.as_ref()),
        [others @ .., last] => {
            cut(all).unwrap_or_else(|| format!("{}{and}{}", joined(others), last.as_ref()))
        }
    }
}

/// `a, b, c, and 240 more`, of a list that is too long.
fn cut(all: &[impl AsRef<str>]) -> Option<String> {
    let left_out = all.len().checked_sub(NAMED).filter(|left| *left > 0)?;
    // The count takes a place as well.
    let first = joined(&all[..NAMED - 1]);
    Some(format!("{first}, and {} more", left_out + 1))
}

fn joined(all: &[impl AsRef<str>]) -> String {
    let all: Vec<&str> = all.iter().map(AsRef::as_ref).collect();
    all.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(up_to: usize) -> Vec<String> {
        (1..=up_to).map(|number| number.to_string()).collect()
    }

    #[test]
    fn a_short_list_is_whole() {
        assert_eq!(listed(&numbers(8)), "1, 2, 3, 4, 5, 6, 7, 8");
        assert_eq!(named(&numbers(0), ", and "), "");
        assert_eq!(named(&numbers(1), ", and "), "1");
        assert_eq!(named(&numbers(2), ", and "), "1 and 2");
        assert_eq!(named(&numbers(3), ", and "), "1, 2, and 3");
        assert_eq!(named(&numbers(3), " and "), "1, 2 and 3");
    }

    #[test]
    fn a_long_list_is_cut_with_a_count() {
        let cut = "1, 2, 3, 4, 5, 6, 7, and 1235 more";
        assert_eq!(listed(&numbers(1_242)), cut);
        assert_eq!(named(&numbers(1_242), " and "), cut);
        assert_eq!(listed(&numbers(9)), "1, 2, 3, 4, 5, 6, 7, and 2 more");
    }
}
