//! Charts: measurements as pictures, SVG and PNG, drawn by plotters.
//!
//! Lines have their names at their ends, and markers of their own, so that they can be told apart without colours.
//! From eight lines on, each has a panel of its own, with the others in grey behind it. The font is part of this crate.

mod axes;
mod canvas;
mod font;
mod lines;
mod marker;
mod page;
mod rows;
mod scale;

pub(crate) use canvas::{Canvas, encode};
pub(crate) use font::{PLOTTERS, register};
pub use scale::{Axis, Ticks};

use plotters::coord::Shift;
use plotters::prelude::*;
use thiserror::Error;

/// Units from left to right.
pub const WIDTH: u32 = 1000;

/// Pixels of a PNG for each unit: screens of today have two.
pub(crate) const FINE: u32 = 2;

/// A chart: what it shows, and how its measurements came about.
#[derive(Clone, Debug)]
pub struct Figure {
    /// A short name, fit for a file.
    pub name: String,
    /// What it shows.
    pub title: String,
    /// The parameters of the measurement, and what helps to read it; a line each, or several if it is long.
    pub caption: Vec<String>,
    /// What is measured to the right.
    pub x: Axis,
    /// What is measured upwards.
    pub y: Axis,
    /// The measurements.
    pub series: Vec<Series>,
    /// How they are shown.
    pub form: Form,
}

/// How measurements are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// A line for each series.
    Lines,
    /// A row for each tick of the upward axis, with the marks of all series.
    Rows,
}

/// Measurements that belong together.
#[derive(Clone, Debug, Default)]
pub struct Series {
    /// What they are of.
    pub name: String,
    /// Where each lies, ascending.
    pub points: Vec<(f64, f64)>,
    /// What they are compared with.
    pub reference: Vec<(f64, f64)>,
    /// In rows: where the range of each measurement ends, by the number of its row.
    pub tails: Vec<(f64, f64)>,
}

/// A chart that could not be drawn.
#[derive(Debug, Error)]
#[error("cannot draw the chart {chart}: {problem}")]
pub struct ChartError {
    /// The chart's name.
    pub chart: String,
    /// What went wrong.
    pub problem: String,
}

type Area<B> = DrawingArea<B, Shift>;
type Problem<B> = DrawingAreaErrorKind<<B as DrawingBackend>::ErrorType>;
type Drawn<B> = Result<(), Problem<B>>;

impl Figure {
    /// The chart as SVG text.
    ///
    /// # Errors
    /// If it cannot be drawn.
    pub fn svg(&self) -> Result<String, ChartError> {
        let mut text = String::new();
        let area = SVGBackend::with_string(&mut text, self.size()).into_drawing_area();
        self.draw(&area)?;
        drop(area);
        Ok(page::named(&text, &self.title))
    }

    /// The chart for a page whose style sheet knows its colours.
    ///
    /// # Errors
    /// If it cannot be drawn.
    pub fn inline(&self) -> Result<String, ChartError> {
        Ok(page::inline(&self.svg()?, self.size()))
    }

    /// The chart as the bytes of a PNG file.
    ///
    /// # Errors
    /// If it cannot be drawn.
    pub fn png(&self) -> Result<Vec<u8>, ChartError> {
        let (width, height) = self.size();
        let size = (width * FINE, height * FINE);
        let mut pixels = vec![255; (size.0 * size.1 * 3) as usize];
        let canvas = Canvas::new(&mut pixels, size, FINE).map_err(|error| self.error(error))?;
        let area = canvas.into_drawing_area();
        self.draw(&area)?;
        drop(area);
        encode(&pixels, size).map_err(|error| self.error(error))
    }

    /// Width and height.
    pub fn size(&self) -> (u32, u32) {
        let head = page::head_height(self) as u32;
        let below = match self.form {
            Form::Lines => lines::height(self),
            Form::Rows => rows::height(self),
        };
        (WIDTH, head + below)
    }

    fn draw<B: DrawingBackend>(&self, area: &Area<B>) -> Result<(), ChartError> {
        font::register().map_err(|error| self.error(error))?;
        let drawn = || {
            area.fill(&WHITE)?;
            page::head(self, area)?;
            let (_, below) = area.split_vertically(page::head_height(self));
            match self.form {
                _ if self.is_empty() => page::nothing(&below),
                Form::Lines => lines::draw(self, &below),
                Form::Rows => rows::draw(self, &below),
            }?;
            area.present()
        };
        drawn().map_err(|error| self.error(error))
    }

    fn is_empty(&self) -> bool {
        self.series.iter().all(|one| one.points.is_empty())
    }

    fn error(&self, problem: impl std::fmt::Display) -> ChartError {
        ChartError {
            chart: self.name.clone(),
            problem: problem.to_string(),
        }
    }
}
