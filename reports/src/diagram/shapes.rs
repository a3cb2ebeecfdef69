//! A diagram as shapes for a picture without zoom: lines, rectangles, and words, each with what it is painted
//! with. Pictures of all kinds draw the same shapes.

mod arrows;
mod labels;
mod legend;
mod notches;
mod rectangles;
mod strips;

use picklock_checker::{ContenderId, VirtualTime};

use super::axis::{GUTTER, MARGIN, ROOM, WIDTH};
use super::bars::Track;
use super::build::Diagram;
use super::lanes::{HEAD, Lane, LaneKind};
use super::marks::Weight;

pub(super) use legend::frame;

/// So far beyond an edge goes what does not end or begin there.
const BEYOND: f64 = 4.0;

/// What something is painted with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Paint {
    /// Words.
    Ink,
    /// Words and lines that matter less.
    Muted,
    /// Lines that matter least.
    Faint,
    /// Behind every other lane.
    Band,
    /// Over what is left out.
    Paper,
    /// What is wrong.
    Bad,
    /// Faults.
    Fault,
    /// The calm.
    Calm,
    /// Notifications.
    Notice,
    /// A contender.
    Of(ContenderId),
}

/// Something to draw.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Shape {
    Rect {
        at: (f64, f64),
        size: (f64, f64),
        paint: Paint,
        opacity: f64,
        framed: bool,
    },
    Line {
        from: (f64, f64),
        to: (f64, f64),
        paint: Paint,
        width: f64,
        stroke: Stroke,
    },
    Dot {
        at: (f64, f64),
        radius: f64,
        paint: Paint,
    },
    Head {
        tip: (f64, f64),
        from: (f64, f64),
        paint: Paint,
    },
    Words {
        at: (f64, f64),
        size: f64,
        paint: Paint,
        anchor: Anchor,
        bold: bool,
        text: String,
    },
}

/// How a line is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stroke {
    Solid,
    Dashed,
    Dotted,
}

impl Stroke {
    /// How long each piece of the line is, and the gap after it; none if it has no gaps.
    pub(super) const fn pieces(self) -> Option<(u32, u32)> {
        match self {
            Self::Solid => None,
            Self::Dashed => Some((4, 3)),
            Self::Dotted => Some((2, 3)),
        }
    }
}

/// Where words stand, seen from their place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Anchor {
    /// They begin there.
    Start,
    /// Their middle is there.
    Middle,
    /// They end there.
    End,
}

/// About how wide words are.
pub(super) fn wide(text: &str, size: f64) -> f64 {
    text.chars().count() as f64 * size * 0.57
}

/// A text that fits into so much, with an ellipsis for what does not.
pub(super) fn fitting(text: &str, size: f64, room: f64) -> String {
    if wide(text, size) <= room {
        return text.to_owned();
    }
    let most = (room / (size * 0.57)) as usize;
    let mut short: String = text.chars().take(most.saturating_sub(1)).collect();
    short.push('…');
    short
}

/// The picture in the making.
pub(super) struct Canvas<'d> {
    pub(super) diagram: &'d Diagram,
    pub(super) scale: f64,
    pub(super) shapes: Vec<Shape>,
}

/// The diagram without its title, and its height.
pub(super) fn body(diagram: &Diagram) -> (Vec<Shape>, f64) {
    let scale = ROOM / diagram.axis.length().max(1.0);
    let mut diagram = diagram.clone();
    diagram.place_rows(scale, ROOM);
    let mut canvas = Canvas {
        diagram: &diagram,
        scale,
        shapes: Vec::new(),
    };
    canvas.lanes();
    canvas.ticks();
    canvas.spans();
    canvas.strips();
    for arrow in &diagram.arrows {
        canvas.arrow(arrow);
    }
    for bar in &diagram.bars {
        canvas.bar(bar);
    }
    canvas.notches();
    canvas.breach();
    canvas.labels();
    canvas.marks();
    (canvas.shapes, f64::from(diagram.height))
}

impl Canvas<'_> {
    pub(super) fn x(&self, at: VirtualTime) -> f64 {
        GUTTER + self.diagram.axis.place(at) * self.scale
    }

    pub(super) fn words(&mut self, at: (f64, f64), size: f64, paint: Paint, text: &str) {
        self.shapes.push(Shape::Words {
            at,
            size,
            paint,
            anchor: Anchor::Start,
            bold: false,
            text: text.to_owned(),
        });
    }

    fn line(&mut self, from: (f64, f64), to: (f64, f64), paint: Paint, width: f64) {
        self.shapes.push(Shape::Line {
            from,
            to,
            paint,
            width,
            stroke: Stroke::Solid,
        });
    }

    fn lanes(&mut self) {
        for (index, lane) in self.diagram.lanes.iter().enumerate() {
            let (top, line) = (f64::from(lane.top), f64::from(lane.line));
            if index % 2 == 0 {
                self.shapes.push(Shape::Rect {
                    at: (0.0, top),
                    size: (WIDTH, f64::from(lane.height)),
                    paint: Paint::Band,
                    opacity: 1.0,
                    framed: false,
                });
            }
            let paint = match lane.kind {
                LaneKind::Contender(id) => Paint::Of(id),
                LaneKind::Resource | LaneKind::Client | LaneKind::Server => Paint::Muted,
            };
            self.line((GUTTER, line), (WIDTH - MARGIN, line), paint, 1.5);
            self.name(lane, (top, line));
        }
    }

    fn name(&mut self, lane: &Lane, (top, line): (f64, f64)) {
        let name = match lane.letter.as_str() {
            "" => lane.name.clone(),
            letter => format!("{letter}  {}", lane.name),
        };
        let (at, size) = match lane.kind {
            LaneKind::Contender(_) => ((8.0, top + 17.0), 13.0),
            LaneKind::Resource | LaneKind::Client | LaneKind::Server => ((8.0, line - 4.0), 13.0),
        };
        self.shapes.push(Shape::Words {
            at,
            size,
            paint: Paint::Ink,
            anchor: Anchor::Start,
            bold: true,
            text: fitting(&name, size, GUTTER - 14.0),
        });
        let LaneKind::Contender(_) = lane.kind else {
            return;
        };
        for track in [Track::Belief, Track::Ownership, Track::Effect] {
            let (y, height) = lane.track(track);
            self.shapes.push(Shape::Words {
                at: (GUTTER - 8.0, f64::from(y) + f64::from(height) / 2.0 + 3.5),
                size: 10.0,
                paint: Paint::Muted,
                anchor: Anchor::End,
                bold: false,
                text: track.name().to_owned(),
            });
        }
    }

    /// Times, as many as have room.
    fn ticks(&mut self) {
        let bottom = f64::from(self.diagram.height);
        let mut free = GUTTER;
        for &(time, place) in &self.diagram.axis.knots {
            let x = GUTTER + place * self.scale;
            let at = VirtualTime::from_micros(time);
            let words = at.to_string();
            let mut notches = self.diagram.notches.iter();
            if notches.any(|notch| notch.has(at, at)) || x < free || x + wide(&words, 11.0) > WIDTH
            {
                continue;
            }
            self.line((x, f64::from(HEAD) - 4.0), (x, bottom), Paint::Faint, 0.7);
            self.words((x + 3.0, 13.0), 11.0, Paint::Muted, &words);
            free = x + wide(&words, 11.0) + 22.0;
        }
    }

    fn breach(&mut self) {
        let Some(breach) = &self.diagram.breach else {
            return;
        };
        let (from, until) = (self.x(breach.from), self.x(breach.until));
        let bottom = f64::from(self.diagram.height);
        let top = self.diagram.lanes.first().map_or(0, |lane| lane.top);
        let top = f64::from(top);
        self.shapes.push(Shape::Rect {
            at: (from, top),
            size: ((until - from).max(1.0), bottom - top),
            paint: Paint::Bad,
            opacity: 0.1,
            framed: false,
        });
        self.line((from, top), (from, bottom + 16.0), Paint::Bad, 1.5);
        let mut words = breach.words.clone();
        if breach.until > breach.from {
            let long = breach.until.since(breach.from);
            words.push_str(&format!(" for {}", crate::words::milliseconds(long)));
        }
        let left = from + wide(&words, 12.0) > WIDTH - 8.0;
        let gap = if left { -5.0 } else { 5.0 };
        self.shapes.push(Shape::Words {
            at: (from + gap, bottom + 13.0),
            size: 12.0,
            paint: Paint::Bad,
            anchor: if left { Anchor::End } else { Anchor::Start },
            bold: true,
            text: words,
        });
    }

    fn cross(&mut self, (x, y): (f64, f64), paint: Paint) {
        self.line((x - 3.0, y - 3.0), (x + 3.0, y + 3.0), paint, 1.5);
        self.line((x - 3.0, y + 3.0), (x + 3.0, y - 3.0), paint, 1.5);
    }

    fn marks(&mut self) {
        for mark in &self.diagram.marks {
            let Some(lane) = mark.lane else { continue };
            if mark.weight == Weight::Other && mark.event.is_none() {
                continue;
            }
            let at = (self.x(mark.at), f64::from(self.diagram.lanes[lane].line));
            if mark.bad {
                self.cross(at, Paint::Bad);
            } else {
                let radius = if mark.weight == Weight::Other {
                    1.8
                } else {
                    3.0
                };
                let paint = mark.about.map_or(Paint::Ink, Paint::Of);
                self.shapes.push(Shape::Dot { at, radius, paint });
            }
        }
    }
}
