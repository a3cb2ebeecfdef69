//! `picklock why --html`: the page of the run, with the answers, and above its lanes how likely the violation was.

use crate::checker::VirtualTime;
use crate::checker::outcome::Story;
use crate::cli::cmd::page;
use crate::cli::cmd::replay::Judged;
use crate::reports::diagram::{Strip, TurningMark};
use crate::reports::html::Reasons;
use crate::scenarios::runner;
use crate::scenarios::why::Moment;

use super::Answers;

impl Answers<'_> {
    pub(super) fn page(&self) -> String {
        let (scenario, case, seed) = (&self.ran.scenario, &self.ran.case, self.ran.seed);
        let (mut simulated, mut messages) = runner::traced(case, seed);
        if simulated.hash != self.ran.simulated.hash {
            // Of a recipe that goes by more than its handle and its environment, the answers are about the first run.
            (simulated, messages) = (self.ran.simulated.clone(), Vec::new());
        }
        let outcome = runner::judge(case, seed, &simulated);
        let mut judged = Judged::of(scenario, case, &outcome);
        judged.ask_for(self.invariant, case, &outcome, &simulated);
        let violated = (self.invariant.name.to_owned(), self.witness.clone());
        let story = runner::story(scenario, case, simulated, &outcome, Some(violated));
        let shown = (judged.standing, &judged.remarks[..]);
        let reasons = Some(self.reasons(&story));
        page::of_run((scenario, case), shown, &story, &messages, reasons)
    }

    fn reasons(&self, story: &Story) -> Reasons {
        let needs = self.without.iter();
        let (led, all) = self.describe_past();
        Reasons {
            needs: needs
                .map(|need| need.describe(&self.ran.case.plan))
                .collect(),
            turning: self.describe_turn(),
            past: format!(
                "{led} of {all}, which the button Causal past shows alone: by the order of each contender's \
                 own events, of the service's grants, of the resource's writes, and by what faults wait for and strike."
            ),
            likelihood: self.likelihood(story),
        }
    }

    /// How likely the violation was, at the time of the last event that was settled.
    fn likelihood(&self, story: &Story) -> Strip {
        let events = &story.history.events;
        let at = |moment: &Moment| {
            let last = moment.settled.checked_sub(1);
            last.and_then(|index| events.get(index))
                .map_or(VirtualTime::ZERO, |event| event.at)
        };
        let moments = self.moments();
        let points = moments
            .iter()
            .map(|moment| (at(moment), moment.share.violated));
        let turning = self.turning.jump.zip(self.turning.event());
        let turning = turning.and_then(|((_, after), event)| {
            let label = match self.is_turned() {
                true => format!("turning choice {}", after.kept),
                false => format!("choice {}", after.kept),
            };
            let at = events.get(event)?.at;
            Some(TurningMark { at, event, label })
        });
        let of = moments.first().map_or(0, |moment| moment.share.of);
        Strip::likelihood(points.collect(), of, turning)
    }
}
