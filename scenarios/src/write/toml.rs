//! What scenario files are made of, as values of TOML.

use std::time::Duration;

use picklock_sim::plan;
use toml_edit::{Item, Table, Value};

use crate::describe::signed_millis;
use crate::sampled_parameters::Drawn;
use crate::units::{write_duration, write_range};

/// Tables, field by field.
pub(super) trait With {
    /// The same with one more field, if there is a value. A key with points in it is written with them:
    /// `expect.fifo = "holds"`.
    fn with(self, key: &str, value: impl Into<Option<Value>>) -> Self;
}

impl With for Table {
    fn with(mut self, key: &str, value: impl Into<Option<Value>>) -> Self {
        if let Some(value) = value.into() {
            put(&mut self, key, value);
        }
        self
    }
}

fn put(table: &mut Table, key: &str, value: Value) {
    let Some((outer, inner)) = key.split_once('.') else {
        table.insert(key, value.into());
        return;
    };
    let dotted = table.entry(outer).or_insert_with(|| {
        let mut dotted = Table::new();
        dotted.set_dotted(true);
        Item::Table(dotted)
    });
    let dotted = dotted.as_table_mut();
    put(dotted.expect("no key has a value and fields"), inner, value);
}

pub(super) fn text(text: &str) -> Value {
    text.into()
}

/// A string in as many lines as it has. White space around it is not kept.
pub(super) fn prose(prose: &str) -> Value {
    if prose.contains('\n') {
        format!("{prose}\n").into()
    } else {
        prose.into()
    }
}

pub(super) fn time(duration: Duration) -> Value {
    write_duration(duration).into()
}

/// What stands behind a key.
pub(crate) fn spelled(value: &plan::Value) -> Value {
    match value {
        plan::Value::Flag(flag) => (*flag).into(),
        plan::Value::Whole(number) => count(*number),
        plan::Value::Time(length) => time(*length),
        plan::Value::Range(from, to) => range((*from, *to)),
        plan::Value::Millis(millis) => signed_millis(*millis).into(),
        plan::Value::Rate(rate) => rate.to_string().into(),
        plan::Value::Text(written) => text(written),
        plan::Value::Table(fields) => {
            let fields = fields.iter().map(|(key, value)| (*key, spelled(value)));
            Value::from_iter(fields)
        }
        plan::Value::Named(name, None) => text(name),
        plan::Value::Named(name, Some(value)) => Value::from_iter([(*name, spelled(value))]),
    }
}

/// What each seed draws.
pub(super) fn spelled_drawn(drawn: &Drawn) -> Value {
    match drawn {
        Drawn::Only(value) => spelled(value),
        Drawn::OneOf(choices) => choices.iter().map(spelled).collect(),
        Drawn::Between(from, to) if from == to => spelled(from),
        Drawn::Between(plan::Value::Time(from), plan::Value::Time(to)) => range((*from, *to)),
        Drawn::Between(from, to) => {
            let end = |value| match spelled(value) {
                Value::String(text) => text.into_value(),
                other => other.to_string(),
            };
            format!("{}..{}", end(from), end(to)).into()
        }
    }
}

pub(super) fn range(range: (Duration, Duration)) -> Value {
    write_range(range).into()
}

/// A whole number. Files have none that are greater than an `i64`.
pub(super) fn count(number: impl TryInto<i64>) -> Value {
    number.try_into().unwrap_or(i64::MAX).into()
}

/// A number, as a whole number if it is one.
pub(super) fn number(number: f64) -> Value {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    if number.fract() == 0.0 && number.abs() <= EXACT {
        (number as i64).into()
    } else {
        number.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_need_no_point() {
        assert_eq!(number(20.0).to_string(), "20");
        assert_eq!(number(24.5).to_string(), "24.5");
    }

    #[test]
    fn keys_with_a_common_beginning_stand_where_the_first_of_them_does() {
        let table = Table::new()
            .with("a.b.c", count(1))
            .with("d", count(2))
            .with("nothing", None)
            .with("a.b.e", count(3))
            .with("a.f", text("x"));
        let written = "a.b.c = 1\na.b.e = 3\na.f = \"x\"\nd = 2\n";
        assert_eq!(table.to_string(), written);
    }
}
