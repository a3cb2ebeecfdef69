//! Annotations and step summaries, as GitHub's runner and its pages read them.

use crate::common;
use crate::common::hostile;
use crate::common::outcome;

use common::two_inside;
use hostile::{HOSTILE, hostile};
use outcome::{case, failed, finding, scenario};
use picklock_checker::outcome::{CaseLocation, Standing};
use picklock_reports::Remark;
use picklock_reports::github::{annotations, step_summary, without_commands};

#[test]
fn a_failure_is_an_error_at_its_line_and_what_cannot_be_told_a_warning() {
    let mut wrong = failed("zk-no-recheck", two_inside());
    wrong.written = CaseLocation {
        file: "my,locks/waiter.toml".to_owned(),
        built_in: false,
        line: Some(17),
    };
    let mut undecided = case("etcd-mutex", Standing::Undecided);
    undecided.findings = vec![finding("two-wait", Standing::Undecided, "100 % never\nx")];
    let held = case("zk-hardened", Standing::Holds);
    let remark = Remark {
        about: "coverage-of-redis".to_owned(),
        text: "nothing ever came through two-wait".to_owned(),
    };
    let text = annotations(&[scenario(vec![wrong, undecided, held])], &[remark]);
    insta::assert_snapshot!(text);
}

#[test]
fn a_summary_has_a_table_and_the_stories_folded_up() {
    let held = case("zk-hardened", Standing::Holds);
    let wrong = failed("zk-no-recheck", two_inside());
    insta::assert_snapshot!(step_summary(&[scenario(vec![held, wrong])], &[], 1));
    let held = case("zk-hardened", Standing::Holds);
    let green = step_summary(&[scenario(vec![held])], &[], 0);
    assert_eq!(
        green,
        "## picklock: exit 0\n\n1 scenario, 1 case: as expected.\n"
    );
}

#[test]
fn a_summary_is_cut_before_github_refuses_it() {
    let many = (0..2_000).map(|_| failed("zk-no-recheck", two_inside()));
    let summary = step_summary(&[scenario(many.collect())], &[], 1);
    assert!(summary.len() < 1024 * 1024, "{}", summary.len());
    assert!(summary.contains("Their stories are left out"));
}

#[test]
fn no_name_is_ever_a_command_of_the_runner() {
    let outcome = hostile(two_inside());
    let text = annotations(std::slice::from_ref(&outcome), &[]);
    assert_eq!(text.lines().count(), 1, "{text}");
    assert!(text.starts_with("::error title="), "{text}");
    let is_command = !text.trim_end().contains(char::is_control);
    assert!(
        is_command,
        "control characters are no part of a command: {text:?}"
    );
    let said = "  ::set-env name=PATH::x\n\t::error::y\nfine ::error::z\n##[error]v\n";
    let harmless = "  : :set-env name=PATH::x\n\t: :error::y\nfine ::error::z\n## [error]v\n";
    assert_eq!(without_commands(said), harmless);
}

#[test]
fn no_name_is_ever_markup_in_a_summary() {
    let mut outcome = hostile(two_inside());
    // A story is a block of code: nothing in it may end the block.
    if let Some(story) = &mut outcome.cases[0].story {
        story.replay = format!("````\n<img src=x>{HOSTILE}");
    }
    let summary = step_summary(&[outcome], &[], 1);
    let (table, story) = summary.split_once("`````text\n").expect("a longer fence");
    for markup in ["<script", "<img", "**b**", "[x](", "`code`"] {
        assert!(!table.contains(markup), "{table}");
    }
    let (block, after) = story.split_once("\n`````\n").expect("it ends");
    assert!(block.contains("<img"));
    assert_eq!(after, "\n</details>\n");
}
