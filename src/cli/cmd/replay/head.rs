//! What a replay says above its story.

use crate::checker::outcome::{Standing, Story};
use crate::cli::console;
use crate::reports::style::Style;
use crate::reports::terminal;
use crate::reports::words::harmless;
use crate::scenarios::{Case, Scenario};

/// What stands in the place of a verdict if the run is not the one that was asked for.
const ANOTHER_RUN: &str = "ANOTHER RUN";

/// The lines above the story: what was run, and how it stands.
pub(super) fn head(
    (scenario, case): (&Scenario, &Case),
    (is_asked_for, standing, remarks): (bool, Standing, &[String]),
    told: &Story,
    style: &Style,
) -> String {
    let word = match is_asked_for {
        true => terminal::verdict(standing),
        false => ANOTHER_RUN,
    };
    let word = match is_asked_for {
        true => style.standing(standing, &format!("{word:>12}")),
        false => style.red(&format!("{word:>12}")),
    };
    let claim = console::wrapped(&harmless(&scenario.claim), style.columns() - 2).join("\n  ");
    let mut text = format!("{}\n  {claim}\n\n", harmless(&scenario.name));
    text.push_str(&format!(
        "{word}  {}  seed {}\n",
        harmless(&case.name),
        told.seed
    ));
    for remark in remarks {
        for line in console::wrapped(&harmless(remark), style.columns() - 16) {
            text.push_str(&format!("{:16}{line}\n", ""));
        }
    }
    text
}
