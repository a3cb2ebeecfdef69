//! A diagram as SVG: with colours of its own for a file, or with those of the page that it stands in.

use std::fmt::Write as _;

use super::axis::WIDTH;
use super::build::Diagram;
use super::shapes::{Anchor, Paint, Shape, frame};
use crate::escape::escaped;

/// The diagram of a run as an SVG file, under a title of these lines.
pub fn svg(diagram: &Diagram, title: &[String]) -> String {
    let (shapes, height) = frame(diagram, title);
    let name = escaped(&title.join(". "));
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" \
         height=\"{height}\" font-family=\"DejaVu Sans, Verdana, sans-serif\" role=\"img\">\n<title>{name}</title>\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n"
    );
    draw(&mut text, &shapes, &|paint, how| {
        format!("{how}=\"{}\"", color(paint))
    });
    text.push_str("</svg>\n");
    text
}

/// The same for a page whose style sheet knows the paints by their classes.
pub(crate) fn inline(diagram: &Diagram, label: &str) -> String {
    let (shapes, height) = frame(diagram, &[]);
    let label = escaped(label);
    let mut text = format!(
        "<svg class=\"still\" viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" aria-label=\"{label}\">\n"
    );
    draw(&mut text, &shapes, &|paint, how| {
        let how = if how == "fill" { 'f' } else { 's' };
        format!("class=\"{how}-{}\"", class(paint))
    });
    text.push_str("</svg>\n");
    text
}

/// Says what something is filled or drawn with.
type Painted<'p> = dyn Fn(Paint, &str) -> String + 'p;

fn draw(text: &mut String, shapes: &[Shape], painted: &Painted<'_>) {
    for shape in shapes {
        // Writing to a string cannot fail.
        let _ = one(text, shape, painted);
    }
}

fn one(out: &mut String, shape: &Shape, painted: &Painted<'_>) -> std::fmt::Result {
    match shape {
        Shape::Rect {
            at: (x, y),
            size: (width, height),
            paint,
            opacity,
            framed,
        } => {
            let place =
                format!("x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\"");
            let fill = painted(*paint, "fill");
            writeln!(out, "<rect {place} {fill} fill-opacity=\"{opacity}\"/>")?;
            if *framed {
                let stroke = painted(*paint, "stroke");
                writeln!(out, "<rect {place} {stroke} fill=\"none\"/>")?;
            }
            Ok(())
        }
        Shape::Line {
            from: (x1, y1),
            to: (x2, y2),
            paint,
            width,
            stroke: how,
        } => {
            let stroke = painted(*paint, "stroke");
            let dashes = how.pieces().map_or_else(String::new, |(long, gap)| {
                format!(" stroke-dasharray=\"{long} {gap}\"")
            });
            writeln!(
                out,
                "<line x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\" {stroke} \
                 stroke-width=\"{width}\"{dashes}/>"
            )
        }
        Shape::Dot {
            at: (x, y),
            radius,
            paint,
        } => {
            let fill = painted(*paint, "fill");
            writeln!(
                out,
                "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius}\" {fill}/>"
            )
        }
        Shape::Head { tip, from, paint } => {
            let [a, b, c] = head(*tip, *from).map(|(x, y)| format!("{x:.1},{y:.1}"));
            let fill = painted(*paint, "fill");
            writeln!(out, "<polygon points=\"{a} {b} {c}\" {fill}/>")
        }
        Shape::Words { .. } => words(out, shape, painted),
    }
}

fn words(out: &mut String, shape: &Shape, painted: &Painted<'_>) -> std::fmt::Result {
    let Shape::Words {
        at: (x, y),
        size,
        paint,
        anchor,
        bold,
        text,
    } = shape
    else {
        return Ok(());
    };
    let fill = painted(*paint, "fill");
    let anchor = match anchor {
        Anchor::Start => "",
        Anchor::Middle => " text-anchor=\"middle\"",
        Anchor::End => " text-anchor=\"end\"",
    };
    let weight = if *bold { " font-weight=\"bold\"" } else { "" };
    let text = escaped(text);
    writeln!(
        out,
        "<text x=\"{x:.1}\" y=\"{y:.1}\" font-size=\"{size}\" {fill}{anchor}{weight}>{text}</text>"
    )
}

/// The corners of the head of an arrow.
pub(super) fn head(tip: (f64, f64), from: (f64, f64)) -> [(f64, f64); 3] {
    let (right, down) = (tip.0 - from.0, tip.1 - from.1);
    let long = right.hypot(down).max(0.1);
    let (right, down) = (right / long, down / long);
    let back = (tip.0 - right * 6.0, tip.1 - down * 6.0);
    [
        tip,
        (back.0 - down * 2.6, back.1 + right * 2.6),
        (back.0 + down * 2.6, back.1 - right * 2.6),
    ]
}

/// Colours of contenders that people with any kind of colour vision can tell apart (Okabe and Ito), but for yellow.
const CONTENDERS: [&str; 7] = [
    "#0072b2", "#d55e00", "#009e73", "#b0578a", "#b87f00", "#3a8fc0", "#555555",
];

/// The colour of a paint on white.
pub(super) fn color(paint: Paint) -> &'static str {
    match paint {
        Paint::Ink => "#1c1e21",
        Paint::Muted => "#6b7280",
        Paint::Faint => "#c9cdd3",
        Paint::Band => "#f5f6f8",
        Paint::Paper => "#ffffff",
        Paint::Bad => "#c8102e",
        Paint::Fault => "#c77700",
        Paint::Calm => "#5a9e6f",
        Paint::Notice => "#7b3fb5",
        Paint::Of(id) => CONTENDERS[id.0 as usize % CONTENDERS.len()],
    }
}

/// The class of a paint in the style sheet of a page.
fn class(paint: Paint) -> String {
    match paint {
        Paint::Ink => "ink".to_owned(),
        Paint::Muted => "muted".to_owned(),
        Paint::Faint => "faint".to_owned(),
        Paint::Band => "band".to_owned(),
        Paint::Paper => "paper".to_owned(),
        Paint::Bad => "bad".to_owned(),
        Paint::Fault => "fault".to_owned(),
        Paint::Calm => "calm".to_owned(),
        Paint::Notice => "notice".to_owned(),
        Paint::Of(id) => format!("c{}", id.0 as usize % CONTENDERS.len()),
    }
}
