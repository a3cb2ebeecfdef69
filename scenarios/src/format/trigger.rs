//! `when`: what a fault waits for.

use picklock_algorithms::clients::{RequestKind, ServiceKind};
use picklock_sim::plan::{ContenderName, Section, Trigger};

use super::choice::{Chosen, choose};
use super::participants::Cast;
use super::reader::{Fields, Item, Mistake, Mistakes, Zero};

/// Triggers by name.
#[derive(Clone, Copy)]
enum Kind {
    At,
    Acquiring,
    Queued,
    Waiting,
    Acquired,
    Writing,
    Releasing,
    Released,
    Sent,
    Proposed,
    Committed,
    Answered,
    Streamed,
    Applied,
    Told,
    SessionExpired,
    Disconnected,
    Reconnected,
    SessionLost,
    Elected,
    Fired,
}

const TRIGGERS: [(&str, Kind); 21] = [
    ("at", Kind::At),
    ("acquiring", Kind::Acquiring),
    ("queued", Kind::Queued),
    ("waiting", Kind::Waiting),
    ("acquired", Kind::Acquired),
    ("writing", Kind::Writing),
    ("releasing", Kind::Releasing),
    ("released", Kind::Released),
    ("sent", Kind::Sent),
    ("proposed", Kind::Proposed),
    ("committed", Kind::Committed),
    ("answered", Kind::Answered),
    ("streamed", Kind::Streamed),
    ("applied", Kind::Applied),
    ("told", Kind::Told),
    ("session-expired", Kind::SessionExpired),
    ("disconnected", Kind::Disconnected),
    ("reconnected", Kind::Reconnected),
    ("session-lost", Kind::SessionLost),
    ("elected", Kind::Elected),
    ("fired", Kind::Fired),
];

/// What a trigger may refer to.
#[derive(Clone, Copy)]
pub(super) struct Scene {
    /// Who takes part.
    pub(super) cast: Cast,
    /// What sections do.
    pub(super) section: Section,
    /// The place from zero of the fault that waits.
    pub(super) place: usize,
    /// How many faults there are.
    pub(super) faults: usize,
}

/// Reads the value of `when`.
pub(super) fn trigger(item: &Item, scene: Scene, mistakes: &mut Mistakes) -> Option<Trigger> {
    let chosen = choose(item, "trigger", &TRIGGERS, mistakes)?;
    let service = scene.cast.service;
    if let Some(why) = never(chosen.kind, service) {
        let (name, here) = (chosen.name, service.title());
        let mistake = Mistake::new(format!("`{name}` never happens on {here}"));
        mistakes.add(
            chosen.span,
            mistake.label(why).help("choose another trigger"),
        );
        return None;
    }
    match chosen.kind {
        Kind::At => chosen.duration(Zero::Allowed, mistakes).map(Trigger::At),
        Kind::Acquiring => {
            step(&chosen, scene, mistakes).map(|(by, nth)| Trigger::Acquiring { by, nth })
        }
        Kind::Queued => step(&chosen, scene, mistakes).map(|(by, nth)| Trigger::Queued { by, nth }),
        Kind::Waiting => {
            step(&chosen, scene, mistakes).map(|(by, nth)| Trigger::Waiting { by, nth })
        }
        Kind::Acquired => {
            step(&chosen, scene, mistakes).map(|(by, nth)| Trigger::Acquired { by, nth })
        }
        Kind::Writing => {
            let (by, nth) = step(&chosen, scene, mistakes)?;
            refuse_write_of_nothing(&chosen, scene, mistakes);
            Some(Trigger::Writing { by, nth })
        }
        Kind::Releasing => {
            step(&chosen, scene, mistakes).map(|(by, nth)| Trigger::Releasing { by, nth })
        }
        Kind::Released => {
            step(&chosen, scene, mistakes).map(|(by, nth)| Trigger::Released { by, nth })
        }
        Kind::Sent => request(&chosen, scene, mistakes).map(|(request, by, nth)| Trigger::Sent {
            request,
            by,
            nth,
        }),
        Kind::Proposed => request(&chosen, scene, mistakes)
            .map(|(request, by, nth)| Trigger::Proposed { request, by, nth }),
        Kind::Committed => request(&chosen, scene, mistakes)
            .map(|(request, by, nth)| Trigger::Committed { request, by, nth }),
        Kind::Answered => request(&chosen, scene, mistakes)
            .map(|(request, by, nth)| Trigger::Answered { request, by, nth }),
        Kind::Streamed => request(&chosen, scene, mistakes)
            .map(|(request, by, nth)| Trigger::Streamed { request, by, nth }),
        Kind::Applied => applied(&chosen, scene, mistakes),
        Kind::Told => step(&chosen, scene, mistakes).map(|(by, nth)| Trigger::Told { by, nth }),
        Kind::SessionExpired => session_expired(&chosen, scene, mistakes),
        Kind::Disconnected => {
            step(&chosen, scene, mistakes).map(|(by, nth)| Trigger::Disconnected { by, nth })
        }
        Kind::Reconnected => {
            step(&chosen, scene, mistakes).map(|(by, nth)| Trigger::Reconnected { by, nth })
        }
        Kind::SessionLost => {
            step(&chosen, scene, mistakes).map(|(by, nth)| Trigger::SessionLost { by, nth })
        }
        Kind::Elected => elected(&chosen, mistakes),
        Kind::Fired => fired(&chosen, scene, mistakes),
    }
}

/// Why it never happens on this service, if so.
fn never(kind: Kind, service: ServiceKind) -> Option<&'static str> {
    let on = |where_not, why| (service == where_not).then_some(why);
    match kind {
        Kind::Queued => on(ServiceKind::Redis, "nobody queues at a key"),
        Kind::Proposed => on(
            ServiceKind::Redis,
            "no server asks others before it does something",
        ),
        Kind::SessionExpired | Kind::Disconnected | Kind::Reconnected | Kind::SessionLost => {
            on(ServiceKind::Redis, "there are no sessions")
        }
        Kind::Streamed => on(
            ServiceKind::ZooKeeper,
            "a write is `proposed` to the others before it is done",
        ),
        Kind::Told => on(ServiceKind::ZooKeeper, "there are no channels"),
        Kind::At
        | Kind::Acquiring
        | Kind::Waiting
        | Kind::Acquired
        | Kind::Writing
        | Kind::Releasing
        | Kind::Released
        | Kind::Sent
        | Kind::Committed
        | Kind::Answered
        | Kind::Applied
        | Kind::Elected
        | Kind::Fired => None,
    }
}

fn nth(fields: &mut Fields, mistakes: &mut Mistakes) -> Option<u32> {
    match fields.get("nth") {
        Some(item) => item
            .integer(1..=i64::from(u32::MAX), mistakes)
            .and_then(|nth| u32::try_from(nth).ok()),
        None => Some(1),
    }
}

/// `{ by, nth }`
fn step(
    chosen: &Chosen<Kind>,
    scene: Scene,
    mistakes: &mut Mistakes,
) -> Option<(ContenderName, u32)> {
    let mut fields = chosen.fields(mistakes)?;
    let by = scene.cast.need_contender(&mut fields, "by", mistakes);
    let nth = nth(&mut fields, mistakes);
    fields.finish(mistakes);
    Some((by?, nth?))
}

fn refuse_write_of_nothing(chosen: &Chosen<Kind>, scene: Scene, mistakes: &mut Mistakes) {
    match scene.section {
        Section::Nothing => {
            let mistake = Mistake::new("`writing` never happens here")
                .label("the sections of this workload do nothing to the resource")
                .help("choose another trigger, or a `section` that writes");
            mistakes.add(chosen.span.clone(), mistake);
        }
        Section::Write | Section::Count | Section::Sell { .. } | Section::DelayedWrite { .. } => {}
    }
}

/// `{ request, by, nth }`
fn request(
    chosen: &Chosen<Kind>,
    scene: Scene,
    mistakes: &mut Mistakes,
) -> Option<(RequestKind, ContenderName, u32)> {
    let mut fields = chosen.fields(mistakes)?;
    let (request, by, nth) = of_request(chosen, scene, &mut fields, mistakes);
    fields.finish(mistakes);
    Some((request?, by?, nth?))
}

/// `{ request, by, nth, at }`
fn applied(chosen: &Chosen<Kind>, scene: Scene, mistakes: &mut Mistakes) -> Option<Trigger> {
    let mut fields = chosen.fields(mistakes)?;
    let (request, by, nth) = of_request(chosen, scene, &mut fields, mistakes);
    let at = scene.cast.need_server(&mut fields, "at", mistakes);
    fields.finish(mistakes);
    Some(Trigger::Applied {
        request: request?,
        by: by?,
        nth: nth?,
        at: at?,
    })
}

/// What of a request, whose, and which of them.
fn of_request(
    chosen: &Chosen<Kind>,
    scene: Scene,
    fields: &mut Fields,
    mistakes: &mut Mistakes,
) -> (Option<RequestKind>, Option<ContenderName>, Option<u32>) {
    let example = match scene.cast.service {
        ServiceKind::ZooKeeper => "request = \"create\"",
        ServiceKind::Redis => "request = \"set\"",
    };
    let item = fields.need("request", example);
    let known = || RequestKind::of_service(scene.cast.service);
    let request = item.and_then(|item| {
        let kinds: Vec<_> = known().map(|kind| (kind.name(), kind)).collect();
        let request = choose(&item, "request", &kinds, mistakes)?;
        request.bare(mistakes);
        match chosen.kind {
            Kind::Proposed | Kind::Committed | Kind::Applied
                if !request.kind.writes() && scene.cast.service == ServiceKind::ZooKeeper =>
            {
                let writes: Vec<&str> = known()
                    .filter(|kind| kind.writes())
                    .map(RequestKind::name)
                    .collect();
                let name = request.name;
                let mistake = Mistake::new(format!("`{name}` is never {}", chosen.name))
                    .label("the leader proposes and commits writes only")
                    .help(super::reader::expected(&writes));
                mistakes.add(request.span, mistake);
                None
            }
            Kind::At
            | Kind::Acquiring
            | Kind::Queued
            | Kind::Waiting
            | Kind::Acquired
            | Kind::Writing
            | Kind::Releasing
            | Kind::Released
            | Kind::Sent
            | Kind::Proposed
            | Kind::Committed
            | Kind::Answered
            | Kind::Streamed
            | Kind::Applied
            | Kind::Told
            | Kind::SessionExpired
            | Kind::Disconnected
            | Kind::Reconnected
            | Kind::SessionLost
            | Kind::Elected
            | Kind::Fired => Some(request.kind),
        }
    });
    let by = scene.cast.need_contender(fields, "by", mistakes);
    let nth = nth(fields, mistakes);
    (request, by, nth)
}

/// `{ by }`
fn session_expired(
    chosen: &Chosen<Kind>,
    scene: Scene,
    mistakes: &mut Mistakes,
) -> Option<Trigger> {
    let mut fields = chosen.fields(mistakes)?;
    let by = scene.cast.need_contender(&mut fields, "by", mistakes);
    fields.finish(mistakes);
    by.map(|by| Trigger::SessionExpired { by })
}

/// `{ nth }`
fn elected(chosen: &Chosen<Kind>, mistakes: &mut Mistakes) -> Option<Trigger> {
    let mut fields = chosen.fields(mistakes)?;
    let nth = nth(&mut fields, mistakes);
    fields.finish(mistakes);
    nth.map(|nth| Trigger::Elected { nth })
}

/// `{ fault }`, counted from one, and only a fault that stands before this one.
fn fired(chosen: &Chosen<Kind>, scene: Scene, mistakes: &mut Mistakes) -> Option<Trigger> {
    let mut fields = chosen.fields(mistakes)?;
    let item = fields.need("fault", "fault = 1 for the first [[fault]]");
    fields.finish(mistakes);
    let item = item?;
    let number = item.integer(1..=1_000_000, mistakes)?;
    let fault = usize::try_from(number - 1).ok()?;
    if fault < scene.place {
        return Some(Trigger::Fired { fault });
    }
    let mistake = if fault == scene.place {
        Mistake::new(format!("fault {number} waits for itself"))
    } else if fault < scene.faults {
        Mistake::new(format!("fault {number} stands after this one"))
            .label(format!("this is fault {}", scene.place + 1))
    } else {
        Mistake::new(format!("there is no fault {number}"))
            .label(format!("the file has {} of them", scene.faults))
    };
    let before = match scene.place {
        0 => "this is the first fault: it cannot wait for another".to_owned(),
        1 => "expected 1, the only fault before this one".to_owned(),
        place => format!("expected a fault before this one: 1 to {place}"),
    };
    mistakes.add(item.span, mistake.help(before));
    None
}
