//! What lasts, as bars: beliefs, ownerships, writes on their way, waiting, and processes that stand still.

use picklock_checker::{
    Arrival, ContenderId, Counts, Disowned, Event, EventKind, Evidence, Facts, ForGood, History,
    LockId, Run, VirtualTime,
};

/// Something that lasts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bar {
    /// In which lane.
    pub lane: usize,
    /// In which track of it.
    pub track: Track,
    /// From when on.
    pub from: VirtualTime,
    /// Until when; where the diagram ends, if it goes on there.
    pub until: VirtualTime,
    /// It goes on where the diagram ends.
    pub goes_on: bool,
    /// Which contender it is about, if it is about one: it has a colour.
    pub of: Option<ContenderId>,
    /// It is refused, or gone, or stands still.
    pub bad: bool,
    /// What stands in it, if it fits.
    pub label: String,
    /// What it is, in a sentence.
    pub text: String,
    /// What begins it.
    pub origin: Origin,
}

/// With what something begins that lasts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Origin {
    /// So many events of the history came before it.
    pub after: usize,
    /// Whether it is an event of the history, which has this place then, and not one of the service.
    pub in_history: bool,
}

impl Origin {
    /// An event of the history, by its place.
    pub(super) const fn event(index: usize) -> Self {
        Self {
            after: index,
            in_history: true,
        }
    }

    /// Something that a server does, after so many events of the history.
    pub(super) const fn at_service(after: usize) -> Self {
        Self {
            after,
            in_history: false,
        }
    }
}

/// The part of a lane that a bar is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Track {
    /// The whole of a contender: its process stands still, or is gone.
    Process,
    /// It is in `acquire`.
    Waiting,
    /// It believes that it holds the lock.
    Belief,
    /// The service says that it does.
    Ownership,
    /// A write of it is on its way to the resource.
    Effect,
    /// What a server is to the others.
    Role,
    /// Whose key a server has.
    Key,
}

impl Track {
    /// What stands beside it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Process => "process",
            Self::Waiting => "waiting",
            Self::Belief => "belief",
            Self::Ownership => "ownership",
            Self::Effect => "effect",
            Self::Role => "role",
            Self::Key => "key",
        }
    }
}

/// A history as the evidence is taken from it.
pub(super) fn run_of(history: &History) -> Run {
    Run {
        history: history.clone(),
        facts: Facts::default(),
        counts: Counts::default(),
        lease_resets: Vec::new(),
        late_extensions: Vec::new(),
        for_good: ForGood::default(),
        awaited: Vec::new(),
        permits_left: Vec::new(),
    }
}

/// The bars of contenders, in the lanes of these.
pub(super) fn of_contenders(
    evidence: &Evidence<'_>,
    lane: &dyn Fn(ContenderId) -> Option<usize>,
) -> Vec<Bar> {
    let history = &evidence.run.history;
    let mut bars = Vec::new();
    for bar in stretches(history) {
        bars.extend(bar.in_lane(lane));
    }
    for belief in &evidence.beliefs {
        let name = history.contender(belief.by);
        let lock = history.lock_among_several(belief.lock);
        let lock = lock.map_or(String::new(), |lock| format!(" {lock}"));
        let stretch = Stretch {
            by: belief.by,
            track: Track::Belief,
            from: evidence.at(belief.acquired),
            until: at_or_never(evidence, belief.left),
            bad: false,
            label: format!("believes{lock}"),
            text: format!("belief: {name} believes that it holds the lock{lock}"),
            origin: belief.acquired,
        };
        bars.extend(stretch.in_lane(lane));
    }
    for ownership in &evidence.ownerships {
        let name = history.contender(ownership.by);
        let lock = history.lock_among_several(ownership.lock);
        let lock = lock.map_or(String::new(), |lock| format!(" {lock}"));
        let how = ownership.how.map_or("", ended);
        let token = ownership.token.0;
        let stretch = Stretch {
            by: ownership.by,
            track: Track::Ownership,
            from: evidence.at(ownership.owned),
            until: at_or_never(evidence, ownership.disowned),
            bad: false,
            label: format!("owns{lock}"),
            text: format!(
                "ownership: the service has {name} as the owner{lock}, grant {token}{how}"
            ),
            origin: ownership.owned,
        };
        bars.extend(stretch.in_lane(lane));
    }
    let effects = evidence.arrivals.iter();
    let effects = effects.map(|arrival| effect(evidence, arrival));
    bars.extend(effects.filter_map(|effect| effect.in_lane(lane)));
    bars
}

/// When something ends: never, if the run is over before.
pub(super) fn at_or_never(evidence: &Evidence<'_>, event: Option<usize>) -> VirtualTime {
    event.map_or(VirtualTime::NEVER, |event| evidence.at(event))
}

/// A write, on its way to the resource.
fn effect(evidence: &Evidence<'_>, arrival: &Arrival) -> Stretch {
    let name = evidence.run.history.contender(arrival.by);
    let at = evidence.at(arrival.event);
    let answer = if arrival.accepted {
        "accepted"
    } else {
        "refused"
    };
    Stretch {
        by: arrival.by,
        track: Track::Effect,
        from: arrival.sent.map_or(at, |sent| evidence.at(sent)),
        until: at,
        bad: !arrival.accepted,
        label: "write".to_owned(),
        text: format!("effect: a write of {name}, {answer} by the resource"),
        origin: arrival.sent.unwrap_or(arrival.event),
    }
}

fn ended(how: Disowned) -> &'static str {
    match how {
        Disowned::Released => ", until it was released",
        Disowned::Expired => ", until it expired",
        Disowned::RemovedBy(_) => ", until another removed it",
        Disowned::OverwrittenBy(_) => ", until another replaced it",
        Disowned::Reaped => ", until a reaper removed it",
        Disowned::RemovedFromOutside => ", until it was removed from outside",
        Disowned::LostByService => ", until the service lost it",
    }
}

/// A bar that has no lane yet.
struct Stretch {
    by: ContenderId,
    track: Track,
    from: VirtualTime,
    until: VirtualTime,
    bad: bool,
    label: String,
    text: String,
    /// The event that begins it, by its place in the history.
    origin: usize,
}

impl Stretch {
    fn in_lane(self, lane: &dyn Fn(ContenderId) -> Option<usize>) -> Option<Bar> {
        Some(Bar {
            lane: lane(self.by)?,
            track: self.track,
            from: self.from,
            until: self.until,
            goes_on: false,
            of: Some(self.by),
            bad: self.bad,
            label: self.label,
            text: self.text,
            origin: Origin::event(self.origin),
        })
    }
}

/// When something begins, and with which event of the history.
type Begin = (VirtualTime, usize);

/// From when until when contenders wait for a lock.
pub(super) fn waits(history: &History) -> Vec<(VirtualTime, VirtualTime)> {
    let stretches = stretches(history).into_iter();
    let waits = stretches.filter(|stretch| stretch.track == Track::Waiting);
    waits.map(|stretch| (stretch.from, stretch.until)).collect()
}

/// Waiting, and processes that stand still or are gone.
fn stretches(history: &History) -> Vec<Stretch> {
    let never = VirtualTime::NEVER;
    let mut waiting: Vec<(ContenderId, LockId, Begin)> = Vec::new();
    let mut paused: Vec<(ContenderId, Begin)> = Vec::new();
    let mut dead: Vec<(ContenderId, Begin)> = Vec::new();
    let mut all = Vec::new();
    let close = |open: &mut Vec<(ContenderId, Begin)>, by: ContenderId| {
        let found = open.iter().position(|(of, _)| *of == by)?;
        Some(open.swap_remove(found).1)
    };
    for (index, Event { at, what }) in history.events.iter().enumerate() {
        let begin = (*at, index);
        match *what {
            EventKind::AcquireStarted { by, lock, .. } => waiting.push((by, lock, begin)),
            EventKind::Acquired { by, lock, .. }
            | EventKind::AcquireFailed { by, lock, .. }
            | EventKind::Cancelled { by, lock } => {
                let call = waiting
                    .iter()
                    .position(|call| (call.0, call.1) == (by, lock));
                let began = call.map(|call| waiting.swap_remove(call).2);
                all.extend(began.map(|from| wait(history, by, from, *at)));
            }
            EventKind::Paused { by } => paused.push((by, begin)),
            EventKind::Resumed { by } => {
                let from = close(&mut paused, by);
                all.extend(from.map(|from| process(history, by, (from, *at), "paused")));
            }
            EventKind::Crashed { by } => {
                let from = close(&mut paused, by);
                all.extend(from.map(|from| process(history, by, (from, *at), "paused")));
                waiting.retain(|&(of, _, from)| {
                    if of == by {
                        all.push(wait(history, by, from, *at));
                    }
                    of != by
                });
                dead.push((by, begin));
            }
            EventKind::Restarted { by } => {
                let from = close(&mut dead, by);
                all.extend(from.map(|from| process(history, by, (from, *at), "dead")));
            }
            _ => {}
        }
    }
    let waiting = waiting.iter();
    all.extend(waiting.map(|&(by, _, from)| wait(history, by, from, never)));
    for (open, what) in [(paused, "paused"), (dead, "dead")] {
        let open = open.into_iter();
        all.extend(open.map(|(by, from)| process(history, by, (from, never), what)));
    }
    all
}

fn wait(history: &History, by: ContenderId, (from, origin): Begin, until: VirtualTime) -> Stretch {
    let name = history.contender(by);
    Stretch {
        by,
        track: Track::Waiting,
        from,
        until,
        bad: false,
        label: String::new(),
        text: format!("{name} is in acquire"),
        origin,
    }
}

fn process(
    history: &History,
    by: ContenderId,
    ((from, origin), until): (Begin, VirtualTime),
    what: &str,
) -> Stretch {
    let name = history.contender(by);
    Stretch {
        by,
        track: Track::Process,
        from,
        until,
        bad: true,
        label: what.to_owned(),
        text: format!("the process of {name} is {what}"),
        origin,
    }
}
