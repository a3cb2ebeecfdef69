//! `picklock replay --trace`: every message between a client and a server, if wanted also between servers, and what the
//! history and the servers say meanwhile.

use std::time::Duration;

use crate::checker::{History, ServiceEventKind, VirtualTime};
use crate::cli::failure::Failure;
use crate::scenarios::describe;
use crate::scenarios::units::{UnitMistake, parse_range, write_duration};
use crate::sim::network::ServerId;
use crate::sim::plan::{ContenderName, Plan, Workload};
use crate::sim::process::ProcessId;
use crate::sim::trace::{MessageDirection, Party, TracedMessage};
use schemars::JsonSchema;
use serde::{Serialize, Serializer};

use super::script_names::ScriptNames;
use crate::cli::cmd::traffic::party;

/// Which part of a trace is wanted.
#[derive(Debug, clap::Args)]
pub struct Trace {
    /// Show every request, answer, and notification between clients and servers, with what the history says meanwhile.
    #[arg(long)]
    pub trace: bool,
    /// In the trace, show what servers and Sentinels say to each other, too: proposals, elections, replication.
    #[arg(long, requires = "trace")]
    servers: bool,
    /// Of the trace, show only the messages of this contender or server: contender-2, server-1, sentinel-1.
    #[arg(long, value_name = "NAME", requires = "trace")]
    of: Vec<String>,
    /// Of the trace, show only this time: 2s..3500ms.
    #[arg(long, value_name = "FROM..TO", requires = "trace", value_parser = parse_between)]
    between: Option<(Duration, Duration)>,
}

/// A message, with its sender and its receiver.
pub struct Row<'t> {
    from: String,
    to: String,
    message: &'t TracedMessage,
}

/// A message as JSON has it.
#[derive(Serialize, JsonSchema)]
pub(super) struct RowAsJson<'r> {
    /// When, in microseconds of virtual time.
    at: u64,
    /// Who sends it.
    from: &'r str,
    /// Who receives it.
    to: &'r str,
    /// The client, of its own messages.
    #[serde(skip_serializing_if = "Option::is_none")]
    client: Option<&'r str>,
    /// The server at the other end.
    #[serde(skip_serializing_if = "Option::is_none")]
    server: Option<&'r str>,
    /// The number of the connection.
    #[serde(skip_serializing_if = "Option::is_none")]
    connection: Option<u32>,
    /// `to-server`, `to-client`, or `between-servers`.
    direction: &'static str,
    /// What becomes of it: `sent`, `received`, `lost`, or what an end of a connection learns.
    step: &'static str,
    /// The message in a few words.
    text: &'r str,
}

impl Serialize for Row<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (message, from, to) = (self.message, self.from.as_str(), self.to.as_str());
        let direction = message.direction();
        let (client, server) = match direction {
            MessageDirection::ToServer => (Some(from), Some(to)),
            MessageDirection::ToClient => (Some(to), Some(from)),
            MessageDirection::BetweenServers => (None, None),
        };
        let row = RowAsJson {
            at: message.at.micros(),
            from,
            to,
            client,
            server,
            connection: message.connection.map(|number| number.0),
            direction: direction.name(),
            step: message.step.name(),
            text: &message.text,
        };
        row.serialize(serializer)
    }
}

fn parse_between(text: &str) -> Result<(Duration, Duration), String> {
    parse_range(text).map_err(|UnitMistake { message, help }| format!("{message}; {help}"))
}

impl Trace {
    /// Whether all that is asked for is there: the names, and the time.
    ///
    /// # Errors
    ///
    /// [`Failure`], if one of the names takes no part, or nothing happens in that time.
    pub fn check(&self, plan: &Plan, history: &History) -> Result<(), Failure> {
        let names = participants(plan);
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let mut asked = self.of.iter();
        if let Some(name) = asked.find(|name| !names.contains(&name.as_str())) {
            return Err(Failure::unknown("contender or server", name, &names));
        }
        let end = history
            .events
            .last()
            .map_or(VirtualTime::ZERO, |last| last.at);
        match self.between {
            Some((from, _)) if from > Duration::from_micros(end.micros()) => Err(Failure::usage(
                format!("nothing happens after {}", write_duration(from)),
                [format!("the run ends at {end}")],
            )),
            Some(_) | None => Ok(()),
        }
    }

    /// The messages that are wanted, but for signs of life.
    pub fn rows<'t>(&self, plan: &Plan, messages: &'t [TracedMessage]) -> Vec<Row<'t>> {
        let rows = messages.iter().map(|message| Row {
            from: party(plan, message.from),
            to: party(plan, message.to),
            message,
        });
        let of: Vec<String> = self.of.iter().map(|name| sender_of(plan, name)).collect();
        rows.filter(|row| self.wants(row, &of)).collect()
    }

    fn wants(&self, row: &Row<'_>, of: &[String]) -> bool {
        let Row { from, to, message } = row;
        let between_servers = message.direction() == MessageDirection::BetweenServers;
        !message.is_sign_of_life
            && (self.servers || !between_servers)
            && self.wants_time(message.at.micros())
            && (of.is_empty() || of.contains(from) || of.contains(to))
    }

    fn wants_time(&self, at: u64) -> bool {
        let at = Duration::from_micros(at);
        self.between.is_none_or(|(from, to)| from <= at && at <= to)
    }

    /// Whether what a server does is wanted: if only some messages are, then of those servers and contenders.
    fn wants_service(&self, machine: &String, about: Option<&str>) -> bool {
        let is_about = |name: &String| name == machine || Some(name.as_str()) == about;
        self.of.is_empty() || self.of.iter().any(is_about)
    }

    /// The rows as text, with the events of the history and of the servers between them.
    pub fn text(&self, rows: &[Row<'_>], history: &History) -> String {
        let mut scripts = ScriptNames::of(history);
        let first_uses = rows.iter().filter_map(|row| {
            let TracedMessage {
                at, after, text, ..
            } = row.message;
            let (digits, script) = scripts.first_use(text)?;
            let line = format!("* script {digits}: {script}");
            Some((*after, false, at.micros(), line))
        });
        let first_uses: Vec<_> = first_uses.collect();
        let messages = rows.iter().map(|row| {
            let TracedMessage {
                at,
                after,
                step,
                text,
                ..
            } = row.message;
            let ends = format!("{} to {}", row.from, row.to);
            let text = scripts.named(text);
            let line = format!("{ends:<26} {:<9} {text}", step.name());
            (*after, false, at.micros(), line)
        });
        let service = history.service.iter().filter(|event| {
            // The message that says so stands there, too.
            if let ServiceEventKind::ErrorReply { .. }
            | ServiceEventKind::Resent { .. }
            | ServiceEventKind::ClientGone { .. } = event.what
            {
                return false;
            }
            let about = event.row().about.map(|by| history.contender(by));
            self.wants_time(event.at.micros()) && self.wants_service(&event.machine, about)
        });
        let service = service.map(|event| {
            let said = event.describe(&|by| history.contender(by).to_owned());
            (event.after, false, event.at.micros(), format!("* {said}"))
        });
        let events = history.events.iter().enumerate();
        let events = events.filter(|(_, event)| self.wants_time(event.at.micros()));
        let events = events.map(|(index, event)| {
            let said = history.describe(&event.what);
            (index, true, event.at.micros(), format!("· {said}"))
        });
        // What comes before an event of the history was written down before it.
        let messages = messages.chain(service).chain(events);
        let mut lines: Vec<_> = first_uses.iter().cloned().chain(messages).collect();
        lines.sort_by_key(|(after, is_event, at, _)| (*after, *is_event, *at));
        let mut text = String::from(
            "Trace: what is sent, received, and lost; · history; * servers; signs of life are left out\n",
        );
        for (_, _, at, line) in lines {
            text.push_str(&format!(
                "  {:>6}.{:06} s  {line}\n",
                at / 1_000_000,
                at % 1_000_000
            ));
        }
        text
    }
}

/// All that take part in a run.
fn participants(plan: &Plan) -> Vec<String> {
    let Workload {
        contenders,
        bystanders,
        ..
    } = plan.workload;
    // After the bystanders comes the operator.
    let processes = plan.workload.processes();
    let clients = (0..=processes + bystanders).map(|index| Party::Client(ProcessId(index)));
    let machines = (0..plan.service.machines()).map(|index| Party::Server(ServerId(index)));
    let all = clients.chain(machines);
    let tasks = (0..contenders).filter(|_| processes < contenders);
    let tasks = tasks.map(|index| describe::contender(ContenderName(index)));
    all.map(|place| party(plan, place)).chain(tasks).collect()
}

/// Whose messages those of a contender or a server are: where contenders are tasks of one process, that of its process.
fn sender_of(plan: &Plan, name: &str) -> String {
    let mut all = (0..plan.workload.contenders).map(ContenderName);
    match all.find(|own| describe::contender(*own) == name) {
        Some(contender) => party(
            plan,
            Party::Client(ProcessId(plan.workload.process_of(contender))),
        ),
        None => name.to_owned(),
    }
}
