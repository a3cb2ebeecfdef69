//! A diagram as PNG, drawn with the font that is part of this crate.

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use thiserror::Error;

use super::axis::WIDTH;
use super::build::Diagram;
use super::shapes::{Anchor, Paint, Shape, frame};
use super::svg::{color, head};
use crate::chart::{Canvas, PLOTTERS, encode, register};

/// Pixels for each unit of the picture: screens of today have two, and slides are larger.
const FINE: f64 = 2.0;

/// A diagram that could not be drawn.
#[derive(Debug, Error)]
#[error("cannot draw the diagram: {0}")]
pub struct PngError(String);

/// The diagram of a run as the bytes of a PNG file, under a title of these lines.
///
/// # Errors
/// If it cannot be drawn.
pub fn png(diagram: &Diagram, title: &[String]) -> Result<Vec<u8>, PngError> {
    let (shapes, height) = frame(diagram, title);
    let size = ((WIDTH * FINE) as u32, (height * FINE).ceil() as u32);
    let mut pixels = vec![255; (size.0 * size.1 * 3) as usize];
    let problem = |problem: &str| PngError(problem.to_owned());
    register().map_err(problem)?;
    // Its places are finer than the units of a canvas.
    let canvas = Canvas::new(&mut pixels, size, 1).map_err(problem)?;
    let area = canvas.into_drawing_area();
    for shape in &shapes {
        draw(&area, shape).map_err(|error| PngError(error.to_string()))?;
    }
    area.present()
        .map_err(|error| PngError(error.to_string()))?;
    drop(area);
    encode(&pixels, size).map_err(|error| PngError(error.to_string()))
}

type Area<'a> = DrawingArea<Canvas<'a>, plotters::coord::Shift>;
type Drawn<'a> = Result<(), DrawingAreaErrorKind<<Canvas<'a> as DrawingBackend>::ErrorType>>;

fn draw<'a>(area: &Area<'a>, shape: &Shape) -> Drawn<'a> {
    match shape {
        Shape::Rect {
            at,
            size,
            paint,
            opacity,
            framed,
        } => {
            let ends = [pixel(*at), pixel((at.0 + size.0, at.1 + size.1))];
            let fill = rgb(*paint).mix(*opacity).filled();
            area.draw(&Rectangle::new(ends, fill))?;
            if *framed {
                area.draw(&Rectangle::new(ends, rgb(*paint).stroke_width(2)))?;
            }
            Ok(())
        }
        Shape::Line {
            from,
            to,
            paint,
            width,
            stroke,
        } => {
            let style = rgb(*paint).stroke_width((width * FINE).round().max(1.0) as u32);
            let pieces = match stroke.pieces() {
                Some((long, gap)) => dashes(*from, *to, (long.into(), gap.into())),
                None => vec![[*from, *to]],
            };
            for ends in pieces {
                area.draw(&PathElement::new(ends.map(pixel), style))?;
            }
            Ok(())
        }
        Shape::Dot { at, radius, paint } => {
            let radius = (radius * FINE).round() as i32;
            area.draw(&Circle::new(pixel(*at), radius, rgb(*paint).filled()))
        }
        Shape::Head { tip, from, paint } => {
            let corners = head(*tip, *from).map(pixel);
            area.draw(&Polygon::new(corners, rgb(*paint).filled()))
        }
        Shape::Words {
            at: (x, y),
            size,
            paint,
            anchor,
            bold,
            text,
        } => {
            let across = match anchor {
                Anchor::Start => HPos::Left,
                Anchor::Middle => HPos::Center,
                Anchor::End => HPos::Right,
            };
            let font = ("sans-serif", size * FINE * PLOTTERS)
                .into_font()
                .color(&rgb(*paint));
            let style = font.pos(Pos::new(across, VPos::Center));
            // A text that is centred stands so far below its place.
            let (x, y) = pixel((*x, y - size * 0.27));
            area.draw(&Text::new(text.as_str(), (x, y), style.clone()))?;
            if *bold {
                // The font has no bold letters: twice drawn, they are.
                area.draw(&Text::new(text.as_str(), (x + 1, y), style))?;
            }
            Ok(())
        }
    }
}

fn pixel((x, y): (f64, f64)) -> (i32, i32) {
    ((x * FINE).round() as i32, (y * FINE).round() as i32)
}

/// The pieces of a dashed line.
fn dashes(from: (f64, f64), to: (f64, f64), (piece, gap): (f64, f64)) -> Vec<[(f64, f64); 2]> {
    let (right, down) = (to.0 - from.0, to.1 - from.1);
    let long = right.hypot(down);
    let at = |along: f64| {
        let share = (along / long).min(1.0);
        (from.0 + right * share, from.1 + down * share)
    };
    let pieces = (long / (piece + gap)).ceil() as u32;
    let begins = (0..pieces).map(|before| f64::from(before) * (piece + gap));
    begins.map(|begin| [at(begin), at(begin + piece)]).collect()
}

fn rgb(paint: Paint) -> RGBColor {
    let digits = color(paint).trim_start_matches('#');
    let number = u32::from_str_radix(digits, 16).unwrap_or(0);
    let [_, red, green, blue] = number.to_be_bytes();
    RGBColor(red, green, blue)
}
