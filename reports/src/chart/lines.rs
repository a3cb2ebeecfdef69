//! Lines: each with its name at its end, or, if there are many, in a panel of its own.

use plotters::prelude::*;

use super::axes::{NAME, Space, TICKS, axes, label_below};
use super::page::{BEHIND, INK, MARGIN, MUTED};
use super::scale::Scale;
use super::{Area, Drawn, Figure, Series, WIDTH, font, marker};

/// The height of a chart with one panel.
const ONE: i32 = 500;
/// The height of a panel of many.
const PANEL: i32 = 240;
/// Panels beside each other.
const ACROSS: usize = 3;
/// The height of what stands below the ticks.
const BELOW: i32 = 26;
/// How far apart two names of lines are at least.
const APART: i32 = 19;
/// The widest name that is not broken.
const WIDEST: f64 = 190.0;
/// From the end of a line to its name.
const GAP: i32 = 14;

fn has_panels(figure: &Figure) -> bool {
    figure.series.len() > marker::MOST
}

fn rows(figure: &Figure) -> i32 {
    figure.series.len().div_ceil(ACROSS) as i32
}

/// How high the chart is.
pub(super) fn height(figure: &Figure) -> u32 {
    match has_panels(figure) {
        true => (rows(figure) * PANEL + BELOW + 20) as u32,
        false => ONE as u32,
    }
}

/// Both axes.
struct Scales {
    x: Scale,
    y: Scale,
}

impl Scales {
    fn of(figure: &Figure) -> Self {
        let all = figure.series.iter();
        let all = all.flat_map(|one| one.points.iter().chain(&one.reference));
        let (x, y): (Vec<f64>, Vec<f64>) = all.copied().unzip();
        Self {
            x: Scale::of(&figure.x, &x, has_panels(figure)),
            y: Scale::of(&figure.y, &y, has_panels(figure)),
        }
    }

    /// What of some points can be shown.
    fn points(&self, points: &[(f64, f64)]) -> Vec<(f64, f64)> {
        let shown = |point: &&(f64, f64)| self.x.shows(point.0) && self.y.shows(point.1);
        points.iter().filter(shown).copied().collect()
    }
}

/// Draws all lines.
pub(super) fn draw<B: DrawingBackend>(figure: &Figure, area: &Area<B>) -> Drawn<B> {
    if has_panels(figure) {
        return panels(figure, area);
    }
    let mut scales = Scales::of(figure);
    let names: Vec<Vec<String>> = figure.series.iter().map(name).collect();
    let wide = names.iter().flatten().map(|line| font::width(line, NAME));
    let right = wide.fold(0.0, f64::max).ceil() as i32 + GAP + MARGIN;
    let left = scales.y.widest() + 14;
    let room = WIDTH as i32 - 2 * MARGIN - left - right;
    scales.x = scales.x.thinned(f64::from(room));
    let all: Vec<usize> = (0..figure.series.len()).collect();
    let space = Space {
        left: MARGIN + left,
        right,
        top: 34,
        bottom: BELOW + 10,
    };
    let ends = plot(figure, area, &scales, &space, &all, &[])?;
    let (above, label) = (font::sans(NAME).into_font().color(&MUTED), &figure.y.label);
    area.draw(&Text::new(label.as_str(), (MARGIN, 8), above))?;
    let x = (MARGIN + left + room / 2, ONE - BELOW - 4);
    label_below(figure, area, x)?;
    write_names(area, &names, &ends)
}

/// The name of a line, in lines that are not too wide.
fn name(series: &Series) -> Vec<String> {
    let lines = series.name.lines();
    lines
        .flat_map(|line| font::lines(line, NAME, WIDEST))
        .collect()
}

/// Draws axes and these lines, with others behind them. Gives back where each of them ends.
fn plot<B: DrawingBackend>(
    figure: &Figure,
    area: &Area<B>,
    scales: &Scales,
    space: &Space,
    shown: &[usize],
    behind: &[usize],
) -> Result<Vec<Option<(i32, i32)>>, super::Problem<B>> {
    let mut context = axes(area, (&scales.x, &scales.y), space)?;
    for index in behind {
        let points = scales.points(&figure.series[*index].points);
        context.draw_series(LineSeries::new(points, BEHIND.stroke_width(1)))?;
    }
    let many = shown.len() > 1;
    // What is drawn earlier is drawn wider, so that it can be seen below what covers it.
    let above = |place: usize| (shown.len() - 1 - place).min(2) as u32;
    let look = |index: usize| if many { index } else { 0 };
    for (place, index) in shown.iter().enumerate() {
        let points = scales.points(&figure.series[*index].points);
        let stroke = marker::color(look(*index)).stroke_width(2 + 2 * above(place));
        context.draw_series(LineSeries::new(points, stroke))?;
    }
    for index in shown {
        let points = scales.points(&figure.series[*index].reference);
        context.draw_series(DashedLineSeries::new(points, 5, 4, INK.stroke_width(1)))?;
    }
    // Marks last, so that no line crosses them.
    let base = area.get_base_pixel();
    let mut ends = Vec::new();
    for (place, index) in shown.iter().enumerate() {
        let mut end = None;
        for point in scales.points(&figure.series[*index].points) {
            let (x, y) = context.backend_coord(&point);
            let at = (x - base.0, y - base.1);
            let size = if many { 5 + above(place) as i32 } else { 4 };
            marker::draw(area, at, look(*index), size)?;
            end = Some(at);
        }
        ends.push(end);
    }
    Ok(ends)
}

/// Writes the names of lines at their ends, below each other where two end at one place.
fn write_names<B: DrawingBackend>(
    area: &Area<B>,
    names: &[Vec<String>],
    ends: &[Option<(i32, i32)>],
) -> Drawn<B> {
    let mut all: Vec<(usize, (i32, i32))> = ends
        .iter()
        .enumerate()
        .filter_map(|(index, end)| Some((index, (*end)?)))
        .collect();
    all.sort_by_key(|(index, end)| (end.1, *index));
    let x = all.iter().map(|entry| entry.1.0).max().unwrap_or(0) + GAP;
    let high = |index: usize| names[index].len() as i32 * APART;
    let mut tops: Vec<i32> = all
        .iter()
        .map(|entry| entry.1.1 - high(entry.0) / 2)
        .collect();
    spread(
        &mut tops,
        &all.iter().map(|entry| high(entry.0)).collect::<Vec<_>>(),
        ONE - BELOW - TICKS,
    );
    for ((index, end), top) in all.into_iter().zip(tops) {
        let middle = top + high(index) / 2;
        if (middle - end.1).abs() > 4 || x - GAP > end.0 {
            let line = vec![(end.0 + 6, end.1), (x - 3, middle)];
            area.draw(&PathElement::new(
                line,
                marker::color(index).stroke_width(1),
            ))?;
        }
        for (row, line) in names[index].iter().enumerate() {
            use plotters::style::text_anchor::{HPos, Pos, VPos};
            let style = font::sans(NAME).into_font().color(&INK);
            let style = style.pos(Pos::new(HPos::Left, VPos::Center));
            let y = top + APART / 2 + row as i32 * APART;
            area.draw(&Text::new(line.as_str(), (x, y), style))?;
        }
    }
    Ok(())
}

/// Moves what would lie on each other apart: each begins below the end of the one before. None begins above the area,
/// and none ends below `most`.
fn spread(tops: &mut [i32], high: &[i32], most: i32) {
    // Groups of neighbours that touch; each lies around the middle of where its members want to be.
    let mut groups: Vec<(usize, usize, i32)> = Vec::new();
    let within = |top: i32, tall: i32| top.min(most - tall).max(0);
    for index in 0..tops.len() {
        groups.push((index, index + 1, within(tops[index], high[index])));
        while let [.., before, last] = groups.as_slice() {
            let tall: i32 = high[before.0..before.1].iter().sum();
            if before.2 + tall <= last.2 {
                break;
            }
            let (first, until) = (before.0, last.1);
            let wanted = (first..until).map(|at| {
                let offset: i32 = high[first..at].iter().sum();
                tops[at] - offset
            });
            let middle = wanted.sum::<i32>() / (until - first) as i32;
            let tall: i32 = high[first..until].iter().sum();
            groups.truncate(groups.len() - 2);
            groups.push((first, until, within(middle, tall)));
        }
    }
    for (first, until, top) in groups {
        let mut at = top;
        for index in first..until {
            tops[index] = at;
            at += high[index];
        }
    }
}

/// Draws each line in a panel of its own, with the others in grey behind it.
fn panels<B: DrawingBackend>(figure: &Figure, area: &Area<B>) -> Drawn<B> {
    let mut scales = Scales::of(figure);
    let left = scales.y.widest() + 10;
    let wide = (WIDTH as i32 - MARGIN) / ACROSS as i32;
    scales.x = scales.x.thinned(f64::from(wide - MARGIN - left - 12));
    let style = font::sans(NAME).into_font().color(&MUTED);
    let label = format!("{}; grey: the lines of the other panels", figure.y.label);
    area.draw(&Text::new(label, (MARGIN, 2), style))?;
    for (index, series) in figure.series.iter().enumerate() {
        let (row, column) = ((index / ACROSS) as i32, (index % ACROSS) as i32);
        let at = (column * wide, 24 + row * PANEL);
        let panel = area.clone().shrink(at, (wide, PANEL - 10));
        let space = Space {
            left: MARGIN + left,
            right: 12,
            top: 38,
            bottom: 4,
        };
        let others: Vec<usize> = (0..figure.series.len())
            .filter(|other| *other != index)
            .collect();
        plot(figure, &panel, &scales, &space, &[index], &others)?;
        let style = font::sans(NAME).into_font().color(&INK);
        let room = f64::from(wide - MARGIN);
        let whole = series.name.replace('\n', ", ");
        // A name that is too long for a line has its scenario above its case.
        let lines: Vec<&str> = match series.name.split_once('\n') {
            Some((scenario, case)) if font::width(&whole, NAME) > room => vec![scenario, case],
            Some(_) | None => vec![&whole],
        };
        for (line, y) in lines.iter().rev().zip([18, 2]) {
            let line = clipped(line, room);
            panel.draw(&Text::new(line, (MARGIN, y), style.clone()))?;
        }
    }
    let y = rows(figure) * PANEL + 22;
    label_below(figure, area, (WIDTH as i32 / 2, y))
}

/// As much of a text as has room: its begin and its end, which tell it from others.
pub(super) fn clipped(text: &str, room: f64) -> String {
    if font::width(text, NAME) <= room {
        return text.to_owned();
    }
    let letters: Vec<char> = text.chars().collect();
    let cut = |kept: usize| -> String {
        let (head, tail) = (
            &letters[..kept / 2],
            &letters[letters.len() - kept.div_ceil(2)..],
        );
        head.iter().chain(&['…']).chain(tail).collect()
    };
    let mut kept = (1..letters.len()).rev().map(cut);
    let fits = kept.find(|cut| font::width(cut, NAME) <= room);
    fits.unwrap_or_else(|| "…".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_do_not_lie_on_each_other_and_stay_near_their_lines() {
        let mut tops = [100, 104, 106, 300];
        spread(&mut tops, &[19, 19, 38, 19], 400);
        assert!(
            tops[0] + 19 <= tops[1] && tops[1] + 19 <= tops[2],
            "{tops:?}"
        );
        assert!(tops[2] + 38 <= tops[3], "{tops:?}");
        assert!((tops[0] - 100).abs() < 40, "{tops:?}");
        assert_eq!(tops[3], 300);
        let mut low = [390, 391];
        spread(&mut low, &[19, 19], 400);
        assert!(low[1] + 19 <= 400, "{low:?}");
        let mut top = [3, 5, 9];
        spread(&mut top, &[38, 38, 38], 400);
        assert_eq!(top, [0, 38, 76]);
    }

    #[test]
    fn a_text_that_has_no_room_is_cut_and_says_so() {
        let cut = |end: &str| clipped(&format!("zk-an-algorithm-with-a-long-name-{end}"), 120.0);
        let (one, other) = (cut("fenced"), cut("bare"));
        assert!(
            one.contains('…') && font::width(&one, NAME) <= 120.0,
            "{one}"
        );
        assert_ne!(one, other);
        assert_eq!(clipped("zk", 120.0), "zk");
    }
}
