//! The model of Redis against a real server, where one is installed.

use std::sync::atomic::AtomicBool;

use picklock_verify::redis::{Installed, Plan, compare};

#[test]
fn the_model_answers_as_a_real_server_does() {
    let Ok(installed) = Installed::find(None) else {
        // Nothing to compare with.
        return;
    };
    let plan = Plan {
        seed: 1,
        operations: 2_000,
    };
    let compared = compare(&installed, plan, &AtomicBool::new(false), &|_| {});
    let compared = compared.expect("a comparison");
    for difference in &compared.differences {
        eprintln!("{difference:#?}");
    }
    assert_eq!(
        compared.not_modelled.keys().collect::<Vec<_>>(),
        Vec::<&String>::new()
    );
    assert_eq!(compared.agreeing, compared.answers);
    assert_eq!(compared.streamed_alike, compared.streamed);
    assert_eq!(compared.differences, []);
}
