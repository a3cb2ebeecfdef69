//! The results for machines.

use crate::common;
use crate::common::outcome;

use common::two_inside;
use insta::assert_snapshot;
use outcome::{case, failed, finding, scenario};
use picklock_checker::outcome::{Nearest, Standing};
use picklock_reports::json::{self, Results};

#[test]
fn results_have_the_documented_shape() {
    let mut undecided = case("etcd-mutex", Standing::Undecided);
    undecided
        .undecided
        .insert("fault 1 never fired".to_owned(), 12);
    undecided.metrics.insert("wait-p99-ms".to_owned(), 12.5);
    undecided.metrics.insert("wasted".to_owned(), f64::NAN);
    let nearest = Nearest {
        micros: 4_981,
        seed: 412,
    };
    undecided
        .nearest
        .insert("between-holds".to_owned(), nearest);
    let line = "fault 1 never fired (12 of 1000 seeds)";
    undecided.findings = vec![finding("mutual-exclusion", Standing::Undecided, line)];
    let outcomes = [scenario(vec![
        failed("zk-no-recheck", two_inside()),
        undecided,
    ])];
    assert_snapshot!(json::results(&outcomes, "0.1.0"));
}

#[test]
fn no_cases_are_an_empty_list() {
    assert_snapshot!(json::results(&[], "0.1.0"));
}

#[test]
fn results_can_be_read_back_and_hold_no_times() {
    let mut slow = case("zk-herd", Standing::Holds);
    let quick = json::results(&[scenario(vec![slow.clone()])], "0.1.0");
    slow.took *= 100;
    assert_eq!(json::results(&[scenario(vec![slow])], "0.1.0"), quick);
    let read: Results = serde_json::from_str(&quick).unwrap();
    assert_eq!(read.version, json::VERSION);
    assert!(read.cases[0].as_expected);
}
