//! About the server.

use picklock_clients::redis::{Command, Value};

use super::options::word;
use super::{Row, Run, Traits};
use crate::db::Core;
use crate::errors::Reply;

/// A command that is answered at any time.
const fn at_any_time(name: &'static str, arity: i32, run: fn(&mut Core, &Command) -> Reply) -> Row {
    Row {
        name,
        arity,
        traits: Traits::NONE,
        run: Run::Keys(run),
        since: None,
    }
}

pub(super) const ROWS: &[Row] = &[
    at_any_time("echo", 2, echo),
    at_any_time("lastsave", 1, lastsave),
    at_any_time("time", 1, time),
];

fn echo(_: &mut Core, command: &Command) -> Reply {
    Ok(Value::bulk(word(command, 1)))
}

/// The wall clock: seconds, and microseconds.
fn time(core: &mut Core, _: &Command) -> Reply {
    let micros = core.now.wall_micros;
    let parts = [micros.div_euclid(1_000_000), micros.rem_euclid(1_000_000)];
    Ok(Value::array(
        parts.map(|part| Value::bulk(part.to_string())),
    ))
}

fn lastsave(core: &mut Core, _: &Command) -> Reply {
    Ok(Value::Integer(core.now.wall_micros.div_euclid(1_000_000)))
}
