//! What stands around a chart: its title and its caption, and how a page takes it in.

use plotters::prelude::*;

use super::{Area, Drawn, Figure, WIDTH, font};
use crate::escape::{escaped, legal};

pub(super) const INK: RGBColor = RGBColor(28, 30, 33);
pub(super) const MUTED: RGBColor = RGBColor(90, 97, 108);
pub(super) const FAINT: RGBColor = RGBColor(222, 225, 230);
/// Lines that are there to be compared with.
pub(super) const BEHIND: RGBColor = RGBColor(201, 205, 211);

const TITLE: f64 = 21.0;
const CAPTION: f64 = 13.0;
const LINE: i32 = 19;
/// Free space at the left and at the right.
pub(super) const MARGIN: i32 = 24;

fn caption(figure: &Figure) -> Vec<String> {
    let room = f64::from(WIDTH) - 2.0 * f64::from(MARGIN);
    let lines = figure.caption.iter();
    lines
        .flat_map(|line| font::lines(line, CAPTION, room))
        .collect()
}

fn title(figure: &Figure) -> Vec<String> {
    let room = f64::from(WIDTH) - 2.0 * f64::from(MARGIN);
    font::lines(&figure.title, TITLE, room)
}

/// How much room title and caption take.
pub(super) fn head_height(figure: &Figure) -> i32 {
    28 + 28 * title(figure).len() as i32 + LINE * caption(figure).len() as i32
}

/// Writes title and caption.
pub(super) fn head<B: DrawingBackend>(figure: &Figure, area: &Area<B>) -> Drawn<B> {
    let mut y = 18;
    for line in title(figure) {
        let style = font::sans(TITLE).into_font().color(&INK);
        area.draw(&Text::new(line, (MARGIN, y), style))?;
        y += 28;
    }
    for line in caption(figure) {
        let style = font::sans(CAPTION).into_font().color(&MUTED);
        area.draw(&Text::new(line, (MARGIN, y), style))?;
        y += LINE;
    }
    Ok(())
}

/// There is no measurement.
pub(super) fn nothing<B: DrawingBackend>(area: &Area<B>) -> Drawn<B> {
    let style = font::sans(16.0).into_font().color(&MUTED);
    area.draw(&Text::new("nothing to show", (MARGIN, 30), style))
}

/// An SVG that says what it is to those who do not see it. plotters writes texts as they are but for what is markup.
pub(super) fn named(svg: &str, title: &str) -> String {
    let title = escaped(title);
    legal(svg)
        .replacen("<svg ", "<svg role=\"img\" ", 1)
        .replacen(">\n", &format!(">\n<title>{title}</title>\n"), 1)
}

/// The colours of a chart, each with the class that a page has for it.
const CLASSES: [(RGBColor, &str); 12] = [
    (WHITE, "paper"),
    (INK, "ink"),
    (MUTED, "muted"),
    (FAINT, "edge"),
    (BEHIND, "faint"),
    (RGBColor(0, 114, 178), "c0"),
    (RGBColor(213, 94, 0), "c1"),
    (RGBColor(0, 158, 115), "c2"),
    (RGBColor(176, 87, 138), "c3"),
    (RGBColor(184, 127, 0), "c4"),
    (RGBColor(58, 143, 192), "c5"),
    (RGBColor(85, 85, 85), "c6"),
];

/// The picture as a page has it: it takes the page's colours, light or dark, and the width that there is.
pub(super) fn inline(svg: &str, (width, height): (u32, u32)) -> String {
    let mut text = svg.to_owned();
    for (RGBColor(red, green, blue), class) in CLASSES {
        let digits = format!("#{red:02X}{green:02X}{blue:02X}");
        for (what, short) in [("fill", 'f'), ("stroke", 's')] {
            let classed = format!("class=\"{short}-{class}\"");
            text = text.replace(&format!("{what}=\"{digits}\""), &classed);
        }
    }
    let sized = format!("<svg role=\"img\" width=\"{width}\" height=\"{height}\"");
    text.replacen(&sized, "<svg class=\"chart\" role=\"img\"", 1)
}
