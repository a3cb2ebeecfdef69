//! Strips: curves above the lanes, with the faults behind them.

use super::{Anchor, Canvas, GUTTER, MARGIN, Paint, Shape, WIDTH, wide};
use crate::diagram::strips::{Strip, StripForm};

impl Canvas<'_> {
    pub(super) fn strips(&mut self) {
        let diagram = self.diagram;
        let [first, ..] = &diagram.strips[..] else {
            return;
        };
        let bottom = diagram
            .strips
            .last()
            .map_or(0, |last| last.top + last.height);
        for span in diagram.spans.iter().filter(|span| span.fault.is_some()) {
            let (from, until) = (self.x(span.from), self.x(span.until));
            self.shapes.push(Shape::Rect {
                at: (from, f64::from(first.top)),
                size: ((until - from).max(1.0), f64::from(bottom - first.top)),
                paint: Paint::Fault,
                opacity: 0.14,
                framed: false,
            });
        }
        for strip in &diagram.strips {
            self.strip(strip);
        }
    }

    fn strip(&mut self, strip: &Strip) {
        let (top, height) = (f64::from(strip.top), f64::from(strip.height));
        let (bottom, end) = (top + height, WIDTH - MARGIN);
        self.words(
            (8.0, top + height / 2.0 + 4.0),
            11.0,
            Paint::Ink,
            strip.name,
        );
        let most = format!("{}{}", strip.most, strip.unit);
        for (y, text) in [(top + 8.0, most.as_str()), (bottom, "0")] {
            self.shapes.push(Shape::Words {
                at: (GUTTER - 8.0, y),
                size: 9.0,
                paint: Paint::Muted,
                anchor: Anchor::End,
                bold: false,
                text: text.to_owned(),
            });
        }
        self.line((GUTTER, bottom), (end, bottom), Paint::Faint, 1.0);
        self.curve(strip);
        self.turning(strip);
    }

    fn curve(&mut self, strip: &Strip) {
        let height = f64::from(strip.height);
        let bottom = f64::from(strip.top) + height;
        let end = WIDTH - MARGIN;
        let at = |value: u64| bottom - strip.share(value) * (height - 4.0);
        let points = self.points(strip);
        let mut ends = points
            .iter()
            .skip(1)
            .map(|point| point.0)
            .collect::<Vec<_>>();
        ends.push(end);
        for (index, &(x, value)) in points.iter().enumerate() {
            let (y, next) = (at(value), ends[index]);
            let after = points.get(index + 1).map(|point| (point.0, at(point.1)));
            match strip.form {
                StripForm::Curve => {
                    self.shapes.extend([Shape::Dot {
                        at: (x, y),
                        radius: 2.0,
                        paint: Paint::Bad,
                    }]);
                    if let Some(after) = after {
                        self.line((x, y), after, Paint::Bad, 1.4);
                    }
                }
                StripForm::Area if value > 0 => self.shapes.push(Shape::Rect {
                    at: (x, y),
                    size: (next - x, bottom - y),
                    paint: Paint::Muted,
                    opacity: 0.45,
                    framed: false,
                }),
                StripForm::Area => {}
                StripForm::Steps => {
                    self.line((x, y), (next, y), Paint::Ink, 1.4);
                    if let Some((x, other)) = after {
                        self.line((x, y), (x, other), Paint::Ink, 1.4);
                    }
                }
            }
        }
    }

    /// The choice that made the violation likelier by the most, down to the event that shows it first.
    fn turning(&mut self, strip: &Strip) {
        let (top, end) = (f64::from(strip.top), WIDTH - MARGIN);
        let bottom = top + f64::from(strip.height);
        if let Some(turning) = &strip.turning {
            let x = self.x(turning.at);
            let line_end = f64::from(self.diagram.height);
            self.line((x, top), (x, line_end), Paint::Notice, 1.2);
            let left = x + wide(&turning.label, 11.0) > end;
            self.shapes.push(Shape::Words {
                at: (if left { x - 5.0 } else { x + 5.0 }, bottom - 4.0),
                size: 11.0,
                paint: Paint::Notice,
                anchor: if left { Anchor::End } else { Anchor::Start },
                bold: true,
                text: turning.label.clone(),
            });
        }
    }

    /// Where the values of a strip stand. Of those that cannot be told apart the greatest.
    fn points(&self, strip: &Strip) -> Vec<(f64, u64)> {
        let mut points: Vec<(f64, u64)> = Vec::new();
        for &(at, value) in &strip.points {
            let x = self.x(at);
            match points.last_mut() {
                Some(last)
                    if strip.form != StripForm::Curve
                        && x - last.0 < 0.5
                        && strip.points.len() > 200 =>
                {
                    last.1 = last.1.max(value);
                }
                Some(_) | None => points.push((x, value)),
            }
        }
        points
    }
}
