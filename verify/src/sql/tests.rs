use std::sync::atomic::AtomicBool;

use picklock_clients::sql::Dialect;

use super::{Installed, Plan, compare};

/// Compares a few statements, if the server is on this machine.
fn compared(dialect: Dialect) {
    let Ok(installed) = Installed::find(dialect) else {
        eprintln!("skipped: {}", Installed::how(dialect));
        return;
    };
    let plan = Plan {
        dialect,
        seed: 1,
        operations: 300,
    };
    let compared = compare(&installed, plan, &AtomicBool::new(false), &|_| ()).unwrap();
    assert_eq!(compared.differences, []);
    assert!(compared.counters.waited > 0);
}

#[test]
fn the_model_answers_as_a_real_postgresql() {
    compared(Dialect::Postgres);
}

#[test]
fn the_model_answers_as_a_real_mariadb() {
    compared(Dialect::MySql);
}
