//! Outcomes of cases.

use std::collections::BTreeMap;
use std::time::Duration;

use picklock_checker::outcome::{
    CaseLocation, CaseOutcome, Finding, ScenarioOutcome, SeedRange, Standing, Story, Violation,
};

/// A case that stands like this, of which nothing else is known.
pub fn case(algorithm: &str, standing: Standing) -> CaseOutcome {
    CaseOutcome {
        scenario: "zookeeper/waiter-death".to_owned(),
        path: "zookeeper/waiter-death".to_owned(),
        case: algorithm.to_owned(),
        written: CaseLocation::default(),
        algorithm: algorithm.to_owned(),
        standing,
        findings: Vec::new(),
        violations: Vec::new(),
        broken: None,
        seeds: 1000,
        seeds_at_most: None,
        ran: vec![SeedRange {
            from: 0,
            to: 1000,
            step: 1,
        }],
        undecided: BTreeMap::new(),
        reached: BTreeMap::new(),
        nearest: BTreeMap::new(),
        hash: 0x00c0_ffee_00c0_ffee,
        metrics: BTreeMap::new(),
        took: Duration::from_millis(2_100),
        story: None,
    }
}

/// A case that fails with this story.
pub fn failed(algorithm: &str, story: Story) -> CaseOutcome {
    let (invariant, witness) = story.violated.clone().expect("a story of a violation");
    CaseOutcome {
        violations: vec![Violation {
            seed: story.seed,
            found_after: 3,
            seeds: 41,
            expected: false,
            witness,
            alike: BTreeMap::new(),
            replays: BTreeMap::new(),
            ways: Vec::new(),
            looked_into: 0,
            invariant: invariant.clone(),
        }],
        findings: vec![finding(
            &invariant,
            Standing::Fail,
            &format!(
                "{invariant} was to hold, and is violated at seed {}",
                story.seed
            ),
        )],
        took: Duration::from_millis(100),
        story: Some(Box::new(story)),
        ..case(algorithm, Standing::Fail)
    }
}

/// A finding.
pub fn finding(name: &str, standing: Standing, line: &str) -> Finding {
    Finding {
        name: name.to_owned(),
        standing,
        line: line.to_owned(),
        can_tell: None,
    }
}

/// A scenario with these cases.
pub fn scenario(cases: Vec<CaseOutcome>) -> ScenarioOutcome {
    ScenarioOutcome {
        name: "zookeeper/waiter-death".to_owned(),
        claim: "The death of a waiter does not hand the lock to the one behind it.".to_owned(),
        cases,
    }
}
