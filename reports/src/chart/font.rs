//! The font of all pictures: it is part of this crate, so that they look the same everywhere.

use ab_glyph::{Font, FontRef, PxScale, ScaleFont};
use plotters::style::{FontStyle, register_font};

const BYTES: &[u8] = include_bytes!("../../fonts/DejaVuSans-subset.ttf");

/// What plotters calls the size of a font, for each unit of what everybody else calls it.
pub(crate) const PLOTTERS: f64 = 1.24;

/// The font, as plotters asks for it.
pub(super) fn sans(size: f64) -> (&'static str, f64) {
    ("sans-serif", size * PLOTTERS)
}

/// Tells plotters of the font.
pub(crate) fn register() -> Result<(), &'static str> {
    register_font("sans-serif", FontStyle::Normal, BYTES).map_err(|_| "its font cannot be read")
}

/// The font.
pub(super) fn load() -> Result<FontRef<'static>, &'static str> {
    FontRef::try_from_slice(BYTES).map_err(|_| "its font cannot be read")
}

/// The scale at which an em has so many pixels.
pub(super) fn scale(font: &FontRef<'_>, em: f64) -> PxScale {
    let units = font.units_per_em().unwrap_or(2048.0);
    PxScale::from(em as f32 * font.height_unscaled() / units)
}

/// How wide a text is.
pub(super) fn width(text: &str, size: f64) -> f64 {
    load().map_or(0.0, |font| {
        let font = font.as_scaled(scale(&font, size));
        let wide = |letter| font.h_advance(font.glyph_id(letter));
        f64::from(text.chars().map(wide).sum::<f32>())
    })
}

/// A text in lines that are at most so wide, broken at spaces.
pub(super) fn lines(text: &str, size: f64, room: f64) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    for word in text.split_whitespace() {
        let longer = format!("{line}{}{word}", if line.is_empty() { "" } else { " " });
        if !line.is_empty() && width(&longer, size) > room {
            lines.push(std::mem::replace(&mut line, word.to_owned()));
        } else {
            line = longer;
        }
    }
    lines.push(line);
    lines
}
