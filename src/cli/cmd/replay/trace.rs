//! `picklock replay --trace`: every message between a client and a server, and what the history says meanwhile.

use std::time::Duration;

use crate::checker::{History, VirtualTime};
use crate::cli::cmd::why::event;
use crate::scenarios::units::{UnitMistake, parse_range};
use crate::sim::plan::Plan;
use crate::sim::trace::{MessageStep, MessageWay, TracedMessage};
use serde::Serialize;

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

/// A message as JSON has it.
#[derive(Serialize)]
pub struct Row {
    /// When, in microseconds of virtual time.
    at: u64,
    client: String,
    server: String,
    connection: u32,
    way: &'static str,
    step: &'static str,
    text: String,
}

fn parse_between(text: &str) -> Result<(Duration, Duration), String> {
    parse_range(text).map_err(|UnitMistake { message, help }| format!("{message}; {help}"))
}

impl Trace {
    /// The messages that are wanted, but for signs of life.
    pub fn rows(&self, plan: &Plan, messages: &[TracedMessage]) -> Vec<Row> {
        let rows = messages.iter().map(|message| Row {
            at: message.at.micros(),
            client: client(plan, message),
            server: server(plan, message),
            connection: message.connection.0,
            way: match message.way {
                MessageWay::ToServer => "to-server",
                MessageWay::ToClient => "to-client",
            },
            step: match message.step {
                MessageStep::Sent => "sent",
                MessageStep::Received => "received",
                MessageStep::Lost => "lost",
            },
            text: message.text.clone(),
        });
        rows.filter(|row| self.wants(row)).collect()
    }

    fn wants(&self, row: &Row) -> bool {
        let is_of = |name: &String| *name == row.client || *name == row.server;
        let is_sign_of_life = row.text == "ping" || row.text == "pong";
        !is_sign_of_life
            && self.wants_time(row.at)
            && (self.of.is_empty() || self.of.iter().any(is_of))
    }

    fn wants_time(&self, at: u64) -> bool {
        let at = Duration::from_micros(at);
        self.between.is_none_or(|(from, to)| from <= at && at <= to)
    }

    /// The rows as text, with the events of the history between them.
    pub fn text(&self, rows: &[Row], history: &History) -> String {
        let messages = rows.iter().map(|row| {
            let (from, to) = match row.way {
                "to-server" => (&row.client, &row.server),
                _ => (&row.server, &row.client),
            };
            let ends = format!("{from} to {to}");
            // What is received leads to events, and events to what is sent.
            let order = if row.step == "sent" { 2 } else { 0 };
            (
                row.at,
                order,
                format!("{ends:<26} {:<9} {}", row.step, row.text),
            )
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
            let at = VirtualTime::from_micros(at).micros();
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
