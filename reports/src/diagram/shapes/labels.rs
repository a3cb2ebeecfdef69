//! The words beside marks: as many as have room, those first that the explanation needs.

use super::{Canvas, Paint, Shape, Stroke, WIDTH, wide};
use crate::diagram::lanes::LaneKind;
use crate::diagram::marks::{Mark, Weight};

const SIZE: f64 = 10.5;

impl Canvas<'_> {
    pub(super) fn labels(&mut self) {
        let mut marks: Vec<&Mark> = self.diagram.marks.iter().collect();
        marks.retain(|mark| !mark.label.is_empty() && mark.weight > Weight::Other);
        marks.sort_by_key(|mark| (std::cmp::Reverse(mark.weight), mark.at));
        // Of each row of a lane, what is taken by words, and by lines to words in a higher row.
        let mut taken: Vec<(usize, usize, f64, f64)> = Vec::new();
        for mark in marks {
            let Some(lane) = mark.lane else { continue };
            let x = self.x(mark.at);
            let long = wide(&mark.label, SIZE) + 6.0;
            let begin = x.min(WIDTH - long - 2.0);
            let rows = match self.diagram.lanes[lane].kind {
                LaneKind::Contender(_) => 2,
                LaneKind::Resource | LaneKind::Client | LaneKind::Server => 1,
            };
            let is_clear = |row: usize, begin: f64, end: f64| {
                taken.iter().all(|&(of, at, from, until)| {
                    (of, at) != (lane, row) || begin >= until || end <= from
                })
            };
            let is_free = |row: &usize| {
                is_clear(*row, begin, begin + long)
                    && (row + 1..rows).all(|below| is_clear(below, x, x))
            };
            // The lower row is nearer to what it is about.
            let Some(row) = (0..rows).rev().find(is_free) else {
                continue;
            };
            taken.push((lane, row, begin, begin + long));
            taken.extend((row + 1..rows).map(|below| (lane, below, x - 1.0, x + 1.0)));
            let lane = &self.diagram.lanes[lane];
            let y = f64::from(lane.top) + 11.0 + 12.0 * row as f64;
            let paint = if mark.bad { Paint::Bad } else { Paint::Ink };
            self.shapes.push(Shape::Line {
                from: (x, y - 8.0),
                to: (x, f64::from(lane.line)),
                paint: Paint::Faint,
                width: 0.8,
                stroke: Stroke::Solid,
            });
            self.words((begin + 3.0, y), SIZE, paint, &mark.label);
        }
    }
}
