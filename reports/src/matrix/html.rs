//! The matrix as one file of HTML: a table whose cells open. It needs no network and no script.

use std::fmt::Write as _;

use super::{Matrix, MatrixCell, MatrixFinding, Standing};
use crate::escape::escaped;
use crate::words::count;

const STYLE: &str = "\
:root{color-scheme:light dark}\
body{font:15px/1.4 system-ui,sans-serif;margin:1.5rem}\
.wide{overflow-x:auto}\
table{border-collapse:collapse}\
th,td{border:1px solid #8886;padding:.2rem .45rem;text-align:left;vertical-align:top;white-space:nowrap}\
thead th{position:sticky;top:0;background:Canvas}\
summary{cursor:pointer}\
details[open]{white-space:normal;min-width:22rem}\
code{font:13px/1.4 ui-monospace,monospace;white-space:pre-wrap;overflow-wrap:anywhere}\
.claim-broken{background:#d3222233;font-weight:600}\
.not-claimed{background:#d8a20022}\
.excused{background:#7777ff22}\
.undecided{font-style:italic}\
@media print{details[open]{min-width:0}}";

/// The matrix as a page.
pub fn html(matrix: &Matrix) -> String {
    let mut text = String::from(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n<title>Lock matrix</title>\n",
    );
    let _ = writeln!(
        text,
        "<style>{STYLE}</style>\n</head>\n<body>\n<h1>Lock matrix</h1>"
    );
    let (version, seeds) = (escaped(&matrix.picklock), matrix.seeds);
    let _ = writeln!(
        text,
        "<p>picklock {version}, {seeds} seeds of each cell. A number says in how many of the runs that tell something. \
         A cell opens to a run that shows it.</p>"
    );
    table(&mut text, matrix);
    legend(&mut text, matrix);
    text.push_str("</body>\n</html>\n");
    text
}

fn table(text: &mut String, matrix: &Matrix) {
    text.push_str("<div class=\"wide\"><table>\n<thead><tr><th scope=\"col\">algorithm</th>");
    for class in &matrix.classes {
        let (name, meaning) = (escaped(&class.name), escaped(&class.meaning));
        let _ = write!(text, "<th scope=\"col\" title=\"{meaning}\">{name}</th>");
    }
    text.push_str("</tr></thead>\n<tbody>\n");
    for row in &matrix.rows {
        let (name, kind) = (escaped(&row.algorithm), escaped(&row.kind));
        let flaw = row
            .flaw
            .as_ref()
            .map(|flaw| format!(". {flaw}"))
            .unwrap_or_default();
        let flaw = escaped(&flaw);
        let _ = write!(
            text,
            "<tr><th scope=\"row\" title=\"{kind}{flaw}\">{name}</th>"
        );
        for cell in &row.cells {
            match cell {
                Some(cell) => self::cell(text, cell),
                None => text.push_str("<td>-</td>"),
            }
        }
        text.push_str("</tr>\n");
    }
    text.push_str("</tbody>\n</table></div>\n");
}

fn cell(text: &mut String, cell: &MatrixCell) {
    let (class, shown) = (class(cell.standing), escaped(&cell.text()));
    let _ = write!(text, "<td class=\"{class}\">");
    if cell.findings.is_empty() && cell.undecided.is_none() {
        let _ = write!(text, "{shown}</td>");
        return;
    }
    let _ = write!(text, "<details><summary>{shown}</summary>");
    if let Some(why) = cell.undecided.as_ref().filter(|_| cell.findings.is_empty()) {
        let _ = write!(text, "<p>{}</p>", escaped(why));
    }
    for found in &cell.findings {
        finding(text, cell, found);
    }
    text.push_str("</details></td>");
}

fn finding(text: &mut String, cell: &MatrixCell, found: &MatrixFinding) {
    let (word, standing) = (escaped(&found.word), found.standing.words());
    let (runs, told) = (found.runs, count(cell.told, "run"));
    let (invariant, summary) = (escaped(&found.invariant), escaped(&found.summary));
    let _ = write!(
        text,
        "<p><b>{word}</b>, {runs} of {told} ({standing}): {invariant} violated. {summary}.<br>"
    );
    if let Some(because) = &found.because {
        let _ = write!(text, "Not claimed: {}.<br>", escaped(because));
    }
    if let Some(shrunk) = &found.shrunk {
        let faults = escaped(&shrunk.faults.join("; "));
        let _ = write!(text, "Shrunk: {}. {faults}<br>", escaped(&shrunk.sizes));
    }
    let _ = write!(text, "<code>{}</code></p>", escaped(&found.replay));
}

fn class(standing: Standing) -> &'static str {
    match standing {
        Standing::Kept => "kept",
        Standing::ClaimBroken => "claim-broken",
        Standing::NotClaimed => "not-claimed",
        Standing::Excused => "excused",
        Standing::Undecided => "undecided",
    }
}

fn legend(text: &mut String, matrix: &Matrix) {
    text.push_str("<h2>Words</h2>\n<table><tbody>\n");
    for named in matrix.words_used() {
        let (name, meaning) = (escaped(&named.name), escaped(&named.meaning));
        let _ = writeln!(
            text,
            "<tr><th scope=\"row\">{name}</th><td>{meaning}</td></tr>"
        );
    }
    for standing in Standing::ALL {
        let (class, words) = (class(standing), standing.words());
        let mark = if standing == Standing::ClaimBroken {
            "!"
        } else {
            ""
        };
        let _ = writeln!(
            text,
            "<tr><td class=\"{class}\">{mark}</td><td>The algorithm: {words}.</td></tr>"
        );
    }
    text.push_str("</tbody></table>\n<h2>Classes of faults</h2>\n<table><tbody>\n");
    for named in &matrix.classes {
        let (name, meaning) = (escaped(&named.name), escaped(&named.meaning));
        let _ = writeln!(
            text,
            "<tr><th scope=\"row\">{name}</th><td>{meaning}</td></tr>"
        );
    }
    text.push_str("</tbody></table>\n");
}
