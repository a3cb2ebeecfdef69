//! What a file may leave open: ranges, lists, and `faults`.

use std::ops::RangeInclusive;
use std::time::Duration;

use picklock_sim::plan::{FaultKind, Service};

use super::choice::choose;
use super::reader::{Fields, Item, Mistake, Mistakes};
use crate::program;
use crate::sampled_parameters::AnyFaults;

/// Reads `faults`, of the file or of a case. With the most servers that there may be, the service is this.
pub(super) fn faults(
    fields: &mut Fields,
    service: &Service,
    mistakes: &mut Mistakes,
) -> Option<AnyFaults> {
    let item = fields.get("faults")?;
    let chosen = choose(&item, "choice of faults", &[("any", ())], mistakes)?;
    let mut fields = chosen.fields(mistakes)?;
    let (only, but) = (fields.get("kinds"), fields.get("except"));
    let kinds = match (only, but) {
        (Some(_), Some(item)) => {
            let mistake = Mistake::new("`kinds` and `except` exclude each other")
                .label("`kinds` says already which there are")
                .help("take one of them away");
            mistakes.add(item.span, mistake);
            None
        }
        (Some(item), None) => kinds(&item, service, false, mistakes).map(|only| (only, Vec::new())),
        (None, Some(item)) => all_but(&item, service, mistakes),
        (None, None) => Some((FaultKind::unasked(), Vec::new())),
    };
    let at_most = match fields.get("at-most") {
        Some(item) => item.integer(1..=100, mistakes),
        None => Some(i64::from(AnyFaults::AT_MOST)),
    };
    fields.finish(mistakes);
    let (kinds, except) = kinds?;
    Some(AnyFaults {
        kinds,
        except,
        at_most: u32::try_from(at_most?).ok()?,
    })
}

/// All kinds that are drawn by default, but for some: those that are left, and those that are left out.
fn all_but(
    item: &Item,
    service: &Service,
    mistakes: &mut Mistakes,
) -> Option<(Vec<FaultKind>, Vec<FaultKind>)> {
    let except = kinds(item, service, true, mistakes)?;
    let mut left = FaultKind::unasked();
    left.retain(|kind| !except.contains(kind));
    if !left.iter().any(|kind| kind.can_strike(service)) {
        let mistake = Mistake::new("`except` leaves no kind of fault")
            .label("every kind that strikes anything here stands in this list")
            .help("take `faults` away, or leave a kind out of the list");
        mistakes.add(item.span.clone(), mistake);
        return None;
    }
    Some((left, except))
}

/// Kinds of faults that strike something on a service; only those that are drawn by default, if they are to be left
/// out.
fn kinds(
    item: &Item,
    service: &Service,
    left_out: bool,
    mistakes: &mut Mistakes,
) -> Option<Vec<FaultKind>> {
    const WANTED: &str = r#"a list of kinds of faults such as ["pause", "cut"]"#;
    let items = item.list(WANTED, mistakes)?;
    if items.is_empty() {
        let mistake = Mistake::new(format!("`{}` names no kind of fault", item.name));
        mistakes.add(
            item.span.clone(),
            mistake.help(format!("expected {WANTED}")),
        );
        return None;
    }
    let read: Vec<_> = items
        .iter()
        .map(|item| {
            let chosen = choose(item, "fault", &FaultKind::named(), mistakes)?;
            chosen.bare(mistakes);
            Some(chosen.kind)
        })
        .collect();
    let mut kinds = Vec::new();
    for (item, kind) in items.iter().zip(read) {
        let kind = kind?;
        if kinds.contains(&kind) {
            let mistake = Mistake::new(format!("`{}` is named twice", kind.name()));
            mistakes.add(item.span.clone(), mistake.help("name each kind once"));
            return None;
        }
        if !kind.can_strike(service) {
            let mistake = Mistake::new(format!("`{}` strikes nothing here", kind.name()));
            let mistake = mistake.label(match kind.is_of(service.kind()) {
                false => "it is a fault of another service",
                true => kind.why_not(service),
            });
            mistakes.add(
                item.span.clone(),
                mistake.help(format!(
                    "leave it out; `{} list faults` says what each strikes",
                    program::command()
                )),
            );
            return None;
        }
        if left_out && !kind.spec().drawn_unasked {
            let mistake = Mistake::new(format!("`{}` is not drawn anyway", kind.name()))
                .label("it is drawn only if `kinds` names it")
                .help("leave it out");
            mistakes.add(item.span.clone(), mistake);
            return None;
        }
        kinds.push(kind);
    }
    Some(kinds)
}

/// One of several values of a field: the one that it has, or a list.
pub(super) struct Several<T> {
    /// The value, or the first of several.
    pub(super) first: T,
    /// All of them, if the file leaves open which.
    pub(super) choices: Vec<T>,
}

/// Reads a value, or a list of values to choose from.
pub(super) fn several<T: Clone>(
    item: &Item,
    mistakes: &mut Mistakes,
    mut read: impl FnMut(&Item, &mut Mistakes) -> Option<T>,
) -> Option<Several<T>> {
    let Some(items) = item.as_list() else {
        let first = read(item, mistakes)?;
        let choices = Vec::new();
        return Some(Several { first, choices });
    };
    if items.is_empty() {
        let mistake = Mistake::new("there is nothing to choose from in this list");
        mistakes.add(item.span.clone(), mistake.help("name at least one value"));
        return None;
    }
    // All are read before any is missed, so that all mistakes are reported together.
    let read: Vec<Option<T>> = items.iter().map(|item| read(item, mistakes)).collect();
    let choices = read.into_iter().collect::<Option<Vec<T>>>()?;
    let first = choices.first()?.clone();
    Some(Several { first, choices })
}

/// A whole number, or a range of them such as `"2..6"`, both ends included.
pub(super) fn whole(
    item: &Item,
    within: RangeInclusive<i64>,
    mistakes: &mut Mistakes,
) -> Option<(u32, u32)> {
    let Some(text) = item.as_text() else {
        let number = u32::try_from(item.integer(within, mistakes)?).ok()?;
        return Some((number, number));
    };
    let ends = text.split_once("..");
    let ends = ends.and_then(|(from, to)| Some((from.parse().ok()?, to.parse().ok()?)));
    let (least, most) = (*within.start(), *within.end());
    let mistake = match ends {
        Some((from, to)) if from > to => Mistake::new("this range runs backwards")
            .help(format!("did you mean \"{to}..{from}\"?")),
        Some((from, to)) if i64::from(from) < least || i64::from(to) > most => {
            Mistake::new("this range reaches too far")
                .help(format!("expected whole numbers from {least} to {most}"))
        }
        Some(range) => return Some(range),
        None => Mistake::new(format!("`{}` cannot be read", item.name)).help(format!(
            "expected a whole number from {least} to {most}, or a range such as \"2..6\""
        )),
    };
    mistakes.add(item.span.clone(), mistake);
    None
}

/// Whether a text is a range of durations.
pub(super) fn is_range(item: &Item) -> bool {
    item.as_text().is_some_and(|text| text.contains(".."))
}

/// Latencies, or a list of them to choose from.
pub(super) fn ranges(
    item: &Item,
    mistakes: &mut Mistakes,
) -> Option<Several<(Duration, Duration)>> {
    several(item, mistakes, |item, mistakes| item.range(mistakes))
}
