//! What lasts, as rectangles: faults above the lanes, and bars in them. What goes on where the picture ends is open
//! there, and reaches beyond the edge.

use super::{BEYOND, Canvas, GUTTER, MARGIN, Paint, Shape, Stroke, WIDTH, fitting, wide};
use crate::diagram::bars::{Bar, Track};
use crate::diagram::lanes::{HEAD, LaneKind};
use crate::diagram::spans::ROW;

/// How far beyond the edge the tip of a fault is that goes on.
const TIP: f64 = BEYOND + 6.0;

impl Canvas<'_> {
    pub(super) fn spans(&mut self) {
        for span in &self.diagram.spans {
            let (x, end) = (self.x(span.from), self.x(span.until));
            let y = f64::from(HEAD + span.row * ROW);
            let (paint, height) = match span.fault {
                Some(_) => (Paint::Fault, f64::from(ROW) - 3.0),
                None => (Paint::Calm, f64::from(ROW) - 3.0),
            };
            let end = if span.goes_on { end + BEYOND } else { end };
            self.shapes.push(Shape::Rect {
                at: (x, y),
                size: ((end - x).max(3.0), height),
                paint,
                opacity: 0.3,
                framed: false,
            });
            if span.goes_on {
                let middle = y + height / 2.0;
                self.shapes.push(Shape::Head {
                    tip: (end - BEYOND + TIP, middle),
                    from: (end, middle),
                    paint,
                });
            }
            let bottom = f64::from(self.diagram.height);
            self.shapes.push(Shape::Line {
                from: (x, y),
                to: (x, bottom),
                paint,
                width: 1.0,
                stroke: Stroke::Dashed,
            });
            if span.again {
                continue;
            }
            let text = fitting(&span.text, 11.0, WIDTH - GUTTER - MARGIN);
            let begin = x.min(WIDTH - MARGIN - wide(&text, 11.0)).max(GUTTER);
            self.words((begin + 5.0, y + 11.0), 11.0, Paint::Ink, &text);
        }
    }

    pub(super) fn bar(&mut self, bar: &Bar) {
        let (y, height) = self.diagram.lanes[bar.lane].track(bar.track);
        let (y, height) = (f64::from(y), f64::from(height));
        let (x, end) = (self.x(bar.from), self.x(bar.until));
        let end = if bar.goes_on { end + BEYOND } else { end };
        let long = (end - x).max(2.0);
        let (paint, opacity, framed) = match (bar.track, bar.of) {
            (Track::Process, _) => (Paint::Muted, 0.22, false),
            (Track::Role, _) if bar.bad => (Paint::Fault, 0.3, false),
            (Track::Role, _) => (Paint::Muted, 0.16, false),
            (Track::Belief, Some(of)) => (Paint::Of(of), 0.55, true),
            (Track::Effect, Some(_)) if bar.bad => (Paint::Bad, 0.6, true),
            (Track::Effect, Some(of)) => (Paint::Of(of), 0.9, true),
            (Track::Waiting, Some(of)) => (Paint::Of(of), 0.5, false),
            (_, Some(of)) => (Paint::Of(of), 0.2, true),
            (_, None) => (Paint::Muted, 0.2, true),
        };
        self.shapes.push(Shape::Rect {
            at: (x, y),
            size: (long, height),
            paint,
            opacity,
            framed: framed && !bar.goes_on,
        });
        if framed && bar.goes_on {
            // A frame without its right side.
            let bottom = y + height;
            self.line((x, y), (x, bottom), paint, 1.0);
            self.line((x, y), (end, y), paint, 1.0);
            self.line((x, bottom), (end, bottom), paint, 1.0);
        }
        let size = if height > 10.0 { 10.5 } else { 9.0 };
        let below = match bar.track {
            // Where no other bar of its lane is.
            Track::Process => 10.0,
            _ => height / 2.0 + size * 0.36,
        };
        let is_server = self.diagram.lanes[bar.lane].kind == LaneKind::Server;
        let has_words = match bar.track {
            Track::Effect => false,
            Track::Process => is_server,
            _ => true,
        };
        if has_words && wide(&bar.label, size) + 8.0 <= long {
            self.words((x + 4.0, y + below), size, Paint::Ink, &bar.label);
        }
    }
}
