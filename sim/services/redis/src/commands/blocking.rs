//! Commands that take from a list, and wait if there is nothing in it.

use picklock_clients::redis::{Command, ErrorReply, Value};

use super::lists::{end_of, move_element, take};
use super::options::{is, word};
use super::{Outcome, Row, Run, Traits, write};
use crate::blocking_keys::{BlockingPop, KeysWanted};
use crate::db::Core;
use crate::errors::{Reply, SYNTAX, refuse};
use crate::value::{List, ListEnd};
use crate::{ConnectionId, Server, numbers};

/// A command that may wait, which scripts cannot call.
const fn waiting(
    name: &'static str,
    arity: i32,
    run: fn(&mut Server, ConnectionId, &Command) -> Result<Outcome, ErrorReply>,
) -> Row {
    Row {
        name,
        arity,
        traits: Traits::WRITE.and(Traits::NO_SCRIPT),
        run: Run::Connection(run),
        since: None,
    }
}

pub(super) const ROWS: &[Row] = &[
    waiting("blmove", 6, blmove),
    waiting("blmpop", -5, blmpop),
    waiting("blpop", -3, blpop),
    waiting("brpop", -3, brpop),
    waiting("brpoplpush", 4, brpoplpush),
    write("lmpop", -4, lmpop),
];

impl BlockingPop {
    /// What is answered if there is nothing, and waiting is out of the question.
    pub(crate) fn empty(&self) -> Value {
        match self {
            Self::One { .. } | Self::Several { .. } => Value::NilArray,
            Self::Move { .. } => Value::Nil,
        }
    }

    /// Takes from a list, which has something. Answers also what replicas are told: a command that does not wait.
    fn take_from(
        &self,
        core: &mut Core,
        key: &[u8],
        sent: Option<&Command>,
    ) -> Result<(Value, Command), ErrorReply> {
        Ok(match self {
            Self::One { from } => {
                let element = take(core, key, *from, 1)?.pop().unwrap_or(Value::Nil);
                let told = Command::new(from.pop_name()).arg(key);
                (Value::array([Value::bulk(key), element]), told)
            }
            Self::Several { from, count } => {
                let elements = take(core, key, *from, *count)?;
                let told = Command::new(from.pop_name()).arg(key);
                let told = told.number(elements.len());
                let both = [Value::bulk(key), Value::array(elements)];
                (Value::array(both), told)
            }
            Self::Move {
                from,
                to,
                target,
                old_name,
            } => {
                let told = match (old_name, sent) {
                    (true, _) => Command::new("RPOPLPUSH").arg(key).arg(target),
                    (false, Some(sent)) => {
                        let told = Command::new("LMOVE").arg(key).arg(target);
                        told.arg(word(sent, 3)).arg(word(sent, 4))
                    }
                    (false, None) => {
                        let told = Command::new("LMOVE").arg(key).arg(target);
                        told.arg(from.name()).arg(to.name())
                    }
                };
                (move_element(core, key, target, *from, *to)?, told)
            }
        })
    }

    /// Takes from a list, which has something; at once, by the command that was sent, or for a client that has waited.
    pub(crate) fn run(&self, core: &mut Core, key: &[u8], sent: Option<&Command>) -> Reply {
        let dirty = core.effects.dirty;
        let (answer, told) = self.take_from(core, key, sent)?;
        core.effects.ran(dirty, &told);
        Ok(answer)
    }
}

/// Until when is waited, in milliseconds of the wall clock; `None` is for ever.
fn until(core: &Core, seconds: &[u8]) -> Result<Option<i64>, ErrorReply> {
    let Some(seconds) = numbers::float(seconds) else {
        return refuse("ERR timeout is not a float or out of range");
    };
    let millis = (seconds * 1_000.0).ceil();
    // More than there is comes round to what is negative.
    if millis < 0.0 || millis >= i64::MAX as f64 {
        return refuse("ERR timeout is negative");
    }
    let until = core.wall_millis().saturating_add(millis as i64);
    Ok((millis > 0.0).then_some(until))
}

fn blpop(
    server: &mut Server,
    connection: ConnectionId,
    command: &Command,
) -> Result<Outcome, ErrorReply> {
    pop(server, connection, command, ListEnd::Head)
}

fn brpop(
    server: &mut Server,
    connection: ConnectionId,
    command: &Command,
) -> Result<Outcome, ErrorReply> {
    pop(server, connection, command, ListEnd::Tail)
}

fn pop(
    server: &mut Server,
    connection: ConnectionId,
    command: &Command,
    from: ListEnd,
) -> Result<Outcome, ErrorReply> {
    let last = command.len() - 1;
    let until = until(&server.core, word(command, last))?;
    let wanted = wanted(server, command, 1..last, BlockingPop::One { from });
    server.pop_or_block(connection, wanted, until)
}

fn wanted(
    server: &Server,
    command: &Command,
    keys: std::ops::Range<usize>,
    pop: BlockingPop,
) -> KeysWanted {
    KeysWanted {
        db: server.core.selected,
        keys: keys.map(|index| word(command, index).into()).collect(),
        pop,
        command: command.clone(),
    }
}

fn blmove(
    server: &mut Server,
    connection: ConnectionId,
    command: &Command,
) -> Result<Outcome, ErrorReply> {
    let pop = BlockingPop::Move {
        from: end_of(command, 3)?,
        to: end_of(command, 4)?,
        target: word(command, 2).into(),
        old_name: false,
    };
    let until = until(&server.core, word(command, 5))?;
    let wanted = wanted(server, command, 1..2, pop);
    server.pop_or_block(connection, wanted, until)
}

fn brpoplpush(
    server: &mut Server,
    connection: ConnectionId,
    command: &Command,
) -> Result<Outcome, ErrorReply> {
    let pop = BlockingPop::Move {
        from: ListEnd::Tail,
        to: ListEnd::Head,
        target: word(command, 2).into(),
        old_name: true,
    };
    let until = until(&server.core, word(command, 3))?;
    let wanted = wanted(server, command, 1..2, pop);
    server.pop_or_block(connection, wanted, until)
}

fn blmpop(
    server: &mut Server,
    connection: ConnectionId,
    command: &Command,
) -> Result<Outcome, ErrorReply> {
    let until = until(&server.core, word(command, 1))?;
    let (keys, pop) = several(command, 2)?;
    let wanted = wanted(server, command, keys, pop);
    server.pop_or_block(connection, wanted, until)
}

fn lmpop(core: &mut Core, command: &Command) -> Reply {
    let (keys, pop) = several(command, 1)?;
    for index in keys {
        let key = word(command, index);
        if core.read::<List>(key)?.is_some() {
            let (answer, told) = pop.take_from(core, key, None)?;
            core.instead(|| told);
            return Ok(answer);
        }
    }
    Ok(pop.empty())
}

/// The keys, and what is to be done, of a command that says how many keys it has at a place.
fn several(
    command: &Command,
    index: usize,
) -> Result<(std::ops::Range<usize>, BlockingPop), ErrorReply> {
    let positive = |index: usize| {
        let number = numbers::integer(word(command, index));
        number.and_then(|number| usize::try_from(number).ok().filter(|keys| *keys > 0))
    };
    let Some(keys) = positive(index) else {
        return refuse("ERR numkeys should be greater than 0");
    };
    let end = (index + 1).saturating_add(keys);
    if end >= command.len() {
        return refuse(SYNTAX);
    }
    let from = end_of(command, end)?;
    let count = match command.len() - end {
        1 => 1,
        3 if is(command, end + 1, "COUNT") => match positive(end + 2) {
            Some(count) => count,
            None => return refuse("ERR count should be greater than 0"),
        },
        // A word too many is found out after a count that is none.
        more if more > 3 && is(command, end + 1, "COUNT") && positive(end + 2).is_none() => {
            return refuse("ERR count should be greater than 0");
        }
        _ => return refuse(SYNTAX),
    };
    Ok((index + 1..end, BlockingPop::Several { from, count }))
}
