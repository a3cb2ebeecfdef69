//! Runs that broke off: the code of a recipe, or picklock's own, panicked or would not come to an end.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Why a run broke off.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Broken {
    /// Whose code ran, if it was that of a contender: `contender-2's acquire`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub who: Option<String>,
    /// What it did: `panicked: index out of bounds`.
    pub what: String,
    /// Where in the source, if that is known: `src/my_lock.rs:41:9`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
}

impl Broken {
    /// No more characters of a message are told.
    const MOST: usize = 2_000;

    /// A panic with this message, which becomes one line.
    pub fn panic(message: &str, place: Option<String>) -> Self {
        let words: Vec<&str> = message.split_whitespace().collect();
        let mut message = words.join(" ");
        if let Some((most, _)) = message.char_indices().nth(Self::MOST) {
            message.truncate(most);
            message.push('…');
        }
        Self {
            who: None,
            what: format!("panicked: {message}"),
            place,
        }
    }
}

impl fmt::Display for Broken {
    /// `contender-2's acquire panicked: index out of bounds (src/my_lock.rs:41:9)`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let who = self.who.as_deref().unwrap_or("picklock");
        write!(f, "{who} {}", self.what)?;
        match &self.place {
            Some(place) => write!(f, " ({place})"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_one_line_with_its_place() {
        let message = "assertion failed\n  left: 1\n right: 2";
        let mut why = Broken::panic(message, Some("src/mine.rs:4:5".to_owned()));
        assert_eq!(
            why.to_string(),
            "picklock panicked: assertion failed left: 1 right: 2 (src/mine.rs:4:5)"
        );
        why.who = Some("contender-2's acquire".to_owned());
        why.place = None;
        assert_eq!(
            why.to_string(),
            "contender-2's acquire panicked: assertion failed left: 1 right: 2"
        );
        let long = Broken::panic(&"é".repeat(3_000), None);
        assert!(long.what.ends_with("é…"), "{}", long.what.len());
    }
}
