//! What is so if a key is left out.

use picklock_sim::plan::{Key, Value};

use crate::write::toml::spelled;

/// In Markdown; empty if there is nothing to say.
pub fn default_of(key: &Key) -> String {
    match (key.without, (key.default)().filter(|_| !key.is_needed)) {
        ("", Some(value @ Value::Whole(_))) => spelled(&value).to_string(),
        ("", Some(value)) => format!("`{}`", spelled(&value)),
        (without, _) => without.to_owned(),
    }
}

/// The value that is taken, as a file would write it, if there is one.
pub fn default_value(key: &Key) -> Option<String> {
    let default = default_of(key);
    if default.bytes().all(|byte| byte.is_ascii_digit()) && !default.is_empty() {
        return Some(default);
    }
    Some(default.strip_prefix('`')?.strip_suffix('`')?.to_owned())
}
