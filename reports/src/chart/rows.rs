//! Rows: one for each thing that was measured, with a mark for each series.

use plotters::prelude::*;

use super::axes::{NAME, Space, TICKS, axes, label_below};
use super::lines::clipped;
use super::page::{INK, MARGIN};
use super::scale::{Scale, Ticks};
use super::{Area, Drawn, Figure, WIDTH, font, marker};

/// The height of a row.
const ROW: i32 = 24;
/// The height of the key, and of what stands below the ticks.
const KEY: i32 = 34;
const BELOW: i32 = 34;
/// The widest name of a row.
const WIDEST: f64 = 540.0;

fn count(figure: &Figure) -> usize {
    match &figure.y.ticks {
        Ticks::At(rows) => rows.len(),
        Ticks::Round | Ticks::Beyond(..) | Ticks::Measured | Ticks::Steps(_) => 0,
    }
}

/// How high the chart is.
pub(super) fn height(figure: &Figure) -> u32 {
    (KEY + ROW * count(figure).max(2) as i32 + TICKS + BELOW) as u32
}

/// Draws all rows.
pub(super) fn draw<B: DrawingBackend>(figure: &Figure, area: &Area<B>) -> Drawn<B> {
    let values = figure.series.iter();
    let values = values.flat_map(|one| one.points.iter().chain(&one.tails));
    let values: Vec<f64> = values.map(|point| point.0).collect();
    let mut y = Scale::of(&figure.y, &[], false).reversed();
    for (_, name) in &mut y.ticks {
        *name = clipped(name, WIDEST);
    }
    let left = y.widest() + 18;
    let room = WIDTH as i32 - 2 * MARGIN - left;
    let x = Scale::of(&figure.x, &values, false).thinned(f64::from(room));
    let space = Space {
        left: MARGIN + left,
        right: MARGIN,
        top: KEY,
        bottom: BELOW,
    };
    let context = axes(area, (&x, &y), &space)?;
    let base = area.get_base_pixel();
    let many = figure.series.len();
    for (index, series) in figure.series.iter().enumerate() {
        // Marks of one row lie a little below each other, so that equal values can all be seen.
        let shift = (2 * index as i32 + 1 - many as i32) * 3;
        let at = |(value, row): (f64, f64)| {
            let (across, down) = context.backend_coord(&(value, row));
            (across - base.0, down - base.1 + shift)
        };
        for tail in &series.tails {
            let from = series.points.iter().find(|point| point.1 == tail.1);
            let Some(from) = from else { continue };
            let color = marker::color(index);
            let (from, end) = (at(*from), at(*tail));
            area.draw(&PathElement::new(vec![from, end], color.stroke_width(2)))?;
            let stop = vec![(end.0, end.1 - 3), (end.0, end.1 + 3)];
            area.draw(&PathElement::new(stop, color.stroke_width(2)))?;
        }
        for point in series.points.iter().filter(|point| x.shows(point.0)) {
            marker::draw(area, at(*point), index, 4)?;
        }
    }
    key(figure, area, MARGIN + left)?;
    let y = height(figure) as i32 - BELOW + 6;
    label_below(figure, area, (MARGIN + left + room / 2, y))
}

/// Which mark is whose, in a line above the rows.
fn key<B: DrawingBackend>(figure: &Figure, area: &Area<B>, left: i32) -> Drawn<B> {
    let mut x = left;
    for (index, series) in figure.series.iter().enumerate() {
        marker::draw(area, (x + 6, 16), index, 5)?;
        let style = font::sans(NAME).into_font().color(&INK);
        area.draw(&Text::new(series.name.as_str(), (x + 18, 10), style))?;
        x += 18 + font::width(&series.name, NAME).ceil() as i32 + 24;
    }
    Ok(())
}
