//! Patterns, as `KEYS`, `SCAN`, and `PSUBSCRIBE` take them.

/// Whether a text fits a pattern: `*`, `?`, `[a-c]`, `[^a]`, and a backslash before what is to be taken as it is.
pub(crate) fn fits(pattern: &[u8], text: &[u8]) -> bool {
    let Some((&first, rest)) = pattern.split_first() else {
        return text.is_empty();
    };
    match first {
        b'*' => (0..=text.len()).any(|skipped| fits(rest, &text[skipped..])),
        b'?' => !text.is_empty() && fits(rest, &text[1..]),
        b'[' => {
            let Some((&letter, after)) = text.split_first() else {
                return false;
            };
            let (found, rest) = in_class(rest, letter);
            found && fits(rest, after)
        }
        b'\\' if !rest.is_empty() => text.first() == rest.first() && fits(&rest[1..], &text[1..]),
        letter => text.first() == Some(&letter) && fits(rest, &text[1..]),
    }
}

/// Whether a letter is in a class, whose bracket is open, and what follows the class.
fn in_class(pattern: &[u8], letter: u8) -> (bool, &[u8]) {
    let (not, mut rest) = match pattern.split_first() {
        Some((b'^', rest)) => (true, rest),
        _ => (false, pattern),
    };
    let mut found = false;
    loop {
        match rest {
            [] => return (found != not, rest),
            [b']', after @ ..] => return (found != not, after),
            [b'\\', exact, after @ ..] => {
                found |= *exact == letter;
                rest = after;
            }
            [from, b'-', to, after @ ..] => {
                let (low, high) = (from.min(to), from.max(to));
                found |= (low..=high).contains(&&letter);
                rest = after;
            }
            [exact, after @ ..] => {
                found |= *exact == letter;
                rest = after;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_fit_what_redis_says_they_fit() {
        let fit = |pattern: &str, text: &str| fits(pattern.as_bytes(), text.as_bytes());
        assert!(fit("lock:*", "lock:a") && fit("*", "") && fit("h?llo", "hello"));
        assert!(fit("h[ae]llo", "hallo") && fit("h[^e]llo", "hallo") && fit("h[a-b]llo", "hbllo"));
        assert!(fit("a\\*", "a*") && !fit("a\\*", "ab"));
        assert!(!fit("lock:*", "lok:a") && !fit("h[^e]llo", "hello") && !fit("a", "ab"));
    }
}
