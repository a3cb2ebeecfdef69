//! Reads what stands behind the keys of a table as their rows say.

use picklock_sim::plan::{
    Holds, Key, KeyTable, KeyspaceEvents, SettingType, Settings, Value, Variant, Words,
};

use super::choice::choose;
use super::reader::{Fields, Item, Mistake, Mistakes, Zero};
use super::sampled_parameters::{is_range, several, whole};
use crate::listed::listed;
use crate::sampled_parameters::{Drawn, SampledParameters};
use crate::units;
use crate::write::toml::spelled;

/// What a table gives of some keys, as far as it can be read.
pub(super) struct Given<'a> {
    found: Vec<Found<'a>>,
}

/// What is given of a key.
struct Found<'a> {
    key: &'static Key,
    item: Item<'a>,
    /// The value, or the first or least of what is drawn.
    first: Value,
    /// What each seed draws, if the file leaves that open.
    drawn: Option<Drawn>,
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
            let item = match (key.is_needed, key.formerly) {
                (true, _) => fields.need(key.name, &example(key).unwrap_or_default()),
                (false, Some(old)) => fields.renamed(key.name, old),
                (false, None) => fields.get(key.name),
            };
            let Some(item) = item else {
                continue;
            };
            let read = drawn_or_value(&item, key, special, mistakes);
            found.extend(read.map(|(first, drawn)| Found {
                key,
                item,
                first,
                drawn,
            }));
        }
        Self { found }
    }

    /// Sets what is given.
    pub(super) fn set(&self, settings: &mut dyn Settings) {
        for (key, value) in self.values(|_| true) {
            settings.set_value(key, Some(value));
        }
    }

    /// Sets what is given, and notes what each seed draws.
    pub(super) fn settle(&self, settings: &mut dyn Settings, open: &mut SampledParameters) {
        self.set(settings);
        for (key, _, drawn) in self.drawn() {
            open.set_drawn(key, drawn.clone());
        }
    }

    /// What these of the keys say.
    pub(super) fn values(&self, of: impl Fn(&Key) -> bool) -> Vec<(&'static str, Value)> {
        let found = self.found.iter().filter(|found| of(found.key));
        found
            .map(|found| (found.key.name, found.first.clone()))
            .collect()
    }

    /// Where a key stands, and what it says.
    pub(super) fn get(&self, key: &str) -> Option<(&Item<'a>, &Value)> {
        let found = self.found.iter().find(|found| found.key.name == key)?;
        Some((&found.item, &found.first))
    }

    /// All that a key may be.
    pub(super) fn all(&self, key: &str) -> impl Iterator<Item = &Value> {
        let found = self.found.iter().filter(move |found| found.key.name == key);
        found.flat_map(|found| {
            let choices = match &found.drawn {
                Some(Drawn::OneOf(choices)) => &choices[..],
                _ => &[],
            };
            std::iter::once(&found.first).chain(choices)
        })
    }

    /// Whether a key is given, and what stands there cannot be read.
    pub(super) fn is_mistaken(&self, fields: &Fields, key: &str) -> bool {
        fields.peek(key).is_some() && self.get(key).is_none()
    }

    /// What each seed draws, by the keys.
    pub(super) fn drawn(&self) -> impl Iterator<Item = (&'static str, &Item<'a>, &Drawn)> {
        let found = self.found.iter();
        found.filter_map(|found| Some((found.key.name, &found.item, found.drawn.as_ref()?)))
    }

    /// What may stand behind each key: what is drawn, or the only value.
    pub(super) fn each(&self) -> impl Iterator<Item = (&'static str, Drawn)> {
        self.found.iter().map(|found| {
            let only = || Drawn::Only(found.first.clone());
            (found.key.name, found.drawn.clone().unwrap_or_else(only))
        })
    }

    /// What is left open of settings of a service, for each seed to choose.
    pub(super) fn choices(&self) -> Vec<(&'static str, Vec<Value>)> {
        let choices = self.drawn().filter_map(|(key, _, drawn)| match drawn {
            Drawn::OneOf(choices) => Some((key, choices.clone())),
            Drawn::Only(_) | Drawn::Between(..) => None,
        });
        choices.collect()
    }
}

/// Reads what stands behind a key: the value, or the first or least of what each seed draws, and that.
fn drawn_or_value(
    item: &Item,
    key: &Key,
    special: &[Special],
    mistakes: &mut Mistakes,
) -> Option<(Value, Option<Drawn>)> {
    let better = special.iter().find(|(name, _)| *name == key.name);
    let one = |item: &Item, holds: &Holds, mistakes: &mut Mistakes| match better
        .and_then(|(_, mistake)| mistake(item))
    {
        Some(mistake) => {
            mistakes.add(item.span.clone(), mistake);
            None
        }
        None => value(item, holds, special, mistakes),
    };
    let (from, to) = match key.holds {
        Holds::OneOrList(holds) => {
            let read = several(item, mistakes, |item, mistakes| one(item, holds, mistakes))?;
            let choices = read.choices;
            return Some((
                read.first,
                (!choices.is_empty()).then_some(Drawn::OneOf(choices)),
            ));
        }
        Holds::WholeOrRange(least, most) => {
            let (from, to) = whole(item, least..=most, mistakes)?;
            (Value::Whole(from.into()), Value::Whole(to.into()))
        }
        Holds::Hold | Holds::DurationOrRange if is_range(item) => {
            let (from, to) = item.range(mistakes)?;
            (Value::Time(from), Value::Time(to))
        }
        Holds::DurationOrRange => {
            return Some((one(item, &Holds::DurationOrZero, mistakes)?, None));
        }
        Holds::SignedRange => {
            let (from, to) = item.signed_millis_range(mistakes)?;
            (Value::Millis(from), Value::Millis(to))
        }
        ref holds => return Some((one(item, holds, mistakes)?, None)),
    };
    let drawn = (from != to).then(|| Drawn::Between(from.clone(), to));
    Some((from, drawn))
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
        Holds::Range => item
            .range(mistakes)
            .map(|(from, to)| Value::Range(from, to)),
        Holds::Hold => hold(item, mistakes),
        Holds::Reads => reads(item, mistakes),
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

/// How long a section lasts.
fn hold(item: &Item, mistakes: &mut Mistakes) -> Option<Value> {
    let is_word = |text: &str| text.starts_with(|c: char| c.is_ascii_alphabetic());
    if item.as_text().is_some_and(is_word) {
        let chosen = choose(item, "hold", &[("settled", ())], mistakes)?;
        return Some(Value::Named(chosen.name, None));
    }
    item.duration(Zero::Allowed, mistakes).map(Value::Time)
}

/// How often a contender takes the lock to read.
fn reads(item: &Item, mistakes: &mut Mistakes) -> Option<Value> {
    const WANTED: &str = r#""never", "always", or a share such as "50%""#;
    item.measured(units::parse_reads, WANTED, mistakes)?
        .to_value()
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
