//! `times` and `every`: how often a fault strikes.

use picklock_sim::plan::{Fault, FaultKind, Repeat, Trigger};

use crate::format::reader::{Fields, Item, Mistake, Mistakes, Zero};
use crate::units::write_duration;

/// The most strikes of one fault.
const MOST_TIMES: i64 = 10_000;

/// Reads both; the outer `None` is a mistake, the inner one says that the fault strikes once.
pub(super) fn read(fields: &mut Fields, mistakes: &mut Mistakes) -> Option<Option<Repeat>> {
    let every_item = fields.get("every");
    let every = match &every_item {
        Some(item) => Some(item.duration(Zero::Senseless, mistakes)?),
        None => None,
    };
    let Some(item) = fields.get("times") else {
        if let Some(item) = every_item {
            let mistake = Mistake::new("`every` says when a fault strikes again")
                .label("but not how often")
                .help("add the number of strikes, such as times = 5");
            mistakes.add(item.span, mistake);
            return None;
        }
        return Some(None);
    };
    let times = item.integer(2..=MOST_TIMES, mistakes)?;
    let times = u32::try_from(times).ok()?;
    Some(Some(Repeat { times, every }))
}

/// Refuses what cannot strike again. `item` is what says that it does.
pub(super) fn check(
    repeat: Repeat,
    when: &Trigger,
    inject: &Fault,
    item: &Item,
    mistakes: &mut Mistakes,
) {
    let mistake = if inject.is_for_good() {
        Mistake::new("what is for good does not happen again")
            .label("the fault has no end")
            .help("say how long it lasts, with `for` or `restart-after`")
    } else if let Some(every) = repeat.every {
        let length = inject
            .lasts()
            .and_then(picklock_sim::plan::FaultDuration::duration);
        if let Some(length) = length.filter(|length| *length >= every) {
            Mistake::new("this fault would strike again before it is over")
                .label(format!("it lasts {}", write_duration(length)))
                .help("make `every` longer than that")
        } else if FaultKind::of(inject).strikes_message().is_some() {
            Mistake::new("this fault strikes the message that its trigger speaks of")
                .label("at another time there is no such message")
                .help("leave out `every`: then it strikes whenever its trigger happens again")
        } else {
            return;
        }
    } else if let Trigger::At(_) = when {
        Mistake::new("a time comes once")
            .label("so the fault cannot strike again")
            .help("say when it does, such as every = \"5s\"")
    } else {
        return;
    };
    mistakes.add(item.span.clone(), mistake);
}
