//! Charts of the measurements, as SVG and PNG.
//!
//! They need no font and no library of the system: the font is part of this crate.

use plotters::prelude::*;
use plotters::style::register_font;
use thiserror::Error;

use super::HerdRow;
use super::plot;
use crate::words::{decimal, duration, thousands};

/// Pixels from left to right.
pub const WIDTH: u32 = 1200;
/// Pixels from top to bottom.
pub const HEIGHT: u32 = 800;

/// What a chart shows, over the number of contenders.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Chart {
    /// Notifications from the first release on.
    Notifications,
    /// The 99th percentile of the time of a hand-over.
    Handover,
    /// The 99th percentile of the time of a bystander's read.
    Bystander,
    /// Bytes per hand-over.
    Bytes,
}

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
    /// All charts, in the order in which they are best read.
    pub const ALL: [Self; 4] = [
        Self::Notifications,
        Self::Handover,
        Self::Bystander,
        Self::Bytes,
    ];

    /// A short name, fit for a file: `notifications`, `handover-p99`, `bystander-p99`, `bytes`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Notifications => "notifications",
            Self::Handover => "handover-p99",
            Self::Bystander => "bystander-p99",
            Self::Bytes => "bytes",
        }
    }

    /// What the chart says it shows.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Notifications => "Notifications to hand the lock to every contender once",
            Self::Handover => "Time from a release until the next contender has the lock",
            Self::Bystander => "Time of a read by a client that does not use the lock",
            Self::Bytes => "Bytes that a hand-over moves to and from clients",
        }
    }

    /// What is measured upwards.
    pub(super) const fn axis(self) -> &'static str {
        match self {
            Self::Notifications => "notifications (log)",
            Self::Handover => "hand-over, 99th percentile (virtual time, log)",
            Self::Bystander => "read, 99th percentile (virtual time, log)",
            Self::Bytes => "bytes per hand-over (log)",
        }
    }

    /// The measurement that the chart shows.
    pub(super) fn value(self, row: &HerdRow) -> f64 {
        match self {
            Self::Notifications => row.notifications as f64,
            Self::Handover => row.handover_p99 as f64,
            Self::Bystander => row.bystander_p99 as f64,
            Self::Bytes => row.bytes_per_handover,
        }
    }

    /// What it is compared with, and what that is called.
    pub(super) fn reference(self, row: &HerdRow) -> Option<f64> {
        match self {
            Self::Notifications => row.formula.map(|formula| formula as f64),
            Self::Bystander => Some(row.bystander_idle_p99 as f64),
            Self::Handover | Self::Bytes => None,
        }
    }

    /// What the comparison is called in the legend.
    pub(super) const fn reference_name(self) -> &'static str {
        match self {
            Self::Notifications => "formula",
            Self::Bystander => "while nobody wants it",
            Self::Handover | Self::Bytes => "",
        }
    }

    /// A value of the upward axis, with its unit.
    pub(super) fn label(self, value: f64) -> String {
        match self {
            Self::Notifications | Self::Bytes if value >= 1.0 => thousands(value.round() as u64),
            Self::Notifications | Self::Bytes => decimal(value, 2),
            Self::Handover | Self::Bystander => tick(value),
        }
    }

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

/// A duration in microseconds without needless decimals, as ticks have them: `200 us` or
/// `5 ms`.
fn tick(micros: f64) -> String {
    let (number, unit) = match micros {
        ..1_000.0 => (micros, "us"),
        ..1_000_000.0 => (micros / 1e3, "ms"),
        _ => (micros / 1e6, "s"),
    };
    if number.fract() == 0.0 {
        format!("{} {unit}", thousands(number as u64))
    } else {
        duration(micros.round() as u64)
    }
}
