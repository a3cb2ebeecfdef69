//! Pixels that plotters draws on, with several for each unit, and letters where the font wants them.
//!
//! plotters itself puts the ink of each letter at a whole pixel and leaves away the space before it, so that some
//! letters touch and others stand alone.

use ab_glyph::{Font, FontRef, ScaleFont, point};
use plotters::backend::BitMapBackend;
use plotters_backend::text_anchor::{HPos, VPos};
use plotters_backend::{
    BackendColor, BackendCoord, BackendStyle, BackendTextStyle, DrawingBackend, DrawingErrorKind,
};

use super::font;

/// A picture in the making.
pub(crate) struct Canvas<'p> {
    pixels: BitMapBackend<'p>,
    /// Pixels for each unit.
    fine: u32,
    font: FontRef<'static>,
}

impl<'p> Canvas<'p> {
    /// A canvas over pixels of three bytes each: so many in a row, and so many rows.
    pub(crate) fn new(
        pixels: &'p mut [u8],
        size: (u32, u32),
        fine: u32,
    ) -> Result<Self, &'static str> {
        Ok(Self {
            pixels: BitMapBackend::with_buffer(pixels, size),
            fine,
            font: font::load()?,
        })
    }

    fn at(&self, (x, y): BackendCoord) -> BackendCoord {
        (x * self.fine as i32, y * self.fine as i32)
    }

    fn finer<S: BackendStyle>(&self, style: &S) -> Stroke {
        Stroke(style.color(), style.stroke_width() * self.fine)
    }
}

/// A colour, and how wide a line is.
struct Stroke(BackendColor, u32);

impl BackendStyle for Stroke {
    fn color(&self) -> BackendColor {
        self.0
    }

    fn stroke_width(&self) -> u32 {
        self.1
    }
}

type Error<'p> = <BitMapBackend<'p> as DrawingBackend>::ErrorType;
type Drawn<'p> = Result<(), DrawingErrorKind<Error<'p>>>;

impl<'p> DrawingBackend for Canvas<'p> {
    type ErrorType = Error<'p>;

    fn get_size(&self) -> (u32, u32) {
        let (width, height) = self.pixels.get_size();
        (width / self.fine, height / self.fine)
    }

    fn ensure_prepared(&mut self) -> Drawn<'p> {
        self.pixels.ensure_prepared()
    }

    fn present(&mut self) -> Drawn<'p> {
        self.pixels.present()
    }

    fn draw_pixel(&mut self, at: BackendCoord, color: BackendColor) -> Drawn<'p> {
        let (x, y) = self.at(at);
        let last = self.fine as i32 - 1;
        self.pixels
            .draw_rect((x, y), (x + last, y + last), &color, true)
    }

    fn draw_line<S: BackendStyle>(
        &mut self,
        from: BackendCoord,
        to: BackendCoord,
        style: &S,
    ) -> Drawn<'p> {
        self.draw_path([from, to], style)
    }

    fn draw_rect<S: BackendStyle>(
        &mut self,
        from: BackendCoord,
        to: BackendCoord,
        style: &S,
        fill: bool,
    ) -> Drawn<'p> {
        let ends = (self.at(from), self.at(to));
        let style = self.finer(style);
        self.pixels.draw_rect(ends.0, ends.1, &style, fill)
    }

    fn draw_path<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(
        &mut self,
        path: I,
        style: &S,
    ) -> Drawn<'p> {
        let path: Vec<_> = path.into_iter().map(|at| self.at(at)).collect();
        let style = self.finer(style);
        self.pixels.draw_path(path, &style)
    }

    fn draw_circle<S: BackendStyle>(
        &mut self,
        center: BackendCoord,
        radius: u32,
        style: &S,
        fill: bool,
    ) -> Drawn<'p> {
        let (center, style) = (self.at(center), self.finer(style));
        self.pixels
            .draw_circle(center, radius * self.fine, &style, fill)
    }

    fn fill_polygon<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(
        &mut self,
        corners: I,
        style: &S,
    ) -> Drawn<'p> {
        let corners: Vec<_> = corners.into_iter().map(|at| self.at(at)).collect();
        let style = self.finer(style);
        self.pixels.fill_polygon(corners, &style)
    }

    /// The same places as in an SVG by plotters.
    fn draw_text<S: BackendTextStyle>(
        &mut self,
        text: &str,
        style: &S,
        at: BackendCoord,
    ) -> Drawn<'p> {
        let color = style.color();
        let em = style.size() / font::PLOTTERS * f64::from(self.fine);
        let font = self.font.clone();
        let font = font.as_scaled(font::scale(&font, em));
        let anchor = style.anchor();
        let down = match anchor.v_pos {
            VPos::Top => 0.76,
            VPos::Center => 0.27,
            VPos::Bottom => -0.27,
        };
        let (letters, wide) = spaced(&font, text);
        let right = match anchor.h_pos {
            HPos::Left => 0.0,
            HPos::Center => -wide / 2.0,
            HPos::Right => -wide,
        };
        let baseline = (down * em).round() as f32;
        let (turn, origin) = (style.transform(), self.at(at));
        let size = self.pixels.get_size();
        let mut drawn = Ok(());
        for (id, x) in letters {
            let glyph = id.with_scale_and_position(font.scale(), point(right + x, baseline));
            let Some(ink) = font.outline_glyph(glyph) else {
                continue;
            };
            let first = ink.px_bounds().min;
            ink.draw(|x, y, covered| {
                let inside = (first.x as i32 + x as i32, first.y as i32 + y as i32);
                let (x, y) = turn.transform(inside.0, inside.1);
                let (x, y) = (origin.0 + x, origin.1 + y);
                let there = x >= 0 && y >= 0 && x < size.0 as i32 && y < size.1 as i32;
                if drawn.is_ok() && there {
                    let covered = f64::from(covered.min(1.0));
                    drawn = self.pixels.draw_pixel((x, y), color.mix(covered));
                }
            });
        }
        drawn
    }
}

/// The letters of a text, each with its place to the right, and the width of all.
fn spaced(
    font: &ab_glyph::PxScaleFont<&FontRef<'static>>,
    text: &str,
) -> (Vec<(ab_glyph::GlyphId, f32)>, f32) {
    let mut x = 0.0;
    let mut letters = Vec::new();
    for letter in text.chars() {
        let id = font.glyph_id(letter);
        if let Some((before, _)) = letters.last() {
            x += font.kern(*before, id);
        }
        letters.push((id, x));
        x += font.h_advance(id);
    }
    (letters, x)
}

/// Pixels as the bytes of a PNG file.
pub(crate) fn encode(
    pixels: &[u8],
    (width, height): (u32, u32),
) -> Result<Vec<u8>, png::EncodingError> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, width, height);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    let mut writer = encoder.write_header()?;
    writer.write_image_data(pixels)?;
    drop(writer);
    Ok(bytes)
}
