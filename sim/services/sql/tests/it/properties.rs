//! What is true of every sequence of statements.

use std::collections::BTreeMap;
use std::time::Duration;

use picklock_machines::{Chance, ConnectionId};
use picklock_sql::sql::Dialect;
use picklock_sql::{Input, Locked, Output, Settings};
use proptest::prelude::*;

use crate::driver::{Driver, Seeded};
use crate::{script, sql_text};

const OF_POSTGRES: &[&str] = &[
    "BEGIN",
    "BEGIN ISOLATION LEVEL REPEATABLE READ",
    "BEGIN ISOLATION LEVEL SERIALIZABLE",
    "COMMIT",
    "COMMIT",
    "ROLLBACK",
    "SAVEPOINT s",
    "ROLLBACK TO s",
    "SELECT pg_advisory_lock(1)",
    "SELECT pg_advisory_lock(2)",
    "SELECT pg_advisory_lock_shared(1)",
    "SELECT pg_try_advisory_lock(1)",
    "SELECT pg_advisory_xact_lock(1)",
    "SELECT pg_advisory_unlock(1)",
    "SELECT pg_advisory_unlock(2)",
    "SELECT pg_advisory_unlock_shared(1)",
    "SELECT pg_advisory_unlock_all()",
    "SELECT owner FROM l WHERE name='k' FOR SHARE",
    "SET lock_timeout='300ms'",
];
const OF_MYSQL: &[&str] = &[
    "BEGIN",
    "COMMIT",
    "COMMIT",
    "ROLLBACK",
    "SELECT GET_LOCK('g',1)",
    "SELECT GET_LOCK('h',5)",
    "SELECT GET_LOCK('g',0)",
    "SELECT RELEASE_LOCK('g')",
    "SELECT RELEASE_ALL_LOCKS()",
    "SELECT owner FROM l WHERE name='k' LOCK IN SHARE MODE",
    "INSERT INTO l(name,owner) VALUES('x','u') ON DUPLICATE KEY UPDATE owner='v'",
];
const OF_BOTH: &[&str] = &[
    "INSERT INTO l(name) VALUES('k')",
    "INSERT INTO l(name) VALUES('x')",
    "INSERT INTO l(name) VALUES('k') ON CONFLICT DO NOTHING",
    "UPDATE l SET version=version+1 WHERE name='k'",
    "UPDATE l SET owner='o' WHERE name='m'",
    "UPDATE l SET owner='p' WHERE version=1",
    "DELETE FROM l WHERE name='k'",
    "DELETE FROM l WHERE name='x'",
    "SELECT owner FROM l WHERE name='k' FOR UPDATE",
    "SELECT owner FROM l WHERE name='x' FOR UPDATE",
    "SELECT owner FROM l WHERE name='m' FOR UPDATE NOWAIT",
    "SELECT owner FROM l FOR UPDATE SKIP LOCKED",
    "SELECT count(*) FROM l",
];
const SESSIONS: u32 = 5;

/// Who holds what, as the server tells.
#[derive(Default)]
struct Holders(BTreeMap<Locked, Vec<(ConnectionId, bool)>>);

impl Holders {
    /// Follows what has happened. Fails if two hold what only one can.
    fn follow(&mut self, output: &Output) -> Result<(), TestCaseError> {
        match output {
            Output::Acquired {
                connection,
                lock,
                shared,
            } => {
                let holders = self.0.entry(lock.clone()).or_default();
                let is_alone = holders
                    .iter()
                    .all(|(holder, others)| holder == connection || *shared && *others);
                prop_assert!(is_alone, "{lock:?} of {holders:?} goes to {connection:?}");
                holders.push((*connection, *shared));
            }
            Output::Released { connection, lock } => {
                let holders = self.0.entry(lock.clone()).or_default();
                let held = holders.iter().any(|(holder, _)| holder == connection);
                prop_assert!(held, "{lock:?} is released by {connection:?}");
                holders.retain(|(holder, _)| holder != connection);
            }
            _ => {}
        }
        Ok(())
    }
}

/// A run of so many steps, with what it has put out.
fn run(dialect: Dialect, seed: u64, steps: u32) -> Result<Vec<Output>, TestCaseError> {
    let mut settings = Settings::of(dialect, vec![script::table()]);
    settings.flush = Duration::from_millis(seed % 2 * 3);
    let mut driver = Driver::new(settings, seed);
    let mut choices = Seeded(seed);
    let own = match dialect {
        Dialect::Postgres => OF_POSTGRES,
        Dialect::MySql => OF_MYSQL,
    };
    let all: Vec<&str> = own.iter().chain(OF_BOTH).copied().collect();
    let tables = [script::table()];
    let (mut holders, mut followed, mut opened) = (Holders::default(), 0, 0..SESSIONS);
    let mut sessions: Vec<(u32, u32)> = Vec::new();
    for step in 0..steps {
        if let Some(session) = opened.next() {
            driver.open(session);
            sessions.push((session, 0));
        }
        let place = choices.choose(sessions.len() as u32) as usize;
        let (session, number) = sessions[place];
        let is_idle = number == 0 || driver.answer(number).is_some();
        match choices.choose(20) {
            0 => driver.pass(Duration::from_millis(choices.choose(1_500).into())),
            1 if step > 20 => {
                driver.input(Input::Closed(ConnectionId(session)));
                sessions[place] = (SESSIONS + step, 0);
                driver.open(SESSIONS + step);
            }
            _ if is_idle => {
                let text = all[choices.choose(all.len() as u32) as usize];
                let statement = sql_text::statement(text, &tables).expect(text);
                sessions[place].1 = driver.send(session, statement);
            }
            _ => {}
        }
        for output in &driver.out[followed..] {
            holders.follow(output)?;
        }
        followed = driver.out.len();
    }
    for (session, _) in &sessions {
        driver.input(Input::Closed(ConnectionId(*session)));
        driver.pass(Duration::from_millis(10));
    }
    driver.pass(Duration::from_secs(120));
    for output in &driver.out[followed..] {
        holders.follow(output)?;
    }
    let counts = driver.server.lock_counts();
    prop_assert_eq!(
        counts,
        Default::default(),
        "nothing waits, and nothing is held"
    );
    prop_assert!(holders.0.values().all(Vec::is_empty), "all is released");
    Ok(driver.out)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn none_holds_what_another_holds_and_none_waits_for_ever(seed in 1_u64.., of_mysql: bool) {
        let dialect = if of_mysql { Dialect::MySql } else { Dialect::Postgres };
        run(dialect, seed, 150)?;
    }

    #[test]
    fn the_same_choices_give_the_same_answers(seed in 1_u64..1_000, of_mysql: bool) {
        let dialect = if of_mysql { Dialect::MySql } else { Dialect::Postgres };
        let (first, second) = (run(dialect, seed, 60)?, run(dialect, seed, 60)?);
        prop_assert_eq!(format!("{first:?}"), format!("{second:?}"));
    }
}
