//! The matrix as a page of Markdown.

use std::fmt::Write as _;

use super::escape::{code, markdown as escaped};
use super::{Matrix, MatrixCell, MatrixRow, Standing};
use crate::words::count;

/// The matrix as a page: a table for each service, what the words mean, and the claims that were broken.
pub fn markdown(matrix: &Matrix) -> String {
    let mut text = head(matrix);
    let mut families: Vec<&str> = Vec::new();
    for row in &matrix.rows {
        if !families.contains(&row.family.as_str()) {
            families.push(&row.family);
        }
    }
    for family in families {
        let _ = write!(text, "\n## {}\n\n", escaped(family));
        let rows: Vec<_> = matrix
            .rows
            .iter()
            .filter(|row| row.family == family)
            .collect();
        table(&mut text, matrix, &rows);
    }
    broken(&mut text, matrix);
    undecided(&mut text, matrix);
    text
}

fn head(matrix: &Matrix) -> String {
    let command = &matrix.command;
    let mut text = String::from(
        "# The lock matrix\n\nEach algorithm under each class of faults. A cell is a case of many runs: the world and \
         the faults of each\nare drawn from its seed, and all faults are of one class. A run of a cell is shown by\n\n",
    );
    let _ = write!(
        text,
        "```sh\n{command} replay matrix/CLASS --case ALGORITHM --seed SEED\n```\n\nwith the seed behind the `@`; \
         `why`, `shrink`, and `plan` take the same arguments.\n\n| in a cell | means |\n| --- | --- |\n"
    );
    for word in matrix.words_used() {
        let _ = writeln!(
            text,
            "| {} | {} |",
            escaped(&word.name),
            escaped(&word.meaning)
        );
    }
    let seeds = matrix.seeds;
    let _ = write!(
        text,
        "| 3/32 | Seen in 3 of the 32 runs that decide it; a cell has {seeds}. |\n\
         | **bold!** | The algorithm claims otherwise: its claim is broken. |\n\
         | plain | The algorithm does not claim this, or no lock can keep it under the faults that were drawn. |\n\
         | - | There is nothing that faults of this class could strike. |\n\n\
         | class of faults | means |\n| --- | --- |\n"
    );
    for class in &matrix.classes {
        let _ = writeln!(
            text,
            "| {} | {} |",
            escaped(&class.name),
            escaped(&class.meaning)
        );
    }
    text
}

fn table(text: &mut String, matrix: &Matrix, rows: &[&MatrixRow]) {
    let classes = matrix.classes.iter().map(|class| escaped(&class.name));
    let classes: Vec<String> = classes.collect();
    let _ = write!(
        text,
        "| algorithm | kind | {} |\n|{}\n",
        classes.join(" | "),
        " --- |".repeat(classes.len() + 2)
    );
    for row in rows {
        let cells = row
            .cells
            .iter()
            .map(|cell| cell.as_ref().map_or_else(|| "-".to_owned(), shown));
        let cells: Vec<String> = cells.collect();
        let (name, kind) = (code(&row.algorithm), escaped(&row.kind));
        let _ = writeln!(text, "| {name} | {kind} | {} |", cells.join(" | "));
    }
}

/// `**stuck!** 3/32 @7, orphan @7`
fn shown(cell: &MatrixCell) -> String {
    let Some(main) = cell.main() else {
        return format!("{} {}", escaped(&cell.word), cell.told);
    };
    let word = match main.standing {
        Standing::ClaimBroken => format!("**{}!**", escaped(&main.word)),
        Standing::Kept | Standing::NotClaimed | Standing::Excused | Standing::Undecided => {
            escaped(&main.word)
        }
    };
    let mut text = format!("{word} {}/{} @{}", main.runs, cell.told, main.seed);
    for other in cell.findings.iter().filter(|finding| *finding != main) {
        let word = match other.standing {
            Standing::ClaimBroken => format!("**{}!**", escaped(&other.word)),
            Standing::Kept | Standing::NotClaimed | Standing::Excused | Standing::Undecided => {
                escaped(&other.word)
            }
        };
        let _ = write!(text, ", {word} @{}", other.seed);
    }
    text
}

fn broken(text: &mut String, matrix: &Matrix) {
    let found = matrix.cells().flat_map(|(row, class, cell)| {
        let found = cell.findings.iter();
        let broken = found.filter(|finding| finding.standing == Standing::ClaimBroken);
        broken.map(move |finding| (row, class, cell, finding))
    });
    let found: Vec<_> = found.collect();
    if found.is_empty() {
        return;
    }
    text.push_str("\n## Claims that were broken\n\n");
    for (row, class, cell, finding) in found {
        let _ = writeln!(
            text,
            "- {} under {}: {}, {} of {}. {}.",
            code(&row.algorithm),
            escaped(&class.name),
            escaped(&finding.word),
            finding.runs,
            count(cell.told, "run"),
            escaped(&finding.summary)
        );
        let _ = writeln!(text, "  {}", code(&finding.replay));
        if let Some(shrunk) = &finding.shrunk {
            let faults: Vec<String> = shrunk.faults.iter().map(|fault| escaped(fault)).collect();
            let faults = match faults.is_empty() {
                true => "no fault".to_owned(),
                false => faults.join("; "),
            };
            let _ = writeln!(text, "  Shrunk ({}): {faults}.", escaped(&shrunk.sizes));
        }
    }
}

fn undecided(text: &mut String, matrix: &Matrix) {
    let cells = matrix.cells();
    let cells = cells.filter_map(|(row, class, cell)| {
        let why = cell.undecided.as_ref()?;
        (cell.standing == Standing::Undecided).then_some((row, class, why))
    });
    let cells: Vec<_> = cells.collect();
    if cells.is_empty() {
        return;
    }
    text.push_str("\n## Cells that are undecided\n\n");
    for (row, class, why) in cells {
        let (name, class) = (code(&row.algorithm), escaped(&class.name));
        let _ = writeln!(text, "- {name} under {class}: {}.", escaped(why));
    }
}
