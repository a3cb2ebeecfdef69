use std::sync::atomic::AtomicBool;

use super::{HOW, Installed, Plan, compare};

/// Compares some commands, if the server is on this machine.
#[test]
fn the_model_answers_as_a_real_memcached() {
    let Ok(installed) = Installed::find() else {
        eprintln!("skipped: {HOW}");
        return;
    };
    let plan = Plan {
        seed: 1,
        operations: 600,
    };
    let compared = compare(&installed, plan, &AtomicBool::new(false), &|_| ()).unwrap();
    assert_eq!(compared.differences, []);
    assert!(compared.counters.ticks > 0);
}
