//! `[workload]`: who wants the lock, and what for.

use std::time::Duration;

use picklock_algorithms::clients::ServiceKind;
use picklock_sim::plan::{Arrival, Hold, Reads, Section, Workload};

use super::choice::choose;
use super::latch_count::count;
use super::locks::read_locks;
use super::permits::{permits, permits_per_acquire};
use super::processes::processes;
use super::reader::{Fields, Item, Mistake, Mistakes, Zero};
use super::sampled_parameters::{is_range, ranges, settle, several, whole, wide};
use crate::sampled_parameters::SampledParameters;
use crate::units;

/// The most contenders that a scenario may have.
pub const MOST_CONTENDERS: u32 = 100_000;

/// The most rounds of a contender.
pub(super) const MOST_ROUNDS: i64 = 1_000_000;

/// Arrivals by name.
#[derive(Clone, Copy)]
enum ArrivalKind {
    Together,
    InOrder,
    BehindHolder,
    InOrderBehindHolder,
    Within,
}

const ARRIVALS: [(&str, ArrivalKind); 5] = [
    ("together", ArrivalKind::Together),
    ("in-order", ArrivalKind::InOrder),
    ("behind-holder", ArrivalKind::BehindHolder),
    ("in-order-behind-holder", ArrivalKind::InOrderBehindHolder),
    ("within", ArrivalKind::Within),
];

/// Sections by name.
#[derive(Clone, Copy)]
enum SectionKind {
    Write,
    Count,
    Sell,
    DelayedWrite,
    Nothing,
}

const SECTIONS: [(&str, SectionKind); 5] = [
    ("write", SectionKind::Write),
    ("count", SectionKind::Count),
    ("sell", SectionKind::Sell),
    ("delayed-write", SectionKind::DelayedWrite),
    ("nothing", SectionKind::Nothing),
];

/// Reads `[workload]` of a file on this service, and what it leaves open; also the least number of contenders, if the
/// file gives it without a mistake.
pub(super) fn workload(
    file: &mut Fields,
    service: ServiceKind,
    open: &mut SampledParameters,
    mistakes: &mut Mistakes,
) -> (Workload, Option<u32>) {
    let mut default = Workload::default();
    let Some(item) = file.get("workload") else {
        let contenders = default.contenders;
        return (default, Some(contenders));
    };
    let Some(mut fields) = item.table("the table [workload]", mistakes) else {
        return (default, None);
    };
    let contenders = match fields.get("contenders") {
        Some(item) => whole(&item, 1..=i64::from(MOST_CONTENDERS), mistakes),
        None => Some((default.contenders, default.contenders)),
    };
    open.contenders = contenders.and_then(wide);
    let contenders = contenders.map(|(least, _)| least);
    let (tasks_per_process, share) = processes(&mut fields, contenders, service, open, mistakes);
    read_locks(&mut fields, service, &mut default, open, mistakes);
    let arrive = fields.get("arrive");
    let arrive = arrive.and_then(|item| several(&item, mistakes, arrival));
    let arrive = settle(arrive, &mut open.arrive);
    let rounds = rounds(&mut fields, open, mistakes);
    let reads = reads(&mut fields, mistakes);
    let permits = permits(&mut fields, MOST_CONTENDERS, open, mistakes);
    let permits_per_acquire = permits_per_acquire(&mut fields, mistakes);
    let count = count(&mut fields, MOST_CONTENDERS - 1, contenders, mistakes);
    let (acquire_timeout, depth) = calls(&mut fields, mistakes);
    let hold = fields
        .get("hold")
        .and_then(|item| hold(&item, open, mistakes));
    let think = times(&mut fields, "think", &mut open.think, mistakes);
    let processing = times(&mut fields, "processing", &mut open.processing, mistakes);
    let section = fields
        .get("section")
        .and_then(|item| section(&item, mistakes));
    let bystanders = fields.count("bystanders", 0..=10_000, mistakes);
    let bystander_every = fields.duration("bystander-every", Zero::Senseless, mistakes);
    let (progress_bound, bypass_bound, starvation_bound) = bounds(&mut fields, mistakes);
    let storm = fields.duration("storm", Zero::Senseless, mistakes);
    fields.finish(mistakes);
    let workload = Workload {
        contenders: contenders.unwrap_or(default.contenders),
        tasks_per_process,
        share,
        arrive: arrive.unwrap_or(default.arrive),
        rounds: rounds.unwrap_or(default.rounds),
        reads: reads.unwrap_or(default.reads),
        permits,
        permits_per_acquire: permits_per_acquire.unwrap_or(default.permits_per_acquire),
        count,
        acquire_timeout,
        reentrancy_depth: depth.unwrap_or(default.reentrancy_depth),
        hold: hold.unwrap_or(default.hold),
        think: think.unwrap_or(default.think),
        processing: processing.unwrap_or(default.processing),
        section: section.unwrap_or(default.section),
        bystanders: bystanders.unwrap_or(default.bystanders),
        bystander_every: bystander_every.unwrap_or(default.bystander_every),
        progress_bound,
        bypass_bound,
        starvation_bound,
        storm,
        ..default
    };
    (workload, contenders)
}

/// The bound on progress, and how often one who waits may be overtaken, and others let in while it asks in vain.
fn bounds(
    fields: &mut Fields,
    mistakes: &mut Mistakes,
) -> (Option<Duration>, Option<u32>, Option<u32>) {
    let progress_bound = fields.duration("progress-bound", Zero::Senseless, mistakes);
    let bypass_bound = fields.count("bypass-bound", 0..=MOST_ROUNDS, mistakes);
    let starvation_bound = fields.count("starvation-bound", 0..=MOST_ROUNDS, mistakes);
    (progress_bound, bypass_bound, starvation_bound)
}

/// How long contenders wait for the lock, and how often a section enters it.
fn calls(fields: &mut Fields, mistakes: &mut Mistakes) -> (Option<Duration>, Option<u32>) {
    let acquire_timeout = fields.renamed("acquire-timeout", "patience");
    let acquire_timeout = acquire_timeout.and_then(|time| time.duration(Zero::Allowed, mistakes));
    let depth = fields.renamed("reentrancy-depth", "entries");
    let depth = depth.and_then(|item| item.integer(1..=1_000, mistakes));
    let depth = depth.and_then(|depth| u32::try_from(depth).ok());
    // It is no matter of a workload, but of what goes with it: see `allows_self_deadlock`.
    let _ = fields.get(ALLOW_SELF_DEADLOCK);
    (acquire_timeout, depth)
}

/// The key that says so.
const ALLOW_SELF_DEADLOCK: &str = "allow-self-deadlock";

/// Whether sections may enter again what cannot be entered again.
pub(super) fn allows_self_deadlock(file: &Fields, mistakes: &mut Mistakes) -> bool {
    let item = of_workload(file, ALLOW_SELF_DEADLOCK, mistakes);
    item.is_some_and(|item| item.boolean(mistakes).unwrap_or_default())
}

/// What a file says behind a key of its workload, which has been read.
fn of_workload<'a>(file: &Fields<'a>, key: &str, mistakes: &mut Mistakes) -> Option<Item<'a>> {
    let table = file.peek("workload")?;
    table.table("the table [workload]", mistakes)?.peek(key)
}

/// Refuses sections of which none can end within the bound on progress: the first may be over by then, no other.
pub(super) fn refuse_endless_sections(
    file: &Fields,
    workload: &Workload,
    open: &SampledParameters,
    mistakes: &mut Mistakes,
) {
    let mut busiest = open.busiest_of(workload);
    if let Some((_, most)) = open.hold {
        busiest.hold = Hold::For(most);
    }
    let hold = |name| match busiest.hold_of(name) {
        Hold::For(hold) => hold,
        Hold::Settled => Duration::ZERO,
    };
    let shortest = busiest.each(hold).map(|(hold, _)| hold).min();
    let (Some(bound), Some(hold)) = (workload.progress_bound, shortest) else {
        return;
    };
    if hold <= bound || busiest.sections() <= busiest.permits() || !mistakes.is_empty() {
        return;
    }
    let (hold, bound) = (units::write_duration(hold), units::write_duration(bound));
    let mistake = Mistake::new("no section can end within the bound on progress")
        .label(format!("but a section lasts {hold}"))
        .help(format!(
            "in the calm each contender has {bound} to get the lock and do its section: write a longer \
             `progress-bound`, or leave it out, or write a shorter `hold`"
        ));
    let item = of_workload(file, "progress-bound", mistakes);
    mistakes.add(item.map_or(0..0, |item| item.span), mistake);
}

/// How often each contender wants the lock: the least, if each seed draws it.
fn rounds(
    fields: &mut Fields,
    open: &mut SampledParameters,
    mistakes: &mut Mistakes,
) -> Option<u32> {
    let item = fields.get("rounds")?;
    let range = whole(&item, 1..=MOST_ROUNDS, mistakes)?;
    open.rounds = wide(range);
    Some(range.0)
}

/// How often a contender takes the lock to read.
pub(super) fn reads(fields: &mut Fields, mistakes: &mut Mistakes) -> Option<Reads> {
    const WANTED: &str = r#""never", "always", or a share such as "50%""#;
    let item = fields.get("reads")?;
    item.measured(units::parse_reads, WANTED, mistakes)
}

/// Reads a time under this name, one of several or a range of which each seed draws.
fn times(
    fields: &mut Fields,
    name: &'static str,
    open: &mut Vec<(Duration, Duration)>,
    mistakes: &mut Mistakes,
) -> Option<(Duration, Duration)> {
    let read = fields.get(name).and_then(|item| ranges(&item, mistakes));
    settle(read, open)
}

fn arrival(item: &Item, mistakes: &mut Mistakes) -> Option<Arrival> {
    let chosen = choose(item, "arrival", &ARRIVALS, mistakes)?;
    let bare = match chosen.kind {
        ArrivalKind::Together => Arrival::Together,
        ArrivalKind::InOrder => Arrival::InOrder,
        ArrivalKind::BehindHolder => Arrival::BehindHolder,
        ArrivalKind::InOrderBehindHolder => Arrival::InOrderBehindHolder,
        ArrivalKind::Within => {
            let within = chosen.duration(Zero::Senseless, mistakes)?;
            return Some(Arrival::Within(within));
        }
    };
    chosen.bare(mistakes);
    Some(bare)
}

fn hold(item: &Item, open: &mut SampledParameters, mistakes: &mut Mistakes) -> Option<Hold> {
    if is_range(item) {
        let range = item.range(mistakes)?;
        open.hold = wide(range);
        return Some(Hold::For(range.0));
    }
    fixed_hold(item, mistakes)
}

/// A hold that the file settles.
pub(super) fn fixed_hold(item: &Item, mistakes: &mut Mistakes) -> Option<Hold> {
    if item.as_text() == Some("settled") {
        return Some(Hold::Settled);
    }
    let is_word = |text: &str| text.starts_with(|c: char| c.is_ascii_alphabetic());
    if item.as_text().is_some_and(is_word) {
        choose(item, "hold", &[("settled", Hold::Settled)], mistakes)?;
    }
    item.duration(Zero::Allowed, mistakes).map(Hold::For)
}

fn section(item: &Item, mistakes: &mut Mistakes) -> Option<Section> {
    let chosen = choose(item, "section", &SECTIONS, mistakes)?;
    let bare = match chosen.kind {
        SectionKind::Write => Section::Write,
        SectionKind::Count => Section::Count,
        SectionKind::Nothing => Section::Nothing,
        SectionKind::Sell => {
            let mut fields = chosen.fields(mistakes)?;
            let stock = fields.need("stock", "stock = 5000");
            let stock = stock.and_then(|item| item.integer(1..=1_000_000_000, mistakes));
            fields.finish(mistakes);
            return stock.map(|stock| Section::Sell { stock });
        }
        SectionKind::DelayedWrite => {
            let delay = chosen.duration(Zero::Senseless, mistakes)?;
            return Some(Section::DelayedWrite { delay });
        }
    };
    chosen.bare(mistakes);
    Some(bare)
}
