//! Every line that a person can see of a run.

use crate::common;
use crate::common::outcome;

use std::collections::BTreeMap;

use common::two_inside;
use insta::assert_snapshot;
use outcome::{case, failed, finding, scenario};
use picklock_checker::outcome::{
    CaseOutcome, DistinctFailure, Finding, Nearest, ScenarioOutcome, ShrunkRun, Standing,
};
use picklock_reports::fit::columns_of;
use picklock_reports::style::Style;
use picklock_reports::{summary, terminal};

const STYLE: Style = Style {
    color: false,
    ascii: false,
    width: None,
};

/// A scenario of which one case fails, one is skipped, and one holds.
fn mixed() -> ScenarioOutcome {
    let mut failing = failed("zk-no-recheck", two_inside());
    if let Some(story) = &mut failing.story {
        story.replay.push_str(" --was 0.1.0:00c0ffee0badf00d");
    }
    let mut skipped = case("zk-unsorted", Standing::Skipped);
    skipped.findings = vec![finding(
        "mutual-exclusion",
        Standing::Skipped,
        "mutual-exclusion may need 100 seeds to be violated; 5 ran",
    )];
    scenario(vec![case("zk-hardened", Standing::Holds), skipped, failing])
}

#[test]
fn a_terminal_is_laid_out_for_the_width_that_it_has() {
    for (width, color) in [(80, false), (80, true), (120, false), (120, true)] {
        let style = Style {
            color,
            width: Some(width),
            ..STYLE
        };
        let mut fine = mixed();
        fine.cases.truncate(2);
        fine.name = "redis/swarm".to_owned();
        let outcomes = [mixed(), fine];
        let line = terminal::scenario_in_a_line(&outcomes[1], 22, &style);
        let block = terminal::scenario(&outcomes[0], &style);
        let end = summary::summary(&outcomes, 1, &style);
        let text = format!("{line}\n{block}\n{end}");
        for line in text.lines() {
            assert!(columns_of(line) <= width, "{width}: {line}");
        }
        let kind = if color { "in-colour" } else { "plain" };
        insta::assert_snapshot!(format!("width-{width}-{kind}"), text);
    }
}

#[test]
fn each_standing_has_a_quiet_form() {
    let mut expected = case("redis-set-nx", Standing::AsExpected);
    expected.findings = vec![finding(
        "mutual-exclusion",
        Standing::AsExpected,
        "mutual-exclusion violated at seed 1: the replica never had the key",
    )];
    let mut undecided = case("etcd-mutex", Standing::Undecided);
    undecided.undecided.insert(
        "fault 1 never fired: contender-1 never acquired".to_owned(),
        12,
    );
    let mut held = case("redis-set-nx", Standing::Fail);
    held.case = "replicated".to_owned();
    held.findings = vec![
        finding("progress", Standing::Holds, "progress holds"),
        finding(
            "mutual-exclusion",
            Standing::Fail,
            "mutual-exclusion was to be violated within 10 seeds, and held",
        ),
        finding(
            "no-stale-effect",
            Standing::AsExpected,
            "no-stale-effect violated at seed 3: nothing checks the token",
        ),
    ];
    let mut herd = case("zk-herd", Standing::Holds);
    herd.seeds = 1;
    herd.metrics
        .insert("notifications-per-departure".to_owned(), 99.0);
    herd.findings = vec![finding(
        "notifications-per-departure",
        Standing::Holds,
        "notifications-per-departure 99.00, at least 20 as expected",
    )];
    let cases = vec![
        case("zk-predecessor-watch", Standing::Holds),
        herd,
        expected,
        undecided,
        held,
    ];
    assert_snapshot!(terminal::scenario(&scenario(cases), &STYLE));
}

#[test]
fn in_detail_each_case_says_how_near_it_came_and_with_which_seed() {
    let mut near = case("zk-hardened", Standing::Holds);
    let nearest = |micros, seed| Nearest { micros, seed };
    near.nearest = BTreeMap::from([
        ("lease-left".to_owned(), nearest(3_850_000, 28)),
        ("between-holds".to_owned(), nearest(0, 39)),
    ]);
    let cases = vec![near, case("zk-predecessor-watch", Standing::Holds)];
    let outcome = scenario(cases);
    assert!(!terminal::scenario(&outcome, &STYLE).contains("nearest"));
    assert_snapshot!(terminal::scenario_in_detail(&outcome, &STYLE));
}

#[test]
fn a_failure_tells_its_story_and_ends_with_a_command() {
    let cases = vec![
        case("zk-predecessor-watch", Standing::Holds),
        failed("zk-no-recheck", two_inside()),
    ];
    let outcome = scenario(cases);
    let summary = summary::summary(std::slice::from_ref(&outcome), 1, &STYLE);
    let text = terminal::scenario(&outcome, &STYLE) + "\n" + &summary;
    assert_snapshot!("failure_two_inside", text);
}

#[test]
fn red_is_for_the_failure_and_the_line_where_it_breaks_alone() {
    let style = Style {
        color: true,
        ascii: false,
        width: None,
    };
    let cases = vec![
        case("zk-predecessor-watch", Standing::Holds),
        failed("zk-no-recheck", two_inside()),
    ];
    let text = terminal::scenario(&scenario(cases), &style);
    let red: Vec<&str> = text
        .lines()
        .filter(|line| line.contains("\u{1b}[31m"))
        .collect();
    assert_snapshot!(red.join("\n").replace('\u{1b}', "<esc>"));
}

#[test]
fn without_unicode_a_failure_is_plain_ascii() {
    let text = terminal::scenario(
        &scenario(vec![failed("zk-no-recheck", two_inside())]),
        &Style::PLAIN,
    );
    assert!(text.is_ascii());
    assert_snapshot!(text);
}

#[test]
fn what_else_a_case_violates_is_told_too() {
    let mut story = two_inside();
    story.also = vec!["fifo".to_owned(), "no-stale-effect".to_owned()];
    let mut failing = failed("zk-no-recheck", story);
    let mut other = failing.violations[0].clone();
    other.invariant = "progress".to_owned();
    other.seed = 17;
    other.seeds = 3;
    other.witness.summary = "contender-2 waits for a node that has no owner".to_owned();
    failing.violations.push(other);
    let text = terminal::scenario(&scenario(vec![failing]), &STYLE);
    let head: Vec<&str> = text.lines().skip(4).take(6).collect();
    assert_snapshot!(head.join("\n"));
}

#[test]
fn how_many_seeds_fail_otherwise_is_told() {
    let mut failing = failed("zk-no-recheck", two_inside());
    let way = |seed: u64, seeds: u64, sizes: &str| DistinctFailure {
        argument: seeds.to_string(),
        seed,
        seeds,
        looked_into: 4,
        need_these: 4,
        summary: "contender-2 and contender-4 both inside for 1.000 s".to_owned(),
        replay: String::new(),
        smaller: ShrunkRun {
            is_other: true,
            sizes: sizes.to_owned(),
            keep: None,
            events: 9,
            shape: Vec::new(),
            needs: Vec::new(),
        },
    };
    let head = |failing: &CaseOutcome| {
        let text = terminal::scenario(&scenario(vec![failing.clone()]), &STYLE);
        let head: Vec<&str> = text.lines().skip(3).take(9).collect();
        head.join("\n")
    };
    let violation = &mut failing.violations[0];
    violation.looked_into = 4;
    violation.ways = vec![way(4127, 41, "5 contenders to 3")];
    let alike = head(&failing);
    let violation = &mut failing.violations[0];
    violation.looked_into = 41;
    violation.ways.push(way(4311, 30, "5 contenders to 2"));
    violation.ways[1].need_these = 1;
    assert_snapshot!(format!("{alike}\n{}", head(&failing)));
}

#[test]
fn a_green_that_could_not_have_failed_is_seen() {
    let promise = |name: &str, can_tell| Finding {
        can_tell: Some(can_tell),
        ..finding(name, Standing::Holds, &format!("{name} holds"))
    };
    let mut drawn = case("zk-hardened", Standing::Holds);
    drawn.findings = vec![
        promise("mutual-exclusion", 1000),
        promise("progress", 930),
        promise("fifo", 2),
    ];
    let mut all = case("zk-predecessor-watch", Standing::Holds);
    all.findings = vec![promise("progress", 1000)];
    let outcome = scenario(vec![drawn, all]);
    let text = terminal::scenario(&outcome, &STYLE);
    assert_snapshot!(format!(
        "{text}\n{}",
        terminal::scenario_in_detail(&outcome, &STYLE)
    ));
}

#[test]
fn the_summary_counts_what_was_not_as_expected() {
    let of = |standings: &[Standing]| -> Vec<CaseOutcome> {
        let case = |&standing: &Standing| case("zk-herd", standing);
        standings.iter().map(case).collect()
    };
    let text = [
        summary::summary(&[], 0, &STYLE),
        summary::summary(&[scenario(of(&[Standing::Holds]))], 0, &STYLE),
        summary::summary(
            &[
                scenario(of(&[Standing::Holds, Standing::AsExpected])),
                scenario(of(&[Standing::Holds])),
            ],
            0,
            &STYLE,
        ),
        summary::summary(
            &[scenario(of(&[Standing::Holds, Standing::Undecided]))],
            3,
            &STYLE,
        ),
        summary::summary(
            &[scenario(of(&[
                Standing::Fail,
                Standing::Undecided,
                Standing::Fail,
            ]))],
            1,
            &Style::PLAIN,
        ),
    ];
    assert_snapshot!(text.join("\n"));
}

#[test]
fn a_claim_cannot_steer_the_terminal() {
    let mut outcome = scenario(vec![case("zk-herd", Standing::Holds)]);
    outcome.claim = "one\n\u{1b}[31mtwo".to_owned();
    assert!(!terminal::scenario(&outcome, &STYLE).contains('\u{1b}'));
}

#[test]
fn several_failures_are_told_one_after_the_other_by_name() {
    let mut held = case("redis-set-nx", Standing::Fail);
    held.findings = vec![finding(
        "mutual-exclusion",
        Standing::Fail,
        "mutual-exclusion was to be violated within 10 seeds, and held",
    )];
    let cases = vec![failed("zk-no-recheck", two_inside()), held];
    let text = terminal::scenario(&scenario(cases), &STYLE);
    let rest: Vec<&str> = text.lines().skip(7).collect();
    assert_snapshot!(rest.join("\n"));
}
