//! Replays what PostgreSQL 15.18 and MariaDB 10.11.19 have answered.

use std::collections::BTreeMap;
use std::time::Duration;

use picklock_machines::ConnectionId;
use picklock_sql::sql::{
    Dialect, QueryResult, ServerMessage, TransactionStatus, Value as SqlValue,
};
use picklock_sql::{Input, Output, Settings};
use serde_json::{Value, json};

use crate::driver::Driver;
use crate::sql_text;

const VECTORS: &str = include_str!("../vectors.jsonl");
/// How long was waited for what is to come, twice as long if there was no answer, when the recordings were made.
const SETTLE: Duration = Duration::from_millis(120);
/// What statements do not say.
const UNTYPED: &[&str] = &[
    "SELECT classid,objid,objsubid FROM pg_locks WHERE locktype='advisory' AND pid=pg_backend_pid()",
    "SELECT pg_advisory_lock(9223372036854775808)",
    "DROP TABLE ch",
];

/// A scenario, and a server that plays it.
struct Replay<'v> {
    driver: Driver,
    dialect: Dialect,
    tables: Vec<picklock_sql::Table>,
    connections: BTreeMap<&'v str, u32>,
    /// What was asked and is not answered: the number of the message, the op, and the connection.
    pending: Vec<(u32, &'v str, &'v str)>,
    differing: Vec<(usize, String)>,
    agreed: usize,
}

fn setup(lines: &Value) -> Vec<picklock_sql::Table> {
    let lines = lines.as_array().map_or(&[][..], Vec::as_slice);
    let texts = lines.iter().filter_map(Value::as_str);
    texts.filter_map(sql_text::table).collect()
}

impl<'v> Replay<'v> {
    fn new(scenario: &'v Value, seed: u64) -> Self {
        let dialect = match scenario["service"].as_str() {
            Some("postgres") => Dialect::Postgres,
            _ => Dialect::MySql,
        };
        let tables = setup(&scenario["setup"]);
        let mut driver = Driver::new(Settings::of(dialect, tables.clone()), seed);
        driver.open(0);
        let lines = scenario["setup"].as_array().map_or(&[][..], Vec::as_slice);
        for text in lines.iter().filter_map(Value::as_str) {
            if text.starts_with("INSERT") {
                let statement = sql_text::statement(text, &tables).expect(text);
                assert!(matches!(driver.ask(0, statement), Some(Ok(_))), "{text}");
            }
        }
        Self {
            driver,
            dialect,
            tables,
            connections: BTreeMap::new(),
            pending: Vec::new(),
            differing: Vec::new(),
            agreed: 0,
        }
    }

    fn connection(&mut self, name: &'v str) -> u32 {
        let number = 10 + u32::from(name.as_bytes()[0]);
        if !self.connections.contains_key(name) {
            self.connections.insert(name, number);
            self.driver.open(number);
        }
        number
    }

    fn value(&self, value: &SqlValue, expected: &Value) -> Value {
        if let (SqlValue::Int(number), Some(name)) = (value, expected.as_str())
            && let Some(known) = self.connections.get(name.trim_matches(['<', '>']))
            && i64::from(*known) == *number
        {
            return expected.clone();
        }
        match value {
            SqlValue::Null => Value::Null,
            SqlValue::Bool(is_true) => json!(is_true),
            SqlValue::Int(number) => json!(number),
            SqlValue::Text(text) => json!(&**text),
            SqlValue::Timestamp(micros) | SqlValue::Interval(micros) => json!(micros),
        }
    }

    fn rows(&self, result: &QueryResult, expected: &Value) -> Value {
        let rows = result.rows.iter().enumerate().map(|(row, values)| {
            let values = values.iter().enumerate();
            let values = values.map(|(at, value)| self.value(value, &expected["rows"][row][at]));
            values.collect::<Vec<Value>>()
        });
        json!(rows.collect::<Vec<_>>())
    }

    /// An answer as the recordings have it.
    fn answer(&self, answer: &ServerMessage, expected: &Value) -> Value {
        let is_postgres = self.dialect == Dialect::Postgres;
        let mut found = match &answer.result {
            Ok(result) if is_postgres => {
                let mut found = json!({"tag": result.command()});
                if expected.get("rows").is_some() || !result.rows.is_empty() {
                    found["rows"] = self.rows(result, expected);
                }
                found
            }
            Ok(result) if expected.get("rows").is_some() => {
                json!({"rows": self.rows(result, expected)})
            }
            Ok(result) => json!({"affected": result.count}),
            Err(code) if is_postgres => json!({"err": code.code(), "sev": "ERROR"}),
            Err(code) => json!({"err": code.code().parse::<u32>().unwrap_or_default()}),
        };
        if is_postgres {
            found["tx"] = json!(match answer.status {
                TransactionStatus::Idle => "idle",
                TransactionStatus::InTransaction => "intrans",
                TransactionStatus::Failed => "inerror",
            });
        }
        if !answer.notices.is_empty() {
            let texts = answer.notices.iter();
            let texts = texts.map(|notice| format!("WARNING: {}", notice.message()));
            match is_postgres {
                true => found["notices"] = json!(texts.collect::<Vec<_>>()),
                false => found["warnings"] = json!(answer.notices.len()),
            }
        }
        found
    }

    fn compare(&mut self, op: usize, id: &str, expected: &Value, found: &Value) {
        let mut expected = expected.clone();
        if let Some(fields) = expected.as_object_mut() {
            fields.remove("msg");
            if fields.get("closed").is_some() {
                *fields = json!({"closed": true})
                    .as_object()
                    .cloned()
                    .unwrap_or_default();
            }
        }
        if expected == *found {
            self.agreed += 1;
        } else {
            self.differing
                .push((op, format!("{id}\nreal:  {expected}\nmodel: {found}")));
        }
    }

    /// What views of the server say.
    fn view(&self, text: &str) -> Option<usize> {
        let counts = self.driver.server.lock_counts();
        Some(match text {
            "SELECT count(*) FROM pg_locks WHERE locktype='advisory'" => counts.advisory,
            "SELECT count(*) FROM pg_locks WHERE NOT granted" => counts.waiting,
            "SELECT count(*) FROM pg_locks WHERE NOT granted AND locktype='relation'" => {
                counts.waiting_for_table
            }
            "SELECT COUNT(*) FROM information_schema.processlist WHERE state='User lock'" => {
                counts.waiting_for_user_lock
            }
            _ => return None,
        })
    }

    fn request(&mut self, op: usize, line: &'v Value) {
        let (id, name) = (text(line, "id"), text(line, "conn"));
        let connection = self.connection(name);
        let mut asked = text(line, "req").to_owned();
        for (name, number) in &self.connections {
            asked = asked.replace(&format!("@{name}@"), &number.to_string());
        }
        let expected = &line["result"];
        if UNTYPED.contains(&&*asked) {
            return self.driver.pass(SETTLE);
        }
        if let Some(count) = self.view(&asked) {
            self.driver.pass(SETTLE);
            let found = json!({"rows": [[count]], "tag": "SELECT 1", "tx": "idle"});
            let found = match self.dialect {
                Dialect::Postgres => found,
                Dialect::MySql => json!({"rows": [[count]]}),
            };
            return self.compare(op, id, expected, &found);
        }
        if self.driver.is_closed(connection) {
            return self.compare(op, id, expected, &json!({"closed": true}));
        }
        let statement = sql_text::statement(&asked, &self.tables).expect(&asked);
        let number = self.driver.send(connection, statement);
        let waits = self.driver.answer(number).is_none();
        self.driver.pass(match (waits, self.pending.is_empty()) {
            (true, _) => SETTLE * 2,
            (false, false) => SETTLE,
            (false, true) => Duration::from_millis(1),
        });
        match self.driver.answer(number) {
            Some(answer) => {
                let found = self.answer(answer, expected);
                self.compare(op, id, expected, &found);
            }
            None => {
                self.pending.push((number, id, name));
                self.compare(op, id, expected, &json!({"blocked": true}));
            }
        }
    }

    /// The answers of earlier requests that have come in this step.
    fn late_answers(&mut self, op: usize, line: &'v Value, since: usize, ordered: bool) {
        let expected = line["answered"].as_array().map_or(&[][..], Vec::as_slice);
        let outputs = self.driver.out[since..].to_vec();
        let mut found: Vec<(&str, ServerMessage)> = Vec::new();
        for output in outputs {
            if let Output::ToClient(_, message) = output
                && let Some(place) =
                    { self.pending.iter() }.position(|(number, ..)| *number == message.number)
                && text(line, "id") != self.pending[place].1
            {
                found.push((self.pending.remove(place).1, message));
            }
        }
        if ordered {
            let of = |entries: &[Value]| -> Vec<String> {
                entries
                    .iter()
                    .map(|entry| text(entry, "of").to_owned())
                    .collect()
            };
            let order: Vec<&str> = found.iter().map(|(of, _)| *of).collect();
            if of(expected) != order {
                let note = format!(
                    "{}\nreal:  {:?}\nmodel: {order:?}",
                    line["id"],
                    of(expected)
                );
                self.differing.push((op, note));
            }
        }
        for entry in expected {
            let of = text(entry, "of");
            let place = found.iter().position(|(found, _)| *found == of);
            let answer = match place {
                Some(place) => {
                    let (_, message) = found.remove(place);
                    self.answer(&message, &entry["result"])
                }
                None => json!("no answer"),
            };
            self.compare(op, of, &entry["result"], &answer);
        }
        for (of, message) in found {
            self.differing
                .push((op, format!("{of} is answered: {message}")));
        }
    }

    fn step(&mut self, op: usize, line: &'v Value, ordered: bool) {
        let since = self.driver.out.len();
        match text(line, "op") {
            "req" => self.request(op, line),
            "sleep" => self.driver.pass(millis(&line["ms"])),
            "cut" => {
                let connection = self.connection(text(line, "conn"));
                self.driver.input(Input::Closed(ConnectionId(connection)));
                self.driver.pass(SETTLE);
            }
            "await" => {
                let awaited =
                    { self.pending.iter() }.find(|(_, id, _)| Some(*id) == line["of"].as_str());
                let number = awaited.map(|(number, ..)| *number);
                let until = self.driver.now + millis(&line["max_ms"]);
                match number {
                    None => self.driver.pass(millis(&line["waited_ms"])),
                    Some(number) => {
                        while self.driver.answer(number).is_none() && self.driver.now < until {
                            self.driver.pass(Duration::from_millis(5));
                        }
                    }
                }
            }
            other => panic!("an op {other}"),
        }
        self.late_answers(op, line, since, ordered);
    }
}

fn text<'v>(line: &'v Value, name: &str) -> &'v str {
    line[name].as_str().unwrap_or_default()
}

fn millis(value: &Value) -> Duration {
    Duration::from_millis(value.as_f64().unwrap_or_default() as u64)
}

fn replay<'v>(scenario: &'v Value, ops: &'v [Value], seed: u64) -> Replay<'v> {
    let mut replay = Replay::new(scenario, seed);
    let is_ordered = scenario["tags"]
        .as_array()
        .is_some_and(|tags| tags.contains(&json!("order")));
    for (op, line) in ops.iter().enumerate() {
        replay.step(op, line, is_ordered);
    }
    replay
}

/// Replays all scenarios of a service. Of a race, any run may come to what was recorded; what lies before one is
/// the same in all runs.
fn replay_all(service: &str) -> (usize, Vec<String>) {
    let lines: Vec<Value> = { VECTORS.lines() }
        .map(|line| serde_json::from_str(line).expect("the recordings are JSON"))
        .collect();
    let (mut agreed, mut differing) = (0, Vec::new());
    let scenarios = lines.chunk_by(|_, next| next["type"] != "scenario");
    for chunk in scenarios.filter(|chunk| chunk[0]["service"] == service) {
        let (scenario, ops) = (&chunk[0], &chunk[1..]);
        let race = ops
            .iter()
            .position(|op| op["race"] == true)
            .unwrap_or(ops.len());
        let runs: Vec<Replay> = (0..24).map(|seed| replay(scenario, ops, seed)).collect();
        let best = { runs.iter() }.min_by_key(|run| run.differing.len());
        let before_race = runs
            .iter()
            .find(|run| run.differing.iter().any(|(op, _)| *op < race));
        agreed += best.map_or(0, |run| run.agreed);
        let shown = before_race.or(best).map_or(&[][..], |run| &*run.differing);
        for (_, difference) in shown {
            differing.push(format!("{}: {difference}", text(scenario, "scenario")));
        }
    }
    (agreed, differing)
}

#[test]
fn it_answers_as_postgresql_15_does() {
    let (agreed, differing) = replay_all("postgres");
    assert!(differing.is_empty(), "{}", differing.join("\n\n"));
    assert_eq!(agreed, 424);
}

#[test]
fn it_answers_as_mariadb_10_11_does() {
    let (agreed, differing) = replay_all("mariadb");
    assert!(differing.is_empty(), "{}", differing.join("\n\n"));
    assert_eq!(agreed, 220);
}
