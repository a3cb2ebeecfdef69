//! The matrix as one file of HTML: a table whose cells open. It needs no network and no script.

use std::fmt::Write as _;

use super::{Matrix, MatrixCell, MatrixFinding, MatrixRow, Named, Standing};
use crate::escape::escaped;
use crate::words::count;

const STYLE: &str = include_str!("matrix.css");

/// The matrix as a page.
pub fn html(matrix: &Matrix) -> String {
    let mut text = String::from(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<title>Lock matrix</title>\n",
    );
    let (version, seeds) = (escaped(&matrix.picklock), matrix.seeds);
    let _ = writeln!(
        text,
        "<style>\n{STYLE}</style>\n</head>\n<body>\n<h1>Lock matrix</h1>\n\
         <p>picklock {version}, {seeds} seeds of each cell. A number says in how many runs it was seen, of \
         those that decide. A cell opens to a run that shows it.</p>"
    );
    legend(&mut text, matrix);
    let services = services(matrix);
    let links = services.iter().map(|service| {
        let name = escaped(service);
        format!("<a href=\"#service-{name}\">{name}</a>")
    });
    let links = links.collect::<Vec<_>>().join("\n");
    let _ = writeln!(text, "<nav aria-label=\"Services\">\n{links}\n</nav>");
    for name in services {
        service(&mut text, matrix, name);
    }
    text.push_str("</body>\n</html>\n");
    text
}

/// The services, in the order of the rows.
fn services(matrix: &Matrix) -> Vec<&str> {
    let mut services: Vec<&str> = Vec::new();
    for row in &matrix.rows {
        if !services.contains(&row.family.as_str()) {
            services.push(&row.family);
        }
    }
    services
}

/// The algorithms of a service by what they can be held as, under the classes that can strike any of them.
fn service(text: &mut String, matrix: &Matrix, service: &str) {
    let rows = matrix.rows.iter().filter(|row| row.family == service);
    let rows: Vec<&MatrixRow> = rows.collect();
    let columns = matrix.classes.iter().enumerate().filter(|(place, _)| {
        let mut cells = rows.iter().map(|row| row.cells.get(*place));
        cells.any(|cell| matches!(cell, Some(Some(_))))
    });
    let columns: Vec<(usize, &Named)> = columns.collect();
    let mut kinds: Vec<&str> = Vec::new();
    for row in &rows {
        if !kinds.contains(&row.kind.as_str()) {
            kinds.push(&row.kind);
        }
    }
    let name = escaped(service);
    let _ = write!(
        text,
        "<details class=\"service\" id=\"service-{name}\" open><summary>{name} <small>{}</small></summary>\n\
         <table>\n<colgroup><col class=\"algorithm\">",
        sum(&rows)
    );
    text.push_str(&"<col>".repeat(columns.len()));
    text.push_str("</colgroup>\n<thead><tr><th scope=\"col\">algorithm</th>");
    for (_, class) in &columns {
        let (name, meaning) = (escaped(&class.name), escaped(&class.meaning));
        let _ = write!(text, "<th scope=\"col\" title=\"{meaning}\">{name}</th>");
    }
    text.push_str("</tr></thead>\n");
    for kind in kinds {
        let across = columns.len() + 1;
        let _ = writeln!(
            text,
            "<tbody>\n<tr class=\"kind\"><th scope=\"rowgroup\" colspan=\"{across}\">{}</th></tr>",
            escaped(kind)
        );
        for found in rows.iter().filter(|row| row.kind == kind) {
            row(text, found, &columns);
        }
        text.push_str("</tbody>\n");
    }
    text.push_str("</table></details>\n");
}

/// How many algorithms a service has, and how many of their cells stand so that a reader looks for them.
fn sum(rows: &[&MatrixRow]) -> String {
    let mut words = vec![count(rows.len() as u64, "algorithm")];
    for standing in [Standing::ClaimBroken, Standing::Undecided] {
        let cells = rows.iter().flat_map(|row| row.cells.iter().flatten());
        let number = cells.filter(|cell| cell.standing == standing).count() as u64;
        if number > 0 {
            words.push(format!("{} {}", count(number, "cell"), name(standing)));
        }
    }
    words.join(", ")
}

fn row(text: &mut String, row: &MatrixRow, columns: &[(usize, &Named)]) {
    let name = escaped(&row.algorithm);
    let flaw = row.flaw.as_deref().map_or(String::new(), |flaw| {
        format!("<small>{}</small>", escaped(flaw))
    });
    let _ = write!(
        text,
        "<tr><th scope=\"row\">{name}<label class=\"fold\"><input type=\"checkbox\"> all</label>{flaw}</th>"
    );
    for (place, class) in columns {
        match row.cells.get(*place).and_then(Option::as_ref) {
            Some(cell) => self::cell(text, class, cell),
            None => text.push_str("<td class=\"none\">-</td>"),
        }
    }
    text.push_str("</tr>\n");
}

fn cell(text: &mut String, column: &Named, cell: &MatrixCell) {
    let class = class(cell.standing);
    let letter = letter(cell.standing);
    let shown = cell.text();
    let (word, number) = shown.rsplit_once(' ').unwrap_or((&shown, ""));
    let shown = format!(
        "{letter}{} <span class=\"number\">{number}</span>",
        escaped(word)
    );
    let column = escaped(&column.name);
    let _ = write!(text, "<td class=\"{class}\" data-class=\"{column}\">");
    if cell.findings.is_empty() && cell.undecided.is_none() {
        let _ = write!(text, "{shown}</td>");
        return;
    }
    let _ = write!(text, "<details><summary>{shown}</summary><div>");
    if let Some(why) = cell.undecided.as_ref().filter(|_| cell.findings.is_empty()) {
        let _ = write!(text, "<p>{}</p>", escaped(why));
    }
    for found in &cell.findings {
        finding(text, cell, found);
    }
    text.push_str("</div></details></td>");
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

/// How a cell of this standing is marked for those who see no tint.
fn letter(standing: Standing) -> String {
    let letter = match standing {
        Standing::Kept => "K",
        Standing::ClaimBroken => "B",
        Standing::NotClaimed => "N",
        Standing::Excused => "E",
        Standing::Undecided => "U",
    };
    format!("<b class=\"letter\">{letter}</b>")
}

/// The word of which a cell has the letter.
fn name(standing: Standing) -> &'static str {
    match standing {
        Standing::Kept => "kept",
        Standing::ClaimBroken => "broken",
        Standing::NotClaimed => "not claimed",
        Standing::Excused => "excused",
        Standing::Undecided => "undecided",
    }
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

/// What letters, words, and columns mean.
fn legend(text: &mut String, matrix: &Matrix) {
    text.push_str("<ul class=\"letters\">\n");
    for standing in Standing::ALL {
        let (class, letter) = (class(standing), letter(standing));
        let (name, words) = (name(standing), standing.words());
        let _ = writeln!(text, "<li class=\"{class}\">{letter}{name}: {words}</li>");
    }
    text.push_str("</ul>\n");
    let lists = [
        ("Words", matrix.words_used()),
        ("Classes of faults", matrix.classes.iter().collect()),
    ];
    for (head, list) in lists {
        let _ = writeln!(
            text,
            "<details open><summary>{head}</summary>\n<dl class=\"words\">"
        );
        for named in list {
            let (name, meaning) = (escaped(&named.name), escaped(&named.meaning));
            let _ = writeln!(text, "<div><dt>{name}</dt><dd>{meaning}</dd></div>");
        }
        text.push_str("</dl></details>\n");
    }
}
