//! Names and findings that try to be more than text.

use picklock_checker::outcome::{CaseLocation, ScenarioOutcome, Story};

use super::outcome::failed;

/// A text that tries to be markup, a command, and a control sequence wherever it comes to stand.
pub const HOSTILE: &str = "<script>alert(1)</script>\"' ]]> & | `code` **b** [x](javascript:1) \
    \u{1b}[31m\u{0}\n::error::x";

/// A scenario whose names and findings are all such texts.
pub fn hostile(story: Story) -> ScenarioOutcome {
    let mut case = failed("zk-x", story);
    case.scenario = HOSTILE.to_owned();
    case.case = HOSTILE.to_owned();
    case.algorithm = HOSTILE.to_owned();
    case.path = HOSTILE.to_owned();
    case.written = CaseLocation {
        file: format!("my locks/{HOSTILE}.toml"),
        built_in: false,
        line: Some(7),
    };
    case.findings[0].line = HOSTILE.to_owned();
    ScenarioOutcome {
        name: HOSTILE.to_owned(),
        claim: HOSTILE.to_owned(),
        cases: vec![case],
    }
}
