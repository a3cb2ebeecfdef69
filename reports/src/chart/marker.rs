//! The marks of measurements: a shape and a colour for each series.

use plotters::prelude::*;

use super::{Area, Drawn};

/// Colours that people with any kind of colour vision can tell apart (Okabe and Ito), but for yellow, which is hard to
/// see on white; all are dark enough there.
const COLORS: [RGBColor; 7] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(176, 87, 138),
    RGBColor(184, 127, 0),
    RGBColor(58, 143, 192),
    RGBColor(85, 85, 85),
];

/// How many series can be told apart by their marks.
pub(super) const MOST: usize = COLORS.len();

/// The colour of a series.
pub(super) fn color(series: usize) -> RGBColor {
    COLORS[series % MOST]
}

/// Draws the mark of a series.
pub(super) fn draw<B: DrawingBackend>(
    area: &Area<B>,
    (x, y): (i32, i32),
    series: usize,
    size: i32,
) -> Drawn<B> {
    let color = color(series);
    let polygon = |corners: &[(i32, i32)]| {
        let corners: Vec<_> = corners
            .iter()
            .map(|corner| (x + corner.0, y + corner.1))
            .collect();
        area.draw(&Polygon::new(corners, color.filled()))
    };
    let line = |from: (i32, i32), to: (i32, i32)| {
        let ends = vec![(x + from.0, y + from.1), (x + to.0, y + to.1)];
        area.draw(&PathElement::new(ends, color.stroke_width(3)))
    };
    match series % MOST {
        0 => area.draw(&Circle::new((x, y), size, color.filled())),
        1 => polygon(&[(-size, -size), (size, -size), (size, size), (-size, size)]),
        2 => polygon(&[(0, -size - 2), (size + 1, size - 1), (-size - 1, size - 1)]),
        3 => polygon(&[(0, -size - 2), (size + 2, 0), (0, size + 2), (-size - 2, 0)]),
        4 => {
            line((-size, -size), (size, size))?;
            line((-size, size), (size, -size))
        }
        5 => polygon(&[(0, size + 2), (size + 1, 1 - size), (-size - 1, 1 - size)]),
        _ => {
            area.draw(&Circle::new((x, y), size + 1, color.filled()))?;
            area.draw(&Circle::new((x, y), size - 2, WHITE.filled()))
        }
    }
}
