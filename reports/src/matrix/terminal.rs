//! The matrix for a terminal: in bands of as many columns as fit, and below them what needs a look.

use std::fmt::Write as _;

use super::{Matrix, MatrixCell, MatrixFinding, MatrixRow, Named, Standing};
use crate::style::Style;
use crate::words::{count, wrap};

/// Between two columns.
const GAP: usize = 2;

/// The matrix in lines that are no wider than this, wherever a name fits. `detailed`: with a run for everything that
/// was seen, and not only for claims that were broken.
pub fn table(matrix: &Matrix, width: usize, detailed: bool, style: &Style) -> String {
    let mut text = String::new();
    for band in bands(matrix, width) {
        draw(&mut text, matrix, &band, style);
    }
    details(&mut text, matrix, width, detailed, style);
    legend(&mut text, matrix, width);
    text
}

/// A column, by its place, and how wide it is.
struct Column {
    place: usize,
    width: usize,
}

/// The columns, in bands that fit.
fn bands(matrix: &Matrix, width: usize) -> Vec<Vec<Column>> {
    let first = names(matrix);
    let mut bands: Vec<Vec<Column>> = Vec::new();
    let mut left = 0;
    for (place, class) in matrix.classes.iter().enumerate() {
        let cells = matrix
            .rows
            .iter()
            .map(|row| cell(row, place).chars().count());
        let wide = cells.chain([class.name.chars().count()]).max().unwrap_or(0);
        match bands.last_mut() {
            Some(band) if GAP + wide <= left => band.push(Column { place, width: wide }),
            Some(_) | None => {
                left = width.saturating_sub(first);
                bands.push(vec![Column { place, width: wide }]);
            }
        }
        left = left.saturating_sub(GAP + wide);
    }
    bands
}

/// How wide the column of names is.
fn names(matrix: &Matrix) -> usize {
    let names = matrix.rows.iter().map(|row| row.algorithm.chars().count());
    names.chain(["algorithm".len()]).max().unwrap_or(0)
}

fn cell(row: &MatrixRow, place: usize) -> String {
    let cell = row.cells.get(place).and_then(Option::as_ref);
    cell.map_or_else(|| "-".to_owned(), MatrixCell::text)
}

fn draw(text: &mut String, matrix: &Matrix, band: &[Column], style: &Style) {
    let first = names(matrix);
    let mut head = format!("{:<first$}", "algorithm");
    for column in band {
        let (name, wide) = (&matrix.classes[column.place].name, column.width);
        // Writing to a string cannot fail.
        let _ = write!(head, "{:GAP$}{name:<wide$}", "");
    }
    let _ = writeln!(text, "{}", head.trim_end());
    let ruled: usize = band.iter().map(|column| GAP + column.width).sum();
    let _ = writeln!(text, "{}", style.glyphs().rule.repeat(first + ruled));
    for row in &matrix.rows {
        let mut line = format!("{:<first$}", row.algorithm);
        for column in band {
            let (shown, wide) = (cell(row, column.place), column.width);
            let padded = format!("{shown:<wide$}");
            let padded = match &row.cells[column.place] {
                Some(cell) => colored(cell.standing, &padded, style),
                None => padded,
            };
            let _ = write!(line, "{:GAP$}{padded}", "");
        }
        let _ = writeln!(text, "{}", line.trim_end());
    }
    text.push('\n');
}

/// A word in the colour of its standing.
fn colored(standing: Standing, word: &str, style: &Style) -> String {
    match standing {
        Standing::Kept => style.green(word),
        Standing::ClaimBroken => style.red(word),
        Standing::NotClaimed | Standing::Undecided => style.yellow(word),
        Standing::Excused => word.to_owned(),
    }
}

/// A run for each promise that is claimed and broken, or for everything that was seen.
fn details(text: &mut String, matrix: &Matrix, width: usize, detailed: bool, style: &Style) {
    for (row, class, cell) in matrix.cells() {
        let found = cell.findings.iter();
        let told = found.filter(|finding| detailed || finding.standing == Standing::ClaimBroken);
        for finding in told {
            tell(text, row, class, cell, finding, width, style);
        }
        if let Some(why) = cell.undecided.as_ref().filter(|_| detailed) {
            let _ = writeln!(
                text,
                "{} under {}: undecided, {why}\n",
                row.algorithm, class.name
            );
        }
    }
}

fn tell(
    text: &mut String,
    row: &MatrixRow,
    class: &Named,
    cell: &MatrixCell,
    finding: &MatrixFinding,
    width: usize,
    style: &Style,
) {
    let word = colored(finding.standing, &finding.word, style);
    let (runs, told, standing) = (finding.runs, cell.told, finding.standing.words());
    let _ = writeln!(
        text,
        "{} under {}: {word}, {runs} of {} ({standing})",
        row.algorithm,
        class.name,
        count(told, "run")
    );
    let mut lines = wrap(&finding.summary, width.saturating_sub(2));
    if let Some(because) = &finding.because {
        lines.extend(wrap(
            &format!("not claimed: {because}"),
            width.saturating_sub(2),
        ));
    }
    if let Some(shrunk) = &finding.shrunk {
        let faults = match shrunk.faults.is_empty() {
            true => "no fault".to_owned(),
            false => shrunk.faults.join("; "),
        };
        lines.extend(wrap(
            &format!("shrunk: {} ({faults})", shrunk.sizes),
            width.saturating_sub(2),
        ));
    }
    // A command is never broken.
    lines.push(finding.replay.clone());
    for line in lines {
        let _ = writeln!(text, "  {line}");
    }
    text.push('\n');
}

fn legend(text: &mut String, matrix: &Matrix, width: usize) {
    let words = matrix.words_used();
    let longest = words
        .iter()
        .map(|word| word.name.chars().count())
        .max()
        .unwrap_or(0);
    for word in words {
        let indent = longest + 2;
        let lines = wrap(&word.meaning, width.saturating_sub(indent));
        let lines = lines.join(&format!("\n{:indent$}", ""));
        let _ = writeln!(text, "{:<longest$}  {lines}", word.name);
    }
    let rest = format!(
        "A number says in how many runs it was seen, of those that decide; a cell has {}. `!`: the algorithm claims \
         otherwise. `-`: there is nothing that such faults could strike.",
        matrix.seeds
    );
    let _ = writeln!(text, "\n{}", wrap(&rest, width).join("\n"));
    let (all, broken) = (matrix.cells().count(), matrix.number(Standing::ClaimBroken));
    let undecided = matrix.number(Standing::Undecided);
    let _ = writeln!(
        text,
        "\n{}: {broken} with a claim that is broken, {undecided} undecided",
        count(all as u64, "cell")
    );
}
