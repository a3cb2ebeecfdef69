//! Scripts: to run them, and to make them known.

use picklock_clients::redis::{Command, ErrorReply, Value};

use super::options::{integer, is, word};
use super::{Outcome, Row, Run, Traits, about, wrong_number};
use crate::errors::{MASTER_DOWN, NO_SCRIPT, refuse};
use crate::scripts::{Script, ScriptLimits};
use crate::{ConnectionId, Server};

/// A command that runs a script.
const fn running(
    name: &'static str,
    run: fn(&mut Server, ConnectionId, &Command) -> Result<Outcome, ErrorReply>,
) -> Row {
    Row {
        name,
        arity: -3,
        traits: Traits::NO_SCRIPT.and(Traits::MAY_REPLICATE),
        run: Run::Connection(run),
        since: None,
    }
}

pub(super) const ROWS: &[Row] = &[
    running("eval", eval),
    running("eval_ro", eval_ro),
    running("evalsha", evalsha),
    running("evalsha_ro", evalsha_ro),
    about("script", -2, script),
];

fn eval(
    server: &mut Server,
    connection: ConnectionId,
    command: &Command,
) -> Result<Outcome, ErrorReply> {
    by_text(server, connection, command, false)
}

fn eval_ro(
    server: &mut Server,
    connection: ConnectionId,
    command: &Command,
) -> Result<Outcome, ErrorReply> {
    by_text(server, connection, command, true)
}

fn evalsha(
    server: &mut Server,
    connection: ConnectionId,
    command: &Command,
) -> Result<Outcome, ErrorReply> {
    by_sha(server, connection, command, false)
}

fn evalsha_ro(
    server: &mut Server,
    connection: ConnectionId,
    command: &Command,
) -> Result<Outcome, ErrorReply> {
    by_sha(server, connection, command, true)
}

fn by_text(
    server: &mut Server,
    connection: ConnectionId,
    command: &Command,
    read_only: bool,
) -> Result<Outcome, ErrorReply> {
    let keys = number_of_keys(command)?;
    let script = server.scripts.load(word(command, 1))?;
    run(server, (connection, &script), command, keys, read_only)
}

fn by_sha(
    server: &mut Server,
    connection: ConnectionId,
    command: &Command,
    read_only: bool,
) -> Result<Outcome, ErrorReply> {
    let sha = word(command, 1);
    // A real server looks for a script of this name after it has counted the keys, unless there can be none.
    if sha.len() != 40 {
        return refuse(NO_SCRIPT);
    }
    let keys = number_of_keys(command)?;
    let script = server.scripts.find(sha)?;
    run(server, (connection, &script), command, keys, read_only)
}

fn number_of_keys(command: &Command) -> Result<usize, ErrorReply> {
    let number = integer(command, 2)?;
    let most = command.len() as i64 - 3;
    if number > most {
        return refuse("ERR Number of keys can't be greater than number of args");
    }
    match usize::try_from(number) {
        Ok(number) => Ok(number),
        Err(_) => refuse("ERR Number of keys can't be negative"),
    }
}

fn run(
    server: &mut Server,
    (connection, script): (ConnectionId, &Script),
    command: &Command,
    keys: usize,
    read_only: bool,
) -> Result<Outcome, ErrorReply> {
    let mut limits = ScriptLimits {
        read_only,
        ..ScriptLimits::default()
    };
    match script.declared {
        Some(declared) => {
            server.core.allows(declared, read_only)?;
            limits.read_only |= declared.no_writes;
            limits.allow_oom = declared.allow_oom;
        }
        // `COMMAND INFO` says otherwise, but a script would have to say so of itself.
        None if server.core.degraded.stale => return refuse(MASTER_DOWN),
        None => {}
    }
    let answer = server.run_script(script, command, keys, limits);
    // In a transaction, which cannot be left and come back to, the error has to do.
    if let Some(endless) = server.core.cut_script.take()
        && !server.in_transaction
    {
        server.begin_endless_script(connection, &endless);
        return Ok(Outcome::Blocked);
    }
    answer.map(Outcome::Answer)
}

fn script(server: &mut Server, _: ConnectionId, command: &Command) -> Result<Outcome, ErrorReply> {
    let enough = |least: usize, most: usize, name: &str| {
        if (least..=most).contains(&command.len()) {
            Ok(())
        } else {
            Err(wrong_number(&format!("script|{name}")))
        }
    };
    if is(command, 1, "LOAD") {
        enough(3, 3, "load")?;
        let script = server.scripts.load(word(command, 2))?;
        return Ok(Outcome::Answer(Value::bulk(script.sha.to_string())));
    }
    if is(command, 1, "EXISTS") {
        enough(3, usize::MAX, "exists")?;
        let shas = command.words().skip(2);
        let known = shas.map(|sha| Value::Integer(i64::from(server.scripts.is_cached(sha))));
        return Ok(Outcome::Answer(Value::array(known)));
    }
    if is(command, 1, "FLUSH") {
        let plain = command.len() == 2;
        if !plain && !(command.len() == 3 && (is(command, 2, "SYNC") || is(command, 2, "ASYNC"))) {
            return refuse("ERR SCRIPT FLUSH only support SYNC|ASYNC option");
        }
        server.scripts.flush();
        return Ok(Outcome::Answer(Value::OK));
    }
    if is(command, 1, "KILL") {
        enough(2, 2, "kill")?;
        return server.kill_script();
    }
    let given = String::from_utf8_lossy(word(command, 1)).into_owned();
    if ["DEBUG", "HELP"].iter().any(|name| is(command, 1, name)) {
        return refuse(format!(
            "ERR not modelled: SCRIPT {}",
            given.to_ascii_uppercase()
        ));
    }
    refuse(format!(
        "ERR unknown subcommand '{given}'. Try SCRIPT HELP."
    ))
}
