//! `[[case]]`: an algorithm, and what is wanted of it.

use std::ops::Range;

use picklock_algorithms::{Claim, LockKind, Recipe, RecipeMistake};
use picklock_checker::Rendezvous;
use picklock_sim::plan::{
    Fault, FaultKind, LockCall, Plan, PlannedFault, Reads, Resource, Service, Workload,
};

use super::barrier::refuse_of_barrier;
use super::choice::choose;
use super::conversion::refuse_conversion;
use super::event_loop::refuse_blocked_loop;
use super::expect::{expectations, measures};
use super::latch_count::refuse_count;
use super::lock_node::refuse_missing_lock_node;
use super::locks::refuse_kind_of_several;
use super::permits::{refuse_permits, refuse_several_permits};
use super::processes::refuse_unshareable;
use super::reader::{Fields, Item, Mistake, Mistakes};
use super::reentry::{refuse_reentry, refuse_self_deadlock};
use super::revocation::refuse_revoke;
use super::roles::refuse_roles;
use super::service::{self, FileClients, Switches};
use super::try_acquire::refuse_try_acquire;
use crate::diagnostic::printable;
use crate::sampled_parameters::SampledParameters;
use crate::scenario::{Case, Catalogue};

const RESOURCES: [(&str, bool); 2] = [("fenced", true), ("unfenced", false)];

/// Reads `resource`, of the file or of a case, and where it stands.
pub(super) fn resource(
    fields: &mut Fields,
    mistakes: &mut Mistakes,
) -> Option<(Resource, Range<usize>)> {
    let item = fields.get("resource")?;
    let chosen = choose(&item, "resource", &RESOURCES, mistakes)?;
    chosen.bare(mistakes);
    let fenced = chosen.kind;
    Some((Resource { fenced }, item.span))
}

/// A case, and where its name stands or would stand.
pub(super) struct Named {
    pub(super) case: Case,
    pub(super) span: Range<usize>,
    pub(super) fenced: Option<bool>,
}

/// What a case goes by.
pub(super) struct CaseScene<'s> {
    /// With as many contenders as a seed may settle on.
    pub(super) workload: &'s Workload,
    /// With as many servers as a seed may settle on.
    pub(super) service: &'s Service,
    /// What the file says of clients of Redis.
    pub(super) clients: &'s FileClients,
    /// Where the file says which service it stands on.
    pub(super) service_item: Option<Item<'s>>,
    /// Whether it lets sections enter again what cannot be entered again.
    pub(super) allows_self_deadlock: bool,
}

/// Reads one case; `world` makes the plan that all cases share.
pub(super) fn case(
    item: &Item,
    catalogue: &Catalogue,
    scene: &CaseScene,
    world: &dyn Fn(Recipe) -> Plan,
    open: &SampledParameters,
    mistakes: &mut Mistakes,
) -> Option<Named> {
    let mut fields = item.table("a table, [[case]]", mistakes)?;
    let Some(own) = service::of_case(&mut fields, scene, open, mistakes) else {
        return case_in((item, fields), catalogue, scene, world, open, mistakes);
    };
    let widest = own.open.widest(&own.service);
    let scene = CaseScene {
        service: &widest,
        clients: &own.clients,
        service_item: scene.service_item.clone(),
        ..*scene
    };
    let world = |recipe| own.plan(world(recipe));
    let named = case_in(
        (item, fields),
        catalogue,
        &scene,
        &world,
        &own.open,
        mistakes,
    );
    if let Some(named) = &named {
        own.refuse_faults(&named.case.plan, mistakes);
    }
    named
}

/// Reads one case in the world that is its own.
fn case_in(
    (item, mut fields): (&Item, Fields),
    catalogue: &Catalogue,
    scene: &CaseScene,
    world: &dyn Fn(Recipe) -> Plan,
    open: &SampledParameters,
    mistakes: &mut Mistakes,
) -> Option<Named> {
    let (workload, service) = (scene.workload, scene.service);
    let algorithm_item = fields.need("algorithm", "algorithm = \"zk-predecessor-watch\"");
    let algorithm = algorithm_item
        .as_ref()
        .and_then(|item| algorithm(item, catalogue, mistakes));
    let name_item = fields.get("name");
    let name = name_item.as_ref().map(|item| case_name(item, mistakes));
    let (resource, resource_span) = resource(&mut fields, mistakes).unzip();
    let switches = Switches::of_case(&mut fields, service, mistakes);
    let faults = super::sampled_parameters::faults(&mut fields, service, mistakes);
    let sometimes = super::sometimes::sometimes(&mut fields, mistakes);
    let expect = fields.get("expect");
    let recipe = algorithm.as_ref();
    let expectations = expectations(expect.as_ref(), recipe, workload, catalogue, mistakes);
    let measures = measures(fields.get("measure").as_ref(), catalogue, mistakes);
    fields.finish(mistakes);

    let algorithm = algorithm?;
    let mut plan = world(algorithm);
    if let Some(item) = &algorithm_item {
        refuse_on_other_service(item, &plan, scene, catalogue, mistakes);
        service::refuse_on_other_variant(item, &plan, catalogue, mistakes);
    }
    let name = name.unwrap_or_else(|| Some(algorithm.name.to_owned()))?;
    plan.resource = resource.unwrap_or(plan.resource);
    if plan.resource.fenced
        && let Some(item) = &algorithm_item
    {
        let span = resource_span.unwrap_or(item.span.clone());
        refuse_without_token(span, &plan, catalogue, mistakes);
    }
    switches.set_with(scene.clients, &mut plan);
    let mut open = open.clone();
    open.faults = faults.or(open.faults);
    if let Some(item) = &algorithm_item {
        let library = switches.named_library(scene.clients);
        refuse_blocked_loop(item, &plan, library, &open, mistakes);
        refuse_of_recipe(item, &plan, &open, scene, catalogue, mistakes);
    }
    Some(Named {
        case: Case {
            name,
            line: None,
            algorithm,
            plan,
            open: open.is_open().then_some(open),
            drawn: false,
            expectations,
            sometimes: sometimes.unwrap_or_default(),
            measures,
            recorded: None,
            saved: None,
            seeds_at_most: None,
        },
        span: name_item
            .or(algorithm_item)
            .map_or(item.span.clone(), |item| item.span),
        fenced: resource.map(|resource| resource.fenced),
    })
}

/// How to bring an algorithm.
const BRING_YOUR_OWN: &str = "a lock of your own is a `Recipe`: hand it to `picklock::cli::main` in a program of \
    yours, or to `Harness::with_recipe` in a test; docs/your-lock.md shows how";

fn algorithm(item: &Item, catalogue: &Catalogue, mistakes: &mut Mistakes) -> Option<Recipe> {
    let name = item.text("the name of an algorithm", mistakes)?;
    let found = catalogue
        .algorithms
        .iter()
        .find(|recipe| recipe.name == name);
    if found.is_none() {
        let names: Vec<&str> = catalogue
            .algorithms
            .iter()
            .map(|recipe| recipe.name)
            .collect();
        mistakes.add(
            item.span.clone(),
            Mistake::unknown("algorithm", name, &names).help(BRING_YOUR_OWN),
        );
    }
    for RecipeMistake { problem, help } in found.iter().flat_map(|recipe| recipe.mistakes()) {
        let mistake = Mistake::new(problem).help(help);
        mistakes.add(item.span.clone(), mistake);
    }
    found.copied()
}

/// Refuses an algorithm that stands on another service than the scenario.
fn refuse_on_other_service(
    item: &Item,
    plan: &Plan,
    scene: &CaseScene,
    catalogue: &Catalogue,
    mistakes: &mut Mistakes,
) {
    let (needs, stands) = (plan.recipe.build.service(), plan.service.kind());
    if needs == stands {
        return;
    }
    let name = plan.recipe.name;
    let mistake = Mistake::new(format!("`{name}` stands on {}", needs.title()));
    if scene.service_item.is_none() {
        let title = stands.title();
        let mistake = mistake
            .label(format!("but the first case stands on {title}"))
            .help("all cases of a file stand on one service: put this one into a file of its own");
        mistakes.add(item.span.clone(), mistake);
        return;
    }
    let fit = catalogue.on_service(stands, |_| true);
    let help = match fit.len() {
        0..=service::MANY => super::reader::expected(&fit),
        _ => format!(
            "`picklock list algorithms --family {}` shows those that do",
            stands.name()
        ),
    };
    let mistake = mistake
        .label(format!("but this scenario stands on {}", stands.title()))
        .help(help);
    mistakes.add(item.span.clone(), mistake);
}

/// Refuses what a recipe cannot have done to it.
fn refuse_of_recipe(
    item: &Item,
    plan: &Plan,
    open: &SampledParameters,
    scene: &CaseScene,
    catalogue: &Catalogue,
    mistakes: &mut Mistakes,
) {
    refuse_missing_lock_node(item, plan, catalogue, mistakes);
    if !scene.allows_self_deadlock {
        refuse_self_deadlock(item, plan, catalogue, mistakes);
    }
    refuse_cancel(item, plan, open, mistakes);
    refuse_revoke(item, plan, open, catalogue, mistakes);
    refuse_reads(item, plan, open, catalogue, mistakes);
    refuse_permits(item, plan, catalogue, mistakes);
    refuse_several_permits(item, plan, catalogue, mistakes);
    refuse_roles(item, plan, catalogue, mistakes);
    refuse_count(item, plan, open, mistakes);
    refuse_of_barrier(item, plan, open, mistakes);
    refuse_reentry(item, plan, mistakes);
    refuse_conversion(item, plan, scene.allows_self_deadlock, mistakes);
    refuse_try_acquire(item, plan, open, catalogue, mistakes);
    refuse_kind_of_several(item, plan, open, mistakes);
    refuse_unshareable(item, plan, open, catalogue, mistakes);
}

/// Refuses a fault that drops a call of a recipe that is not cancellable.
fn refuse_cancel(item: &Item, plan: &Plan, open: &SampledParameters, mistakes: &mut Mistakes) {
    if plan.recipe.cancellable {
        return refuse_cancel_of_release(item, plan, mistakes);
    }
    let cancels = |fault: &PlannedFault| matches!(fault.inject, Fault::Cancel { .. });
    let (label, help) = match plan.faults.iter().position(cancels) {
        Some(index) => (
            format!("but fault {} drops one", index + 1),
            "put this case into a file without that fault",
        ),
        None => match &open.faults {
            Some(any) if any.kinds == [FaultKind::Cancel] => (
                "but the faults of this file drop one".to_owned(),
                "put this case into a file with other kinds of faults",
            ),
            Some(_) | None => return,
        },
    };
    let why = match plan.rendezvous() {
        Some(Rendezvous::DoubleBarrier { .. }) => {
            "a party that gave up would leave all others waiting"
        }
        Some(Rendezvous::Barrier) => "a setter that gave up would leave the barrier standing",
        Some(Rendezvous::CountDownLatch { .. }) => {
            "a participant that gave up would leave all others waiting"
        }
        None => "the library waits until its call returns, whatever interrupts it",
    };
    let name = plan.recipe.name;
    let mistake = Mistake::new(format!("nothing drops a pending call of `{name}`"))
        .label(label)
        .help(format!("{why}; {help}"));
    mistakes.add(item.span.clone(), mistake);
}

/// Refuses a fault that drops a release to a recipe whose acquires alone can be cancelled.
fn refuse_cancel_of_release(item: &Item, plan: &Plan, mistakes: &mut Mistakes) {
    let call = LockCall::Release;
    let of_release =
        |fault: &PlannedFault| matches!(fault.inject, Fault::Cancel { call: of, .. } if of == call);
    let Some(index) = plan.faults.iter().position(of_release) else {
        return;
    };
    if plan.recipe.is_interruptible() {
        return;
    }
    let name = plan.recipe.name;
    let mistake = Mistake::new(format!("nothing drops a pending release of `{name}`"))
        .label(format!("but fault {} drops one", index + 1))
        .help("its `cancel` ends an acquire alone; put this case into a file without that fault");
    mistakes.add(item.span.clone(), mistake);
}

/// Refuses a workload with reads for a recipe that is no read-write lock.
fn refuse_reads(
    item: &Item,
    plan: &Plan,
    open: &SampledParameters,
    catalogue: &Catalogue,
    mistakes: &mut Mistakes,
) {
    let any = open.contender.as_ref().and_then(|any| any.reads);
    let reads = plan.workload.has_reads() || any.is_some_and(|reads| reads != Reads::Never);
    let is_shared = |recipe: &Recipe| recipe.ownership.kind == LockKind::ReadWrite;
    if !reads || is_shared(&plan.recipe) {
        return;
    }
    let service = plan.service.kind();
    let fit = catalogue.on_service(service, is_shared);
    let kind = match plan.recipe.ownership.kind {
        LockKind::Election => "an election".to_owned(),
        kind => format!("a {}", kind.name()),
    };
    let mistake = Mistake::new(format!("`{}` cannot be held to read", plan.recipe.name)).label(
        format!("it is {kind}, and `reads` says that a contender reads"),
    );
    let mistake = match fit.is_empty() {
        true => mistake,
        false => mistake.help(format!(
            "{}, which are read-write locks",
            super::reader::expected(&fit)
        )),
    };
    let mistake = mistake.help("or leave `reads` out");
    mistakes.add(item.span.clone(), mistake);
}

/// Refuses a resource that checks tokens to a recipe that promises none: every write would be turned away.
fn refuse_without_token(
    span: Range<usize>,
    plan: &Plan,
    catalogue: &Catalogue,
    mistakes: &mut Mistakes,
) {
    let has_token = |recipe: &Recipe| recipe.claims.contains(&Claim::FencingMonotonic);
    if has_token(&plan.recipe) {
        return;
    }
    let service = plan.service.kind();
    let fit = catalogue.on_service(service, has_token);
    let mistake = Mistake::new(format!("`{}` promises no fencing token", plan.recipe.name))
        .label("but the resource is fenced: it refuses every write without one")
        .help(format!(
            "{}, which promise `fencing-monotonic`",
            super::reader::expected(&fit)
        ))
        .help("or write resource = \"unfenced\" in this case");
    mistakes.add(span, mistake);
}

/// A name that can stand in a command and in a file name.
fn case_name(item: &Item, mistakes: &mut Mistakes) -> Option<String> {
    const LONGEST: usize = 80;
    let name = item.text("a name such as \"zk-predecessor-watch-fenced\"", mistakes)?;
    let allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    let starts = name.starts_with(|c: char| c.is_ascii_lowercase() || c.is_ascii_digit());
    if starts && !name.ends_with('-') && name.len() <= LONGEST && name.chars().all(allowed) {
        return Some(name.to_owned());
    }
    let mistake = Mistake::new(format!(
        "`{}` cannot be the name of a case",
        printable(name)
    ))
    .help(format!(
        "expected lower-case letters, digits, and hyphens, at most {LONGEST} of them"
    ));
    mistakes.add(item.span.clone(), mistake);
    None
}
