//! Cases and random rounds on both servers.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use picklock_clients::redis::Command;
use picklock_redis::ServerVersion;

use super::Plan;
use super::backend::{CLIENTS, ServerBackend};
use super::cases::Case;
use super::driver::{Driver, Name};
use super::model::Model;
use super::normalize::same_command;
use super::random::Random;
use super::real::Found;
use super::step::Step;
use crate::harness::clock;
use crate::harness::comparison::Difference;
use crate::harness::error::{Result, unless_stopped};
use crate::harness::pair;

/// What is counted of Redis alone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Which server it was, if it was asked.
    pub server: Option<Found>,
    /// Cases that need a newer server: a version of the model that has what they ask for.
    pub skipped: BTreeMap<&'static str, &'static str>,
    /// Commands that replicas were told, and how many of them are the same.
    pub streamed: u64,
    /// See there.
    pub streamed_alike: u64,
    /// What the model has said it does not model, which does not count as agreeing.
    pub not_modelled: BTreeMap<String, u64>,
}

/// Both servers.
pub(super) type Pair<R> = pair::Pair<Driver<R>, Driver<Model>, Counters>;

impl<R: ServerBackend> Pair<R> {
    /// Both, without connections.
    pub(super) fn of(real: R, version: ServerVersion) -> Self {
        Self::new(Driver::new(real), Driver::new(Model::new(version)))
    }

    /// Does cases, each with new connections and without keys.
    pub(super) fn cases(&mut self, cases: &[Case], stop: &AtomicBool) -> Result<()> {
        let version = self.model.backend.version;
        for case in cases {
            if let Some(needed) = case.needs.first()
                && !case.needs.contains(&version)
            {
                let skipped = &mut self.compared.counters.skipped;
                skipped.insert(case.name, needed.name());
                continue;
            }
            self.begin(case.name)?;
            for line in case.lines() {
                unless_stopped(stop)?;
                match Step::parse(&line) {
                    Some(step) => self.perform(&step)?,
                    None => unreachable!("a line of a case that is no step: {line}"),
                }
            }
        }
        Ok(())
    }

    /// Does random steps.
    pub(super) fn random(
        &mut self,
        plan: Plan,
        stop: &AtomicBool,
        progress: &dyn Fn(u64),
    ) -> Result<()> {
        /// Commands of a round: what goes wrong in one does not reach the next.
        const ROUND: u64 = 500;
        let mut random = Random::new(plan.seed);
        let mut done = 0;
        while done < plan.operations {
            if done % ROUND == 0 {
                self.begin(&format!("random commands from {done} on"))?;
            }
            unless_stopped(stop)?;
            for step in random.steps(&self.real.in_transaction) {
                if !tears_answer(&step, &self.real.in_transaction) {
                    self.perform(&step)?;
                }
            }
            done += 1;
            progress(done);
        }
        self.begin("the end")
    }

    fn begin(&mut self, part: &str) -> Result<()> {
        for client in 0..CLIENTS {
            self.perform(&Step::Renew { client })?;
        }
        self.compare_streams()?;
        self.part = part.to_owned();
        for words in [
            &["FLUSHALL"][..],
            &["SCRIPT", "FLUSH"],
            &["FUNCTION", "FLUSH"],
        ] {
            if let Some(command) = Command::of(words) {
                self.ask(command)?;
            }
        }
        Ok(())
    }

    fn ask(&mut self, command: Command) -> Result<()> {
        let client = 0;
        self.perform(&Step::Ask { client, command })
    }

    /// Compares what replicas were told since the last time.
    fn compare_streams(&mut self) -> Result<()> {
        const CHANNEL: &str = "picklock";
        let text = self.real.turn.to_string();
        if self.real.turn <= CLIENTS as u64 {
            self.model.backend.attach();
        }
        self.ask(Command::new("PUBLISH").arg(CHANNEL).arg(&text))?;
        let mut real = self.real.backend.streamed(CHANNEL, &text)?;
        let mut model = self.model.backend.streamed(CHANNEL, &text)?;
        // The model is idle for long here, and says so. The real one does when its first tick comes after its replica.
        real.retain(|command| !command.is("PING"));
        model.retain(|command| !command.is("PING"));
        for index in 0..real.len().max(model.len()) {
            self.compared.counters.streamed += 1;
            let (real, model) = (real.get(index), model.get(index));
            if same_command(real, model) {
                self.compared.counters.streamed_alike += 1;
                continue;
            }
            let text = |command: Option<&Command>| {
                command.map_or("nothing".to_owned(), Command::to_string)
            };
            self.compared.differences.push(Difference {
                part: self.part.clone(),
                asked: format!("command {} of what replicas are told", index + 1),
                connection: Name(CLIENTS).to_string(),
                real: text(real),
                model: text(model),
            });
            // What follows is no more than shifted.
            break;
        }
        Ok(())
    }

    fn perform(&mut self, step: &Step) -> Result<()> {
        if let Step::Pass { millis } = step {
            clock::sleep(Duration::from_millis(*millis));
        }
        let now = clock::since_epoch().as_micros() as i64;
        self.real.backend.pass_to(now);
        self.model.backend.pass_to(now);
        self.step(step)?;
        // Where they differ, what is asked next follows the real one.
        self.model.in_transaction = self.real.in_transaction;
        for what in self.model.backend.not_modelled.drain(..) {
            let times = self.compared.counters.not_modelled.entry(what);
            *times.or_default() += 1;
        }
        Ok(())
    }
}

/// Whether this may put a message into the middle of the answer to `EXEC`: a real 7.0.15 does, if the connection speaks
/// RESP3 and listens to the channel itself, and what comes out cannot be read.
fn tears_answer(step: &Step, in_transaction: &[bool; CLIENTS]) -> bool {
    let Step::Ask { client, command } = step else {
        return false;
    };
    let text = command.to_string().to_ascii_lowercase();
    in_transaction[*client] && text.contains("publish")
}
