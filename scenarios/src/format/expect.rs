//! `expect` and `measure`: what is wanted of a case.
//!
//! What an algorithm claims must hold, and so must what is true of every lock. Silence means that.

use picklock_algorithms::{LockKind, Recipe};
use picklock_checker::invariants;
use picklock_sim::plan::{Section, Workload};

use super::choice::{Chosen, choose};
use super::reader::{Item, Mistake, Mistakes};
use crate::nearest::nearest;
use crate::scenario::{Catalogue, Expectation, Measure, Want};

/// What must hold of every lock, claimed or not.
const UNIVERSAL: [&str; 7] = [
    "mutual-exclusion",
    "exclusive-ownership",
    "progress",
    "no-orphan",
    "own-release-only",
    "honest-answer",
    "timely-loss",
];

/// What can be said of a section of this kind: invariants of the resource need something to look
/// at.
fn applies_to(invariant: &str, section: Section) -> bool {
    match invariant {
        "no-stale-effect" => match section {
            Section::Write | Section::Count | Section::Sell(_) | Section::DelayedWrite(_) => true,
            Section::Nothing => false,
        },
        "no-lost-update" => match section {
            Section::Count | Section::Sell(_) => true,
            Section::Write | Section::DelayedWrite(_) | Section::Nothing => false,
        },
        _ => true,
    }
}

/// Whether a case looks at an invariant although the file does not mention it.
///
/// What several holders of a semaphore write is not looked at: none of them keeps the others away from the resource.
pub(crate) fn checked_by_default(
    invariant: &str,
    recipe: Option<&Recipe>,
    workload: &Workload,
) -> bool {
    let is_semaphore = |recipe: &Recipe| recipe.ownership.kind == LockKind::Semaphore;
    let of_the_resource = ["no-stale-effect", "no-lost-update"].contains(&invariant)
        && !recipe.is_some_and(is_semaphore);
    let claims = recipe.map_or(&[][..], |recipe| recipe.claims);
    let claimed = claims.iter().any(|claim| claim.invariant() == invariant);
    let bounded = ["bounded-bypass", "no-starvation"].contains(&invariant);
    (claimed || of_the_resource || bounded || UNIVERSAL.contains(&invariant))
        && applies_to(invariant, workload.section)
        && left_open(invariant, workload).is_none()
        && too_few(invariant, workload).is_none()
        && recipe.is_none_or(|recipe| recipe.ownership.is_judged_by(invariant))
}

/// Reads `expect`, and adds what must hold although it is not mentioned.
pub(super) fn expectations(
    item: Option<&Item>,
    recipe: Option<&Recipe>,
    workload: &Workload,
    catalogue: &Catalogue,
    mistakes: &mut Mistakes,
) -> Vec<Expectation> {
    let fields = item.and_then(|item| item.table("a table of invariants", mistakes));
    let mut wants: Vec<(&str, Want)> = Vec::new();
    for (name, span, item) in fields.map_or(Vec::new(), |fields| fields.entries()) {
        if !catalogue.invariants.contains(&name) {
            let mut mistake = Mistake::unknown("invariant", name, catalogue.invariants);
            if catalogue.metrics.contains(&name) {
                mistake = mistake.help(format!("for a metric, write measure.{name}"));
            }
            mistakes.add(span, mistake);
        } else if let Some(mistake) = recipe.and_then(|lock| of_another_kind(name, lock, catalogue))
        {
            mistakes.add(span, mistake);
        } else if let Some(mistake) = left_open(name, workload) {
            mistakes.add(span, mistake);
        } else if !applies_to(name, workload.section) {
            let mistake = Mistake::new(format!("`{name}` says nothing here"))
                .label("no section of this workload does what it speaks of")
                .help("choose another `section` in [workload], or take the expectation away");
            mistakes.add(span, mistake);
        } else if let Some(want) = want(name, &item, mistakes) {
            let not_promised = || recipe.and_then(|recipe| not_promised(name, recipe));
            let mistake = too_few(name, workload).or_else(not_promised);
            match mistake.filter(|_| want == Want::Holds) {
                Some(mistake) => mistakes.add(span, mistake),
                None => wants.push((name, want)),
            }
        }
    }
    let mentioned = |name: &str| {
        let found = wants.iter().find(|(known, _)| *known == name);
        found.map(|(_, want)| want.clone())
    };
    let all = catalogue.invariants.iter().filter_map(|name| {
        let want = match mentioned(name) {
            Some(want) => want,
            None if checked_by_default(name, recipe, workload) => Want::Holds,
            None => return None,
        };
        let invariant = *name;
        Some(Expectation { invariant, want })
    });
    all.collect()
}

/// What the workload has to say before an invariant can be looked at, if it does not.
fn left_open(invariant: &str, workload: &Workload) -> Option<Mistake> {
    match invariant {
        // How often a waiter may be overtaken depends on the lock: only the file can say.
        "bounded-bypass" if workload.bypass_bound.is_none() => Some(
            Mistake::new("`bounded-bypass` has no bound here")
                .label("how often may a waiter be overtaken?")
                .help("write `bypass-bound = 0` in [workload], or as many times as it may be"),
        ),
        "no-starvation" if workload.starvation_bound.is_none() => Some(
            Mistake::new("`no-starvation` has no bound here")
                .label("how often may others be let in while one asks in vain?")
                .help("write `starvation-bound = 20` in [workload], or as many times as it may be"),
        ),
        "reentrancy" if workload.reentrancy_depth < 2 => Some(
            Mistake::new("`reentrancy` says nothing here")
                .label("no section enters the lock again")
                .help("write `reentrancy-depth = 2` in [workload], or take the expectation away"),
        ),
        _ => None,
    }
}

/// Whether a file may say that an invariant holds, as far as this workload goes.
pub(crate) fn can_be_told(invariant: &str, workload: &Workload) -> bool {
    too_few(invariant, workload).is_none()
}

/// Why no run can tell that an invariant holds, if so: too few contend.
fn too_few(invariant: &str, workload: &Workload) -> Option<Mistake> {
    let (contenders, permits) = (workload.contenders, workload.permits());
    let (label, help) = match invariant {
        "fifo" | "bounded-bypass" | "no-starvation" if contenders <= permits => (
            match permits {
                1 => "one contender never waits for another".to_owned(),
                _ => format!("{contenders} contenders never wait for one of {permits} permits"),
            },
            format!("write `contenders = {}` or more in [workload]", permits + 1),
        ),
        "fencing-monotonic" if workload.sections() < 2 => (
            "the lock is granted once, and no later token is there to compare".to_owned(),
            "write `contenders = 2` or `rounds = 2` in [workload]".to_owned(),
        ),
        _ => return None,
    };
    let mistake = Mistake::new(format!("`{invariant}` says nothing here")).label(label);
    Some(mistake.help(format!("{help}, or take the expectation away")))
}

/// What holds of a lock only if it says so: a lock that does not may keep it by chance.
const PROMISED_OR_NOT: [&str; 3] = ["fencing-monotonic", "fifo", "reentrancy"];

/// Why a file may not say that an invariant holds of a lock, if so: the lock does not promise it.
fn not_promised(invariant: &str, recipe: &Recipe) -> Option<Mistake> {
    let mut claims = recipe.claims.iter();
    let promised = claims.any(|claim| claim.invariant() == invariant);
    if promised || !PROMISED_OR_NOT.contains(&invariant) {
        return None;
    }
    let promises: Vec<String> = recipe
        .claims
        .iter()
        .map(|claim| format!("`{}`", claim.invariant()))
        .collect();
    let mistake = Mistake::new(format!("`{}` does not promise `{invariant}`", recipe.name));
    let mistake = mistake.help(format!("it promises {}", promises.join(", ")));
    Some(mistake.help(
        "take the expectation away; a lock of your own says what it promises in the `claims` of \
         its `Recipe`",
    ))
}

/// Why an invariant says nothing of locks such as this one, if so.
fn of_another_kind(invariant: &str, recipe: &Recipe, catalogue: &Catalogue) -> Option<Mistake> {
    let (name, rule) = (recipe.name, recipe.ownership);
    if rule.is_judged_by(invariant) {
        return None;
    }
    let kind = rule.kind;
    if invariant == "fifo" && kind == LockKind::Mutex {
        let mistake = Mistake::new(format!("`fifo` says nothing of `{name}`"))
            .label("its service keeps no queue: one owns the lock, and all others try again");
        return Some(mistake.help(
            "take the expectation away, or write in [workload] how often one may be overtaken: \
             `bypass-bound = 10`",
        ));
    }
    let fit = catalogue.invariants.iter().copied();
    let fit: Vec<&str> = fit.filter(|name| rule.is_judged_by(name)).collect();
    let kind = kind.name();
    let mistake = Mistake::new(format!("`{invariant}` says nothing of a {kind}"));
    let mistake = mistake.label(format!("`{name}` is a {kind}"));
    Some(mistake.help(super::reader::expected(&fit)))
}

/// Wants by name.
#[derive(Clone, Copy)]
enum WantKind {
    Holds,
    Violated,
    Excused,
    Undecided,
    Unchecked,
}

const WANTS: [(&str, WantKind); 5] = [
    ("holds", WantKind::Holds),
    ("violated", WantKind::Violated),
    ("excused", WantKind::Excused),
    ("undecided", WantKind::Undecided),
    ("unchecked", WantKind::Unchecked),
];

fn want(invariant: &str, item: &Item, mistakes: &mut Mistakes) -> Option<Want> {
    let chosen = choose(item, "expectation", &WANTS, mistakes)?;
    match chosen.kind {
        WantKind::Holds => {
            chosen.bare(mistakes);
            Some(Want::Holds)
        }
        WantKind::Excused => {
            let known = invariants::find(invariant);
            if known.is_some_and(|known| known.inexcusable.is_none()) {
                let mistake = Mistake::new(format!("`{invariant}` cannot be excused in part"))
                    .label("there is no part of it that nothing excuses")
                    .help(format!("write expect.{invariant} = \"unchecked\""));
                mistakes.add(item.span.clone(), mistake);
                return None;
            }
            let because = reason(invariant, &chosen, mistakes)?;
            Some(Want::Excused { because })
        }
        WantKind::Undecided => {
            let because = reason(invariant, &chosen, mistakes)?;
            Some(Want::Undecided { because })
        }
        WantKind::Unchecked => {
            let mut fields = chosen.fields(mistakes)?;
            let because = match fields.get("because") {
                Some(item) => Some(item.prose("the reason, as a string", mistakes)?),
                None => None,
            };
            fields.finish(mistakes);
            Some(Want::Unchecked { because })
        }
        WantKind::Violated => {
            let mut fields = chosen.fields(mistakes)?;
            let example =
                format!("expect.{invariant}.violated = {{ because = \"...\", within-seeds = 1 }}");
            let because = fields.need("because", &example);
            let because = because.and_then(|item| item.prose("the reason, as a string", mistakes));
            let within = fields.need("within-seeds", &example);
            let within = within.and_then(|item| item.integer(1..=1_000_000_000, mistakes));
            fields.finish(mistakes);
            Some(Want::Violated {
                because: because?,
                within_seeds: u64::try_from(within?).ok()?,
            })
        }
    }
}

/// Reads the reason of an expectation that needs one and nothing else.
fn reason(
    invariant: &str,
    chosen: &Chosen<'_, WantKind>,
    mistakes: &mut Mistakes,
) -> Option<String> {
    let mut fields = chosen.fields(mistakes)?;
    let word = chosen.name;
    let example = format!("expect.{invariant}.{word} = {{ because = \"...\" }}");
    let because = fields.need("because", &example);
    let because = because.and_then(|item| item.prose("the reason, as a string", mistakes));
    fields.finish(mistakes);
    because
}

/// Reads `measure`.
pub(super) fn measures(
    item: Option<&Item>,
    catalogue: &Catalogue,
    mistakes: &mut Mistakes,
) -> Vec<Measure> {
    let fields = item.and_then(|item| item.table("a table of metrics", mistakes));
    let mut measures = Vec::new();
    for (name, span, item) in fields.map_or(Vec::new(), |fields| fields.entries()) {
        let known = catalogue.metrics.iter().find(|known| **known == name);
        let Some(metric) = known else {
            let mut mistake = Mistake::unknown("metric", name, catalogue.metrics);
            if let Some(near) = nearest(name, catalogue.invariants.iter().copied()) {
                mistake = mistake.help(format!("for an invariant, write expect.{near}"));
            }
            mistakes.add(span, mistake);
            continue;
        };
        measures.extend(measure(metric, &item, mistakes));
    }
    let order = |measure: &Measure| {
        let metrics = catalogue.metrics.iter();
        metrics.take_while(|name| **name != measure.metric).count()
    };
    measures.sort_by_key(order);
    measures
}

fn measure(metric: &'static str, item: &Item, mistakes: &mut Mistakes) -> Option<Measure> {
    let mut fields = item.table("bounds, as in { at-least = 20 }", mistakes)?;
    let least_item = fields.get("at-least");
    let at_least = least_item.as_ref().and_then(|item| item.number(mistakes));
    let most_item = fields.get("at-most");
    let at_most = most_item.as_ref().and_then(|item| item.number(mistakes));
    fields.finish(mistakes);
    if least_item.is_none() && most_item.is_none() {
        let mistake = Mistake::new(format!("`{metric}` has no bound"))
            .help("write { at-least = 20 }, { at-most = 1 }, or both");
        mistakes.add(item.span.clone(), mistake);
        return None;
    }
    if let (Some(least), Some(most), Some(item)) = (at_least, at_most, least_item)
        && least > most
    {
        let mistake = Mistake::new(format!("no value of `{metric}` keeps both bounds"))
            .label(format!("at least {least}, but at most {most}"))
            .help("`at-least` must not be greater than `at-most`");
        mistakes.add(item.span, mistake);
        return None;
    }
    Some(Measure {
        metric,
        at_least,
        at_most,
    })
}
