//! Sorted sets.

use picklock_clients::redis::{Bytes, Command, ErrorReply, Value};

use super::options::{float, how_many, is, word};
use super::{Row, read, write};
use crate::db::Core;
use crate::errors::{Reply, SYNTAX, refuse};
use crate::keyspace_events::Class;
use crate::value::Sorted;

pub(super) const ROWS: &[Row] = &[
    write("zadd", -4, zadd),
    read("zcard", 2, zcard),
    write("zincrby", 4, zincrby),
    read("zmscore", -3, zmscore),
    write("zpopmax", -2, zpopmax),
    write("zpopmin", -2, zpopmin),
    read("zrank", 3, zrank),
    write("zrem", -3, zrem),
    read("zrevrank", 3, zrevrank),
    read("zscore", 3, zscore),
];

/// How `ZADD` is to go about it.
#[derive(Default)]
struct Options {
    if_missing: bool,
    if_there: bool,
    if_greater: bool,
    if_less: bool,
    /// Count what was changed, and not only what is new.
    changed: bool,
    /// Add to the score, and answer with it.
    increment: bool,
}

impl Options {
    /// Reads the options. Answers where the scores begin, too.
    fn parse(command: &Command) -> Result<(Self, usize), ErrorReply> {
        let mut options = Self::default();
        let mut index = 2;
        loop {
            let flag = match () {
                () if is(command, index, "NX") => &mut options.if_missing,
                () if is(command, index, "XX") => &mut options.if_there,
                () if is(command, index, "GT") => &mut options.if_greater,
                () if is(command, index, "LT") => &mut options.if_less,
                () if is(command, index, "CH") => &mut options.changed,
                () if is(command, index, "INCR") => &mut options.increment,
                () => break,
            };
            *flag = true;
            index += 1;
        }
        let words = command.len().saturating_sub(index);
        if words == 0 || !words.is_multiple_of(2) {
            return refuse(SYNTAX);
        }
        if options.if_missing && options.if_there {
            return refuse("ERR XX and NX options at the same time are not compatible");
        }
        let picky = [options.if_missing, options.if_greater, options.if_less];
        if picky.iter().filter(|option| **option).count() > 1 {
            return refuse("ERR GT, LT, and/or NX options at the same time are not compatible");
        }
        if options.increment && words > 2 {
            return refuse("ERR INCR option supports a single increment-element pair");
        }
        Ok((options, index))
    }

    /// The score that a member is to have; `None` if it is to be left alone.
    fn score(&self, before: Option<f64>, given: f64) -> Result<Option<f64>, ErrorReply> {
        let Some(before) = before else {
            return Ok((!self.if_there).then_some(given));
        };
        if self.if_missing {
            return Ok(None);
        }
        let score = if self.increment {
            before + given
        } else {
            given
        };
        if score.is_nan() {
            return refuse("ERR resulting score is not a number (NaN)");
        }
        let stays = (self.if_greater && score <= before) || (self.if_less && score >= before);
        Ok((!stays).then_some(score))
    }
}

fn zadd(core: &mut Core, command: &Command) -> Reply {
    let (options, from) = Options::parse(command)?;
    add(core, command, &options, from)
}

fn zincrby(core: &mut Core, command: &Command) -> Reply {
    let options = Options {
        increment: true,
        ..Options::default()
    };
    add(core, command, &options, 2)
}

fn add(core: &mut Core, command: &Command, options: &Options, from: usize) -> Reply {
    let key = word(command, 1);
    let indices = (from..command.len()).step_by(2);
    let scores: Vec<f64> = indices
        .clone()
        .map(|index| float(command, index))
        .collect::<Result<_, _>>()?;
    let unchanged = || {
        if options.increment {
            Value::Nil
        } else {
            Value::Integer(0)
        }
    };
    if core.read::<Sorted>(key)?.is_none() && options.if_there {
        return Ok(unchanged());
    }
    let (mut new, mut moved, mut last) = (0, 0, None);
    let sorted = core.write_or_make::<Sorted>(key)?;
    for (index, given) in indices.zip(scores) {
        let member = word(command, index + 1);
        let before = sorted.score(member);
        let Some(score) = options.score(before, given)? else {
            continue;
        };
        last = Some(score);
        match before {
            None => new += 1,
            Some(before) if before != score => moved += 1,
            Some(_) => continue,
        }
        sorted.put(member, score);
    }
    if new + moved > 0 {
        let event = if options.increment { "zincr" } else { "zadd" };
        core.changed(key, Class::Sorted, event);
    }
    if options.increment {
        return Ok(last.map_or(Value::Nil, Value::Double));
    }
    Ok(Value::Integer(if options.changed {
        new + moved
    } else {
        new
    }))
}

fn zrem(core: &mut Core, command: &Command) -> Reply {
    let key = word(command, 1);
    let Some(sorted) = core.write::<Sorted>(key)? else {
        return Ok(Value::Integer(0));
    };
    let members = command.words().skip(2);
    let gone = members.filter(|member| sorted.remove(member)).count();
    if gone > 0 {
        core.changed(key, Class::Sorted, "zrem");
    }
    Ok(Value::Integer(gone as i64))
}

fn zcard(core: &mut Core, command: &Command) -> Reply {
    let sorted = core.read::<Sorted>(word(command, 1))?;
    Ok(Value::Integer(
        sorted.map_or(0, |sorted| sorted.len() as i64),
    ))
}

fn zscore(core: &mut Core, command: &Command) -> Reply {
    let sorted = core.read::<Sorted>(word(command, 1))?;
    let score = sorted.and_then(|sorted| sorted.score(word(command, 2)));
    Ok(score.map_or(Value::Nil, Value::Double))
}

fn zmscore(core: &mut Core, command: &Command) -> Reply {
    let sorted = core.read::<Sorted>(word(command, 1))?;
    let members = command.words().skip(2);
    let scores = members.map(|member| sorted.and_then(|sorted| sorted.score(member)));
    Ok(Value::array(
        scores.map(|score| score.map_or(Value::Nil, Value::Double)),
    ))
}

fn zrank(core: &mut Core, command: &Command) -> Reply {
    rank(core, command, |rank, _| rank)
}

fn zrevrank(core: &mut Core, command: &Command) -> Reply {
    rank(core, command, |rank, length| length - 1 - rank)
}

fn rank(core: &mut Core, command: &Command, of: impl FnOnce(usize, usize) -> usize) -> Reply {
    let Some(sorted) = core.read::<Sorted>(word(command, 1))? else {
        return Ok(Value::Nil);
    };
    let rank = sorted.rank(word(command, 2));
    Ok(rank.map_or(Value::Nil, |rank| {
        Value::Integer(of(rank, sorted.len()) as i64)
    }))
}

fn zpopmin(core: &mut Core, command: &Command) -> Reply {
    pop(core, command, false)
}

fn zpopmax(core: &mut Core, command: &Command) -> Reply {
    pop(core, command, true)
}

fn pop(core: &mut Core, command: &Command, highest: bool) -> Reply {
    let key = word(command, 1);
    let count = match command.len() {
        2 => None,
        3 => Some(how_many(command, 2)?),
        _ => return refuse(SYNTAX),
    };
    let Some(sorted) = core.write::<Sorted>(key)? else {
        return Ok(Value::array([]));
    };
    let member = |(member, score): (&Bytes, f64)| (Bytes::clone(member), score);
    let most = count.unwrap_or(1);
    let popped: Vec<(Bytes, f64)> = if highest {
        sorted.iter().rev().map(member).take(most).collect()
    } else {
        sorted.iter().map(member).take(most).collect()
    };
    for (member, _) in &popped {
        sorted.remove(member);
    }
    if !popped.is_empty() {
        let event = if highest { "zpopmax" } else { "zpopmin" };
        core.changed(key, Class::Sorted, event);
    }
    Ok(with_scores(popped, core.resp3 && count.is_some()))
}

/// Members and their scores: in pairs, if they are asked for so, or one after the other.
pub(super) fn with_scores(members: Vec<(Bytes, f64)>, in_pairs: bool) -> Value {
    let pairs = members
        .into_iter()
        .map(|(member, score)| [Value::Bulk(member), Value::Double(score)]);
    if in_pairs {
        Value::array(pairs.map(Value::array))
    } else {
        Value::array(pairs.flatten())
    }
}
