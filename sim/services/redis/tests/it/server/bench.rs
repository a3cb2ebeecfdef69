//! A server, and clients that type at it.

use std::ops::{Deref, DerefMut};
use std::rc::Rc;
use std::time::Duration;

use picklock_clients::redis::{Command, Value};
use picklock_machines::Chance;
use picklock_redis::test_cluster::Incoming;
use picklock_redis::{ConnectionId, Input, Output, ProcessEnd, Server, ServerConfig};
use picklock_testkit::Harness;

/// What the wall clock shows at first, in microseconds.
pub const WALL: i64 = 1_700_000_000_000_000;

/// A server, and clients that type at it.
pub struct Bench(Harness<Server, InTurn>);

impl Deref for Bench {
    type Target = Harness<Server, InTurn>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl DerefMut for Bench {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.0
    }
}

/// Makes each choice in its turn.
#[derive(Default)]
pub struct InTurn {
    /// How often something was left to chance.
    pub choices: u32,
}

impl Chance for InTurn {
    fn choose(&mut self, options: u32) -> u32 {
        self.choices += 1;
        (self.choices - 1) % options
    }
}

impl Bench {
    pub fn new() -> Self {
        Self::with(ServerConfig::default())
    }

    pub fn with(settings: ServerConfig) -> Self {
        let server = Server::new(Rc::new(settings));
        Self(Harness::new(server, WALL, InTurn::default()))
    }

    /// Both clocks go on, and the server looks at them as often as it wants to.
    pub fn pass(&mut self, millis: u64) {
        self.0.pass(Duration::from_millis(millis));
    }

    /// Both clocks go on, and the server does not see it.
    pub fn pass_unseen(&mut self, millis: u64) {
        self.skip(Duration::from_millis(millis));
    }

    /// The process of the server ends and comes back.
    pub fn restart(&mut self, end: ProcessEnd) {
        let Harness {
            machine, now, out, ..
        } = &mut self.0;
        machine.restart(*now, end, out);
    }

    /// Sends a command, and answers with everything that comes out, one after the other.
    pub fn on(&mut self, connection: u32, text: &str) -> String {
        self.send(connection, words(text))
    }

    /// The same with words that may have spaces in them.
    pub fn send<W: AsRef<[u8]>>(&mut self, connection: u32, words: Vec<W>) -> String {
        let command = Command::of(words).expect("a command");
        let connection = ConnectionId(connection);
        let input = Input::Received {
            connection,
            command,
        };
        self.input(input);
        self.read(connection)
    }

    /// What has come out for a connection.
    pub fn read(&mut self, connection: ConnectionId) -> String {
        let is_its = |output: &mut Output| {
            matches!(output, Output::ToClient { connection: other, .. } | Output::Close { connection: other }
                if *other == connection)
        };
        let incoming = self
            .out
            .extract_if(.., is_its)
            .filter_map(|output| match output {
                Output::ToClient { value, .. } => Some(Incoming::Value(value)),
                Output::Close { .. } => Some(Incoming::Closed),
                _ => None,
            });
        line(&incoming.collect::<Vec<_>>())
    }

    /// Runs a script without keys.
    pub fn eval(&mut self, script: &str) -> String {
        self.send(0, vec!["EVAL", script, "0"])
    }
}

/// The words of a line; those in single quotes may have spaces.
pub fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    for (index, part) in text.split('\'').enumerate() {
        if index % 2 == 1 {
            words.push(part.to_owned());
        } else {
            words.extend(part.split_whitespace().map(str::to_owned));
        }
    }
    words
}

/// What has come over a connection, in a line.
pub fn line(incoming: &[Incoming]) -> String {
    let shown = incoming.iter().map(|incoming| match incoming {
        Incoming::Value(value) => shown(value),
        Incoming::Closed => "closed".to_owned(),
    });
    shown.collect::<Vec<_>>().join(" | ")
}

/// A value in a line.
pub fn shown(value: &Value) -> String {
    let all = |values: &[Value]| {
        let values: Vec<String> = values.iter().map(shown).collect();
        values.join(" ")
    };
    match value {
        Value::Nil => "nil".to_owned(),
        Value::NilArray => "nil-array".to_owned(),
        Value::Integer(number) => format!(":{number}"),
        Value::Bulk(bytes) => bytes.escape_ascii().to_string().replace("\\'", "'"),
        Value::Status(word) => format!("+{word}"),
        Value::Error(error) => format!("-{error}"),
        Value::Array(values) => format!("[{}]", all(values)),
        Value::Push(values) => format!(">[{}]", all(values)),
        Value::Boolean(yes) => format!("#{yes}"),
        Value::Double(number) => format!(",{number}"),
        Value::Map(values) => format!("%[{}]", all(values)),
        Value::Set(values) => format!("~[{}]", all(values)),
        Value::BigNumber(digits) => format!("({}", digits.escape_ascii()),
    }
}
