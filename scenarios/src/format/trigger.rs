//! `when`: what a fault waits for.

use picklock_algorithms::clients::RequestKind;
use picklock_sim::plan::{
    Section, Trigger, TriggerFieldSource, TriggerFieldSpec, TriggerFieldType, TriggerKind,
    TriggerValue,
};

use super::choice::{Chosen, choose};
use super::participants::Participants;
use super::reader::{Fields, Item, Mistake, Mistakes, Zero};

/// What a trigger may refer to.
#[derive(Clone, Copy)]
pub(super) struct Scene {
    /// The participants.
    pub(super) participants: Participants,
    /// What sections do.
    pub(super) section: Section,
    /// The place from zero of the fault that waits.
    pub(super) place: usize,
    /// How many faults there are.
    pub(super) faults: usize,
}

/// Reads the value of `when`.
pub(super) fn trigger(item: &Item, scene: Scene, mistakes: &mut Mistakes) -> Option<Trigger> {
    let named: Vec<_> = TriggerKind::ALL
        .iter()
        .map(|kind| (kind.spec().name, *kind))
        .collect();
    let chosen = choose(item, "trigger", &named, mistakes)?;
    let service = scene.participants.service;
    let mut never = service.never.iter();
    if let Some((_, why)) = never.find(|(kind, _)| *kind == chosen.kind) {
        let (name, here) = (chosen.name, service.kind.title());
        let mistake = Mistake::new(format!("`{name}` never happens on {here}"));
        mistakes.add(
            chosen.span,
            mistake.label(*why).help("choose another trigger"),
        );
        return None;
    }
    if chosen.kind == TriggerKind::At {
        return chosen.duration(Zero::Allowed, mistakes).map(Trigger::At);
    }
    let mut body = Body {
        fields: chosen.fields(mistakes)?,
        chosen: &chosen,
        scene,
        mistakes,
    };
    let trigger = chosen.kind.trigger(&mut body);
    body.fields.finish(body.mistakes);
    if chosen.kind == TriggerKind::Writing && trigger.is_some() {
        refuse_write_of_nothing(&chosen, scene, mistakes);
    }
    trigger
}

/// The fields of a trigger.
struct Body<'a, 'c, 'm, 't> {
    fields: Fields<'a>,
    chosen: &'c Chosen<'a, TriggerKind>,
    scene: Scene,
    mistakes: &'m mut Mistakes<'t>,
}

impl TriggerFieldSource for Body<'_, '_, '_, '_> {
    fn field(&mut self, spec: TriggerFieldSpec) -> Option<TriggerValue> {
        let participants = self.scene.participants;
        match spec.holds {
            TriggerFieldType::Contender => participants
                .need_contender(&mut self.fields, spec.key, self.mistakes)
                .map(TriggerValue::Contender),
            TriggerFieldType::Server => participants
                .need_server(&mut self.fields, spec.key, self.mistakes)
                .map(TriggerValue::Server),
            TriggerFieldType::MaybeServer => {
                let name = match self.fields.get(spec.key) {
                    Some(item) => Some(participants.server(&item, self.mistakes)?),
                    None => None,
                };
                Some(TriggerValue::MaybeServer(name))
            }
            TriggerFieldType::Nth => self.nth(spec.key).map(TriggerValue::Nth),
            TriggerFieldType::Request => self.request(spec.key).map(TriggerValue::Request),
            TriggerFieldType::Fault => self.fault(spec.key).map(TriggerValue::Fault),
        }
    }
}

impl Body<'_, '_, '_, '_> {
    fn nth(&mut self, key: &'static str) -> Option<u32> {
        let Some(item) = self.fields.get(key) else {
            return Some(1);
        };
        let nth = item.integer(1..=i64::from(u32::MAX), self.mistakes)?;
        u32::try_from(nth).ok()
    }

    fn request(&mut self, key: &'static str) -> Option<RequestKind> {
        let row = self.scene.participants.service;
        let service = row.kind;
        let mut requests = RequestKind::of_service(service);
        let example = requests.next().map_or("", RequestKind::name);
        let item = self.fields.need(key, &format!("{key} = \"{example}\""))?;
        let known = || RequestKind::of_service(service);
        let kinds: Vec<_> = known().map(|kind| (kind.name(), kind)).collect();
        let request = choose(&item, "request", &kinds, self.mistakes)?;
        request.bare(self.mistakes);
        let of_writes = matches!(
            self.chosen.kind,
            TriggerKind::Proposed | TriggerKind::Committed | TriggerKind::Applied
        );
        if of_writes && !request.kind.writes() && row.has_quorum {
            let writes = known().filter(|kind| kind.writes());
            let writes: Vec<&str> = writes.map(RequestKind::name).collect();
            let (name, happens) = (request.name, self.chosen.name);
            let mistake = Mistake::new(format!("`{name}` is never {happens}"))
                .label("the leader proposes and commits writes only")
                .help(super::reader::expected(&writes));
            self.mistakes.add(request.span, mistake);
            return None;
        }
        Some(request.kind)
    }

    /// Counted from one, and only a fault that stands before this one.
    fn fault(&mut self, key: &'static str) -> Option<usize> {
        let example = format!("{key} = 1 for the first [[fault]]");
        let item = self.fields.need(key, &example)?;
        let number = item.integer(1..=1_000_000, self.mistakes)?;
        let fault = usize::try_from(number - 1).ok()?;
        if fault < self.scene.place {
            return Some(fault);
        }
        let mistake = not_before(fault, self.scene);
        self.mistakes.add(item.span, mistake);
        None
    }
}

/// Why a fault cannot be waited for that does not stand before the one that waits.
fn not_before(fault: usize, scene: Scene) -> Mistake {
    let number = fault + 1;
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
        index => format!("expected a fault before this one: 1 to {index}"),
    };
    mistake.help(before)
}

fn refuse_write_of_nothing(chosen: &Chosen<TriggerKind>, scene: Scene, mistakes: &mut Mistakes) {
    match scene.section {
        Section::Nothing => {
            let mistake = Mistake::new("`writing` never happens here")
                .label("the sections of this workload do nothing to the resource")
                .help("choose another trigger, or a `section` that writes");
            mistakes.add(chosen.span.clone(), mistake);
        }
        Section::Write | Section::Count | Section::Sell(_) | Section::DelayedWrite(_) => {}
    }
}
