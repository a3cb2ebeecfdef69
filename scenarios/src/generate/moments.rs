//! The moments that drawn faults wait for.

use std::time::Duration;

use picklock_algorithms::OwnershipRule;
use picklock_algorithms::clients::zookeeper::RequestKind;
use picklock_sim::plan::{ContenderName, Hold, Plan, Section, Trigger};

use super::draw::Draw;

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
    Request(Way),
}

/// How far a request has come.
#[derive(Clone, Copy)]
enum Way {
    Sent,
    Proposed,
    Committed,
    Answered,
}

/// Where a request that is to be struck must be.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Strikes {
    /// Still on its way to the server.
    Request,
    /// Not yet back at the client.
    Reply,
}

/// The requests that a recipe is likely to make: those that change something are the most telling.
fn requests(plan: &Plan) -> &'static [(u32, RequestKind)] {
    match plan.recipe.ownership {
        OwnershipRule::LowestChild => &[
            (8, RequestKind::Create),
            (6, RequestKind::Delete),
            (3, RequestKind::GetChildren),
            (1, RequestKind::GetData),
            (2, RequestKind::Exists),
            (1, RequestKind::Sync),
        ],
        OwnershipRule::Node => &[
            (8, RequestKind::Create),
            (6, RequestKind::Delete),
            (2, RequestKind::Exists),
        ],
        OwnershipRule::Data => &[
            (6, RequestKind::SetData),
            (3, RequestKind::GetData),
            (1, RequestKind::Multi),
        ],
    }
}

/// A moment of a contender.
pub(super) fn aimed(plan: &Plan, by: ContenderName, draw: &mut Draw) -> Trigger {
    let writing = match plan.workload.section {
        Section::Nothing => 0,
        Section::Write | Section::Count | Section::Sell { .. } | Section::DelayedWrite { .. } => 3,
    };
    let steps = [
        (1, Step::Acquiring),
        (2, Step::Queued),
        (4, Step::Waiting),
        (4, Step::Acquired),
        (writing, Step::Writing),
        (2, Step::Releasing),
        (2, Step::Released),
        (1, Step::Expired),
        (3, Step::Request(Way::Sent)),
        (2, Step::Request(Way::Proposed)),
        (2, Step::Request(Way::Committed)),
        (2, Step::Request(Way::Answered)),
    ];
    let step = draw.weighed(&steps).unwrap_or(Step::Acquired);
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
        Step::Request(way) => request(plan, by, way, nth, draw),
    }
}

/// The moment at which a fault strikes one request.
pub(super) fn struck(plan: &Plan, by: ContenderName, strikes: Strikes, draw: &mut Draw) -> Trigger {
    let way = match strikes {
        Strikes::Request => Way::Sent,
        Strikes::Reply => {
            let ways = [
                (4, Way::Sent),
                (1, Way::Proposed),
                (1, Way::Committed),
                (4, Way::Answered),
            ];
            draw.weighed(&ways).unwrap_or(Way::Sent)
        }
    };
    let nth = count(plan, draw);
    request(plan, by, way, nth, draw)
}

fn request(plan: &Plan, by: ContenderName, way: Way, nth: u32, draw: &mut Draw) -> Trigger {
    let likely = requests(plan);
    let drawn = draw.weighed(likely).unwrap_or(RequestKind::Create);
    match way {
        Way::Sent => Trigger::Sent {
            request: drawn,
            by,
            nth,
        },
        Way::Answered => Trigger::Answered {
            request: drawn,
            by,
            nth,
        },
        Way::Proposed => Trigger::Proposed {
            request: written(likely, drawn),
            by,
            nth,
        },
        Way::Committed => Trigger::Committed {
            request: written(likely, drawn),
            by,
            nth,
        },
    }
}

/// A request that is proposed and committed: this one, or else the most likely one.
fn written(likely: &[(u32, RequestKind)], request: RequestKind) -> RequestKind {
    match request {
        RequestKind::Create
        | RequestKind::Delete
        | RequestKind::SetData
        | RequestKind::SetAcl
        | RequestKind::Multi => request,
        RequestKind::Exists
        | RequestKind::GetData
        | RequestKind::GetChildren
        | RequestKind::Sync
        | RequestKind::AddWatch
        | RequestKind::RemoveWatches
        | RequestKind::GetEphemerals
        | RequestKind::GetAcl => likely
            .first()
            .map_or(RequestKind::Create, |(_, first)| *first),
    }
}

/// For the how manieth time: mostly the first, and mostly one that there will be.
fn count(plan: &Plan, draw: &mut Draw) -> u32 {
    if draw.once_in(2) {
        return 1;
    }
    draw.number((1, plan.workload.rounds.clamp(1, 20) + 1))
}

/// A time at which something is going on.
pub(super) fn timed(plan: &Plan, draw: &mut Draw) -> Trigger {
    let workload = &plan.workload;
    let hold = match workload.hold {
        Hold::For(hold) => hold,
        Hold::Settled => Duration::from_secs(1),
    };
    let turn = hold + plan.network.client_latency.1 * 10;
    let turns = workload
        .contenders
        .saturating_mul(workload.rounds)
        .min(1_000);
    let most = (turn * turns).min(Duration::from_secs(120));
    Trigger::At(draw.duration((Duration::ZERO, most)))
}
