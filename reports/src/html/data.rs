//! A diagram as the code of a page reads it: lists of numbers, and each text once.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::diagram::{ArrowEnd, ArrowKind, Diagram, LaneKind, StripForm, Track, Weight};
use crate::escape::in_script;

/// A diagram. The names are short because they are in every page; `model.js` gives them their meaning.
#[derive(Serialize)]
struct Data<'d> {
    /// Texts, which everything else has by their places.
    w: Vec<&'d str>,
    /// The height.
    h: u32,
    /// Times on the axis, each as the distance from the one before, in microseconds.
    t: Vec<u64>,
    /// Their places, the same, in tenths.
    u: Vec<u64>,
    /// Lanes: name, letter, kind, top, line, height, colour.
    l: Vec<(usize, usize, u8, u32, u32, u32, i64)>,
    /// Faults: row, from, until, whether it goes on, is the calm, and is named at an earlier strike, text, event.
    s: Vec<(u32, u64, u64, u8, usize, usize)>,
    /// Bars: lane, top, height, from, until, track, colour, whether it is bad, goes on, and begins with an event of the
    /// history, label, text, after which event it begins.
    b: Vec<BarRow>,
    /// Strips: name, unit, form, top, height, upper edge, times, each as the distance from the one before, values, and
    /// what turned it: at, event, label.
    k: Vec<StripRow>,
    /// Messages: from, to, sent, until it ends, kind, how it ends and whether it comes in, after which event, text.
    a: Vec<ArrowRow>,
    /// Marks: lane, at, after which event, event, weight, contender, bad, changes the service, label, text, causes.
    m: Vec<MarkRow>,
    /// What to look at first.
    f: (u64, u64),
    /// Where the promise breaks: from, until, event, words, evidence.
    v: Option<(u64, u64, usize, usize, &'d [usize])>,
}

type StripRow = (
    usize,
    usize,
    u8,
    u32,
    u32,
    u64,
    Vec<u64>,
    Vec<u64>,
    Option<(u64, usize, usize)>,
);
type BarRow = (usize, u32, u32, u64, u64, u8, i64, u8, usize, usize, usize);
type ArrowRow = (usize, usize, u64, u64, u8, u8, usize, usize);
type MarkRow = (
    i64,
    u64,
    usize,
    i64,
    u8,
    i64,
    u8,
    u8,
    usize,
    usize,
    Vec<usize>,
);

/// Texts, each once.
#[derive(Default)]
struct Texts<'d> {
    places: BTreeMap<&'d str, usize>,
    all: Vec<&'d str>,
}

impl<'d> Texts<'d> {
    fn place(&mut self, text: &'d str) -> usize {
        *self.places.entry(text).or_insert_with(|| {
            self.all.push(text);
            self.all.len() - 1
        })
    }
}

/// The diagram as JSON that can stand in a `script`.
pub(super) fn json(diagram: &Diagram) -> String {
    let mut texts = Texts::default();
    let (t, u) = axis(diagram);
    let lanes = diagram.lanes.iter().map(|lane| {
        let (kind, color) = match lane.kind {
            LaneKind::Resource => (0, -1),
            LaneKind::Contender(id) => (1, i64::from(id.0)),
            LaneKind::Client => (2, -1),
            LaneKind::Server => (3, -1),
        };
        let (name, letter) = (texts.place(&lane.name), texts.place(&lane.letter));
        (name, letter, kind, lane.top, lane.line, lane.height, color)
    });
    let l = lanes.collect();
    let spans = diagram.spans.iter().map(|span| {
        let (from, until) = (span.from.micros(), span.until.micros());
        (
            span.row,
            from,
            until,
            u8::from(span.goes_on) + 2 * u8::from(span.fault.is_none()) + 4 * u8::from(span.again),
            texts.place(&span.text),
            span.event,
        )
    });
    let s = spans.collect();
    let breach = diagram.breach.as_ref().map(|breach| {
        let (from, until) = (breach.from.micros(), breach.until.micros());
        let words = texts.place(&breach.words);
        (from, until, breach.event, words, &breach.evidence[..])
    });
    let data = Data {
        h: diagram.height,
        t,
        u,
        l,
        s,
        b: bars(diagram, &mut texts),
        k: strips(diagram, &mut texts),
        a: arrows(diagram, &mut texts),
        m: marks(diagram, &mut texts),
        f: (diagram.focus.0.micros(), diagram.focus.1.micros()),
        v: breach,
        w: texts.all,
    };
    let json = serde_json::to_string(&data).expect("lists of numbers and texts are always JSON");
    in_script(&json)
}

fn axis(diagram: &Diagram) -> (Vec<u64>, Vec<u64>) {
    let mut before = (0, 0);
    let mut step = |&(time, place): &(u64, f64)| {
        let now = (time, (place * 10.0).round() as u64);
        let step = (now.0 - before.0, now.1 - before.1);
        before = now;
        step
    };
    diagram.axis.knots.iter().map(&mut step).unzip()
}

fn bars<'d>(diagram: &'d Diagram, texts: &mut Texts<'d>) -> Vec<BarRow> {
    let bars = diagram.bars.iter().map(|bar| {
        let (top, height) = diagram.lanes[bar.lane].track(bar.track);
        let track = match bar.track {
            Track::Process => 0,
            Track::Waiting => 1,
            Track::Belief => 2,
            Track::Ownership => 3,
            Track::Effect => 4,
            Track::Role => 5,
            Track::Key => 6,
        };
        let color = bar.of.map_or(-1, |of| i64::from(of.0));
        let (from, until) = (bar.from.micros(), bar.until.micros());
        let (label, text) = (texts.place(&bar.label), texts.place(&bar.text));
        let in_history = u8::from(bar.origin.in_history);
        let is = u8::from(bar.bad) + 2 * u8::from(bar.goes_on) + 4 * in_history;
        let after = bar.origin.after;
        (
            bar.lane, top, height, from, until, track, color, is, label, text, after,
        )
    });
    bars.collect()
}

fn strips<'d>(diagram: &'d Diagram, texts: &mut Texts<'d>) -> Vec<StripRow> {
    let strips = diagram.strips.iter().map(|strip| {
        let form = match strip.form {
            StripForm::Area => 0,
            StripForm::Steps => 1,
            StripForm::Curve => 2,
        };
        let mut before = 0;
        let times = strip.points.iter().map(|(at, _)| {
            let step = at.micros() - before;
            before = at.micros();
            step
        });
        let times = times.collect();
        let values = strip.points.iter().map(|point| point.1).collect();
        let turning = strip.turning.as_ref();
        let turning = turning.map(|turn| (turn.at.micros(), turn.event, texts.place(&turn.label)));
        let (name, unit) = (texts.place(strip.name), texts.place(&strip.unit));
        let (top, height, most) = (strip.top, strip.height, strip.most);
        (name, unit, form, top, height, most, times, values, turning)
    });
    strips.collect()
}

fn arrows<'d>(diagram: &'d Diagram, texts: &mut Texts<'d>) -> Vec<ArrowRow> {
    let arrows = diagram.arrows.iter().map(|arrow| {
        let kind = match arrow.kind {
            ArrowKind::Request => 0,
            ArrowKind::Answer => 1,
            ArrowKind::Notification => 2,
            ArrowKind::BetweenServers => 3,
            ArrowKind::Write => 4,
        };
        let (sent, long) = (
            arrow.sent.micros(),
            arrow.ends.micros() - arrow.sent.micros(),
        );
        let text = texts.place(&arrow.text);
        let end = match arrow.end {
            ArrowEnd::Arrives => 0,
            ArrowEnd::Lost => 1,
            ArrowEnd::UnderWay => 2,
        };
        let end = end + 3 * u8::from(arrow.comes_in);
        (
            arrow.from,
            arrow.to,
            sent,
            long,
            kind,
            end,
            arrow.after,
            text,
        )
    });
    arrows.collect()
}

fn marks<'d>(diagram: &'d Diagram, texts: &mut Texts<'d>) -> Vec<MarkRow> {
    let marks = diagram.marks.iter().map(|mark| {
        let lane = mark.lane.map_or(-1, |lane| lane as i64);
        let event = mark.event.map_or(-1, |event| event as i64);
        let weight = match mark.weight {
            Weight::Other => 0,
            Weight::Structural => 1,
            Weight::Essential => 2,
        };
        let about = mark.about.map_or(-1, |about| i64::from(about.0));
        let (bad, changes) = (u8::from(mark.bad), u8::from(mark.changes_service));
        let (label, text) = (texts.place(&mark.label), texts.place(&mark.text));
        let at = mark.at.micros();
        let causes = mark.causes.clone();
        (
            lane, at, mark.after, event, weight, about, bad, changes, label, text, causes,
        )
    });
    marks.collect()
}
