//! The contenders struck by a fault that names one of several tasks of a process: a fault of the process strikes all of
//! them.

use picklock_checker::lists;

use super::{ContenderName, Fault, PlannedFault, Share, Workload};

impl Fault {
    /// The contender whose process it strikes: one that stands still or dies, its clocks, or its links.
    fn at_process(&self) -> Option<ContenderName> {
        match self {
            Self::Pause { target, .. }
            | Self::Crash { target, .. }
            | Self::ClockJump { target, .. }
            | Self::ClockDrift { target, .. }
            | Self::Cut { target }
            | Self::BlackHole { target, .. }
            | Self::SlowLink { target, .. }
            | Self::LosePackets { target, .. }
            | Self::Flap { target, .. } => Some(*target),
            _ => None,
        }
    }

    /// The contender whose client it strikes: a session, or an event thread.
    fn at_client(&self) -> Option<ContenderName> {
        match self {
            Self::ExpireSession { target } | Self::BlockEvents { target, .. } => Some(*target),
            _ => None,
        }
    }

    /// The other tasks that it strikes with the one that it names.
    pub fn strikes_too(&self, workload: &Workload) -> Vec<ContenderName> {
        let is_shared = workload.share != Share::Nothing;
        let named = self
            .at_process()
            .or_else(|| self.at_client().filter(|_| is_shared));
        let Some(named) = named.filter(|_| workload.tasks_per_process > 1) else {
            return Vec::new();
        };
        let others = workload.tasks_with(named);
        others.filter(|other| *other != named).collect()
    }
}

impl PlannedFault {
    /// The text of the fault, with the other tasks of the process that it strikes.
    pub fn text_in(&self, workload: &Workload) -> String {
        let others = self.inject.strikes_too(workload);
        if others.is_empty() {
            return self.text.clone();
        }
        let name = |name: &ContenderName| format!("contender-{}", name.0 + 1);
        let others: Vec<String> = others.iter().map(name).collect();
        let with = lists::named(&others, " and ");
        format!("{} (one process with {with})", self.text)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn workload(share: Share) -> Workload {
        Workload {
            contenders: 4,
            tasks_per_process: 2,
            share,
            ..Workload::default()
        }
    }

    fn text(inject: Fault, workload: &Workload) -> String {
        let planned = PlannedFault {
            when: super::super::Trigger::At(Duration::ZERO),
            after: Duration::ZERO,
            repeat: None,
            inject,
            text: "it strikes".to_owned(),
        };
        planned.text_in(workload)
    }

    #[test]
    fn what_strikes_a_process_names_all_of_its_tasks() {
        let target = ContenderName(3);
        let own = workload(Share::Nothing);
        let cut = text(Fault::Cut { target }, &own);
        assert_eq!(cut, "it strikes (one process with contender-3)");
        assert_eq!(
            text(Fault::Cut { target }, &Workload::default()),
            "it strikes"
        );
    }

    #[test]
    fn what_strikes_a_session_strikes_all_tasks_that_share_it() {
        let expire = || Fault::ExpireSession {
            target: ContenderName(0),
        };
        assert_eq!(text(expire(), &workload(Share::Nothing)), "it strikes");
        let shared = text(expire(), &workload(Share::Session));
        assert_eq!(shared, "it strikes (one process with contender-2)");
    }
}
