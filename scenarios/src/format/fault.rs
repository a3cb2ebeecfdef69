//! `[[fault]]`: when, how long after, how often, and what breaks.

mod repeat;

use std::ops::Range;
use std::time::Duration;

use picklock_sim::plan::{
    ContenderName, Fault, FaultKind, Field, MessageInFlight, PlannedFault, Trigger,
};

use super::inject::inject;
use super::reader::{Item, Mistake, Mistakes, Zero, expected};
use super::trigger::{Scene, trigger};
use crate::describe;

/// Reads one `[[fault]]`.
pub(super) fn fault(item: &Item, scene: Scene, mistakes: &mut Mistakes) -> Option<PlannedFault> {
    let mut fields = item.table("a table, [[fault]]", mistakes)?;
    let example = "when.acquired = { by = \"contender-1\" }";
    let when = fields
        .need("when", example)
        .and_then(|item| trigger(&item, scene, mistakes));
    let after_item = fields.get("after");
    let after = match &after_item {
        Some(item) => item.duration(Zero::Allowed, mistakes),
        None => Some(Duration::ZERO),
    };
    let example = "inject.pause = { target = \"contender-1\", for = \"20s\" }";
    let injected = fields
        .need("inject", example)
        .and_then(|item| inject(&item, scene.participants, mistakes));
    let repeat_item = fields.peek("every").or_else(|| fields.peek("times"));
    let repeat = repeat::read(&mut fields, mistakes);
    fields.finish(mistakes);
    let (when, after, (inject, span), repeat) = (when?, after?, injected?, repeat?);
    if let (Some(repeat), Some(item)) = (repeat, repeat_item) {
        repeat::check(repeat, &when, &inject, &item, mistakes);
    }
    if let Some((target, wants)) = aims_at_request(&inject) {
        let aim = Aim {
            target,
            wants,
            span,
        };
        let fits = aim.check(&when, mistakes);
        if let Some(item) = after_item.filter(|_| fits && !after.is_zero()) {
            let what = what(wants);
            let mistake = Mistake::new(format!("this fault strikes the {what} that it waits for"))
                .label(format!("by then the {what} is gone"))
                .help("take `after` away");
            mistakes.add(item.span, mistake);
        }
    }
    Some(PlannedFault {
        text: describe::repeated(&inject, repeat),
        when,
        after,
        repeat,
        inject,
    })
}

/// What a fault that strikes a single request needs of its trigger.
struct Aim {
    target: ContenderName,
    wants: MessageInFlight,
    span: Range<usize>,
}

/// What must be on its way, as people say it.
fn what(strikes: MessageInFlight) -> &'static str {
    match strikes {
        MessageInFlight::Request | MessageInFlight::Reply => "request",
        MessageInFlight::Message => "message",
    }
}

fn aims_at_request(fault: &Fault) -> Option<(ContenderName, MessageInFlight)> {
    let strikes = FaultKind::of(fault).strikes_message()?;
    let target = fault.fields().into_iter().find_map(|field| match field {
        (_, Field::Contender(target)) => Some(target),
        _ => None,
    });
    Some((target?, strikes))
}

impl Aim {
    /// Whether the trigger is one that this fault can go with.
    fn check(&self, when: &Trigger, mistakes: &mut Mistakes) -> bool {
        let on_the_way = match self.wants {
            MessageInFlight::Request => expected(&["sent"]),
            MessageInFlight::Reply => expected(&["sent", "proposed", "committed", "answered"]),
            MessageInFlight::Message => expected(&["told"]),
        };
        let by = match (when, self.wants) {
            (Trigger::Sent { by, .. }, MessageInFlight::Request | MessageInFlight::Reply)
            | (
                Trigger::Proposed { by, .. }
                | Trigger::Committed { by, .. }
                | Trigger::Answered { by, .. },
                MessageInFlight::Reply,
            )
            | (Trigger::Told { by, .. }, MessageInFlight::Message) => *by,
            (
                Trigger::Proposed { .. } | Trigger::Committed { .. } | Trigger::Answered { .. },
                MessageInFlight::Request,
            ) => {
                let mistake = Mistake::new("this fault comes too late for the request")
                    .label("the request has reached its server by then")
                    .help(format!("{on_the_way} as its trigger"));
                mistakes.add(self.span.clone(), mistake);
                return false;
            }
            (Trigger::Received { .. }, MessageInFlight::Request | MessageInFlight::Reply) => {
                let what = match self.wants {
                    MessageInFlight::Request => "request",
                    MessageInFlight::Reply | MessageInFlight::Message => "answer",
                };
                let mistake = Mistake::new(format!("this fault comes too late for the {what}"))
                    .label("the answer has reached its client by then")
                    .help(format!("{on_the_way} as its trigger"));
                mistakes.add(self.span.clone(), mistake);
                return false;
            }
            _ => {
                let what = what(self.wants);
                let mistake = Mistake::new(format!("this fault strikes one {what}"))
                    .label("but its trigger speaks of none")
                    .help(format!("{on_the_way} as its trigger"));
                mistakes.add(self.span.clone(), mistake);
                return false;
            }
        };
        if by != self.target {
            self.refuse_another(by, mistakes);
        }
        by == self.target
    }

    /// The trigger speaks of a request of another contender.
    fn refuse_another(&self, by: ContenderName, mistakes: &mut Mistakes) {
        let mistake = Mistake::new(format!(
            "the trigger speaks of a {} of contender-{}",
            what(self.wants),
            by.0 + 1
        ))
        .label(format!(
            "but this fault strikes contender-{}",
            self.target.0 + 1
        ));
        mistakes.add(
            self.span.clone(),
            mistake.help("name the same contender in both"),
        );
    }
}
