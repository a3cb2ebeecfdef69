//! How a chart is laid out: title, plot, and a legend that never covers a line.

use std::collections::BTreeMap;

use plotters::coord::Shift;
use plotters::coord::combinators::BindKeyPoints;
use plotters::prelude::*;

use super::HerdRow;
use super::chart::Chart;
use crate::words::{count, thousands, wrap};

/// The width of the legend.
const LEGEND: i32 = 300;
/// The height of the title.
const TITLE: i32 = 64;
const GREY: RGBColor = RGBColor(110, 110, 110);
const DARK: RGBColor = RGBColor(50, 50, 50);

/// Colours that people with any kind of colour vision can tell apart (Okabe and Ito), but for
/// yellow, which is hard to see on white.
const COLORS: [RGBColor; 7] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
    RGBColor(0, 0, 0),
];

type Area<B> = DrawingArea<B, Shift>;
type Problem<B> = DrawingAreaErrorKind<<B as DrawingBackend>::ErrorType>;

/// One algorithm's line.
struct Series {
    /// The algorithm, and below it what else tells the lines apart.
    name: String,
    /// Contenders and value, ascending; only what a logarithmic axis can show.
    points: Vec<(f64, f64)>,
    /// The same of what it is compared with.
    reference: Vec<(f64, f64)>,
    /// All values are zero.
    none: bool,
    look: usize,
    /// How many lines are drawn over it.
    above: usize,
}

impl Series {
    /// What is drawn earlier is drawn larger, so that it can be seen below what covers it.
    fn weight(&self) -> u32 {
        self.above.min(3) as u32
    }
}

/// Draws a chart into an area.
pub(super) fn draw<B: DrawingBackend>(
    chart: Chart,
    area: &Area<B>,
    rows: &[HerdRow],
) -> Result<(), Problem<B>> {
    area.fill(&WHITE)?;
    let series = series(chart, rows);
    area.draw(&Text::new(
        chart.title(),
        (40, 22),
        ("sans-serif", 30).into_font().color(&BLACK),
    ))?;
    let (_, below) = area.split_vertically(TITLE);
    let width = below.dim_in_pixel().0 as i32;
    let (left, right) = below.split_horizontally(width - LEGEND);
    let values = |pick: fn(&(f64, f64)) -> f64| {
        let points = series
            .iter()
            .flat_map(|one| one.points.iter().chain(&one.reference));
        points.map(pick).collect::<Vec<f64>>()
    };
    let (across, upward) = (values(|point| point.0), values(|point| point.1));
    if across.is_empty() {
        let middle = (left.dim_in_pixel().0 as i32 / 2 - 100, 300);
        let font = ("sans-serif", 24).into_font().color(&GREY);
        left.draw(&Text::new("nothing to show", middle, font))?;
    } else {
        plot(chart, &left, &series, (range(&across), range(&upward)))?;
    }
    legend(chart, &right, &series)
}

/// The rows as lines: one per algorithm, and per hold and number of servers if these differ.
fn series(chart: Chart, rows: &[HerdRow]) -> Vec<Series> {
    let first = rows.first();
    let holds = rows
        .iter()
        .any(|row| Some(&row.hold) != first.map(|row| &row.hold));
    let servers = rows
        .iter()
        .any(|row| Some(row.servers) != first.map(|row| row.servers));
    let mut indices: BTreeMap<String, usize> = BTreeMap::new();
    let mut all: Vec<Series> = Vec::new();
    for row in rows {
        let mut name = row.title();
        if holds {
            name.push_str(&format!("\nhold {}", row.hold));
        }
        if servers {
            name.push_str(&format!("\n{}", count(row.servers, "server")));
        }
        let look = all.len();
        let index = *indices.entry(name.clone()).or_insert(look);
        if index == look {
            all.push(Series {
                name,
                points: Vec::new(),
                reference: Vec::new(),
                none: true,
                look,
                above: 0,
            });
        }
        let one = &mut all[index];
        let shown = |value: f64| value.is_finite() && value > 0.0 && row.contenders > 0;
        let value = chart.value(row);
        if shown(value) {
            one.points.push((row.contenders as f64, value));
            one.none = false;
        }
        if let Some(value) = chart.reference(row).filter(|&value| shown(value)) {
            one.reference.push((row.contenders as f64, value));
        }
    }
    let last = all.len().saturating_sub(1);
    for one in &mut all {
        one.above = last - one.look;
        one.points.sort_by(|a, b| a.0.total_cmp(&b.0));
        one.reference.sort_by(|a, b| a.0.total_cmp(&b.0));
    }
    all
}

/// A range on a logarithmic axis with all values in it, and some air around them.
fn range(values: &[f64]) -> (f64, f64) {
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    let most = values.iter().copied().fold(0.0, f64::max);
    let air = (most / least).powf(0.05).max(1.25);
    (least / air, most * air)
}

/// Round numbers in a range: powers of ten, and 2 and 5 times these if there are few of them. In a range that holds
/// fewer than two of those they stand at equal distances.
fn ticks(range: (f64, f64)) -> Vec<f64> {
    let (least, most) = range;
    let decades = least.log10().floor() as i32..=most.log10().ceil() as i32;
    let steps: &[f64] = if (most / least).log10() > 3.5 {
        &[1.0]
    } else {
        &[1.0, 2.0, 5.0]
    };
    let all = decades.flat_map(|decade| steps.iter().map(move |step| step * 10f64.powi(decade)));
    let round: Vec<f64> = all.filter(|tick| (least..=most).contains(tick)).collect();
    if round.len() < 2 { even(range) } else { round }
}

/// Whole numbers at equal distances: five or so.
fn even((least, most): (f64, f64)) -> Vec<f64> {
    let about = (most - least) / 5.0;
    let decade = 10f64.powf(about.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].map(|times| times * decade);
    let step = step.into_iter().find(|step| *step >= about);
    let step = step.unwrap_or(about).max(1.0);
    let (first, last) = ((least / step).ceil() as u64, (most / step).floor() as u64);
    (first..=last).map(|times| times as f64 * step).collect()
}

fn plot<B: DrawingBackend>(
    chart: Chart,
    area: &Area<B>,
    series: &[Series],
    (across, upward): ((f64, f64), (f64, f64)),
) -> Result<(), Problem<B>> {
    let mut context = ChartBuilder::on(area)
        .margin_left(24)
        .margin_right(24)
        .margin_bottom(16)
        .x_label_area_size(64)
        .y_label_area_size(128)
        .build_cartesian_2d(
            (across.0..across.1)
                .log_scale()
                .with_key_points(ticks(across)),
            (upward.0..upward.1)
                .log_scale()
                .with_key_points(ticks(upward)),
        )?;
    context
        .configure_mesh()
        .bold_line_style(RGBColor(225, 225, 225))
        .light_line_style(TRANSPARENT)
        .axis_style(GREY)
        .x_desc("contenders (log)")
        .y_desc(chart.axis())
        .x_labels(20)
        .y_labels(20)
        .x_label_formatter(&|&contenders| thousands(contenders.round() as u64))
        .y_label_formatter(&|&value| chart.label(value))
        .label_style(("sans-serif", 18))
        .axis_desc_style(("sans-serif", 20))
        .draw()?;
    // Lines first, so that no line crosses another's markers.
    for one in series {
        let points = one.points.iter().copied();
        let stroke = color(one.look).stroke_width(2 + one.weight());
        context.draw_series(LineSeries::new(points, stroke))?;
    }
    for one in series {
        let reference = one.reference.iter().copied();
        let dashes = DashedLineSeries::new(reference, 5, 5, DARK.stroke_width(1));
        context.draw_series(dashes)?;
    }
    let base = area.get_base_pixel();
    for one in series {
        for &point in &one.points {
            let (x, y) = context.backend_coord(&point);
            marker(area, (x - base.0, y - base.1), one)?;
        }
    }
    Ok(())
}

/// The names of the lines, and how each is drawn.
fn legend<B: DrawingBackend>(
    chart: Chart,
    area: &Area<B>,
    series: &[Series],
) -> Result<(), Problem<B>> {
    let font = |color: &RGBColor| ("sans-serif", 18).into_font().color(color);
    let mut y = 20;
    for one in series {
        let color = color(one.look);
        let line = vec![(0, y), (44, y)];
        area.draw(&PathElement::new(
            line,
            color.stroke_width(2 + one.weight()),
        ))?;
        marker(area, (22, y), one)?;
        let name = if one.none {
            format!("{} (none)", one.name)
        } else {
            one.name.clone()
        };
        for line in name.lines().flat_map(|line| wrap(line, 26)) {
            area.draw(&Text::new(line, (56, y - 6), font(&BLACK)))?;
            y += 24;
        }
        y += 10;
    }
    if series.iter().any(|one| !one.reference.is_empty()) {
        y += 10;
        for start in [0, 10, 20, 30] {
            let dash = vec![(start, y), (start + 5, y)];
            area.draw(&PathElement::new(dash, DARK.stroke_width(1)))?;
        }
        area.draw(&Text::new(chart.reference_name(), (56, y - 6), font(&DARK)))?;
    }
    Ok(())
}

fn color(look: usize) -> RGBColor {
    COLORS[look % COLORS.len()]
}

/// Every line has a marker of its own shape, so that colour is never needed to tell lines apart.
fn marker<B: DrawingBackend>(
    area: &Area<B>,
    (x, y): (i32, i32),
    one: &Series,
) -> Result<(), Problem<B>> {
    let size = 5 + 2 * one.weight() as i32;
    let color = color(one.look);
    let polygon = |corners: &[(i32, i32)]| {
        let corners: Vec<_> = corners
            .iter()
            .map(|corner| (x + corner.0, y + corner.1))
            .collect();
        area.draw(&Polygon::new(corners, color.filled()))
    };
    let line = |from: (i32, i32), to: (i32, i32)| {
        let ends = vec![(x + from.0, y + from.1), (x + to.0, y + to.1)];
        area.draw(&PathElement::new(ends, color.stroke_width(4)))
    };
    match one.look % 8 {
        0 => area.draw(&Circle::new((x, y), size, color.filled())),
        1 => polygon(&[(-size, -size), (size, -size), (size, size), (-size, size)]),
        2 => polygon(&[(0, -size - 2), (size + 1, size - 1), (-size - 1, size - 1)]),
        3 => polygon(&[(0, -size - 3), (size + 3, 0), (0, size + 3), (-size - 3, 0)]),
        4 => {
            line((-size, -size), (size, size))?;
            line((-size, size), (size, -size))
        }
        5 => polygon(&[(0, size + 2), (size + 1, 1 - size), (-size - 1, 1 - size)]),
        6 => {
            line((0, -size - 2), (0, size + 2))?;
            line((-size - 2, 0), (size + 2, 0))
        }
        _ => {
            area.draw(&Circle::new((x, y), size + 1, WHITE.filled()))?;
            area.draw(&Circle::new((x, y), size, color.stroke_width(3)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_axis_has_two_labels_at_least_or_the_only_whole_number() {
        for value in [1.0, 2.0, 7.0, 33.0, 1_500.0, 3_333.0, 98_765.0, 2.5e9] {
            for spread in [1.0, 1.01, 1.7, 3.0, 40.0, 1e7] {
                let range = range(&[value, value * spread]);
                let ticks = ticks(range);
                let whole = range.1.floor() - range.0.ceil() + 1.0;
                assert!(ticks.len() as f64 >= whole.min(2.0), "{range:?}: {ticks:?}");
                assert!(ticks.len() <= 14, "{range:?}: {ticks:?}");
                let inside = |tick: &f64| (range.0..=range.1).contains(tick);
                assert!(ticks.iter().all(inside), "{range:?}: {ticks:?}");
            }
        }
    }
}
