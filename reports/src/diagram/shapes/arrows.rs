//! Messages as lines: with a head where they arrive, a cross where they are lost, and open where they are under way at
//! an edge of the picture.

use super::{BEYOND, Canvas, Paint, Shape, Stroke};
use crate::diagram::messages::{Arrow, ArrowEnd, ArrowKind};

impl Canvas<'_> {
    pub(super) fn arrow(&mut self, arrow: &Arrow) {
        let line = |lane: usize| f64::from(self.diagram.lanes[lane].line);
        let (sent, ends) = (self.x(arrow.sent), self.x(arrow.ends));
        let (top, bottom) = (line(arrow.from), line(arrow.to));
        let middle = (top + bottom) / 2.0;
        // Lines begin and end beside the dots.
        let beside = top + (bottom - top).signum() * 2.0;
        let from = match arrow.comes_in {
            true => (sent - BEYOND, middle),
            false => (sent, beside),
        };
        let tip = match arrow.end {
            ArrowEnd::Arrives => (ends, bottom),
            // It gets as far as half of its way.
            ArrowEnd::Lost => ((sent + ends) / 2.0 + 4.0, middle),
            ArrowEnd::UnderWay => (ends + BEYOND, middle),
        };
        let (paint, width) = match arrow.kind {
            ArrowKind::BetweenServers => (Paint::Faint, 0.8),
            ArrowKind::Notification => (Paint::Notice, 1.4),
            ArrowKind::Request | ArrowKind::Answer | ArrowKind::Write => (Paint::Muted, 0.9),
        };
        let (paint, stroke) = match arrow.end {
            ArrowEnd::Lost => (Paint::Bad, Stroke::Solid),
            ArrowEnd::UnderWay => (Paint::Muted, Stroke::Dotted),
            ArrowEnd::Arrives if arrow.kind == ArrowKind::Write => (paint, Stroke::Dashed),
            ArrowEnd::Arrives => (paint, Stroke::Solid),
        };
        self.shapes.push(Shape::Line {
            from,
            to: tip,
            paint,
            width,
            stroke,
        });
        match arrow.end {
            ArrowEnd::Lost => self.cross(tip, Paint::Bad),
            ArrowEnd::Arrives => self.shapes.push(Shape::Head { tip, from, paint }),
            ArrowEnd::UnderWay => {}
        }
    }
}
