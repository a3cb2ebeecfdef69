//! Scripts of what sessions do, and what comes of it.
//!
//! A line is a session and its statement, then ` => ` and what is answered: a tag with a number and rows, a code,
//! or `waits`. What other sessions are answered by then follows, each behind ` | ` and its name. `pass`, `cut`, and
//! `kill` are no sessions.

use std::collections::BTreeMap;
use std::time::Duration;

use picklock_machines::ConnectionId;
use picklock_sql::sql::{Dialect, Value};
use picklock_sql::{Input, Output, Settings, Table};

use crate::driver::Driver;
use crate::sql_text;

/// The table that scripts are about, with two rows.
pub fn table() -> Table {
    let columns = [
        ("name", Value::Null),
        ("owner", Value::Null),
        ("version", Value::Int(0)),
        ("until", Value::Null),
    ];
    let row = |name: &str| {
        let (name, owner) = (Value::Text(name.into()), Value::Text("-".into()));
        [name, owner, Value::Int(0), Value::Null]
    };
    Table::of("l", &columns)
        .with_row(row("k"))
        .with_row(row("m"))
}

fn number(session: &str) -> u32 {
    u32::from(session.as_bytes()[0])
}

/// What the sessions were told since.
fn answers(driver: &Driver, since: usize) -> BTreeMap<String, String> {
    let told = driver.out[since..]
        .iter()
        .filter_map(|output| match output {
            Output::ToClient(ConnectionId(session), message) => {
                let session = char::from_u32(*session).unwrap_or_default().to_string();
                let text = match &message.result {
                    Ok(_) => message.to_string(),
                    Err(code) => code.code().to_owned(),
                };
                Some((session, text))
            }
            _ => None,
        });
    told.collect()
}

/// Plays a script, and panics where something else is answered.
pub fn play_on(settings: Settings, script: &str) -> Driver {
    let tables = settings.tables.clone();
    let mut driver = Driver::new(settings, 0);
    let mut known: Vec<String> = Vec::new();
    for line in script
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
    {
        let (step, expected) = line.split_once(" => ").unwrap_or((line, ""));
        let (session, text) = step.split_once(' ').expect(line);
        let since = driver.out.len();
        let mut expected: BTreeMap<String, String> = match expected {
            "" => BTreeMap::new(),
            _ => { expected.split(" | ") }
                .map(|part| match part.split_once(' ') {
                    Some((of, rest)) if of.len() == 1 => (of.to_owned(), rest.to_owned()),
                    _ => (session.to_owned(), part.to_owned()),
                })
                .collect(),
        };
        match session {
            "pass" => driver.pass(Duration::from_millis(text.parse().expect(line))),
            "cut" => driver.input(Input::Closed(ConnectionId(number(text)))),
            "unreachable" => driver.input(Input::Unreachable(ConnectionId(number(text)))),
            _ => {
                if !known.iter().any(|known| known == session) {
                    known.push(session.to_owned());
                    driver.open(number(session));
                }
                let mut text = text.to_owned();
                for name in &known {
                    text = text.replace(&format!("@{name}@"), &number(name).to_string());
                }
                let statement = sql_text::statement(&text, &tables).expect(&text);
                driver.send(number(session), statement);
            }
        }
        let found = answers(&driver, since);
        if expected
            .get(session)
            .is_some_and(|answer| answer == "waits")
        {
            expected.remove(session);
        }
        assert_eq!(found, expected, "{line}");
    }
    driver
}

/// Plays a script on a server of which nothing else is said.
pub fn play(dialect: Dialect, script: &str) -> Driver {
    play_on(Settings::of(dialect, vec![table()]), script)
}
