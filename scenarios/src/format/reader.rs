//! Reads tables field by field, and goes on after a mistake, so that all are reported together.

mod number;

use std::ops::{Range, RangeInclusive};
use std::time::Duration;

use picklock_sim::plan::Rate;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

pub(crate) use super::mistake::Mistakes;
use super::mistake::SHOWN;
pub(super) use super::mistake::{Mistake, expected};
use crate::diagnostic::printable;
use crate::nearest::nearest;
use crate::units::{self, UnitMistake};

/// A value and where it stands.
#[derive(Clone)]
pub(super) struct Item<'a> {
    /// The key that it stands under, or a few words if it stands in a list.
    pub(super) name: &'a str,
    /// Where the value stands.
    pub(super) span: Range<usize>,
    value: &'a DeValue<'a>,
}

/// Whether a duration may be zero.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Zero {
    Allowed,
    Senseless,
}

impl<'a> Item<'a> {
    fn of(name: &'a str, value: &'a Spanned<DeValue<'a>>) -> Self {
        Self {
            name,
            span: value.span(),
            value: value.get_ref(),
        }
    }

    /// Reports that the value is of another type than `wanted`, a few words with an example.
    pub(super) fn wrong_type(&self, wanted: &str, mistakes: &mut Mistakes) {
        let found = match self.value {
            DeValue::String(_) => "a string",
            DeValue::Integer(_) => "a whole number",
            DeValue::Float(_) => "a number that is not whole",
            DeValue::Boolean(_) => "true or false",
            DeValue::Datetime(_) => "a date or time",
            DeValue::Array(_) => "a list",
            DeValue::Table(_) => "a table",
        };
        mistakes.add(
            self.span.clone(),
            Mistake::new(format!("`{}` has the wrong type", printable(self.name)))
                .label(format!("this is {found}"))
                .help(format!("expected {wanted}")),
        );
    }

    pub(super) fn as_text(&self) -> Option<&'a str> {
        match self.value {
            DeValue::String(text) => Some(text),
            DeValue::Integer(_)
            | DeValue::Float(_)
            | DeValue::Boolean(_)
            | DeValue::Datetime(_)
            | DeValue::Array(_)
            | DeValue::Table(_) => None,
        }
    }

    pub(super) fn text(&self, wanted: &str, mistakes: &mut Mistakes) -> Option<&'a str> {
        let text = self.as_text();
        if text.is_none() {
            self.wrong_type(wanted, mistakes);
        }
        text
    }

    /// A string with something in it, without the white space around it.
    pub(super) fn prose(&self, wanted: &str, mistakes: &mut Mistakes) -> Option<String> {
        let text = self.text(wanted, mistakes)?.trim();
        if text.is_empty() {
            mistakes.add(
                self.span.clone(),
                Mistake::new(format!("`{}` is empty", printable(self.name)))
                    .help(format!("expected {wanted}")),
            );
            return None;
        }
        Some(text.to_owned())
    }

    pub(super) fn integer(
        &self,
        within: RangeInclusive<i64>,
        mistakes: &mut Mistakes,
    ) -> Option<i64> {
        let wanted = format!("a whole number from {} to {}", within.start(), within.end());
        let DeValue::Integer(integer) = self.value else {
            self.wrong_type(&wanted, mistakes);
            return None;
        };
        let is_small = match self.as_whole() {
            Some(number) if within.contains(&number) => return Some(number),
            Some(number) => number < *within.start(),
            None => integer.as_str().starts_with('-'),
        };
        let size = if is_small { "small" } else { "large" };
        let mistake = Mistake::new(format!("`{}` is too {size}", printable(self.name)));
        mistakes.add(
            self.span.clone(),
            mistake.help(format!("expected {wanted}")),
        );
        None
    }

    /// The whole number, if it is one, and not too large.
    pub(super) fn as_whole(&self) -> Option<i64> {
        let DeValue::Integer(integer) = self.value else {
            return None;
        };
        i64::from_str_radix(integer.as_str(), integer.radix()).ok()
    }

    pub(super) fn boolean(&self, mistakes: &mut Mistakes) -> Option<bool> {
        if let DeValue::Boolean(given) = self.value {
            Some(*given)
        } else {
            self.wrong_type("true or false", mistakes);
            None
        }
    }

    pub(super) fn measured<T>(
        &self,
        parse: impl FnOnce(&str) -> Result<T, UnitMistake>,
        wanted: &str,
        mistakes: &mut Mistakes,
    ) -> Option<T> {
        let text = self.text(wanted, mistakes)?;
        match parse(text) {
            Ok(value) => Some(value),
            Err(UnitMistake { message, help }) => {
                let title = format!("`{}` cannot be read", printable(self.name));
                let mistake = Mistake::new(title).label(message).help(help);
                mistakes.add(self.span.clone(), mistake);
                None
            }
        }
    }

    pub(super) fn duration(&self, zero: Zero, mistakes: &mut Mistakes) -> Option<Duration> {
        const WANTED: &str = r#"a duration such as "20s" or "5ms""#;
        let duration = self.measured(units::parse_duration, WANTED, mistakes)?;
        if duration.is_zero() && zero == Zero::Senseless {
            let title = format!("`{}` must be longer than zero", printable(self.name));
            mistakes.add(
                self.span.clone(),
                Mistake::new(title).help(format!("expected {WANTED}")),
            );
            return None;
        }
        Some(duration)
    }

    pub(super) fn signed(&self, mistakes: &mut Mistakes) -> Option<(bool, Duration)> {
        const WANTED: &str = r#"a duration such as "20s" or "-5ms""#;
        self.measured(units::parse_signed, WANTED, mistakes)
    }

    /// A range of durations that may be negative, in whole milliseconds.
    pub(super) fn signed_millis_range(&self, mistakes: &mut Mistakes) -> Option<(i64, i64)> {
        const WANTED: &str = r#"a range such as "-5s..5s", or a duration such as "-5ms""#;
        self.measured(units::parse_signed_millis_range, WANTED, mistakes)
    }

    pub(super) fn range(&self, mistakes: &mut Mistakes) -> Option<(Duration, Duration)> {
        const WANTED: &str = r#"a range such as "1ms..5ms", or a duration such as "1ms""#;
        self.measured(units::parse_range, WANTED, mistakes)
    }

    /// A rate: more than nothing, and less than all.
    pub(super) fn rate(&self, mistakes: &mut Mistakes) -> Option<Rate> {
        self.measured(units::parse_rate, r#"a rate such as "5%""#, mistakes)
    }

    /// A number of bytes: a whole number, or a string with a unit.
    pub(super) fn bytes(&self, mistakes: &mut Mistakes) -> Option<u32> {
        if self.as_text().is_none() {
            let most = i64::from(units::MOST_BYTES);
            return u32::try_from(self.integer(1_024..=most, mistakes)?).ok();
        }
        self.measured(units::parse_bytes, r#"bytes such as "4MiB""#, mistakes)
    }

    /// The fields of a table, if it is one.
    pub(super) fn as_table(&self) -> Option<Fields<'a>> {
        match self.value {
            DeValue::Table(table) => Some(Fields::new(table, self.span.clone())),
            DeValue::String(_)
            | DeValue::Integer(_)
            | DeValue::Float(_)
            | DeValue::Boolean(_)
            | DeValue::Datetime(_)
            | DeValue::Array(_) => None,
        }
    }

    pub(super) fn table(&self, wanted: &str, mistakes: &mut Mistakes) -> Option<Fields<'a>> {
        let table = self.as_table();
        if table.is_none() {
            self.wrong_type(wanted, mistakes);
        }
        table
    }

    /// The items of a list, if it is one.
    pub(super) fn as_list(&self) -> Option<Vec<Item<'a>>> {
        match self.value {
            DeValue::Array(items) => {
                Some(items.iter().map(|item| Item::of(self.name, item)).collect())
            }
            DeValue::String(_)
            | DeValue::Integer(_)
            | DeValue::Float(_)
            | DeValue::Boolean(_)
            | DeValue::Datetime(_)
            | DeValue::Table(_) => None,
        }
    }

    pub(super) fn list(&self, wanted: &str, mistakes: &mut Mistakes) -> Option<Vec<Item<'a>>> {
        let items = self.as_list();
        if items.is_none() {
            self.wrong_type(wanted, mistakes);
        }
        items
    }
}

/// The fields of a table, taken one after the other; whatever is left at the end is unknown.
#[derive(Default)]
pub(crate) struct Fields<'a> {
    table: Option<&'a DeTable<'a>>,
    /// Where a field stands that is not in the table.
    fallback: Option<&'a DeTable<'a>>,
    span: Range<usize>,
    known: Vec<&'a str>,
    /// Keys that are known as well, which no help names.
    old: Vec<&'a str>,
    /// Keys that must be there and are not, each with what shows how it is written.
    missing: Vec<(&'a str, String)>,
}

impl<'a> Fields<'a> {
    pub(super) fn new(table: &'a DeTable<'a>, span: Range<usize>) -> Self {
        Self {
            table: Some(table),
            ..Self::none(span)
        }
    }

    /// No fields at all, where there could be some.
    pub(super) fn none(span: Range<usize>) -> Self {
        Self {
            span,
            ..Self::default()
        }
    }

    /// The same, where what is not in this table is taken from another.
    pub(super) fn over(mut self, other: &Self) -> Self {
        self.fallback = other.table;
        self
    }

    /// Where the table stands.
    pub(super) fn span(&self) -> Range<usize> {
        self.span.clone()
    }

    /// Every key with its value and the place of the key, in the order of the file.
    pub(super) fn entries(&self) -> Vec<(&'a str, Range<usize>, Item<'a>)> {
        let entries = self.table.into_iter().flatten().map(|(key, value)| {
            let name: &'a str = key.get_ref();
            (name, key.span(), Item::of(name, value))
        });
        let mut entries: Vec<_> = entries.collect();
        entries.sort_by_key(|(_, span, _)| span.start);
        entries
    }

    pub(super) fn get(&mut self, key: &'static str) -> Option<Item<'a>> {
        self.known.push(key);
        self.peek(key)
    }

    /// A field that older files call otherwise.
    pub(super) fn renamed(&mut self, key: &'static str, old: &'static str) -> Option<Item<'a>> {
        if let Some(item) = self.get(key) {
            return Some(item);
        }
        self.old.push(old);
        self.peek(old)
    }

    /// A field that is taken elsewhere.
    pub(super) fn peek(&self, key: &str) -> Option<Item<'a>> {
        let mut tables = self.table.into_iter().chain(self.fallback);
        let (name, value) = tables.find_map(|table| table.get_key_value(key))?;
        Some(Item::of(name.get_ref(), value))
    }

    /// A field that must be there; `example` shows how it is written. If it is not there,
    /// [`finish`](Self::finish) says so.
    pub(super) fn need(&mut self, key: &'static str, example: &str) -> Option<Item<'a>> {
        let item = self.get(key);
        if item.is_none() {
            self.missing.push((key, example.to_owned()));
        }
        item
    }

    /// A whole number that fits where it goes.
    pub(super) fn count<N: TryFrom<i64>>(
        &mut self,
        key: &'static str,
        within: RangeInclusive<i64>,
        mistakes: &mut Mistakes,
    ) -> Option<N> {
        let number = self.get(key)?.integer(within, mistakes)?;
        N::try_from(number).ok()
    }

    /// Reports every unknown key, and every missing one, unless an unknown key was meant to be it.
    pub(super) fn finish(self, mistakes: &mut Mistakes) {
        let mut entries = self.entries();
        entries.retain(|(key, ..)| !self.known.contains(key) && !self.old.contains(key));
        let mut meant = Vec::new();
        for (index, (key, span, _)) in entries.into_iter().enumerate() {
            if index < SHOWN {
                meant.extend(nearest(key, self.known.iter().copied()));
                mistakes.add(span, Mistake::unknown("key", key, &self.known));
            } else {
                // It is counted and not shown: so many stand before it.
                let unknown = format!("unknown key `{}`", printable(key));
                mistakes.add(span, Mistake::new(unknown));
            }
        }
        for (key, example) in &self.missing {
            if !meant.contains(key) {
                let mistake = Mistake::new(format!("`{key}` is missing"));
                mistakes.add(self.span(), mistake.help(format!("write {example}")));
            }
        }
    }
}
