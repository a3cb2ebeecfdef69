//! How a diagram is made of a run.

use picklock_checker::outcome::Story;
use picklock_checker::{ContenderId, Evidence, VirtualTime};

use super::axis::{Axis, ROOM};
use super::bars::{self, Bar, Track};
use super::causes::{Causes, Shown};
use super::lanes::{self, Lane, LaneKind};
use super::marks::{self, Mark, Places, Weight};
use super::messages::{self, Arrow, ArrowEnd, ArrowKind};
use super::notches::{self, Notch};
use super::range::Part;
use super::roles;
use super::spans::{self, Breach, Span};
use super::strips::{self, Strip};
use super::traffic::Traffic;
use super::writes::writes;
use crate::timeline::{Detail, Scene};
use crate::words::{count, thousands};

/// How much of a run a diagram has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// What the explanation shows: its contenders, from the first event that it names to the last.
    Essential,
    /// Everything, or, if that takes more than so many bytes of a page, as much as fits around the violation.
    Whole {
        /// So many bytes.
        bytes: usize,
    },
}

/// A picture of what the explanation shows has no more messages than these: more cannot be told apart.
const MESSAGES: usize = 160;
/// The same of what happens, and of what lasts.
const EVENTS: usize = 500;

/// A space-time diagram: places and times, without colours.
#[derive(Clone, Debug, PartialEq)]
pub struct Diagram {
    /// The lanes, from top to bottom.
    pub lanes: Vec<Lane>,
    /// Faults and the calm.
    pub spans: Vec<Span>,
    /// Curves above the lanes.
    pub strips: Vec<Strip>,
    /// What lasts.
    pub bars: Vec<Bar>,
    /// Messages.
    pub arrows: Vec<Arrow>,
    /// What happens, in order.
    pub marks: Vec<Mark>,
    /// Stretches of a picture of which only the number of events is shown.
    pub notches: Vec<Notch>,
    /// Where the promise breaks.
    pub breach: Option<Breach>,
    /// The axis of time.
    pub axis: Axis,
    /// From when until when to look first.
    pub focus: (VirtualTime, VirtualTime),
    /// From the top to the bottom.
    pub height: u32,
    /// What is left out, one sentence each.
    pub notes: Vec<String>,
}

impl Diagram {
    /// The diagram of a run. `causes` says of an event, by its place in the history, which events it depends on
    /// directly.
    pub fn of(story: &Story, traffic: &Traffic, scope: Scope, causes: &Causes<'_>) -> Self {
        let scene = Scene::of(story, Detail::Essential);
        let part = part(story, &scene, traffic, scope);
        let whole = scope != Scope::Essential;
        let (lanes, without) = lanes::lanes(story, &scene, traffic, &part, whole);
        let mut diagram = Self::filled(story, &scene, traffic, &part, lanes, causes);
        if without > 0 {
            let others = count(without as u64, "other contender");
            diagram
                .notes
                .push(format!("{others} took part, and have no lane."));
        }
        if !whole {
            diagram.axis = diagram.axis_of(whole);
            diagram.cut_notches();
            diagram.drop_far_messages();
            diagram.drop_far_events();
            diagram.drop_idle_servers();
        }
        diagram.axis = diagram.axis_of(whole);
        notches::narrow(&mut diagram.axis, &diagram.notches, ROOM);
        diagram.place_rows(1.0, f64::INFINITY);
        diagram
    }

    fn filled(
        story: &Story,
        scene: &Scene,
        traffic: &Traffic,
        part: &Part,
        lanes: Vec<Lane>,
        causes: &Causes<'_>,
    ) -> Self {
        let history = &story.history;
        let contender = |id: ContenderId| {
            lanes
                .iter()
                .position(|lane| lane.kind == LaneKind::Contender(id))
        };
        // Tasks of a process share its lane for messages: that of the first that has one.
        let of_process = |name: &str| {
            let process: u32 = name.strip_prefix("process-")?.parse().ok()?;
            lanes.iter().position(|lane| match lane.kind {
                LaneKind::Contender(id) => history.process(id) == Some(process),
                LaneKind::Resource | LaneKind::Client | LaneKind::Server => false,
            })
        };
        let name = |name: &str| {
            let named = lanes.iter().position(|lane| lane.name == name);
            named.or_else(|| of_process(name))
        };
        let run = bars::run_of(history);
        let evidence = Evidence::of(&run);
        let (mut arrows, notices) = messages::arrows(&traffic.messages, part, &name);
        arrows.extend(writes(&evidence, part, &lanes));
        arrows.sort_by_key(|arrow| (arrow.sent, arrow.after));
        let places = Places {
            contender: &contender,
            name: &name,
        };
        let mut marks = marks::marks(story, scene, part, &places);
        let shown = Shown::of(part, &marks, causes);
        shown.give_causes(&mut marks, causes);
        marks.extend(marks::notices(traffic, part, &notices));
        let mut bars = bars::of_contenders(&evidence, &contender);
        bars.extend(roles::of_servers(history, &name));
        bars.retain_mut(|bar| clip(part, (&mut bar.from, &mut bar.until), &mut bar.goes_on));
        bars.sort_by_key(|bar| (bar.track, bar.from, bar.lane));
        let mut spans = spans::spans(history, &traffic.fault_lengths);
        spans.retain_mut(|span| clip(part, (&mut span.from, &mut span.until), &mut span.goes_on));
        spans::name_once(&mut spans);
        let mut breach = spans::breach(story, scene).filter(|breach| part.has(breach.from));
        if let Some(breach) = &mut breach {
            breach.evidence = shown.nearest(&breach.evidence);
        }
        Self {
            lanes,
            spans,
            strips: Vec::new(),
            bars,
            arrows,
            marks,
            notches: Vec::new(),
            breach,
            axis: Axis::default(),
            focus: focus(story, scene, part),
            height: 0,
            notes: part.notes.clone(),
        }
    }

    /// Servers at which nothing of the explanation happens need no lane, as in a page before a reader asks for it.
    fn drop_idle_servers(&mut self) {
        let mut used = vec![false; self.lanes.len()];
        let mut has_any = used.clone();
        for arrow in &self.arrows {
            let is_used = arrow.kind != ArrowKind::BetweenServers;
            for lane in [arrow.from, arrow.to] {
                used[lane] |= is_used;
                has_any[lane] = true;
            }
        }
        for mark in &self.marks {
            if let Some(lane) = mark.lane {
                used[lane] |= mark.weight == Weight::Essential;
                has_any[lane] = true;
            }
        }
        for bar in &self.bars {
            has_any[bar.lane] = true;
        }
        if used.iter().all(|is_used| !is_used) {
            return;
        }
        let mut places = vec![0; used.len()];
        let mut next = 0;
        for (index, lane) in self.lanes.iter().enumerate() {
            used[index] |= lane.kind != LaneKind::Server;
            places[index] = next;
            next += usize::from(used[index]);
        }
        let idle = (0..used.len())
            .filter(|lane| has_any[*lane] && !used[*lane])
            .count();
        if idle > 0 {
            let idle = count(idle as u64, "server");
            self.notes.push(format!(
                "Left out: {idle} at which nothing of the explanation happens."
            ));
        }
        self.arrows
            .retain(|arrow| used[arrow.from] && used[arrow.to]);
        self.marks
            .retain(|mark| mark.lane.is_none_or(|lane| used[lane]));
        self.bars.retain(|bar| used[bar.lane]);
        let mut keep = used.iter();
        self.lanes.retain(|_| *keep.next().unwrap_or(&false));
        for arrow in &mut self.arrows {
            (arrow.from, arrow.to) = (places[arrow.from], places[arrow.to]);
        }
        for lane in self.marks.iter_mut().filter_map(|mark| mark.lane.as_mut()) {
            *lane = places[*lane];
        }
        for bar in &mut self.bars {
            bar.lane = places[bar.lane];
        }
    }

    /// The axis of what is there. What the explanation does not need gets no width of its own, unless all is wanted.
    fn axis_of(&self, whole: bool) -> Axis {
        let mut times = vec![self.focus.0, self.focus.1];
        let marks = self.marks.iter();
        let marks = marks.filter(|mark| whole || mark.weight == Weight::Essential);
        times.extend(marks.map(|mark| mark.at));
        let is_shown = |bar: &&Bar| whole || matches!(bar.track, Track::Belief | Track::Ownership);
        let bars = self.bars.iter().filter(is_shown);
        times.extend(bars.flat_map(|bar| [bar.from, bar.until]));
        times.extend(self.spans.iter().flat_map(|span| [span.from, span.until]));
        let near = if whole { usize::MAX } else { MESSAGES };
        let arrows = self.nearest(near);
        let arrows = arrows.iter().map(|arrow| &self.arrows[*arrow]);
        times.extend(arrows.flat_map(|arrow| [arrow.sent, arrow.ends]));
        Axis::of(times.iter().map(|time| time.micros()).collect())
    }

    /// So many messages, by their places: those that are nearest in time to what the explanation shows.
    fn nearest(&self, most: usize) -> Vec<usize> {
        if self.arrows.len() <= most {
            return (0..self.arrows.len()).collect();
        }
        let arrows = self.arrows.iter().map(|arrow| (0, arrow.sent, arrow.sent));
        self.near(arrows, most)
    }

    /// Of what has a rank and lasts from one time to another, so many, by their places: those of the lowest ranks, and
    /// of these the nearest to what the explanation shows.
    fn near(
        &self,
        all: impl Iterator<Item = (u8, VirtualTime, VirtualTime)>,
        most: usize,
    ) -> Vec<usize> {
        let marks = self.marks.iter();
        let essential = marks.filter(|mark| mark.weight == Weight::Essential);
        let mut times: Vec<u64> = essential.map(|mark| mark.at.micros()).collect();
        times.sort_unstable();
        let away = |from: VirtualTime, until: VirtualTime| {
            let next = times.partition_point(|time| *time < from.micros());
            let after = times
                .get(next)
                .map(|time| time.saturating_sub(until.micros()));
            let before = next.checked_sub(1).map(|last| from.micros() - times[last]);
            after.into_iter().chain(before).min().unwrap_or(0)
        };
        let ranked = all.enumerate();
        let ranked = ranked.map(|(place, (rank, from, until))| (rank, away(from, until), place));
        let mut ranked: Vec<(u8, u64, usize)> = ranked.collect();
        ranked.sort_unstable();
        ranked.truncate(most);
        let mut near: Vec<usize> = ranked.into_iter().map(|(_, _, place)| place).collect();
        near.sort_unstable();
        near
    }

    /// Finds the stretches that are worth a notch, and leaves out what lies in them.
    fn cut_notches(&mut self) {
        let notches = notches::find(&self.marks, &self.axis, ROOM);
        let is_elided = |from, until| notches.iter().any(|notch| notch.has(from, until));
        self.marks
            .retain(|mark| mark.weight == Weight::Essential || !is_elided(mark.at, mark.at));
        self.arrows
            .retain(|arrow| arrow.end != ArrowEnd::Arrives || !is_elided(arrow.sent, arrow.ends));
        self.notches = notches;
    }

    /// Adds these strips, as much of them as lies on the axis.
    pub fn add_strips(&mut self, strips: Vec<Strip>) {
        let knots = &self.axis.knots;
        let at =
            |knot: Option<&(u64, f64)>| VirtualTime::from_micros(knot.map_or(0, |knot| knot.0));
        let (from, until) = (at(knots.first()), at(knots.last()));
        let strips = strips.into_iter().map(|strip| strip.clipped(from, until));
        self.strips.extend(strips);
        self.place_rows(1.0, f64::INFINITY);
    }

    /// Keeps as many bars and marks as a picture has room for: of marks those that the explanation needs.
    fn drop_far_events(&mut self) {
        let bars = self.bars.iter().map(|bar| (0, bar.from, bar.until));
        let bars = self.near(bars, EVENTS);
        let marks = self.marks.iter().map(|mark| {
            let rank = match mark.weight {
                Weight::Essential => 0,
                Weight::Structural => 1,
                Weight::Other => 2,
            };
            (rank, mark.at, mark.at)
        });
        let marks = self.near(marks, EVENTS);
        let left_out = self.marks.len() + self.bars.len() - marks.len() - bars.len();
        if left_out == 0 {
            return;
        }
        self.bars = bars.iter().map(|bar| self.bars[*bar].clone()).collect();
        self.marks = marks.iter().map(|mark| self.marks[*mark].clone()).collect();
        self.notes.push(format!(
            "{} events that the explanation does not name are left out.",
            thousands(left_out as u64)
        ));
    }

    /// Keeps as many messages as a picture has room for.
    fn drop_far_messages(&mut self) {
        let all = self.arrows.len();
        let keep = self.nearest(MESSAGES);
        if keep.len() == all {
            return;
        }
        self.arrows = keep
            .iter()
            .map(|arrow| self.arrows[*arrow].clone())
            .collect();
        self.notes.push(format!(
            "Of {} messages, {} are shown: those that are nearest in time to what the explanation \
             names.",
            thousands(all as u64),
            thousands(keep.len() as u64),
        ));
    }

    /// Places faults in rows, on an axis of this scale that is so wide, and strips and lanes below them.
    pub(super) fn place_rows(&mut self, scale: f64, room: f64) {
        let rows = spans::rows(&mut self.spans, &self.axis, scale, room);
        let keys = self.bars.iter().any(|bar| bar.track == Track::Key);
        let top = strips::place(&mut self.strips, lanes::HEAD + rows * spans::ROW + 4);
        self.height = lanes::place(&mut self.lanes, top, keys);
    }
}

/// Which part of the run is shown.
fn part(story: &Story, scene: &Scene, traffic: &Traffic, scope: Scope) -> Part {
    let history = &story.history;
    match scope {
        Scope::Whole { bytes } => {
            let last = history.events.len().saturating_sub(1);
            let middle = scene.selection.breach.unwrap_or(last);
            Part::around(history, traffic, middle, bytes)
        }
        Scope::Essential => {
            let events = &scene.selection.events;
            let first = events.first().copied().unwrap_or(0);
            let last = events.last().map_or(0, |last| last + 1);
            Part::of(history, first..last)
        }
    }
}

/// From when until when the explanation shows something.
fn focus(story: &Story, scene: &Scene, part: &Part) -> (VirtualTime, VirtualTime) {
    let events = scene.selection.events.iter();
    let shown: Vec<_> = events.filter(|event| part.events.contains(event)).collect();
    let at = |index: &usize| story.history.events[*index].at;
    let from = shown.first().map_or(part.from, |first| at(first));
    let until = shown.last().map_or(part.until, |last| at(last));
    (from, until)
}

/// Cuts a stretch to the part, and says whether it goes on behind it. Answers whether anything is left of it.
fn clip(
    part: &Part,
    (from, until): (&mut VirtualTime, &mut VirtualTime),
    goes_on: &mut bool,
) -> bool {
    *goes_on = *until > part.until;
    let overlaps = *until >= part.from && *from <= part.until;
    *from = (*from).max(part.from);
    *until = (*until).min(part.until);
    overlaps
}
