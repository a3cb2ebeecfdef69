//! What real Sentinels write into their logs.

use std::time::Duration;

const DAY: Duration = Duration::from_secs(86_400);

/// Whether a line of a log says this: `12:X 21 Nov 2026 15:35:19.123 # +sdown master mymaster 127.0.0.1 6379`.
pub(super) fn is_about(line: &str, event: &str) -> bool {
    let mut words = line.split_whitespace().skip(6);
    event.split(' ').all(|wanted| words.next() == Some(wanted))
}

/// How long after a time of day a line was written.
pub(super) fn since(line: &str, start: Duration) -> Option<Duration> {
    let time = line.split_whitespace().nth(4)?;
    let mut parts = time.split([':', '.']);
    let mut part = || parts.next()?.parse::<u64>().ok();
    let (hours, minutes, seconds, millis) = (part()?, part()?, part()?, part()?);
    let of_day = Duration::from_millis(((hours * 60 + minutes) * 60 + seconds) * 1_000 + millis);
    // Midnight may lie between them.
    let after = of_day.checked_sub(start);
    Some(after.unwrap_or_else(|| of_day + DAY - start))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &str = "12:X 21 Nov 2026 00:00:01.250 # +sdown master mymaster 127.0.0.1 6379";

    #[test]
    fn a_line_of_a_log_says_what_happened_and_when() {
        assert!(is_about(LINE, "+sdown"));
        assert!(is_about(LINE, "+sdown master"));
        assert!(!is_about(LINE, "+sdown slave"));
        assert!(!is_about(LINE, "+odown"));
        let midnight = DAY - Duration::from_secs(1);
        assert_eq!(since(LINE, midnight), Some(Duration::from_millis(2_250)));
    }
}
