//! Checks that a replayed run is the recorded one, or the one that the command names.

use crate::scenarios::{Case, RecordedRun};
use crate::sim::Simulated;

use crate::cli::failure::Failure;

/// Whether it is, and what to say about that.
pub struct IdentityCheck {
    /// It is, as far as is known.
    pub same: bool,
    /// One line each.
    pub remarks: Vec<String>,
}

impl IdentityCheck {
    /// Compares a run with what is known of it: from the command, from a recorded run, or from a plan that was saved.
    pub fn of(case: &Case, seed: u64, asked: Option<&RecordedRun>, simulated: &Simulated) -> Self {
        let recorded = case.recorded.as_ref();
        let saved = case.saved.as_ref().filter(|saved| saved.seed == seed);
        let known = [
            asked.map(|was| ("found", was)),
            recorded.map(|recorded| ("recorded", &recorded.was)),
            saved.map(|saved| ("saved", &saved.was)),
        ];
        let misfit = recorded.and_then(|recorded| recorded.misfit(&simulated.choices));
        let mut known = known.into_iter().flatten();
        let Some((done, was)) = known.next() else {
            return Self {
                same: true,
                remarks: Vec::new(),
            };
        };
        let (hash, this) = (simulated.hash, env!("CARGO_PKG_VERSION"));
        let version = was
            .other_version()
            .map(|other| format!("it was {done} with picklock {other}, and this is {this}"));
        let (same, first) = match was.hash {
            Some(was) if was == hash => (true, None),
            Some(was) => {
                let first = format!(
                    "this is not the run that was {done}: its hash is {hash:016x}, and not {was:016x}"
                );
                (false, Some(first))
            }
            None => (misfit.is_none(), None),
        };
        let misfit = misfit.filter(|_| !same);
        let unexplained = !same && version.is_none() && misfit.is_none();
        let unexplained = unexplained
            .then(|| "the file, the algorithm, or picklock itself has been changed".to_owned());
        let remarks = [first, version, misfit, unexplained];
        Self {
            same,
            remarks: remarks.into_iter().flatten().collect(),
        }
    }

    /// Refuses a run that is another one.
    ///
    /// # Errors
    ///
    /// What it is, and why it may have become that.
    pub fn or_refuse(self) -> Result<(), Failure> {
        let mut remarks = self.remarks.into_iter();
        match (self.same, remarks.next()) {
            (false, Some(problem)) => Err(Failure::Usage {
                problem,
                hints: remarks.collect(),
            }),
            (true, _) | (false, None) => Ok(()),
        }
    }
}

/// Reads `VERSION:HASH`, as a report says it.
///
/// # Errors
///
/// What would be right.
pub fn parse(text: &str) -> Result<RecordedRun, String> {
    let expected = || "expected a version and a hash, such as 0.1.0:ab8651e6d9bf452d".to_owned();
    let (version, hash) = text.rsplit_once(':').ok_or_else(expected)?;
    let digits = hash.len() == 16 && hash.bytes().all(|digit| digit.is_ascii_hexdigit());
    let hash = u64::from_str_radix(hash, 16).ok().filter(|_| digits);
    if version.is_empty() || hash.is_none() {
        return Err(expected());
    }
    let picklock = Some(version.to_owned());
    Ok(RecordedRun { hash, picklock })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_and_a_hash_are_read_strictly() {
        let was = parse("0.1.0:00c0ffee00c0ffee").unwrap();
        assert_eq!(was.hash, Some(0x00c0_ffee_00c0_ffee));
        assert_eq!(was.picklock.as_deref(), Some("0.1.0"));
        for text in [
            "",
            "0.1.0",
            "0.1.0:",
            ":00c0ffee00c0ffee",
            "0.1.0:c0ffee",
            "0.1.0:+0c0ffee00c0ffee",
            "0.1.0:00c0ffee00c0fféé",
        ] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
