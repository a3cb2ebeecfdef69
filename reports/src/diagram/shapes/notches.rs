//! Notches: a veil over what is left out, with the number of its events.

use super::{Anchor, Canvas, Paint, Shape, Stroke};
use crate::words::thousands;

/// So far from the events beside it begins a notch.
const BESIDE: f64 = 5.0;

impl Canvas<'_> {
    pub(super) fn notches(&mut self) {
        let diagram = self.diagram;
        let top = diagram
            .lanes
            .first()
            .map_or(0.0, |lane| f64::from(lane.top));
        let bottom = f64::from(diagram.height);
        for notch in &diagram.notches {
            let (from, until) = (self.x(notch.from) + BESIDE, self.x(notch.until) - BESIDE);
            self.shapes.push(Shape::Rect {
                at: (from, top),
                size: (until - from, bottom - top),
                paint: Paint::Paper,
                opacity: 0.75,
                framed: false,
            });
            for x in [from, until] {
                self.shapes.push(Shape::Line {
                    from: (x, top),
                    to: (x, bottom),
                    paint: Paint::Faint,
                    width: 1.0,
                    stroke: Stroke::Dotted,
                });
            }
            let middle = (from + until) / 2.0;
            for y in [4.0, 7.5, 11.0] {
                self.shapes.push(Shape::Dot {
                    at: (middle, top + y),
                    radius: 1.0,
                    paint: Paint::Muted,
                });
            }
            for (text, y) in [
                (thousands(notch.number as u64), 24.0),
                ("events".to_owned(), 35.0),
            ] {
                self.shapes.push(Shape::Words {
                    at: (middle, top + y),
                    size: 10.0,
                    paint: Paint::Muted,
                    anchor: Anchor::Middle,
                    bold: false,
                    text,
                });
            }
        }
    }
}
