//! A queue that is so long that no client can list it.

use crate::witness::WitnessBuilder;
use crate::{Evidence, ListTooLong, Verdict};

/// The queue is so long that its list does not fit into what a client reads.
pub(super) fn verdict(evidence: &Evidence<'_>, list: ListTooLong, ended: usize) -> Verdict {
    let ListTooLong { children, most } = list;
    let summary = format!(
        "the list of {children} children does not fit into jute.maxbuffer ({most} bytes): no contender can list the \
         queue"
    );
    let mut case = WitnessBuilder::new(evidence);
    case.show(evidence.pending.first().map(|&(_, _, asked)| asked));
    case.however(format!(
        "each client that listed it lost its connection by the answer, and no contender owned the lock until {}.",
        evidence.at(ended)
    ));
    case.broken(summary, ended, None)
}

#[cfg(test)]
mod tests {
    use super::super::check;
    use super::*;
    use crate::notation;

    #[test]
    fn a_queue_too_long_to_list_is_no_progress_and_says_how_long() {
        let mut run = notation::run("bound-reached:90 b.waiting:90");
        run.history.too_long = Some(ListTooLong {
            children: 23_456,
            most: 1_048_575,
        });
        let verdict = check(&Evidence::of(&run));
        let Verdict::Violated(witness) = verdict else {
            panic!("{verdict:?}");
        };
        assert!(
            witness.summary.contains("23456 children"),
            "{}",
            witness.summary
        );
        assert!(
            witness.summary.contains("1048575 bytes"),
            "{}",
            witness.summary
        );
    }
}
