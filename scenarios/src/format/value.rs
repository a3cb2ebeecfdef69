//! Reads what stands behind the keys of a table as their rows say.

use picklock_sim::plan::{Holds, Key, KeyTable, KeyspaceEvents, Settings, Value, Variant, Words};

use super::choice::choose;
use super::reader::{Fields, Item, Mistake, Mistakes, Zero};
use super::sampled_parameters::{Several, several};
use crate::listed::listed;
use crate::write::toml::spelled;

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
            let item = match key.is_needed {
                true => fields.need(key.name, &example(key).unwrap_or_default()),
                false => fields.get(key.name),
            };
            let Some(item) = item else {
                continue;
            };
            let one = |item: &Item, holds: &Holds, mistakes: &mut Mistakes| {
                let better = special.iter().find(|(name, _)| *name == key.name);
                match better.and_then(|(_, mistake)| mistake(item)) {
                    Some(mistake) => {
                        mistakes.add(item.span.clone(), mistake);
                        None
                    }
                    None => value(item, holds, special, mistakes),
                }
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
        for (key, value) in self.values(|_| true) {
            settings.set_value(key, Some(value));
        }
    }

    /// What these of the keys say.
    pub(super) fn values(&self, of: impl Fn(&Key) -> bool) -> Vec<(&'static str, Value)> {
        let found = self.found.iter().filter(|(key, ..)| of(key));
        found
            .map(|(key, _, read)| (key.name, read.first.clone()))
            .collect()
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
fn value(
    item: &Item,
    holds: &Holds,
    special: &[Special],
    mistakes: &mut Mistakes,
) -> Option<Value> {
    match *holds {
        Holds::Boolean => item.boolean(mistakes).map(Value::Flag),
        Holds::Whole(least, most) => item.integer(least..=most, mistakes).map(Value::Whole),
        Holds::OneOf(numbers) => one_of(item, numbers, mistakes).map(Value::Whole),
        Holds::Bytes => item.bytes(mistakes).map(|bytes| Value::Whole(bytes.into())),
        Holds::Duration => item.duration(Zero::Senseless, mistakes).map(Value::Time),
        Holds::DurationOrZero => item.duration(Zero::Allowed, mistakes).map(Value::Time),
        Holds::KeyspaceEvents => keyspace_events(item, mistakes).map(Value::Text),
        Holds::Words(words) => word(item, words, mistakes),
        Holds::Variants(what, variants) => variant(item, (what, variants), special, mistakes),
        Holds::Table(of) => {
            let needed = of.keys().filter(|key| key.is_needed);
            let keys: Vec<String> = needed.filter_map(example).collect();
            let wanted = format!("a table such as {{ {} }}", keys.join(", "));
            table(item.table(&wanted, mistakes)?, of, special, mistakes)
        }
        ref other => unreachable!("no key of settings holds {other:?}"),
    }
}

/// How a key is written.
fn example(key: &Key) -> Option<String> {
    Some(format!("{} = {}", key.name, spelled(&(key.default)()?)))
}

/// Reads the fields of a table; `None` if one is missing that must be there.
fn table(
    mut fields: Fields,
    of: &KeyTable,
    special: &[Special],
    mistakes: &mut Mistakes,
) -> Option<Value> {
    let given = Given::read(&mut fields, of.keys(), special, mistakes);
    fields.finish(mistakes);
    let mut needed = of.keys().filter(|key| key.is_needed);
    let is_whole = needed.all(|key| given.get(key.name).is_some());
    is_whole.then(|| Value::Table(given.values(|_| true)))
}

/// Reads one of these, and what belongs to it.
fn variant(
    item: &Item,
    (what, variants): (&str, &[Variant]),
    special: &[Special],
    mistakes: &mut Mistakes,
) -> Option<Value> {
    let named: Vec<_> = variants
        .iter()
        .map(|variant| (variant.name, variant.holds))
        .collect();
    let chosen = choose(item, what, &named, mistakes)?;
    let body = match chosen.kind {
        None => {
            chosen.bare(mistakes);
            return Some(Value::Named(chosen.name, None));
        }
        Some(Holds::Whole(least, most)) => Value::Whole(chosen.integer(least..=most, mistakes)?),
        Some(Holds::Duration) => Value::Time(chosen.duration(Zero::Senseless, mistakes)?),
        Some(Holds::Table(of)) => table(chosen.fields(mistakes)?, of, special, mistakes)?,
        Some(other) => unreachable!("nothing that is named has {other:?}"),
    };
    Some(Value::Named(chosen.name, Some(Box::new(body))))
}

/// The letters of `notify-keyspace-events`. Events that can reach no client are a mistake.
fn keyspace_events(item: &Item, mistakes: &mut Mistakes) -> Option<String> {
    let letters = item.text("letters, such as \"Ex\"", mistakes)?;
    let mistake = match KeyspaceEvents::parse(letters) {
        Ok(events) if letters.is_empty() || !events.is_none() => return Some(letters.to_owned()),
        Ok(_) => Mistake::new("no client would be sent anything")
            .label("this names no channel, or no event")
            .help("say `K` or `E`, and which events: \"Exg\""),
        Err('m') => Mistake::new("keys that are looked for in vain are not modelled")
            .label("`m` stands for them")
            .help("leave it out"),
        Err(letter) => Mistake::new(format!("`{letter}` stands for no event"))
            .label("no such letter")
            .help("take some of `Ag$lshzxetdKEn`, such as \"Exg\""),
    };
    mistakes.add(item.span.clone(), mistake);
    None
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
