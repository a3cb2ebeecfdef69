//! About replication.

use picklock_algorithms::clients::redis::{Command, ErrorReply, Value};

use super::{Outcome, Row, about};
use crate::{ConnectionId, Server};

pub(super) const ROWS: &[Row] = &[about("role", 1, role)];

fn role(_: &mut Server, _: ConnectionId, _: &Command) -> Result<Outcome, ErrorReply> {
    let parts = [Value::bulk("master"), Value::Integer(0), Value::array([])];
    Ok(Outcome::Answer(Value::array(parts)))
}
