//! Redlock, of which the answers of several servers must be put together.

use picklock::Harness;

/// Five servers, a Redlock, and these faults.
fn redlock(faults: &str) -> String {
    format!(
        r#"
        claim = "Redlock says what it knows."
        because = "No server knows of the others."
        source = "a test"
        [service.redis]
        servers = 5
        lease = "10s"
        [workload]
        contenders = 2
        arrive = "in-order"
        {faults}
        [[case]]
        algorithm = "redlock"
        "#
    )
}

#[test]
fn a_release_that_no_majority_answers_does_not_say_that_it_is_done() {
    let scenario = redlock(
        r#"
        [[fault]]
        when.releasing = { by = "contender-1" }
        inject.black-hole = { target = "contender-1", direction = "both", for = "2s" }
        "#,
    );
    Harness::new()
        .with_seeds(0..20)
        .assert_as_expected(&scenario);
}

#[test]
fn an_answer_of_a_majority_that_never_holds_at_once_is_honest() {
    // All keys go when two are set, and again when four are.
    let evict = |(nth, server)| {
        format!(
            r#"
            [[fault]]
            when.committed = {{ request = "set", by = "contender-1", nth = {nth} }}
            inject.evict-key = {{ target = "server-{server}" }}
            "#
        )
    };
    let moments = [2, 4].into_iter();
    let evictions = moments.flat_map(|nth| (1..=5).map(move |server| (nth, server)));
    let faults: String = evictions.map(evict).collect();
    let given_away = r#"expect.mutual-exclusion = "unchecked""#;
    let scenario = redlock(&faults) + given_away;
    Harness::new()
        .with_seeds(0..20)
        .assert_as_expected(&scenario);
}
