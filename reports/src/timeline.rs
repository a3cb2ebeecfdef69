//! A run drawn as a timeline: one lane per contender, and notes beside them.
//!
//! The lanes show belief: a bar from where a contender enters until it leaves or learns that it lost the lock. Notes
//! show what the service and the resource say, so that the three are never mixed up.

mod breach;
mod draw;
mod failed_call;
mod lane;
mod note;
mod select;
mod service_rows;
mod session_ends;
mod side_rows;

use picklock_checker::outcome::Story;
use picklock_checker::{ContenderId, Event, EventKind, History, ServiceEvent, VirtualTime};

pub(crate) use breach::words_at as breach_words;
pub(crate) use note::{of_service, place_and_name};
use select::Selection;
pub(crate) use service_rows::is_in_history;
use session_ends::SessionEnds;
use side_rows::{SideRow, SideRowKind};

use crate::style::{Glyphs, Style};
use crate::words::{count, mentions, thousands};
use lane::Lane;

/// How much of a run a timeline shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Detail {
    /// What is needed to understand the violation, in at most about 40 rows.
    #[default]
    Essential,
    /// All contenders and all events.
    Full,
}

/// A timeline, ready to be drawn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Timeline {
    /// The contenders that have a lane, from left to right. With more contenders than lanes fit, a
    /// full timeline has none, and every row names its contender in its note.
    pub columns: Vec<Column>,
    /// What happened, from top to bottom.
    pub rows: Vec<Row>,
    /// How many contenders are left out.
    pub others: usize,
}

/// The head of a lane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// The contender.
    pub contender: ContenderId,
    /// Its name in the history.
    pub name: String,
    /// Its name in the report: A, B, C.
    pub letter: String,
}

/// One row of a timeline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// When it happened; None where events are left out.
    pub at: Option<VirtualTime>,
    /// What stands in each lane.
    pub cells: Vec<String>,
    /// What each lane goes on with below this row.
    pub bars: Vec<String>,
    /// What stands to the right of the lanes.
    pub notes: Vec<String>,
    /// What breaks here.
    pub mark: Option<String>,
}

/// A full timeline of more contenders than this has no lanes.
const LANES_IN_FULL: usize = 8;

/// The timeline of a run.
pub fn timeline(story: &Story, detail: Detail, style: &Style) -> Timeline {
    let scene = Scene::of(story, detail);
    build(story, &scene, style)
}

/// What of a run is shown, and what everybody is called in it.
#[derive(Debug)]
pub(crate) struct Scene {
    pub(crate) selection: Selection,
    pub(crate) columns: Vec<Column>,
}

impl Scene {
    pub(crate) fn of(story: &Story, detail: Detail) -> Self {
        let (selection, lanes) = match detail {
            Detail::Essential => (select::essential(story), usize::MAX),
            Detail::Full => (select::everything(story), LANES_IN_FULL),
        };
        let columns = if selection.lanes.len() > lanes {
            Vec::new()
        } else {
            columns(&selection.lanes, &story.history)
        };
        Self { selection, columns }
    }
}

/// The timeline of what was selected.
pub(crate) fn build(story: &Story, scene: &Scene, style: &Style) -> Timeline {
    let Scene { selection, columns } = scene;
    let others = story.history.contenders.len() - selection.lanes.len();
    let invariant = story.violated.as_ref().map(|(invariant, _)| invariant);
    let mut builder = Builder {
        names: Names {
            history: &story.history,
            columns,
        },
        glyphs: style.glyphs(),
        lanes: vec![Lane::default(); story.history.contenders.len()],
        invariant: invariant.map_or("", String::as_str),
        sessions: SessionEnds::of(&story.history),
        faults: Vec::new(),
        rows: Vec::new(),
    };
    builder.run(selection);
    Timeline {
        rows: builder.rows,
        columns: columns.clone(),
        others,
    }
}

/// The heads of lanes, with letters in order.
fn columns(lanes: &[ContenderId], history: &History) -> Vec<Column> {
    let column = |(index, &contender): (usize, &ContenderId)| Column {
        contender,
        name: history.contender(contender).to_owned(),
        letter: letter(index),
    };
    lanes.iter().enumerate().map(column).collect()
}

/// A to Z, then A1 to Z1, and so on.
fn letter(index: usize) -> String {
    let letter = char::from(b'A' + (index % 26) as u8);
    match index / 26 {
        0 => letter.to_string(),
        round => format!("{letter}{round}"),
    }
}

/// What each contender is called.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Names<'a> {
    pub(crate) history: &'a History,
    pub(crate) columns: &'a [Column],
}

impl Names<'_> {
    /// The letter of a contender, or its name if it has none.
    pub(crate) fn of(&self, id: ContenderId) -> &str {
        let column = self.columns.iter().find(|column| column.contender == id);
        column.map_or_else(|| self.history.contender(id), |column| &column.letter)
    }
}

/// The notes beside an event: the service's words for it, if there are any.
pub(crate) fn notes(names: &Names, index: usize, what: &EventKind, glyphs: &Glyphs) -> Vec<String> {
    let history = names.history;
    if let EventKind::ServerChanged { server, to } = *what
        && let Some(told) = service_rows::change(history, index, server, to)
    {
        return vec![note::of_service(told, names, glyphs)];
    }
    if let Some(refusal) = failed_call::refusal(history, index) {
        return vec![refusal];
    }
    let own = note::removed_by_own_request(names, index);
    let note = own.or_else(|| note::note(what, names, glyphs));
    let mut notes = Vec::from_iter(note);
    if let EventKind::Acquired { by, .. } = *what {
        let holders = service_rows::holders(history, by, index);
        notes.extend(holders.map(|holders| format!("its key is {holders}")));
    }
    notes
}

/// Goes through a history and makes the rows.
struct Builder<'a> {
    names: Names<'a>,
    glyphs: &'static Glyphs,
    /// Of all contenders, with a column or without.
    lanes: Vec<Lane>,
    invariant: &'a str,
    sessions: SessionEnds,
    /// Faults that belong to the next row, because that is what they did.
    faults: Vec<String>,
    rows: Vec<Row>,
}

impl Builder<'_> {
    fn run(&mut self, selection: &Selection) {
        let events = &self.names.history.events;
        let mut shown = selection.events.iter().copied().peekable();
        let side_rows = self.side_rows(selection);
        let mut told = side_rows.iter().peekable();
        let mut left_out = 0;
        let mut missed = false;
        for (index, event) in events.iter().enumerate() {
            while let Some(next) = told.next_if(|next| next.after <= index) {
                if std::mem::take(&mut missed) {
                    self.leave_out(std::mem::take(&mut left_out));
                }
                self.show_side_row(next, selection.breach);
            }
            let shows = shown.next_if_eq(&index).is_some();
            if shows && matches!(event.what, EventKind::CouldHaveKnown { .. }) {
                continue;
            }
            if !shows {
                self.take_in(index, &event.what);
                left_out += 1;
                missed |= self.would_be_missed(&event.what);
                continue;
            }
            if missed {
                self.leave_out(left_out);
            }
            (left_out, missed) = (0, false);
            let next = shown.peek().and_then(|&next| events.get(next));
            let breaks = selection.breach == Some(index);
            match next {
                Some(next) if !breaks && self.causes(event, next) => {
                    self.faults
                        .extend(note::note(&event.what, &self.names, self.glyphs));
                }
                Some(_) | None => self.show(index, event, breaks),
            }
        }
        told.for_each(|last| self.show_side_row(last, selection.breach));
        if selection.cut_short && left_out > 0 {
            self.leave_out(left_out);
        }
    }

    /// Whether `event` is a fault, and `next` what it did to the contender that it names.
    fn causes(&self, event: &Event, next: &Event) -> bool {
        let EventKind::FaultFired { fault } = event.what else {
            return false;
        };
        let history = self.names.history;
        let hit = next.what.by().map(|by| history.contender(by));
        event.at == next.at && hit.is_some_and(|name| mentions(history.fault(fault), name))
    }

    /// An event that gets no row still moves its lane on.
    fn take_in(&mut self, index: usize, what: &EventKind) -> Option<(ContenderId, lane::Cell)> {
        let by = what.by()?;
        let lane = self.lanes.get_mut(by.0 as usize)?;
        if self.sessions.of_old.contains(&index) {
            return Some((by, lane.plain("old session expires", self.glyphs)));
        }
        let mut cell = lane.apply(what, self.names.history, self.glyphs);
        if self.sessions.given_up.contains(&index) {
            cell.words = "client gives session up".to_owned();
        }
        if let EventKind::Resent { .. } = what
            && let Some(request) = service_rows::resent(self.names.history, index)
        {
            cell.words = format!("client resends {request}");
        }
        Some((by, cell))
    }

    /// Whether a reader of the lanes would wonder how this was skipped.
    fn would_be_missed(&self, what: &EventKind) -> bool {
        let by = what.by();
        let has_lane = |by| {
            self.names
                .columns
                .iter()
                .any(|column| column.contender == by)
        };
        what.row().structural && by.is_some_and(has_lane)
    }

    /// What stands beside all lanes, in the order of time.
    fn side_rows(&self, selection: &Selection) -> Vec<SideRow> {
        let history = self.names.history;
        let service = selection.service.iter().map(|&index| SideRow {
            after: self.service(index).after,
            at: self.service(index).at,
            what: SideRowKind::Service(index),
        });
        let shown = selection.events.iter();
        let knowable = shown.filter_map(|&index| {
            let (after, at) = side_rows::since_when_it_could_know(history, index)?;
            let what = SideRowKind::CouldKnow(index);
            Some(SideRow { after, at, what })
        });
        let mut side_rows: Vec<SideRow> = service.chain(knowable).collect();
        side_rows.sort_by_key(|row| (row.after, row.at));
        side_rows
    }

    fn service(&self, index: usize) -> &ServiceEvent {
        &self.names.history.service[index]
    }

    /// What stands beside all lanes.
    fn show_side_row(&mut self, row: &SideRow, breach: Option<usize>) {
        let bars = self.bars();
        let (notes, breaks) = match row.what {
            SideRowKind::Service(index) => {
                let event = self.service(index);
                let note = note::of_service(event, &self.names, self.glyphs);
                (vec![note], false)
            }
            SideRowKind::CouldKnow(index) => {
                let what = &self.names.history.events[index].what;
                (self.note(index, what), breach == Some(index))
            }
        };
        let mark = breaks.then(|| self.mark(false));
        self.rows.push(Row {
            at: Some(row.at),
            cells: bars.clone(),
            bars,
            notes,
            mark,
        });
    }

    /// What stands beside an event.
    fn note(&self, index: usize, what: &EventKind) -> Vec<String> {
        notes(&self.names, index, what, self.glyphs)
    }

    fn show(&mut self, index: usize, event: &Event, breaks: bool) {
        let mut cells = self.bars();
        let mut notes = std::mem::take(&mut self.faults);
        if let Some((by, cell)) = self.take_in(index, &event.what) {
            let column = self
                .names
                .columns
                .iter()
                .position(|column| column.contender == by);
            match column {
                Some(column) => cells[column] = cell.text(),
                None if cell.words.is_empty() => {}
                None => notes.push(format!("{}: {}", self.names.of(by), cell.words)),
            }
        }
        notes.extend(self.note(index, &event.what));
        let ends = matches!(event.what, EventKind::Ended { .. });
        let mark = breaks.then(|| self.mark(ends));
        self.rows.push(Row {
            at: Some(event.at),
            cells,
            bars: self.bars(),
            notes,
            mark,
        });
    }

    fn leave_out(&mut self, events: u64) {
        let bars = self.bars();
        let events = if events == 1 {
            count(1, "event")
        } else {
            format!("{} events", thousands(events))
        };
        self.rows.push(Row {
            at: None,
            cells: bars.clone(),
            bars,
            notes: vec![format!("{} {events}", self.glyphs.more)],
            mark: None,
        });
    }

    fn bars(&self) -> Vec<String> {
        let lane = |column: &Column| &self.lanes[column.contender.0 as usize];
        let columns = self.names.columns.iter();
        columns
            .map(|column| lane(column).bar(self.glyphs))
            .collect()
    }

    /// What to say where the promise breaks.
    fn mark(&self, ends: bool) -> String {
        let inside = self.lanes.iter().filter(|lane| lane.is_inside()).count();
        let words = breach::words(self.invariant, inside, self.names.history.vocabulary, ends);
        format!("{} {words}", self.glyphs.mark)
    }
}
