//! How long things take, where it depends on chance.

use std::fmt;
use std::time::Duration;

/// Real servers share this machine with others.
const MARGIN: Duration = Duration::from_millis(300);

/// How long something took, several times.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Times {
    /// In the order in which they were taken.
    pub all: Vec<Duration>,
}

impl Times {
    fn least(&self) -> Duration {
        self.all.iter().min().copied().unwrap_or_default()
    }

    fn most(&self) -> Duration {
        self.all.iter().max().copied().unwrap_or_default()
    }

    fn median(&self) -> Duration {
        let mut all = self.all.clone();
        all.sort_unstable();
        all.get(all.len() / 2).copied().unwrap_or_default()
    }
}

impl fmt::Display for Times {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let millis = |time: Duration| time.as_millis();
        write!(
            out,
            "{} to {} ms, median {}, {} times",
            millis(self.least()),
            millis(self.most()),
            millis(self.median()),
            self.all.len()
        )
    }
}

/// How long something took on real servers and in the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
    /// What was measured.
    pub what: String,
    /// On real servers.
    pub real: Times,
    /// In the model.
    pub model: Times,
}

impl Span {
    /// Nothing is known of it yet.
    pub(crate) fn of(what: impl Into<String>) -> Self {
        Self {
            what: what.into(),
            real: Times::default(),
            model: Times::default(),
        }
    }

    /// Whether most of the real times lie within the model's, give or take what this machine needs. It may be busy with
    /// something else for a while.
    pub fn agrees(&self) -> bool {
        self.real.all.len() > 2 * self.outside()
    }

    /// How many real times do not.
    pub fn outside(&self) -> usize {
        let least = self.model.least().saturating_sub(MARGIN);
        let most = self.model.most() + MARGIN;
        let all = self.real.all.iter();
        all.filter(|time| !(least..=most).contains(time)).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(millis: &[u64]) -> Times {
        let all = millis.iter().copied().map(Duration::from_millis).collect();
        Times { all }
    }

    #[test]
    fn a_time_that_is_late_is_forgiven_if_most_are_not() {
        let span = |real: &[u64]| Span {
            what: String::new(),
            real: times(real),
            model: times(&[1_000, 2_000]),
        };
        assert!(span(&[710, 1_500, 2_290]).agrees());
        let late = span(&[1_500, 9_000, 1_600]);
        assert!(late.agrees());
        assert_eq!(late.outside(), 1);
        assert!(!span(&[1_500, 9_000]).agrees());
        assert!(!span(&[]).agrees(), "what never happened does not agree");
    }
}
