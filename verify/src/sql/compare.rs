//! The comparison: sessions of both, step by step.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use picklock_clients::sql::{Dialect, Expr, Select, Sql, Statement};

use super::model::{Model, Told};
use super::random::Random;
use super::real::Real;
use super::wire::Wire;
use super::{Compared, Plan};
use crate::harness::comparison::Line;
use crate::harness::error::{Result, VerifyError, unless_stopped};
use crate::harness::split_mix::SplitMix64;

/// How many sessions there are.
const SESSIONS: usize = 4;
/// How many statements belong together: then all is as it was at the beginning.
const ROUND: u64 = 60;
/// How long an answer may take that is due.
const DUE: Duration = Duration::from_secs(5);
/// How long none must come where none is due.
const QUIET: Duration = Duration::from_millis(8);
/// How many choices of the model are looked at, if the first is not that of the real server.
const CHOICES: u64 = 400;

/// One thing that is done to both.
enum Step {
    Query(Statement),
    /// The statement of a session that waits is ended.
    Cancel,
}

struct Round<'r> {
    dialect: Dialect,
    control: &'r mut dyn Wire,
    wires: Vec<Box<dyn Wire>>,
    _viewer: Option<Box<dyn Wire>>,
    model: Model,
    waits: [bool; SESSIONS],
}

fn failed(error: std::io::Error) -> VerifyError {
    VerifyError::io("cannot talk to a real server")(error)
}

impl Round<'_> {
    fn apply(&self, model: &mut Model, session: usize, step: &Step, choices: u64) -> Vec<Told> {
        let session = u32::try_from(session).unwrap_or_default();
        let mut told = match step {
            Step::Query(statement) => model.query(session, statement, choices),
            Step::Cancel => model.cancel(session, choices),
        };
        told.sort();
        told
    }

    /// What the real server tells, if the model says that these are told something.
    fn hear(&mut self, due: &[Told], waits: [bool; SESSIONS]) -> Result<Vec<Told>> {
        let mut told = Vec::new();
        for session in 0..SESSIONS {
            let number = u32::try_from(session).unwrap_or_default();
            let is_due = due.iter().any(|(of, _)| *of == number);
            if is_due && let Some(answer) = self.wires[session].answer(DUE).map_err(failed)? {
                told.push((number, answer));
            }
        }
        // Those that are to wait are looked at last.
        let mut within = QUIET;
        for session in (0..SESSIONS).filter(|session| waits[*session]) {
            let number = u32::try_from(session).unwrap_or_default();
            if due.iter().any(|(of, _)| *of == number) {
                continue;
            }
            if let Some(answer) = self.wires[session].answer(within).map_err(failed)? {
                told.push((number, answer));
            }
            within = Duration::from_millis(1);
        }
        told.sort();
        Ok(told)
    }

    /// Does a step on both, and compares what all are told. Answers whether both have come to the same.
    fn step(&mut self, session: usize, step: &Step, compared: &mut Compared) -> Result<bool> {
        let before = self.model.clone();
        let mut waits = self.waits;
        let asked = match step {
            Step::Query(statement) => {
                let sql = Sql(self.dialect, statement).to_string();
                self.wires[session].send(&sql).map_err(failed)?;
                waits[session] = true;
                sql
            }
            Step::Cancel => {
                let pid = self.wires[session].pid();
                let sql = match self.dialect {
                    Dialect::Postgres => format!("SELECT pg_cancel_backend({pid})"),
                    Dialect::MySql => format!("KILL QUERY {pid}"),
                };
                self.control.send(&sql).map_err(failed)?;
                self.control.answer(DUE).map_err(failed)?;
                "cancel".to_owned()
            }
        };
        let mut model = before.clone();
        let mut told = self.apply(&mut model, session, step, 0);
        let real = self.hear(&told, waits)?;
        if real != told {
            let all = (1..CHOICES).map(|choices| {
                let mut other = before.clone();
                let told = self.apply(&mut other, session, step, choices);
                (other, told)
            });
            if let Some((other, same)) = { all }.find(|(_, told)| *told == real) {
                (model, told) = (other, same);
                compared.counters.chosen += 1;
            }
        }
        self.model = model;
        for (of, _) in &real {
            waits[*of as usize] = false;
        }
        compared.counters.waited += u64::from(waits[session] && !self.waits[session]);
        self.waits = waits;
        compared.operations += 1;
        compared.count_request(asked.split(' ').next().unwrap_or_default());
        let is_victim = |told: &[Told]| told.iter().any(|(_, text)| text == "error 1213");
        if real != told && is_victim(&real) && is_victim(&told) {
            // What weighs how much in a circle of waits is the real server's affair.
            compared.counters.chosen += 1;
            return Ok(false);
        }
        let agree = real == told;
        let lines = |told: &[Told]| -> Vec<Line> {
            let lines = told.iter().map(|(of, text)| format!("{of}: {text}").into());
            lines.collect()
        };
        let (part, lines) = (compared_part(compared), [lines(&real), lines(&told)]);
        compared.compare(&part, &asked, &session, [&lines[0], &lines[1]]);
        Ok(agree)
    }
}

fn compared_part(compared: &Compared) -> String {
    format!("statement {}", compared.operations)
}

/// Random statements, in rounds that begin with the same table and new sessions.
pub(super) fn random(
    mut real: Real,
    plan: Plan,
    stop: &AtomicBool,
    progress: &dyn Fn(u64),
) -> Result<Compared> {
    let mut random = Random(SplitMix64(plan.seed));
    let mut compared = Compared::default();
    let mut control = real.connect()?;
    let create = match plan.dialect {
        Dialect::Postgres => {
            "CREATE TABLE l(name text PRIMARY KEY, owner text, version int DEFAULT 0)"
        }
        Dialect::MySql => {
            "CREATE TABLE l(name varchar(64) COLLATE utf8mb4_bin PRIMARY KEY, owner varchar(64), \
             version int DEFAULT 0) ENGINE=InnoDB"
        }
    };
    let first = match plan.dialect {
        Dialect::Postgres => "SELECT 1",
        Dialect::MySql => "CREATE DATABASE picklock",
    };
    ask(&mut *control, first)?;
    while compared.operations < plan.operations {
        unless_stopped(stop)?;
        let wires: Result<Vec<_>> = (0..SESSIONS).map(|_| real.connect()).collect();
        let mut wires = wires?;
        if plan.dialect == Dialect::MySql {
            for wire in wires.iter_mut().chain([&mut control]) {
                ask(&mut **wire, "USE picklock")?;
            }
        }
        ask(&mut *control, "DROP TABLE IF EXISTS l")?;
        ask(&mut *control, create)?;
        ask(&mut *control, "INSERT INTO l VALUES('k','-',0),('m','-',0)")?;
        let mut model = Model::new(plan.dialect);
        let viewer = view(&mut real, plan.dialect, &mut model)?;
        for session in 0..SESSIONS {
            model.open(u32::try_from(session).unwrap_or_default());
        }
        let mut round = Round {
            dialect: plan.dialect,
            control: &mut *control,
            wires,
            _viewer: viewer,
            model,
            waits: [false; SESSIONS],
        };
        let until = compared.operations + ROUND;
        while compared.operations < until.min(plan.operations) {
            let session = random.below(SESSIONS);
            let waiting = round.waits.iter().filter(|waits| **waits).count();
            let step = match round.waits[session] {
                true if waiting + 1 < SESSIONS && random.below(4) > 0 => continue,
                true => Step::Cancel,
                false => Step::Query(random.statement(plan.dialect)),
            };
            if !round.step(session, &step, &mut compared)? {
                // What comes after a difference says nothing.
                break;
            }
            progress(compared.operations);
        }
        end(&mut round, plan.dialect)?;
        real.check_alive()?;
    }
    Ok(compared)
}

/// A session of MariaDB that looks at the table as it is at first, so that no deleted row is purged: else what is
/// locked would depend on when that is done.
fn view(real: &mut Real, dialect: Dialect, model: &mut Model) -> Result<Option<Box<dyn Wire>>> {
    if dialect == Dialect::Postgres {
        return Ok(None);
    }
    let mut viewer = real.connect()?;
    ask(&mut *viewer, "USE picklock")?;
    ask(&mut *viewer, "START TRANSACTION WITH CONSISTENT SNAPSHOT")?;
    let number = SESSIONS as u32;
    model.open(number);
    model.query(number, &Statement::Begin(None), 0);
    let look = Statement::Select(Select::from("l", [Expr::Count]));
    model.query(number, &look, 0);
    Ok(Some(viewer))
}

/// Ends the sessions of a round at the real server: what waits is waited for no more.
fn end(round: &mut Round, dialect: Dialect) -> Result<()> {
    for wire in &round.wires {
        let sql = match dialect {
            Dialect::Postgres => format!("SELECT pg_terminate_backend({}, 5000)", wire.pid()),
            Dialect::MySql => format!("KILL {}", wire.pid()),
        };
        ask(round.control, &sql)?;
    }
    Ok(())
}

fn ask(wire: &mut dyn Wire, sql: &str) -> Result<()> {
    wire.send(sql).map_err(failed)?;
    match wire.answer(Duration::from_secs(30)).map_err(failed)? {
        Some(text) if !text.starts_with("error") => Ok(()),
        other => {
            let text = format!("{sql}: {}", other.unwrap_or_else(|| "no answer".to_owned()));
            Err(failed(std::io::Error::other(text)))
        }
    }
}
