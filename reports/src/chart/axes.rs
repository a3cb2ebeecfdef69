//! The axes of a chart, with their ticks, and what the horizontal one is called.

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::page::{FAINT, INK, MARGIN, MUTED};
use super::scale::{Scale, TICK};
use super::{Area, Drawn, Figure, Problem, font};

/// The height of the ticks below a plot.
pub(super) const TICKS: i32 = 28;
/// The size of names.
pub(super) const NAME: f64 = 14.0;

/// Free space around a plot.
pub(super) struct Space {
    pub(super) left: i32,
    pub(super) right: i32,
    pub(super) top: i32,
    pub(super) bottom: i32,
}

/// A plot between its axes.
pub(super) type Plot<'a, B> = ChartContext<'a, B, Cartesian2d<Scale, Scale>>;

/// Draws the axes.
pub(super) fn axes<'a, B: DrawingBackend>(
    area: &Area<B>,
    (x, y): (&Scale, &Scale),
    space: &Space,
) -> Result<Plot<'a, B>, Problem<B>> {
    let mut context = ChartBuilder::on(area)
        .margin_left(MARGIN)
        .margin_right(space.right)
        .margin_top(space.top)
        .margin_bottom(space.bottom)
        .x_label_area_size(TICKS)
        .y_label_area_size(space.left - MARGIN)
        .build_cartesian_2d(x.clone(), y.clone())?;
    context
        .configure_mesh()
        .bold_line_style(FAINT)
        .light_line_style(TRANSPARENT)
        .axis_style(MUTED)
        .x_labels(x.ticks.len())
        .y_labels(y.ticks.len())
        .x_label_formatter(&|at| x.label(*at))
        .y_label_formatter(&|at| y.label(*at))
        .set_all_tick_mark_size(5)
        .label_style(font::sans(TICK).into_font().color(&INK))
        .draw()?;
    Ok(context)
}

/// Writes what the horizontal axis is called, with the middle of its upper edge here.
pub(super) fn label_below<B: DrawingBackend>(
    figure: &Figure,
    area: &Area<B>,
    at: (i32, i32),
) -> Drawn<B> {
    let style = font::sans(NAME).into_font().color(&MUTED);
    let style = style.pos(Pos::new(HPos::Center, VPos::Top));
    area.draw(&Text::new(figure.x.label.as_str(), at, style))
}
