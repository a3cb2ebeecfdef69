//! The same steps on both sides, and where they differ.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, SystemTime};

use picklock_clients::redis::{Command, Value};

use super::Plan;
use super::backend::{CONNECTIONS, Incoming, ServerBackend};
use super::cases::Case;
use super::model::Model;
use super::normalize::{alike, plain, same_command, shown};
use super::random::Random;
use super::step::Step;
use crate::harness::clock;
use crate::harness::error::{VerifyError, unless_stopped};

/// An answer on which the two sides differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// In which case, or among which random commands.
    pub part: String,
    /// After what was asked.
    pub asked: String,
    /// Over which connection.
    pub connection: usize,
    /// What the real server said.
    pub real: String,
    /// What the model said.
    pub model: String,
}

/// What came of a comparison.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Compared {
    /// How many commands were sent, without those that only look whether all has arrived.
    pub commands: u64,
    /// How often each was among them.
    pub names: BTreeMap<String, u64>,
    /// Answers and messages, and ends of connections.
    pub answers: u64,
    /// How many of them are the same.
    pub agreeing: u64,
    /// The others.
    pub differences: Vec<Difference>,
    /// Commands that replicas were told, and how many of them are the same.
    pub streamed: u64,
    /// See there.
    pub streamed_alike: u64,
    /// What the model has said it does not model, which does not count as agreeing.
    pub not_modelled: BTreeMap<String, u64>,
}

/// Both sides.
pub(super) struct Pair<R> {
    real: R,
    model: Model,
    /// On which connections a transaction has been begun.
    in_transaction: [bool; CONNECTIONS],
    part: String,
    compared: Compared,
    turn: u64,
}

/// The wall clock, in microseconds.
#[expect(
    clippy::disallowed_methods,
    reason = "the real server lives by this clock, and the model must tell the same time"
)]
fn wall_micros() -> i64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    since.map_or(0, |since| since.as_micros() as i64)
}

/// What has come over each connection.
type Observed = Vec<Vec<Incoming>>;

impl<R: ServerBackend> Pair<R> {
    pub(super) fn new(real: R, model: Model) -> Self {
        Self {
            real,
            model,
            in_transaction: [false; CONNECTIONS],
            part: String::new(),
            compared: Compared::default(),
            turn: 0,
        }
    }

    pub(super) fn compared(self) -> Compared {
        self.compared
    }

    /// Does cases, each with new connections and without keys.
    pub(super) fn cases(&mut self, cases: &[Case], stop: &AtomicBool) -> Result<(), VerifyError> {
        for case in cases {
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
        told: &dyn Fn(u64),
    ) -> Result<(), VerifyError> {
        /// Commands of a round: what goes wrong in one does not reach the next.
        const ROUND: u64 = 500;
        let mut random = Random::new(plan.seed);
        let mut done = 0;
        while done < plan.operations {
            if done % ROUND == 0 {
                self.begin(&format!("random commands from {done} on"))?;
            }
            unless_stopped(stop)?;
            for step in random.steps(&self.in_transaction) {
                if !tears_answer(&step, &self.in_transaction) {
                    self.perform(&step)?;
                }
            }
            done += 1;
            told(done);
        }
        self.begin("the end")
    }

    fn begin(&mut self, part: &str) -> Result<(), VerifyError> {
        for connection in 0..CONNECTIONS {
            self.perform(&Step::Renew { connection })?;
        }
        self.compare_streams()?;
        self.part = part.to_owned();
        for words in [&["FLUSHALL"][..], &["SCRIPT", "FLUSH"]] {
            if let Some(command) = Command::of(words) {
                self.perform(&Step::Ask {
                    connection: 0,
                    command,
                })?;
            }
        }
        Ok(())
    }

    /// Compares what replicas were told since the last time.
    fn compare_streams(&mut self) -> Result<(), VerifyError> {
        const CHANNEL: &str = "picklock";
        let text = self.turn.to_string();
        if self.turn <= CONNECTIONS as u64 {
            self.model.attach();
        }
        let command = Command::new("PUBLISH").arg(CHANNEL).arg(&text);
        self.perform(&Step::Ask {
            connection: 0,
            command,
        })?;
        let mut real = self.real.streamed(CHANNEL, &text)?;
        let mut model = self.model.streamed(CHANNEL, &text)?;
        // The model is idle for long here, and says so. The real one does when its first tick comes after its replica.
        real.retain(|command| !command.is("PING"));
        model.retain(|command| !command.is("PING"));
        for place in 0..real.len().max(model.len()) {
            self.compared.streamed += 1;
            let (real, model) = (real.get(place), model.get(place));
            if same_command(real, model) {
                self.compared.streamed_alike += 1;
                continue;
            }
            let text = |command: Option<&Command>| {
                command.map_or("nothing".to_owned(), Command::to_string)
            };
            self.compared.differences.push(Difference {
                part: self.part.clone(),
                asked: format!("command {} of what replicas are told", place + 1),
                connection: CONNECTIONS,
                real: text(real),
                model: text(model),
            });
            // What follows is no more than shifted.
            break;
        }
        Ok(())
    }

    fn perform(&mut self, step: &Step) -> Result<(), VerifyError> {
        self.turn += 1;
        match step {
            Step::Pass { millis } => clock::sleep(Duration::from_millis(*millis)),
            Step::Renew { .. } | Step::Ask { .. } => {}
        }
        let now = wall_micros();
        let real = perform(&mut self.real, step, &self.in_transaction, self.turn)?;
        self.model.pass_to(now);
        let model = perform(&mut self.model, step, &self.in_transaction, self.turn)?;
        self.note_transaction(step, &real);
        if let Step::Ask { command, .. } = step {
            self.compared.commands += 1;
            let name = String::from_utf8_lossy(command.name()).to_ascii_lowercase();
            *self.compared.names.entry(name).or_default() += 1;
        }
        for what in self.model.not_modelled.drain(..) {
            *self.compared.not_modelled.entry(what).or_default() += 1;
        }
        self.note(step, &real, &model);
        Ok(())
    }

    fn note_transaction(&mut self, step: &Step, real: &Observed) {
        match step {
            Step::Renew { connection } => self.in_transaction[*connection] = false,
            Step::Pass { .. } => {}
            Step::Ask {
                connection,
                command,
            } => {
                let ok = real[*connection].first() == Some(&Incoming::Value(Value::OK));
                if command.is("MULTI") && ok {
                    self.in_transaction[*connection] = true;
                } else if command.is("EXEC") || command.is("DISCARD") || command.is("RESET") {
                    self.in_transaction[*connection] = false;
                }
            }
        }
    }

    fn note(&mut self, step: &Step, real: &Observed, model: &Observed) {
        for connection in 0..CONNECTIONS {
            let most = real[connection].len().max(model[connection].len());
            for place in 0..most {
                let of = |seen: &Observed| {
                    seen[connection]
                        .get(place)
                        .map(|incoming| plain(step, incoming))
                };
                let (real, model) = (of(real), of(model));
                self.compared.answers += 1;
                if alike(real.as_ref(), model.as_ref()) {
                    self.compared.agreeing += 1;
                    continue;
                }
                let text = |value: Option<Incoming>| {
                    value.map_or("nothing".to_owned(), |value| shown(&value))
                };
                self.compared.differences.push(Difference {
                    part: self.part.clone(),
                    asked: step.to_string(),
                    connection,
                    real: text(real),
                    model: text(model),
                });
            }
        }
    }
}

/// Does a step to one side. Answers with what has come over each connection.
fn perform(
    side: &mut impl ServerBackend,
    step: &Step,
    in_transaction: &[bool; CONNECTIONS],
    turn: u64,
) -> Result<Observed, VerifyError> {
    let mut seen = vec![Vec::new(); CONNECTIONS];
    match step {
        Step::Pass { .. } => {}
        Step::Renew { connection } => side.connect(*connection)?,
        Step::Ask {
            connection,
            command,
        } => {
            side.send(*connection, command)?;
            let ends = ["EXEC", "DISCARD", "RESET", "MULTI", "QUIT"];
            if in_transaction[*connection] || ends.iter().any(|name| command.is(name)) {
                // Here nothing else may be asked, and there is one answer.
                seen[*connection].push(side.receive(*connection)?);
            } else {
                read_all(side, *connection, turn, &mut seen)?;
            }
        }
    }
    let asked = |other: usize| matches!(step, Step::Ask { connection, .. } if *connection == other);
    for connection in
        (0..CONNECTIONS).filter(|connection| !asked(*connection) && !in_transaction[*connection])
    {
        if !matches!(step, Step::Renew { .. }) {
            read_all(side, connection, turn, &mut seen)?;
        }
    }
    Ok(seen)
}

/// Whether this may put a message into the middle of the answer to `EXEC`: a real 7.0.15 does, if the connection speaks
/// RESP3 and listens to the channel itself, and nobody can read what comes out.
fn tears_answer(step: &Step, in_transaction: &[bool; CONNECTIONS]) -> bool {
    let Step::Ask {
        connection,
        command,
    } = step
    else {
        return false;
    };
    let text = command.to_string().to_ascii_lowercase();
    in_transaction[*connection] && text.contains("publish")
}

/// Reads until the answer to a question that nobody else asks: then all that was on its way has arrived.
fn read_all(
    side: &mut impl ServerBackend,
    connection: usize,
    turn: u64,
    seen: &mut Observed,
) -> Result<(), VerifyError> {
    let mark = format!("mark-{turn}");
    side.send(connection, &Command::new("PING").arg(&mark))?;
    let is_mark = |value: &Value| {
        let last = value
            .values()
            .and_then(|values| values.last())
            .unwrap_or(value);
        last.bytes() == Some(mark.as_bytes())
    };
    loop {
        match side.receive(connection)? {
            Incoming::Value(value) if is_mark(&value) => return Ok(()),
            Incoming::Closed => {
                seen[connection].push(Incoming::Closed);
                side.connect(connection)?;
                return Ok(());
            }
            Incoming::Value(Value::Error(error)) if error.text() == "nothing, for ever" => {
                seen[connection].push(Incoming::Value(Value::Error(error)));
                return Ok(());
            }
            other => seen[connection].push(other),
        }
    }
}
