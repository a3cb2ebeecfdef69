//! Pictures and pages of runs of the library, held against their traces: crosses, lengths of faults, and what led to a
//! violation.

use std::collections::{BTreeMap, BTreeSet};

use super::traffic;
use crate::checker::outcome::Story;
use crate::checker::{EventKind, FaultId, History, Verdict, VirtualTime};
use crate::reports::diagram::{
    ArrowEnd, ArrowKind, Diagram, LaneKind, MessageState, Scope, Track, Traffic,
};
use crate::scenarios::{Case, Catalogue, Scenario, runner, why};
use crate::sim::plan::{FaultDuration, Plan};
use crate::sources::library;

/// A run with everything that is drawn of it.
struct Drawn {
    name: String,
    plan: Plan,
    story: Story,
    traffic: Traffic,
}

/// What was looked at.
#[derive(Debug, Default)]
struct Looked {
    pictures: usize,
    crosses: usize,
    under_way: usize,
    faults: usize,
    go_on: usize,
    pasts: usize,
    faded: usize,
}

/// How many messages between two lanes with a text are lost, arrive, and are under way at the end.
type Ends = BTreeMap<(usize, usize, String), [usize; 3]>;

/// From when until when something is drawn.
type Edges = (VirtualTime, VirtualTime);

fn drawn(scenario: &Scenario, case: &Case, seed: u64) -> Drawn {
    let (simulated, messages) = runner::traced(case, seed);
    let outcome = runner::judge(case, seed, &simulated);
    let violated = outcome
        .verdicts
        .iter()
        .find_map(|(name, verdict)| match verdict {
            Verdict::Violated(witness) => Some(((*name).to_owned(), (**witness).clone())),
            Verdict::Holds | Verdict::Undecided(_) => None,
        });
    let plan = case.plan_for(seed).into_owned();
    Drawn {
        name: format!("{}, {}, seed {seed}", scenario.name, case.name),
        traffic: traffic(&plan, &messages),
        story: runner::story(scenario, case, simulated, &outcome, violated),
        plan,
    }
}

impl Drawn {
    fn history(&self) -> &History {
        &self.story.history
    }

    fn diagram(&self, scope: Scope) -> Diagram {
        let causes = |event| why::causes(&self.plan, self.history(), event);
        Diagram::of(&self.story, &self.traffic, scope, &causes)
    }

    /// From when until when the whole run lasts, and from when until when a picture of it shows what happens.
    fn edges(&self, picture: Option<&Diagram>) -> Edges {
        let events = &self.history().events;
        let last = events.last().map_or(VirtualTime::ZERO, |event| event.at);
        let Some(picture) = picture else {
            return (VirtualTime::ZERO, last);
        };
        let (from, until) = picture.focus;
        let is_first = events.first().is_none_or(|event| event.at == from);
        (if is_first { VirtualTime::ZERO } else { from }, until)
    }

    fn lane(&self, diagram: &Diagram, name: &str) -> Option<usize> {
        let is_of = |kind: LaneKind| match kind {
            LaneKind::Contender(id) => {
                let process = self.history().process(id);
                process.is_some_and(|process| name == format!("process-{process}"))
            }
            LaneKind::Resource | LaneKind::Client | LaneKind::Server => false,
        };
        let mut lanes = diagram.lanes.iter();
        let named = lanes.position(|lane| lane.name == name);
        named.or_else(|| diagram.lanes.iter().position(|lane| is_of(lane.kind)))
    }

    /// What the trace says of the messages between these edges. A message that has neither end there is none of them.
    fn traced(&self, diagram: &Diagram, (from, until): Edges) -> Ends {
        let mut ends = Ends::new();
        let mut sent: BTreeMap<(usize, usize, String), [usize; 2]> = BTreeMap::new();
        for message in &self.traffic.messages {
            let lanes = [&message.from, &message.to].map(|name| self.lane(diagram, name));
            let [Some(one), Some(other)] = lanes else {
                continue;
            };
            let key = (one, other, shown(&message.text));
            let is_here = (from..=until).contains(&message.at);
            let before = sent.entry(key.clone()).or_default();
            match message.state {
                MessageState::Sent if message.at <= until => before[usize::from(is_here)] += 1,
                MessageState::Received | MessageState::Lost if message.at <= until => {
                    // What was sent first ends first.
                    let of = usize::from(before[0] == 0);
                    before[of] = before[of].saturating_sub(1);
                    if is_here {
                        let is_lost = message.state == MessageState::Lost;
                        ends.entry(key).or_default()[usize::from(!is_lost)] += 1;
                    }
                }
                MessageState::Sent
                | MessageState::Received
                | MessageState::Lost
                | MessageState::Notice(_) => {}
            }
        }
        for (key, [_, here]) in sent.into_iter().filter(|(_, [_, here])| *here > 0) {
            ends.entry(key).or_default()[2] += here;
        }
        ends
    }

    /// A cross for each message that is lost, a head for each that arrives, and neither for what is under way.
    fn check_messages(&self, diagram: &Diagram, edges: Edges, looked: &mut Looked) {
        let mut ends = Ends::new();
        for arrow in diagram
            .arrows
            .iter()
            .filter(|arrow| arrow.kind != ArrowKind::Write)
        {
            let end = match arrow.end {
                ArrowEnd::Lost => 0,
                ArrowEnd::Arrives => 1,
                ArrowEnd::UnderWay => 2,
            };
            let key = (arrow.from, arrow.to, shown(&arrow.text));
            ends.entry(key).or_default()[end] += 1;
            looked.crosses += usize::from(end == 0);
            looked.under_way += usize::from(end == 2);
        }
        let traced = self.traced(diagram, edges);
        let all = diagram.notes.is_empty() && diagram.notches.is_empty();
        let missing = traced.keys().find(|key| all && !ends.contains_key(key));
        assert_eq!(missing, None, "{}", self.name);
        // Of too many, some are left out, and of a notch all that arrive.
        for (key, drawn) in &ends {
            let of = traced.get(key).copied().unwrap_or_default();
            let is_less = drawn.iter().zip(of).all(|(drawn, of)| *drawn <= of);
            let fits = *drawn == of || (!all && is_less);
            assert!(fits, "{}: {key:?} {drawn:?} {of:?} {edges:?}", self.name);
        }
    }

    /// Each strike of a fault is as long as the plan has it, as far as the diagram goes.
    fn check_faults(&self, diagram: &Diagram, (from, until): Edges, looked: &mut Looked) {
        let events = &self.history().events;
        let over = events.last().map_or(VirtualTime::ZERO, |event| event.at);
        let ends = |fault: FaultId, at: VirtualTime| {
            let is_healed = |at: VirtualTime| {
                let healed = EventKind::FaultHealed { fault };
                events
                    .iter()
                    .any(|event| (event.at, event.what) == (at, healed))
            };
            match self.plan.lasts(&self.plan.faults[fault.0 as usize].inject) {
                None => at,
                Some(FaultDuration::ForGood) => VirtualTime::NEVER,
                Some(FaultDuration::For(length)) if at + length > over => VirtualTime::NEVER,
                Some(FaultDuration::For(length)) if is_healed(at + length) => at + length,
                // It found nothing to break.
                Some(FaultDuration::For(_)) => at,
            }
        };
        let strikes = events.iter().filter_map(|event| match event.what {
            EventKind::FaultFired { fault } => Some((fault, event.at, ends(fault, event.at))),
            _ => None,
        });
        let strikes = strikes.filter(|&(_, at, end)| end >= from && at <= until);
        let mut planned: Vec<_> = strikes
            .map(|(fault, at, end)| (fault, at.max(from), end.min(until), end > until))
            .collect();
        let spans = diagram.spans.iter();
        let mut shown: Vec<_> = spans
            .filter_map(|span| Some((span.fault?, span.from, span.until, span.goes_on)))
            .collect();
        planned.sort_unstable();
        shown.sort_unstable();
        assert_eq!(shown, planned, "{}", self.name);
        looked.faults += shown.len();
        looked.go_on += shown.iter().filter(|row| row.3).count();
    }

    /// The past of the violation is the one that `picklock why` finds, and what lasts begins with an event of its kind.
    fn check_past(&self, diagram: &Diagram, looked: &mut Looked) {
        let (Some((_, witness)), Some(breach)) = (&self.story.violated, &diagram.breach) else {
            return;
        };
        let marks = diagram.marks.iter().enumerate();
        let of_event: BTreeMap<usize, usize> = marks
            .filter_map(|(index, mark)| Some((mark.event?, index)))
            .collect();
        let evidence = breach.evidence.iter();
        let mut open: Vec<usize> = evidence.map(|event| of_event[event]).collect();
        let mut past = BTreeSet::new();
        while let Some(mark) = open.pop() {
            if past.insert(diagram.marks[mark].event.expect("causes are events")) {
                open.extend(&diagram.marks[mark].causes);
            }
        }
        let starts = witness.events_until_broken(self.history());
        let led: Vec<usize> = why::past(&self.plan, self.history(), &starts);
        let drawn = |event: &usize| of_event.contains_key(event);
        let led: BTreeSet<usize> = led.into_iter().filter(drawn).collect();
        assert_eq!(past, led, "{}", self.name);
        looked.pasts += 1;
        for bar in diagram.bars.iter().filter(|bar| bar.origin.in_history) {
            let begins = self.history().events[bar.origin.after];
            let fits = match begins.what {
                EventKind::AcquireStarted { .. } => bar.track == Track::Waiting,
                EventKind::Acquired { .. } => bar.track == Track::Belief,
                EventKind::Owned { .. } => bar.track == Track::Ownership,
                EventKind::Writing { .. } | EventKind::Effect { .. } => bar.track == Track::Effect,
                EventKind::Paused { .. }
                | EventKind::Crashed { .. }
                | EventKind::FaultFired { .. } => bar.track == Track::Process,
                _ => false,
            };
            let is_its = bar.of.is_none_or(|of| begins.what.by() == Some(of));
            assert!(
                fits && is_its && begins.at == bar.from,
                "{}: {bar:?}",
                self.name
            );
            looked.faded += usize::from(!past.contains(&bar.origin.after));
        }
    }

    fn check(&self, looked: &mut Looked) {
        let page = self.diagram(Scope::Whole { bytes: 20_000_000 });
        let picture = self.diagram(Scope::Essential);
        let edges = [self.edges(None), self.edges(Some(&picture))];
        for (diagram, edges) in [&page, &picture].into_iter().zip(edges) {
            self.check_messages(diagram, edges, looked);
            self.check_faults(diagram, edges, looked);
        }
        self.check_past(&page, looked);
        looked.pictures += 1;
    }
}

/// As much of a text as every diagram shows.
fn shown(text: &str) -> String {
    text.chars().take(100).collect()
}

/// So many runs, of cases from all over the library.
fn look(most: usize) -> Looked {
    let scenarios = library(&Catalogue::EVERYTHING).expect("it has no mistakes");
    let cases = scenarios.iter().flat_map(|scenario| {
        let cases = scenario.cases.iter();
        cases.map(move |case| (scenario, case))
    });
    let cases: Vec<_> = cases.collect();
    let mut looked = Looked::default();
    for run in 0..most {
        let (scenario, case) = cases[run * cases.len() / most];
        drawn(scenario, case, run as u64 % 7).check(&mut looked);
    }
    println!("{looked:?}");
    assert_eq!(looked.pictures, most);
    looked
}

#[test]
fn pictures_and_pages_say_what_the_trace_says() {
    let looked = look(24);
    assert!(looked.crosses > 0 && looked.faults > 0, "{looked:?}");
}

#[test]
#[ignore = "takes a minute"]
fn of_150_runs_pictures_and_pages_say_what_the_trace_says() {
    let looked = look(150);
    let some = [
        looked.crosses,
        looked.under_way,
        looked.faults,
        looked.go_on,
    ];
    assert!(some.iter().all(|number| *number > 50), "{looked:?}");
    assert!(looked.pasts > 20 && looked.faded > 50, "{looked:?}");
}
