//! Charts of the measurements, as SVG and PNG.
//!
//! They need no font and no library of the system: the font is part of this crate.

use plotters::prelude::*;
use plotters::style::register_font;
use thiserror::Error;

use super::chart::Chart;
use super::{HerdRow, plot};

/// Pixels from left to right.
pub const WIDTH: u32 = 1200;
/// Pixels from top to bottom.
pub const HEIGHT: u32 = 800;

/// A chart that could not be drawn.
#[derive(Debug, Error)]
#[error("cannot draw the chart {chart}: {problem}")]
pub struct ChartError {
    /// The chart's name.
    pub chart: &'static str,
    /// What went wrong.
    pub problem: String,
}

impl Chart {
    /// The chart as SVG text.
    ///
    /// # Errors
    /// If it cannot be drawn.
    pub fn svg(self, rows: &[HerdRow]) -> Result<String, ChartError> {
        let mut text = String::new();
        let area = SVGBackend::with_string(&mut text, (WIDTH, HEIGHT)).into_drawing_area();
        self.draw(&area, rows)?;
        drop(area);
        Ok(text)
    }

    /// The chart as the bytes of a PNG file.
    ///
    /// # Errors
    /// If it cannot be drawn.
    pub fn png(self, rows: &[HerdRow]) -> Result<Vec<u8>, ChartError> {
        let mut pixels = vec![0; (WIDTH * HEIGHT * 3) as usize];
        let size = (WIDTH, HEIGHT);
        let area = BitMapBackend::with_buffer(&mut pixels, size).into_drawing_area();
        self.draw(&area, rows)?;
        drop(area);
        self.encode(&pixels)
    }

    fn draw<B: DrawingBackend>(
        self,
        area: &DrawingArea<B, plotters::coord::Shift>,
        rows: &[HerdRow],
    ) -> Result<(), ChartError> {
        let font = include_bytes!("../../fonts/DejaVuSans-subset.ttf");
        register_font("sans-serif", FontStyle::Normal, font)
            .map_err(|_| self.error("its font cannot be read"))?;
        plot::draw(self, area, rows).map_err(|error| self.error(error))?;
        area.present().map_err(|error| self.error(error))
    }

    fn encode(self, pixels: &[u8]) -> Result<Vec<u8>, ChartError> {
        let mut bytes = Vec::new();
        let mut encoder = png::Encoder::new(&mut bytes, WIDTH, HEIGHT);
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_depth(png::BitDepth::Eight);
        let written = encoder
            .write_header()
            .and_then(|mut writer| writer.write_image_data(pixels));
        written.map_err(|error| self.error(error))?;
        Ok(bytes)
    }

    fn error(self, problem: impl std::fmt::Display) -> ChartError {
        ChartError {
            chart: self.name(),
            problem: problem.to_string(),
        }
    }
}
