//! What is there when all contenders have left.

use crate::witness::WitnessBuilder;
use crate::{EventKind, Evidence, Verdict};

pub(super) fn left_over(evidence: &Evidence<'_>, leftover: usize) -> Verdict {
    let EventKind::Leftover { name, owner, lock } = evidence.event(leftover).what else {
        unreachable!("a leftover is a leftover")
    };
    let history = &evidence.run.history;
    let node = history.name(name);
    let mut case = WitnessBuilder::new(evidence);
    let of = owner.map_or(String::new(), |owner| format!(" of {}", case.name(owner)));
    let made = evidence.where_made(lock, name, owner);
    case.show(made);
    if let Some(made) = made {
        let at = evidence.at(made);
        case.then(format!("{node}{of} is there since {at} at the latest."));
    }
    case.however("it is still there after all contenders have left.".to_owned())
        .broken(
            format!("{node}{of} is still there after all contenders have left"),
            leftover,
            None,
        )
}
