//! `picklock replay --trace`: every message between a client and a server, and what the history says meanwhile.

use std::time::Duration;

use crate::checker::History;
use crate::cli::cmd::why::event;
use crate::scenarios::units::{UnitMistake, parse_range};
use crate::sim::plan::Plan;
use crate::sim::trace::{MessageDirection, MessageStep, TracedMessage};
use serde::{Serialize, Serializer};

/// Which part of a trace is wanted.
#[derive(Debug, clap::Args)]
pub struct Trace {
    /// Show every request, answer, and notification between clients and servers, with what the history says meanwhile.
    #[arg(long)]
    pub trace: bool,
    /// Of the trace, show only the messages of this contender or server: contender-2, server-1.
    #[arg(long, value_name = "NAME", requires = "trace")]
    of: Vec<String>,
    /// Of the trace, show only this time: 2s..3500ms.
    #[arg(long, value_name = "FROM..TO", requires = "trace", value_parser = parse_between)]
    between: Option<(Duration, Duration)>,
}

/// A message, and between whom it goes.
pub struct Row<'t> {
    client: String,
    server: String,
    message: &'t TracedMessage,
}

/// A message as JSON has it.
#[derive(Serialize)]
struct RowAsJson<'r> {
    /// When, in microseconds of virtual time.
    at: u64,
    client: &'r str,
    server: &'r str,
    connection: u32,
    direction: &'static str,
    step: &'static str,
    text: &'r str,
}

impl Serialize for Row<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let message = self.message;
        let row = RowAsJson {
            at: message.at.micros(),
            client: &self.client,
            server: &self.server,
            connection: message.connection.0,
            direction: message.direction.name(),
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
    /// The messages that are wanted, but for signs of life.
    pub fn rows<'t>(&self, plan: &Plan, messages: &'t [TracedMessage]) -> Vec<Row<'t>> {
        let rows = messages.iter().map(|message| Row {
            client: client(plan, message),
            server: server(plan, message),
            message,
        });
        rows.filter(|row| self.wants(row)).collect()
    }

    fn wants(&self, row: &Row<'_>) -> bool {
        let Row {
            client,
            server,
            message,
        } = row;
        let is_of = |name: &String| name == client || name == server;
        let is_sign_of_life = message.text == "ping" || message.text == "pong";
        !is_sign_of_life
            && self.wants_time(message.at.micros())
            && (self.of.is_empty() || self.of.iter().any(is_of))
    }

    fn wants_time(&self, at: u64) -> bool {
        let at = Duration::from_micros(at);
        self.between.is_none_or(|(from, to)| from <= at && at <= to)
    }

    /// The rows as text, with the events of the history between them.
    pub fn text(&self, rows: &[Row<'_>], history: &History) -> String {
        let messages = rows.iter().map(|row| {
            let TracedMessage { at, step, text, .. } = row.message;
            let (from, to) = match row.message.direction {
                MessageDirection::ToServer => (&row.client, &row.server),
                MessageDirection::ToClient => (&row.server, &row.client),
            };
            let ends = format!("{from} to {to}");
            // What is received leads to events, and events to what is sent.
            let order = if *step == MessageStep::Sent { 2 } else { 0 };
            let line = format!("{ends:<26} {:<9} {text}", step.name());
            (at.micros(), order, line)
        });
        let events = history
            .events
            .iter()
            .filter(|event| self.wants_time(event.at.micros()));
        let events = events.map(|event| {
            let said = event::in_words(history, &event.what);
            (event.at.micros(), 1, format!("· {said}"))
        });
        let mut lines: Vec<(u64, u8, String)> = events.chain(messages).collect();
        lines.sort_by_key(|(at, order, _)| (*at, *order));
        let mut text =
            String::from("Trace: what is sent, received, and lost; signs of life are left out\n");
        for (at, _, line) in lines {
            text.push_str(&format!(
                "  {:>6}.{:06} s  {line}\n",
                at / 1_000_000,
                at % 1_000_000
            ));
        }
        text
    }
}

/// Whose client it is.
fn client(plan: &Plan, message: &TracedMessage) -> String {
    let (place, workload) = (message.process.0, &plan.workload);
    match place.checked_sub(workload.contenders) {
        None => format!("contender-{}", place + 1),
        Some(place) if place < workload.bystanders => format!("bystander-{}", place + 1),
        Some(_) => "operator".to_owned(),
    }
}

fn server(plan: &Plan, message: &TracedMessage) -> String {
    let (place, sentinels) = (message.server.0, plan.service.sentinels());
    let servers = plan.service.servers() + plan.service.observers();
    match place.checked_sub(servers) {
        Some(place) if sentinels > 0 => format!("sentinel-{}", place + 1),
        _ => format!("server-{}", place + 1),
    }
}
