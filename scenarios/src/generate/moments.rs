//! The moments that drawn faults wait for.

use std::time::Duration;

use picklock_algorithms::Owners;
use picklock_algorithms::clients::RequestKind;
use picklock_sim::plan::{
    ContenderName, FaultKind, Hold, MessageInFlight, Plan, Section, Trigger, TriggerKind,
};

use super::draw::{Draw, weighed_at};
use crate::search::fault_weights::promise;
use crate::search::hold_windows::takes_a_session;
use crate::search::moment_class::{MomentClass, RequestStage};

/// Steps of a contender that a fault can wait for.
#[derive(Clone, Copy)]
enum Step {
    Acquiring,
    Queued,
    Waiting,
    Acquired,
    Writing,
    Releasing,
    Released,
    Expired,
    Request(RequestStage),
}

impl Step {
    /// The class of its moments. Of requests it is that of the most telling.
    fn class(self) -> MomentClass {
        match self {
            Self::Acquiring => MomentClass::Acquiring,
            Self::Queued => MomentClass::Queued,
            Self::Waiting => MomentClass::Waiting,
            Self::Acquired => MomentClass::Acquired,
            Self::Writing => MomentClass::Writing,
            Self::Releasing => MomentClass::Releasing,
            Self::Released => MomentClass::Released,
            Self::Expired => MomentClass::Other,
            Self::Request(way) => MomentClass::Changing(way, RequestKind::Create),
        }
    }
}

/// The requests that a recipe makes, and how telling each is: those that change something are the most.
fn requests(plan: &Plan) -> Vec<(u32, RequestKind)> {
    let all: &[(u32, RequestKind)] = match plan.recipe.ownership.owners {
        Owners::OfQueue(_) => &[
            (8, RequestKind::Create),
            (6, RequestKind::Delete),
            (3, RequestKind::GetChildren),
            (1, RequestKind::GetData),
            (2, RequestKind::Exists),
            (3, RequestKind::MultiRead),
            (1, RequestKind::AddWatch),
            (1, RequestKind::Sync),
        ],
        Owners::OfNode => &[
            (8, RequestKind::Create),
            (6, RequestKind::Delete),
            (2, RequestKind::Exists),
            (2, RequestKind::GetData),
        ],
        Owners::OfKeys(_) | Owners::OfCounter(_) => &[
            (8, RequestKind::Set),
            (8, RequestKind::Script),
            (4, RequestKind::Del),
            (4, RequestKind::Get),
            (4, RequestKind::GetSet),
            (2, RequestKind::Exec),
            (2, RequestKind::SetNx),
            (2, RequestKind::Expire),
            (1, RequestKind::Watch),
            (1, RequestKind::Subscribe),
            (1, RequestKind::Wait),
        ],
        Owners::OfData(_) => &[
            (6, RequestKind::SetData),
            (3, RequestKind::GetData),
            (1, RequestKind::Create),
        ],
        Owners::OfSession | Owners::OfRow(_) | Owners::OfHeldKeys(_) => &[],
    };
    let makes = |request: &RequestKind| plan.recipe.requests.contains(request);
    let made = all.iter().filter(|(_, request)| makes(request));
    let made: Vec<(u32, RequestKind)> = made.copied().collect();
    if !made.is_empty() {
        return made;
    }
    // Of requests that are not known here, all that change something tell as much.
    let others = RequestKind::of_service(plan.service.kind()).filter(makes);
    let writes = others.filter(|request| request.writes());
    writes.map(|request| (8, request)).collect()
}

/// A moment of a contender at which to strike it with this kind of fault, or, if it is `None`, another.
///
/// How likely a moment is depends on what can come of it: a fault of one's own where nothing can is a run for nothing.
/// It is the one that lies so far through all of them, in parts of 2³².
pub(super) fn aimed(
    plan: &Plan,
    by: ContenderName,
    kind: Option<FaultKind>,
    share: u32,
    draw: &mut Draw,
) -> Trigger {
    let writing = match plan.workload.section {
        Section::Nothing => 0,
        Section::Write | Section::Count | Section::Sell(_) | Section::DelayedWrite(_) => 6,
    };
    let sessions = u32::from(plan.service.session_tick().is_some());
    // Without sessions there are no places in a queue.
    let queued = sessions * u32::from(plan.service.row().happens(TriggerKind::Queued));
    let proposed = u32::from(plan.service.row().happens(TriggerKind::Proposed));
    let steps = [
        (1, Step::Acquiring),
        (2 * queued, Step::Queued),
        (3, Step::Waiting),
        (4, Step::Acquired),
        (writing, Step::Writing),
        (2, Step::Releasing),
        (2, Step::Released),
        (sessions, Step::Expired),
        (3, Step::Request(RequestStage::Sent)),
        (2 * proposed, Step::Request(RequestStage::Proposed)),
        (2, Step::Request(RequestStage::Committed)),
        (2, Step::Request(RequestStage::Answered)),
    ];
    let steps = steps.map(|(odds, step)| match kind {
        // By the time at which a session ends, a contender that is about to write has left.
        Some(kind) if takes_a_session(kind) && matches!(step, Step::Writing) => (odds, step),
        Some(kind) => (odds * promise(kind, step.class()), step),
        None => (odds, step),
    });
    let step = weighed_at(share, &steps).unwrap_or(Step::Acquired);
    let nth = count(plan, draw);
    match step {
        Step::Acquiring => Trigger::Acquiring { by, nth },
        Step::Queued => Trigger::Queued { by, nth },
        Step::Waiting => Trigger::Waiting { by, nth },
        Step::Acquired => Trigger::Acquired { by, nth },
        Step::Writing => Trigger::Writing { by, nth },
        Step::Releasing => Trigger::Releasing { by, nth },
        Step::Released => Trigger::Released { by, nth },
        Step::Expired => Trigger::SessionExpired { by },
        Step::Request(way) => request(plan, by, way, nth, draw.share()),
    }
}

/// The moment at which a fault strikes one request.
pub(super) fn struck(
    plan: &Plan,
    by: ContenderName,
    strikes: MessageInFlight,
    share: u32,
    draw: &mut Draw,
) -> Trigger {
    let way = match strikes {
        MessageInFlight::Message => {
            let nth = count(plan, draw);
            return Trigger::Told { by, nth };
        }
        MessageInFlight::Request => RequestStage::Sent,
        MessageInFlight::Reply => {
            let ways = [
                (4, RequestStage::Sent),
                (
                    u32::from(plan.service.row().happens(TriggerKind::Proposed)),
                    RequestStage::Proposed,
                ),
                (1, RequestStage::Committed),
                (4, RequestStage::Answered),
            ];
            draw.weighed(&ways).unwrap_or(RequestStage::Sent)
        }
    };
    let nth = count(plan, draw);
    request(plan, by, way, nth, share)
}

/// The moment at which a change of a contender is being agreed on.
pub(super) fn change(plan: &Plan, by: ContenderName, share: u32, draw: &mut Draw) -> Trigger {
    let nth = count(plan, draw);
    let stage = match plan.service.row().happens(TriggerKind::Proposed) {
        true => RequestStage::Proposed,
        false => RequestStage::Sent,
    };
    request(plan, by, stage, nth, share)
}

fn request(plan: &Plan, by: ContenderName, way: RequestStage, nth: u32, share: u32) -> Trigger {
    let likely = requests(plan);
    let drawn = weighed_at(share, &likely).unwrap_or_else(|| any_write(plan));
    match way {
        RequestStage::Sent => Trigger::Sent {
            request: drawn,
            by,
            nth,
            at: None,
        },
        RequestStage::Answered => Trigger::Answered {
            request: drawn,
            by,
            nth,
            at: None,
        },
        RequestStage::Proposed => Trigger::Proposed {
            request: written(plan, &likely, drawn),
            by,
            nth,
        },
        RequestStage::Committed => Trigger::Committed {
            request: written(plan, &likely, drawn),
            by,
            nth,
        },
    }
}

/// A request that is proposed and committed: this one, or else the most likely one.
fn written(plan: &Plan, likely: &[(u32, RequestKind)], request: RequestKind) -> RequestKind {
    if request.writes() {
        return request;
    }
    let mut writes = likely.iter().filter(|(_, request)| request.writes());
    writes
        .next()
        .map_or_else(|| any_write(plan), |(_, first)| *first)
}

/// A request of the service that changes something, for recipes that make none that is known.
fn any_write(plan: &Plan) -> RequestKind {
    let mut all = RequestKind::of_service(plan.service.kind());
    let write = all.find(|request| request.writes());
    write.unwrap_or(RequestKind::Create)
}

/// The `nth` of a trigger: mostly the first, and seldom one more than there are rounds, for which there must be
/// something to do again.
fn count(plan: &Plan, draw: &mut Draw) -> u32 {
    if !draw.once_in(3) {
        return 1;
    }
    let rounds = plan.workload.rounds.clamp(1, 20);
    let again = u32::from(draw.once_in(8));
    draw.number((1, rounds + again))
}

/// A time at which something is going on.
pub(super) fn timed(plan: &Plan, draw: &mut Draw) -> Trigger {
    let workload = &plan.workload;
    let hold = match workload.hold {
        Hold::For(hold) => hold,
        Hold::Settled => Duration::from_secs(1),
    };
    let turn = hold + plan.network.client_latency.1 * 10;
    let turns = workload.sections().min(1_000);
    let most = (turn * turns).min(Duration::from_secs(120));
    Trigger::At(draw.duration((Duration::ZERO, most)))
}
