//! Answers, as a connection's version of the protocol can say them.

use picklock_clients::redis::{ErrorReply, Value};

use crate::numbers::float_text;

/// The value for a connection: RESP2 has no maps, sets, doubles, or booleans, and RESP3 has but one nothing.
#[inline]
pub(crate) fn for_connection(value: Value, resp3: bool) -> Value {
    match value {
        Value::Nil | Value::Integer(_) | Value::Bulk(_) | Value::Status(_) | Value::Error(_) => {
            value
        }
        other => translated(other, resp3),
    }
}

fn translated(value: Value, resp3: bool) -> Value {
    match (value, resp3) {
        (Value::NilArray, true) => Value::Nil,
        (Value::Double(number), false) => Value::bulk(float_text(number)),
        (Value::Boolean(yes), false) => Value::Integer(i64::from(yes)),
        (Value::BigNumber(digits), false) => Value::Bulk(digits),
        (Value::Map(values) | Value::Set(values), false) => nested(values, false, Value::Array),
        (Value::Array(values), _) => nested(values, resp3, Value::Array),
        (Value::Map(values), true) => nested(values, true, Value::Map),
        (Value::Set(values), true) => nested(values, true, Value::Set),
        (plain, _) => plain,
    }
}

fn nested(
    values: std::rc::Rc<[Value]>,
    resp3: bool,
    build: impl FnOnce(std::rc::Rc<[Value]>) -> Value,
) -> Value {
    let differs = |value: &Value| match value {
        Value::Nil
        | Value::Integer(_)
        | Value::Bulk(_)
        | Value::Status(_)
        | Value::Error(_)
        | Value::Push(_) => false,
        Value::NilArray
        | Value::Array(_)
        | Value::Boolean(_)
        | Value::Double(_)
        | Value::Map(_)
        | Value::Set(_)
        | Value::BigNumber(_) => true,
    };
    if !values.iter().any(differs) {
        return build(values);
    }
    let values = values.iter().cloned();
    build(values.map(|value| for_connection(value, resp3)).collect())
}

/// What an error says is not modelled, if it says so.
pub(crate) fn not_modelled(error: &ErrorReply) -> Option<&str> {
    error.text().strip_prefix("ERR not modelled: ")
}
