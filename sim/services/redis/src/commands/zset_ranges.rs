//! Parts of sorted sets: by place and by score.

use picklock_clients::redis::{Bytes, Command, ErrorReply, Value};

use super::options::{integer, is, range, word};
use super::zset::with_scores;
use super::{Row, read, write};
use crate::db::Core;
use crate::errors::{Reply, SYNTAX, refuse};
use crate::keyspace_events::Class;
use crate::numbers;
use crate::value::Sorted;

pub(super) const ROWS: &[Row] = &[
    read("zcount", 4, zcount),
    read("zrange", -4, zrange),
    read("zrangebyscore", -4, zrangebyscore),
    write("zremrangebyrank", 4, zremrangebyrank),
    write("zremrangebyscore", 4, zremrangebyscore),
    read("zrevrange", -4, zrevrange),
    read("zrevrangebyscore", -4, zrevrangebyscore),
];

/// An end of a range of scores.
#[derive(Clone, Copy)]
struct Bound {
    score: f64,
    /// Whether the score itself is out of the range.
    open: bool,
}

/// A range of scores.
#[derive(Clone, Copy)]
struct Scores {
    low: Bound,
    high: Bound,
}

fn bound(word: &[u8]) -> Result<Bound, ErrorReply> {
    let (open, number) = match word {
        [b'(', rest @ ..] => (true, rest),
        whole => (false, whole),
    };
    match numbers::float(number) {
        Some(score) => Ok(Bound { score, open }),
        None => refuse("ERR min or max is not a float"),
    }
}

impl Scores {
    fn parse(low: &[u8], high: &[u8]) -> Result<Self, ErrorReply> {
        let (low, high) = (bound(low)?, bound(high)?);
        Ok(Self { low, high })
    }

    fn has(self, score: f64) -> bool {
        let above = score > self.low.score || (score == self.low.score && !self.low.open);
        let below = score < self.high.score || (score == self.high.score && !self.high.open);
        above && below
    }
}

/// What of a sorted set is asked for.
#[derive(Default)]
struct RangeArgs {
    by_score: bool,
    reversed: bool,
    scores: bool,
    /// How many to skip, and how many to take at most; all, if negative.
    limit: Option<(i64, i64)>,
}

impl RangeArgs {
    /// Reads the options behind the range; `is_zrange` says that they may also change what the range means.
    fn parse(&mut self, command: &Command, is_zrange: bool) -> Result<(), ErrorReply> {
        let mut index = 4;
        while index < command.len() {
            if is(command, index, "WITHSCORES") {
                self.scores = true;
            } else if is(command, index, "LIMIT") && index + 2 < command.len() {
                self.limit = Some((integer(command, index + 1)?, integer(command, index + 2)?));
                index += 2;
            } else if is_zrange && is(command, index, "BYSCORE") {
                self.by_score = true;
            } else if is_zrange && is(command, index, "REV") {
                self.reversed = true;
            } else if is_zrange && is(command, index, "BYLEX") {
                return refuse("ERR not modelled: ZRANGE BYLEX");
            } else {
                return refuse(SYNTAX);
            }
            index += 1;
        }
        if self.limit.is_some() && !self.by_score {
            return refuse(
                "ERR syntax error, LIMIT is only supported in combination with either BYSCORE or BYLEX",
            );
        }
        Ok(())
    }
}

fn zrange(core: &mut Core, command: &Command) -> Reply {
    answer(core, command, RangeArgs::default(), true)
}

fn zrevrange(core: &mut Core, command: &Command) -> Reply {
    let asked = RangeArgs {
        reversed: true,
        ..RangeArgs::default()
    };
    answer(core, command, asked, false)
}

fn zrangebyscore(core: &mut Core, command: &Command) -> Reply {
    let asked = RangeArgs {
        by_score: true,
        ..RangeArgs::default()
    };
    answer(core, command, asked, false)
}

fn zrevrangebyscore(core: &mut Core, command: &Command) -> Reply {
    let asked = RangeArgs {
        by_score: true,
        reversed: true,
        ..RangeArgs::default()
    };
    answer(core, command, asked, false)
}

fn answer(core: &mut Core, command: &Command, mut asked: RangeArgs, is_zrange: bool) -> Reply {
    asked.parse(command, is_zrange)?;
    let members = if asked.by_score {
        by_score(core, command, &asked)?
    } else {
        by_place(core, command, asked.reversed)?
    };
    if asked.scores {
        return Ok(with_scores(members, core.resp3));
    }
    Ok(Value::array(
        members.into_iter().map(|(member, _)| Value::Bulk(member)),
    ))
}

fn cloned((member, score): (&Bytes, f64)) -> (Bytes, f64) {
    (Bytes::clone(member), score)
}

fn by_place(
    core: &mut Core,
    command: &Command,
    reversed: bool,
) -> Result<Vec<(Bytes, f64)>, ErrorReply> {
    let (start, stop) = (integer(command, 2)?, integer(command, 3)?);
    let Some(sorted) = core.read::<Sorted>(word(command, 1))? else {
        return Ok(Vec::new());
    };
    let Some((start, stop)) = range(start, stop, sorted.len()) else {
        return Ok(Vec::new());
    };
    let count = stop - start + 1;
    Ok(if reversed {
        sorted
            .iter()
            .rev()
            .skip(start)
            .take(count)
            .map(cloned)
            .collect()
    } else {
        sorted.iter().skip(start).take(count).map(cloned).collect()
    })
}

fn by_score(
    core: &mut Core,
    command: &Command,
    asked: &RangeArgs,
) -> Result<Vec<(Bytes, f64)>, ErrorReply> {
    let (first, second) = (word(command, 2), word(command, 3));
    let scores = if asked.reversed {
        Scores::parse(second, first)?
    } else {
        Scores::parse(first, second)?
    };
    let Some(sorted) = core.read::<Sorted>(word(command, 1))? else {
        return Ok(Vec::new());
    };
    let (skip, take) = asked.limit.unwrap_or((0, -1));
    let Ok(skip) = usize::try_from(skip) else {
        return Ok(Vec::new());
    };
    let take = usize::try_from(take).unwrap_or(usize::MAX);
    let has = |(_, score): &(&Bytes, f64)| scores.has(*score);
    Ok(if asked.reversed {
        let within = sorted.iter().rev().filter(has);
        within.skip(skip).take(take).map(cloned).collect()
    } else {
        let within = sorted.iter().filter(has);
        within.skip(skip).take(take).map(cloned).collect()
    })
}

fn zcount(core: &mut Core, command: &Command) -> Reply {
    let scores = Scores::parse(word(command, 2), word(command, 3))?;
    let sorted = core.read::<Sorted>(word(command, 1))?;
    let members = sorted.into_iter().flat_map(Sorted::iter);
    let within = members.filter(|(_, score)| scores.has(*score));
    Ok(Value::Integer(within.count() as i64))
}

fn zremrangebyscore(core: &mut Core, command: &Command) -> Reply {
    let asked = RangeArgs::default();
    let members = by_score(core, command, &asked)?;
    remove(core, word(command, 1), &members, "zremrangebyscore")
}

fn zremrangebyrank(core: &mut Core, command: &Command) -> Reply {
    let members = by_place(core, command, false)?;
    remove(core, word(command, 1), &members, "zremrangebyrank")
}

fn remove(core: &mut Core, key: &[u8], members: &[(Bytes, f64)], event: &'static str) -> Reply {
    if let Some(sorted) = core.write::<Sorted>(key)? {
        for (member, _) in members {
            sorted.remove(member);
        }
    }
    if !members.is_empty() {
        core.changed(key, Class::Sorted, event);
    }
    Ok(Value::Integer(members.len() as i64))
}
