//! How a progress bar looks.

use std::time::Duration;

use indicatif::ProgressStyle;

/// How the bar looks: how many of these are done, or, if their number is unknown, for how long it has gone on.
pub(super) fn style(counted: Option<&str>) -> ProgressStyle {
    let template = match counted {
        Some(one) => format!("  {{wide_bar}} {{pos}}/{{len}} {one}s  {{left}}  {{msg:36}}"),
        None => "  {spinner} {elapsed}  {msg}".to_owned(),
    };
    style_of(&template)
}

/// How much of the time is over.
pub(super) const TIME: &str = "  {wide_bar} {pos} s of {len} s  {msg:36}";

/// The same, of a search, and how many runs are done.
pub(super) const TIME_AND_RUNS: &str = "  {wide_bar} {pos} s of {len} s, {prefix}  {msg:36}";

pub(super) fn style_of(template: &str) -> ProgressStyle {
    // The templates are all but constants, so a mistake in one would show at once.
    let style = ProgressStyle::with_template(template);
    let style = style.unwrap_or_else(|_| ProgressStyle::default_bar());
    style.with_key(
        "left",
        |state: &indicatif::ProgressState, text: &mut dyn std::fmt::Write| {
            // Writing to a string cannot fail.
            let _ = text.write_str(&left(state.pos(), state.eta()));
        },
    )
}

/// How long it takes yet; nothing before something is done, for nothing is known of it.
fn left(done: u64, eta: Duration) -> String {
    match (done, eta.as_secs()) {
        (0, _) => String::new(),
        (_, 0) => "less than 1 s left".to_owned(),
        (_, seconds) => format!("{seconds} s left"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn before_anything_is_done_no_time_is_left_to_tell() {
        assert_eq!(left(0, Duration::ZERO), "");
        assert_eq!(left(2, Duration::from_millis(10)), "less than 1 s left");
        assert_eq!(left(2, Duration::from_secs(3)), "3 s left");
    }

    #[test]
    fn every_look_of_the_bar_can_be_drawn() {
        for template in [TIME, TIME_AND_RUNS] {
            assert!(ProgressStyle::with_template(template).is_ok(), "{template}");
        }
    }
}
