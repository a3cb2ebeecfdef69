//! Reads what stands behind the keys of a table as their rows say.

use picklock_sim::plan::{Holds, Key, Settings, Value, Words};

use super::choice::choose;
use super::reader::{Fields, Item, Mistake, Mistakes, Zero};
use super::sampled_parameters::{Several, several};
use crate::listed::listed;

/// What a table gives of some keys, as far as it can be read.
pub(super) struct Given<'a> {
    found: Vec<(&'static Key, Item<'a>, Several<Value>)>,
}

/// A key of which more can be said than its row does if its value is none.
pub(super) type Special = (&'static str, fn(&Item) -> Option<Mistake>);

impl<'a> Given<'a> {
    /// Reads what is given of these keys.
    pub(super) fn read(
        fields: &mut Fields<'a>,
        keys: impl IntoIterator<Item = &'static Key>,
        special: &[Special],
        mistakes: &mut Mistakes,
    ) -> Self {
        let mut found = Vec::new();
        for key in keys {
            let Some(item) = fields.get(key.name) else {
                continue;
            };
            let special = special.iter().find(|(name, _)| *name == key.name);
            let one = |item: &Item, holds: &Holds, mistakes: &mut Mistakes| match special
                .and_then(|(_, mistake)| mistake(item))
            {
                Some(mistake) => {
                    mistakes.add(item.span.clone(), mistake);
                    None
                }
                None => value(item, holds, mistakes),
            };
            let read = match key.holds {
                Holds::OneOrList(holds) => {
                    several(&item, mistakes, |item, mistakes| one(item, holds, mistakes))
                }
                ref holds => one(&item, holds, mistakes).map(|first| Several {
                    first,
                    choices: Vec::new(),
                }),
            };
            found.extend(read.map(|read| (key, item, read)));
        }
        Self { found }
    }

    /// Sets what is given.
    pub(super) fn set(&self, settings: &mut dyn Settings) {
        for (key, _, Several { first, .. }) in &self.found {
            settings.set_value(key.name, Some(first.clone()));
        }
    }

    /// Where a key stands, and what it says.
    pub(super) fn get(&self, key: &str) -> Option<(&Item<'a>, &Value)> {
        let (_, item, read) = self.found.iter().find(|(known, ..)| known.name == key)?;
        Some((item, &read.first))
    }

    /// All that a key may be.
    pub(super) fn all(&self, key: &str) -> impl Iterator<Item = &Value> {
        let found = self
            .found
            .iter()
            .filter(move |(known, ..)| known.name == key);
        found.flat_map(|(_, _, read)| std::iter::once(&read.first).chain(&read.choices))
    }

    /// Whether a key is given, and what stands there cannot be read.
    pub(super) fn is_mistaken(&self, fields: &Fields, key: &str) -> bool {
        fields.peek(key).is_some() && self.get(key).is_none()
    }

    /// What is left open, for each seed to choose.
    pub(super) fn choices(&self) -> Vec<(&'static str, Vec<Value>)> {
        let found = self.found.iter();
        let open = found.filter(|(_, _, read)| !read.choices.is_empty());
        open.map(|(key, _, read)| (key.name, read.choices.clone()))
            .collect()
    }
}

/// Reads what can stand behind a key of settings.
fn value(item: &Item, holds: &Holds, mistakes: &mut Mistakes) -> Option<Value> {
    match *holds {
        Holds::Boolean => item.boolean(mistakes).map(Value::Flag),
        Holds::Whole(least, most) => item.integer(least..=most, mistakes).map(Value::Whole),
        Holds::OneOf(numbers) => one_of(item, numbers, mistakes).map(Value::Whole),
        Holds::Bytes => item.bytes(mistakes).map(|bytes| Value::Whole(bytes.into())),
        Holds::Duration => item.duration(Zero::Senseless, mistakes).map(Value::Time),
        Holds::DurationOrZero => item.duration(Zero::Allowed, mistakes).map(Value::Time),
        Holds::Words(words) => word(item, words, mistakes),
        ref other => unreachable!("no key of settings holds {other:?} without a reader of its own"),
    }
}

/// Reads one of these numbers.
fn one_of(item: &Item, numbers: &[i64], mistakes: &mut Mistakes) -> Option<i64> {
    let names: Vec<String> = numbers.iter().map(i64::to_string).collect();
    let wanted = listed(&names);
    let Some(number) = item.as_whole() else {
        item.wrong_type(&wanted, mistakes);
        return None;
    };
    if !numbers.contains(&number) {
        let mistake = Mistake::new(format!("`{}` cannot be {number}", item.name));
        mistakes.add(
            item.span.clone(),
            mistake.help(format!("expected {wanted}")),
        );
        return None;
    }
    Some(number)
}

/// Reads one of these names.
fn word(item: &Item, words: Words, mistakes: &mut Mistakes) -> Option<Value> {
    let names: Vec<_> = (words.names)().into_iter().map(|name| (name, ())).collect();
    let chosen = choose(item, words.what, &names, mistakes)?;
    chosen.bare(mistakes);
    Some(Value::Named(chosen.name, None))
}
