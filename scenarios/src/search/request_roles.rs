//! What a request is to its sender: all there is to do, the first of two that belong together, or a question that is
//! asked again and again. A run without faults tells.

use std::collections::{BTreeMap, BTreeSet};

use picklock_algorithms::clients::RequestKind;
use picklock_sim::SeenMoment;
use picklock_sim::plan::{ContenderName, Trigger};
use rustc_hash::{FxHashMap, FxHashSet};

use super::moment_class::{MomentClass, RequestStage, read};

/// What a request is to its sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RequestRole {
    /// All there is to do.
    Whole,
    /// A change follows that was decided on when this one was answered. What comes between them comes at a bad time.
    First,
    /// Its answer lets its sender in.
    Entry,
    /// It was refused: the same is asked again.
    Asked,
    /// Its sender has the lock, and asks the same again and again, so as to keep it.
    Renewal,
}

impl RequestRole {
    /// The class of a request of this class that is this to its sender.
    pub(super) fn class(self, of: MomentClass) -> MomentClass {
        match (of, self) {
            (MomentClass::Changing(way, kind), Self::Asked) => MomentClass::Looking(way, kind),
            (MomentClass::Changing(way, kind), Self::Renewal) => MomentClass::Renewing(way, kind),
            (MomentClass::Changing(way, kind) | MomentClass::Looking(way, kind), Self::First) => {
                MomentClass::First(way, kind)
            }
            (class, _) => class,
        }
    }
}

/// The roles of the requests of a run. Only ever asked for one: its order is not seen.
pub(super) struct RequestRoles(FxHashMap<Request, RequestRole>);

/// A request, by the contender that makes it, its kind, and its `nth`.
type Request = (ContenderName, RequestKind, u32);

/// What a contender comes through, and for which time.
type Step = (MomentClass, u32);

impl RequestRoles {
    pub(super) fn of(seen: &[SeenMoment]) -> Self {
        let mut steps: BTreeMap<ContenderName, Vec<Step>> = BTreeMap::new();
        // How many steps of its own its sender had come through when it was sent, and when it was answered.
        let mut sent: Vec<(usize, Request)> = Vec::new();
        let mut answered: FxHashMap<Request, usize> = FxHashMap::default();
        let mut holders: BTreeSet<ContenderName> = BTreeSet::new();
        let mut of_holders: FxHashSet<Request> = FxHashSet::default();
        for (class, by, nth) in seen.iter().filter_map(|moment| read(&moment.trigger)) {
            let own = steps.entry(by).or_default();
            own.push((class, nth));
            if class == MomentClass::Acquired {
                holders.insert(by);
            }
            if class == MomentClass::Releasing {
                holders.remove(&by);
            }
            match request((class, by, nth)) {
                Some((RequestStage::Sent, request)) => {
                    sent.push((own.len(), request));
                    if holders.contains(&by) {
                        of_holders.insert(request);
                    }
                }
                Some((RequestStage::Answered, request)) => {
                    answered.insert(request, own.len());
                }
                Some((RequestStage::Proposed | RequestStage::Committed, _)) | None => {}
            }
        }
        let after = |(place, request): &(usize, Request)| {
            let from = answered.get(request).copied().unwrap_or(*place);
            &steps[&request.0][from..]
        };
        let (asked, others): (Vec<&(usize, Request)>, Vec<_>) =
            sent.iter().partition(|one| is_retried(after(one), one.1));
        let asked_for = |request: &Request| match of_holders.contains(request) {
            true => RequestRole::Renewal,
            false => RequestRole::Asked,
        };
        let asked = asked.iter().map(|asked| (asked.1, asked_for(&asked.1)));
        let asked: FxHashMap<Request, RequestRole> = asked.collect();
        let others = others
            .iter()
            .map(|other| (other.1, role(after(other), other.1.0, &asked)));
        let others: Vec<_> = others.collect();
        let mut roles = asked;
        roles.extend(others);
        Self(roles)
    }

    /// The role of the request that a trigger speaks of.
    pub(super) fn role(&self, trigger: &Trigger) -> RequestRole {
        let request = read(trigger).and_then(request).map(|(_, request)| request);
        let role = request.and_then(|request| self.0.get(&request));
        role.copied().unwrap_or(RequestRole::Whole)
    }
}

/// The request that a moment speaks of, and how far it has come.
fn request((class, by, nth): (MomentClass, ContenderName, u32)) -> Option<(RequestStage, Request)> {
    match class {
        MomentClass::Changing(way, kind)
        | MomentClass::Looking(way, kind)
        | MomentClass::First(way, kind)
        | MomentClass::Renewing(way, kind) => Some((way, (by, kind, nth))),
        MomentClass::Connecting
        | MomentClass::Acquiring
        | MomentClass::Queued
        | MomentClass::Waiting
        | MomentClass::Acquired
        | MomentClass::Writing
        | MomentClass::Releasing
        | MomentClass::Released
        | MomentClass::Told
        | MomentClass::Succeeding
        | MomentClass::Other => None,
    }
}

/// Whether a contender asks the same again before it goes on to another step.
fn is_retried(after: &[Step], (_, kind, _): Request) -> bool {
    for (class, _) in after {
        match *class {
            MomentClass::Changing(RequestStage::Sent, request)
            | MomentClass::Looking(RequestStage::Sent, request)
                if request == kind =>
            {
                return true;
            }
            MomentClass::Acquiring
            | MomentClass::Acquired
            | MomentClass::Writing
            | MomentClass::Releasing
            | MomentClass::Released => return false,
            MomentClass::Changing(..)
            | MomentClass::Looking(..)
            | MomentClass::First(..)
            | MomentClass::Connecting
            | MomentClass::Waiting
            | MomentClass::Queued
            | MomentClass::Told
            | MomentClass::Succeeding
            | MomentClass::Renewing(..)
            | MomentClass::Other => {}
        }
    }
    false
}

/// The role of a request of which no other is a repetition, by what its sender does next.
fn role(after: &[Step], of: ContenderName, asked: &FxHashMap<Request, RequestRole>) -> RequestRole {
    for (class, nth) in after.iter().copied() {
        match class {
            MomentClass::Changing(RequestStage::Sent, request) => {
                return match asked.contains_key(&(of, request, nth)) {
                    true => RequestRole::Whole,
                    false => RequestRole::First,
                };
            }
            MomentClass::Acquired => return RequestRole::Entry,
            MomentClass::Acquiring
            | MomentClass::Waiting
            | MomentClass::Writing
            | MomentClass::Releasing
            | MomentClass::Released => return RequestRole::Whole,
            MomentClass::Changing(..)
            | MomentClass::Looking(..)
            | MomentClass::First(..)
            | MomentClass::Connecting
            | MomentClass::Queued
            | MomentClass::Told
            | MomentClass::Succeeding
            | MomentClass::Renewing(..)
            | MomentClass::Other => {}
        }
    }
    RequestRole::Whole
}
