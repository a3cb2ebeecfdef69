//! A server in a test: commands as they stand on the wire, and answers as the server gives them.

use std::rc::Rc;
use std::time::Duration;

use picklock_checker::VirtualTime;
use picklock_clients::memcached::{ClientMessage, Command, Product, Reply, Verb};
use picklock_machines::{Boring, ConnectionId, Machine, Now};
use picklock_memcached::{Input, Output, Server, Settings};

/// A server with the clock of a test.
pub struct Driver {
    pub server: Server,
    now: Duration,
    /// The last cas number that was answered.
    pub cas: u64,
    outputs: Vec<Output>,
}

/// The wall clock of the server when the test begins, in seconds.
pub const BEGIN: u64 = 1_700_000_000;

impl Driver {
    /// A server that began half a second after a tick of its clock.
    pub fn new(product: Product) -> Self {
        Self::with_room(product, None)
    }

    /// The same with room for so many items of a size.
    pub fn with_room(product: Product, items_per_class: Option<usize>) -> Self {
        let settings = Settings {
            product,
            items_per_class,
            since_tick: 500_000,
        };
        Self {
            server: Server::new(settings, BEGIN as i64 * 1_000_000),
            now: Duration::ZERO,
            cas: 0,
            outputs: Vec::new(),
        }
    }

    pub fn input(&mut self, input: Input) {
        let now = Now {
            monotonic: VirtualTime::ZERO + self.now,
            wall_micros: (BEGIN as i64) * 1_000_000 + self.now.as_micros() as i64,
        };
        self.server
            .handle(now, input, &mut Boring, &mut self.outputs);
    }

    pub fn wait(&mut self, millis: u64) {
        self.now += Duration::from_millis(millis);
    }

    pub fn do_command(&mut self, command: Command) -> Reply {
        self.outputs.clear();
        let message = ClientMessage { number: 1, command };
        self.input(Input::Command(ConnectionId(0), message));
        match self.outputs.pop() {
            Some(Output::Reply(_, message)) => message.reply,
            other => panic!("{other:?}"),
        }
    }

    /// Does a command as a line has it, with the value last, and answers in a line: `add k 0 10 v`, `cas k 0 0 v 7`.
    pub fn line(&mut self, line: &str) -> String {
        let words: Vec<&str> = line.split(' ').collect();
        let reply = self.do_command(command(&words, self.cas));
        if let Reply::Value(Some(found)) = &reply
            && found.cas > 0
        {
            self.cas = found.cas;
        }
        match reply {
            Reply::Value(Some(found)) => format!("VALUE {}", found.value),
            reply => reply.to_string(),
        }
    }

    /// Each line says what is done, and behind `->` what is answered; `wait N` lets so many milliseconds pass.
    #[track_caller]
    pub fn script(&mut self, script: &str) {
        for line in script
            .lines()
            .map(str::trim)
            .filter(|line| !line.is_empty())
        {
            if let Some(millis) = line.strip_prefix("wait ") {
                self.wait(millis.parse().expect("milliseconds"));
                continue;
            }
            let (asked, expected) = line.split_once(" -> ").expect("an answer");
            assert_eq!(self.line(asked.trim()), expected.trim(), "{asked}");
        }
    }
}

fn command(words: &[&str], last_cas: u64) -> Command {
    let number = |place: usize| words[place].parse().expect("a number");
    let key = |place: usize| Rc::from(words[place]);
    let storage = |verb| Command::Storage {
        verb,
        key: key(1),
        value: words[3].into(),
        exptime: number(2),
    };
    match words[0] {
        "set" => storage(Verb::Set),
        "add" => storage(Verb::Add),
        "replace" => storage(Verb::Replace),
        "cas" => storage(Verb::Cas(match words[4] {
            "LAST" => last_cas,
            other => other.parse().expect("a cas number"),
        })),
        "get" | "gets" => Command::Get {
            key: key(1),
            with_cas: words[0] == "gets",
        },
        "gat" => Command::Gat(key(2), number(1)),
        "delete" => Command::Delete(key(1)),
        "incr" => Command::Incr(key(1), number(2).unsigned_abs()),
        "decr" => Command::Decr(key(1), number(2).unsigned_abs()),
        "touch" => Command::Touch(key(1), number(2)),
        "flush_all" => Command::FlushAll(
            words
                .get(1)
                .map_or(0, |delay| delay.parse().expect("seconds")),
        ),
        other => panic!("{other}"),
    }
}
