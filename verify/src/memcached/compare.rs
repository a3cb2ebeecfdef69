//! The comparison: command by command, at the tick that the real server shows.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use picklock_clients::memcached::{Command, Reply, Verb};

use super::model::Model;
use super::random::Random;
use super::real::Real;
use super::{Compared, Plan};
use crate::harness::clock;
use crate::harness::comparison::Line;
use crate::harness::error::{Result, unless_stopped};

/// How long it waits at most between two commands, in microseconds, so that time passes.
const PAUSE: usize = 10_000;

/// Cas numbers of the model, and of the real server: both grow, and are told apart by their order.
#[derive(Default)]
struct CasNumbers(BTreeMap<u64, u64>);

impl CasNumbers {
    fn of_model(&self) -> Vec<u64> {
        let last = self.0.keys().rev().take(4);
        last.copied().collect()
    }

    /// The command as the real server is asked it.
    fn real(&self, command: &Command) -> Command {
        let mut command = command.clone();
        if let Command::Storage {
            verb: Verb::Cas(cas),
            ..
        } = &mut command
        {
            *cas = self.0.get(cas).copied().unwrap_or(*cas);
        }
        command
    }

    /// The number of the model that this of the real server is, or is to be: a new one must be greater than all.
    fn is_same(&mut self, model: u64, real: u64) -> bool {
        if let Some(known) = self.0.get(&model) {
            return *known == real;
        }
        let below = self.0.range(..model).next_back();
        let above = self.0.range(model..).next();
        let fits = below.is_none_or(|(_, below)| *below < real)
            && above.is_none_or(|(_, above)| real < *above);
        self.0.insert(model, real);
        fits
    }
}

/// The answer of the real server in the words of the model's: the cas number as the model has it, if it is the same.
fn real_text(lines: &[String], reply: &Reply, numbers: &mut CasNumbers) -> String {
    let [value, data, _end] = lines else {
        return lines.join(" | ");
    };
    let cas = value.split(' ').nth(4).and_then(|cas| cas.parse().ok());
    match (cas, reply) {
        (None, _) => format!("VALUE {data}"),
        (Some(real), Reply::Value(Some(found))) if numbers.is_same(found.cas, real) => {
            format!("VALUE {data}, {}", found.cas)
        }
        (Some(real), _) => format!("VALUE {data}, {real} of the real server"),
    }
}

fn name(command: &Command) -> String {
    let text = command.to_string();
    text.split(' ').next().unwrap_or_default().to_owned()
}

/// Random commands, on one server for as long as both come to the same.
pub(super) fn random(
    mut real: Real,
    plan: Plan,
    stop: &AtomicBool,
    progress: &dyn Fn(u64),
) -> Result<Compared> {
    let mut random = Random::new(plan.seed);
    let mut compared = Compared::default();
    while compared.operations < plan.operations {
        run(
            &mut real,
            &mut random,
            (plan, &mut compared),
            stop,
            progress,
        )?;
        if compared.operations < plan.operations {
            real.restart()?;
        }
    }
    real.check_alive()?;
    Ok(compared)
}

fn run(
    real: &mut Real,
    random: &mut Random,
    (plan, compared): (Plan, &mut Compared),
    stop: &AtomicBool,
    progress: &dyn Fn(u64),
) -> Result<()> {
    let (_, [mut clocks, _]) = real.ask("mn")?;
    let mut model = Model::new(clocks);
    let mut numbers = CasNumbers::default();
    while compared.operations < plan.operations {
        unless_stopped(stop)?;
        clock::sleep(Duration::from_micros(random.below(PAUSE) as u64));
        let command = random.command(clocks.unix, &numbers.of_model());
        let (lines, [before, after]) = real.ask(&numbers.real(&command).to_string())?;
        if before != after {
            compared.set_aside += 1;
            return Ok(());
        }
        compared.counters.ticks += before.uptime - clocks.uptime;
        clocks = before;
        compared.operations += 1;
        compared.count_request(&name(&command));
        let (reply, expired) = model.execute(before.uptime, command.clone());
        compared.counters.expired += u64::from(expired);
        let reply = reply.unwrap_or(Reply::Error);
        let lines = [
            Line::from(real_text(&lines, &reply, &mut numbers)),
            Line::from(reply.to_string()),
        ];
        let part = format!("command {}", compared.operations);
        let [of_real, of_model] = &lines;
        let both = [
            std::slice::from_ref(of_real),
            std::slice::from_ref(of_model),
        ];
        compared.compare(&part, &command.to_string().escape_debug(), &"a", both);
        progress(compared.operations);
        if of_real != of_model {
            // What comes after a difference says nothing.
            return Ok(());
        }
    }
    Ok(())
}
