//! Answers, without what two servers cannot agree on.

use picklock_clients::redis::{Command, Value};

use super::backend::Incoming;
use super::step::Step;
use crate::harness::comparison::Answer;

/// How far two clocks may be apart, in milliseconds.
const TOLERANCE: i64 = 60;

/// What has come, without what two servers cannot agree on.
pub(super) fn plain(step: &Step, incoming: &Incoming) -> Incoming {
    let Incoming::Value(value) = incoming else {
        return incoming.clone();
    };
    let unordered = match step {
        Step::Ask { command, .. } => ["SMEMBERS", "KEYS", "PUBSUB"]
            .iter()
            .any(|name| command.is(name)),
        Step::Send { .. }
        | Step::Hear { .. }
        | Step::Alone { .. }
        | Step::Pass { .. }
        | Step::Renew { .. } => false,
    };
    let value = plain_value(value, unordered);
    match (step, &value) {
        (Step::Ask { command, .. } | Step::Alone { command, .. }, Value::Array(values))
            if command.is("HELLO") =>
        {
            let mut values = values.to_vec();
            hide_id(&mut values);
            Incoming::Value(Value::array(values))
        }
        // The order in which it leaves all its channels is not compared.
        (Step::Ask { command, .. }, Value::Array(values))
            if command.len() == 1
                && values.len() == 3
                && (command.is("UNSUBSCRIBE") || command.is("PUNSUBSCRIBE")) =>
        {
            let values = [values[0].clone(), Value::Nil, values[2].clone()];
            Incoming::Value(Value::array(values))
        }
        _ => Incoming::Value(value),
    }
}

impl Answer for Incoming {
    /// Moments and durations in milliseconds may be a little apart.
    fn agrees(&self, model: &Self) -> bool {
        match (self, model) {
            (Self::Value(real), Self::Value(model)) => same(real, model),
            (real, model) => real == model,
        }
    }

    fn text(&self) -> String {
        match self {
            Self::Closed => "closed".to_owned(),
            Self::Value(value) => value.to_string(),
        }
    }
}

impl Answer for Option<Value> {
    fn agrees(&self, model: &Self) -> bool {
        self == model
    }

    fn text(&self) -> String {
        self.as_ref().map_or("nothing".to_owned(), Value::to_string)
    }
}

fn plain_value(value: &Value, unordered: bool) -> Value {
    match value {
        // The older protocol has no word for messages.
        Value::Push(values) | Value::Array(values) | Value::Set(values) => {
            let mut values: Vec<Value> = values
                .iter()
                .map(|value| plain_value(value, false))
                .collect();
            if unordered || matches!(value, Value::Set(_)) {
                values.sort_by_key(|value| format!("{value:?}"));
            }
            if let Value::Set(_) = value {
                Value::Set(values.into())
            } else {
                Value::Array(values.into())
            }
        }
        Value::Map(values) => {
            let mut values: Vec<Value> = values
                .iter()
                .map(|value| plain_value(value, false))
                .collect();
            hide_id(&mut values);
            Value::Map(values.into())
        }
        other => other.clone(),
    }
}

/// The number of a connection, which `HELLO` tells, depends on how many there were; and of the server's version, the
/// last number is not the model's.
fn hide_id(values: &mut [Value]) {
    for index in 1..values.len() {
        if [Some(&b"id"[..]), Some(b"version")].contains(&values[index - 1].bytes()) {
            values[index] = Value::Integer(0);
        }
    }
}

fn same(real: &Value, model: &Value) -> bool {
    match (real, model) {
        (Value::Integer(real), Value::Integer(model)) => {
            let big = *real > 1_000 && *model > 1_000;
            real == model || (big && (real - model).abs() <= TOLERANCE)
        }
        (Value::Array(real), Value::Array(model)) => {
            real.len() == model.len()
                && real
                    .iter()
                    .zip(model.iter())
                    .all(|(real, model)| same(real, model))
        }
        _ => real == model,
    }
}

/// Whether replicas were told the same; moments in milliseconds may be a little apart.
pub(super) fn same_command(real: Option<&Command>, model: Option<&Command>) -> bool {
    let (Some(real), Some(model)) = (real, model) else {
        return false;
    };
    let number = |word: &[u8]| std::str::from_utf8(word).ok()?.parse::<i64>().ok();
    let same_word = |(real, model): (&[u8], &[u8])| match (number(real), number(model)) {
        (Some(real), Some(model)) if real > 1_000_000 => (real - model).abs() <= TOLERANCE,
        _ => real == model,
    };
    real.len() == model.len() && real.words().zip(model.words()).all(same_word)
}
