//! What stands around a diagram: its title above, and below what its lines mean and what is left out.

use super::{Anchor, Paint, Shape, Stroke, WIDTH, body, fitting, wide};
use crate::diagram::build::Diagram;
use crate::diagram::messages::{ArrowEnd, ArrowKind};
use crate::words::wrap;

/// The diagram with a title of these lines, the first of them large; and its height.
pub(in crate::diagram) fn frame(diagram: &Diagram, title: &[String]) -> (Vec<Shape>, f64) {
    let mut shapes = Vec::new();
    let mut y = 8.0;
    for (index, line) in title.iter().enumerate() {
        let size = if index == 0 { 17.0 } else { 13.0 };
        let most = ((WIDTH - 20.0) / (size * 0.57)) as usize;
        for line in wrap(line, most) {
            y += size + 6.0;
            let line = fitting(&line, size, WIDTH - 20.0);
            shapes.push(words((8.0, y), size, index == 0, line));
        }
    }
    y += 14.0;
    let (drawn, height) = body(diagram);
    shapes.extend(drawn.into_iter().map(|shape| shape.lower_by(y)));
    y += height + 20.0;
    for note in &diagram.notes {
        for line in wrap(note, 170) {
            y += 15.0;
            shapes.push(words((8.0, y), 12.0, true, line));
        }
    }
    y += 18.0;
    let mut x = 8.0;
    for (key, text) in keys(diagram) {
        let long = wide(text, 11.0) + 44.0;
        if x + long > WIDTH {
            (x, y) = (8.0, y + 17.0);
        }
        shapes.extend(key.map(|shape| shape.at(x, y - 4.0)));
        shapes.push(words((x + 24.0, y), 11.0, false, text.to_owned()));
        x += long;
    }
    (shapes, y + 12.0)
}

fn words(at: (f64, f64), size: f64, bold: bool, text: String) -> Shape {
    Shape::Words {
        at,
        size,
        paint: Paint::Ink,
        anchor: Anchor::Start,
        bold,
        text,
    }
}

/// How the legend names a message that is under way where the diagram ends.
const UNDER_WAY: &str = "still under way at the right edge";

/// What the lines mean that are there.
fn keys(diagram: &Diagram) -> Vec<(Option<Shape>, &'static str)> {
    let line = |paint, stroke| {
        Some(Shape::Line {
            from: (0.0, 0.0),
            to: (18.0, 0.0),
            paint,
            width: 1.4,
            stroke,
        })
    };
    let ends = |end: ArrowEnd| diagram.arrows.iter().any(move |arrow| arrow.end == end);
    let has = |kind: ArrowKind| {
        let mut arrows = diagram.arrows.iter();
        arrows.any(|arrow| arrow.kind == kind && arrow.end == ArrowEnd::Arrives)
    };
    let mut keys = Vec::new();
    if has(ArrowKind::Request) || has(ArrowKind::Answer) {
        keys.push((line(Paint::Muted, Stroke::Solid), "request, answer"));
    }
    if has(ArrowKind::Notification) {
        keys.push((line(Paint::Notice, Stroke::Solid), "notification"));
    }
    if has(ArrowKind::BetweenServers) {
        keys.push((line(Paint::Faint, Stroke::Solid), "between servers"));
    }
    if has(ArrowKind::Write) {
        keys.push((line(Paint::Muted, Stroke::Dashed), "write to the resource"));
    }
    if ends(ArrowEnd::Lost) {
        keys.push((line(Paint::Bad, Stroke::Solid), "never arrives"));
    }
    if ends(ArrowEnd::UnderWay) {
        keys.push((line(Paint::Muted, Stroke::Dotted), UNDER_WAY));
    }
    if diagram.spans.iter().any(|span| span.fault.is_some()) {
        keys.push((line(Paint::Fault, Stroke::Dashed), "fault"));
    }
    if diagram.spans.iter().any(|span| span.goes_on) {
        let head = Shape::Head {
            tip: (18.0, 0.0),
            from: (0.0, 0.0),
            paint: Paint::Muted,
        };
        keys.push((Some(head), "goes on beyond the right edge"));
    }
    let scale = "virtual time; the axis is not to scale: the longer nothing happens, the more it is shortened";
    keys.push((None, scale));
    keys
}

impl Shape {
    /// The same, so much lower.
    fn lower_by(self, below: f64) -> Self {
        self.moved(0.0, below)
    }

    /// The same, moved from the origin to a place.
    fn at(self, x: f64, y: f64) -> Self {
        self.moved(x, y)
    }

    fn moved(mut self, right: f64, below: f64) -> Self {
        let by = |point: &mut (f64, f64)| *point = (point.0 + right, point.1 + below);
        match &mut self {
            Self::Rect { at, .. } | Self::Dot { at, .. } | Self::Words { at, .. } => by(at),
            Self::Line { from, to, .. } => {
                by(from);
                by(to);
            }
            Self::Head { tip, from, .. } => {
                by(tip);
                by(from);
            }
        }
        self
    }
}
