//! The model, in a time that stands still.

use picklock_checker::VirtualTime;
use picklock_clients::sql::{
    ClientBody, ClientMessage, Dialect, ServerMessage, Statement, TransactionStatus, Value,
};
use picklock_machines::{Chance, ConnectionId, Machine, Now, ServerId};
use picklock_sql::{Input, Output, Server, Settings, Table};

/// Choices of a number: zero takes what comes first.
pub(super) struct Choices(pub(super) u64);

impl Chance for Choices {
    fn choose(&mut self, options: u32) -> u32 {
        let choice = self.0 % u64::from(options);
        self.0 /= u64::from(options);
        u32::try_from(choice).unwrap_or_default()
    }
}

/// The table that all statements are about: its name, columns, and rows.
pub(super) fn table() -> Table {
    let columns = [
        ("name", Value::Null),
        ("owner", Value::Null),
        ("version", Value::Int(0)),
    ];
    let row = |name: &str| {
        [
            Value::Text(name.into()),
            Value::Text("-".into()),
            Value::Int(0),
        ]
    };
    Table::of("l", &columns)
        .with_row(row("k"))
        .with_row(row("m"))
}

/// What a session is told: which one, and what.
pub(super) type Told = (u32, String);

/// The model of a server.
#[derive(Clone)]
pub(super) struct Model {
    server: Server,
    dialect: Dialect,
}

impl Model {
    pub(super) fn new(dialect: Dialect) -> Self {
        let mut settings = Settings::of(dialect, vec![table()]);
        let deadlock = picklock_clients::sql::Setting::DeadlockTimeout;
        settings
            .session
            .set(deadlock, std::time::Duration::from_secs(600));
        Self {
            server: Server::new(ServerId(0), settings),
            dialect,
        }
    }

    /// Handles an input with these choices. Answers what sessions are told.
    fn handle(&mut self, input: Input, choices: u64) -> Vec<Told> {
        let now = Now {
            monotonic: VirtualTime::ZERO,
            wall_micros: 0,
        };
        let mut out = Vec::new();
        self.server
            .handle(now, input, &mut Choices(choices), &mut out);
        let told = out.into_iter().filter_map(|output| match output {
            Output::ToClient(ConnectionId(session), message) => {
                Some((session, self.text(&message)))
            }
            _ => None,
        });
        told.collect()
    }

    pub(super) fn open(&mut self, session: u32) {
        self.handle(Input::Opened(ConnectionId(session)), 0);
    }

    /// A session executes a statement.
    pub(super) fn query(&mut self, session: u32, statement: &Statement, choices: u64) -> Vec<Told> {
        self.say(session, ClientBody::Query(statement.clone()), choices)
    }

    /// The statement of a session is ended.
    pub(super) fn cancel(&mut self, session: u32, choices: u64) -> Vec<Told> {
        self.say(session, ClientBody::Cancel(session), choices)
    }

    fn say(&mut self, session: u32, body: ClientBody, choices: u64) -> Vec<Told> {
        let message = ClientMessage {
            number: 1,
            dialect: self.dialect,
            body,
        };
        self.handle(Input::Client(ConnectionId(session), message), choices)
    }

    /// An answer in the words of the wires.
    fn text(&self, message: &ServerMessage) -> String {
        let of_postgres = self.dialect == Dialect::Postgres;
        let status = match message.status {
            TransactionStatus::Idle => "I",
            TransactionStatus::InTransaction => "T",
            TransactionStatus::Failed => "E",
        };
        let value = |value: &Value| match value {
            Value::Null => "NULL".to_owned(),
            Value::Bool(is_true) if of_postgres => if *is_true { "t" } else { "f" }.to_owned(),
            Value::Bool(is_true) => u8::from(*is_true).to_string(),
            Value::Int(number) | Value::Timestamp(number) | Value::Interval(number) => {
                number.to_string()
            }
            Value::Text(text) => text.to_string(),
        };
        let notices = message.notices.iter();
        let notices: String = notices
            .map(|notice| format!("; {}", notice.message()))
            .collect();
        let result = match &message.result {
            Ok(result) => result,
            Err(code) if of_postgres => {
                return format!("error {} [{status}]{notices}", code.code());
            }
            Err(code) => return format!("error {}", code.code()),
        };
        let row = |row: &Vec<Value>| {
            let values: Vec<String> = row.iter().map(value).collect();
            format!("({})", values.join(", "))
        };
        let rows: Vec<String> = result.rows.iter().map(row).collect();
        let rows = rows.join(" ");
        let is_select = result.tag == picklock_clients::sql::CommandTag::Select;
        let answer = match (of_postgres, is_select) {
            (true, _) if rows.is_empty() => result.command(),
            (true, _) => format!("{} {rows}", result.command()),
            (false, true) => format!("answered {rows}"),
            (false, false) => format!("{} rows", result.count),
        };
        match message.notices.len() {
            some if some > 0 && !of_postgres => format!("{answer} [{status}]; {some} warnings"),
            _ => format!("{answer} [{status}]{notices}"),
        }
    }
}
