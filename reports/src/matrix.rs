//! The lock matrix: algorithms by classes of faults, for a terminal, as Markdown, as HTML, and as JSON.

mod escape;
mod html;
mod markdown;
mod terminal;

use serde::{Deserialize, Serialize};

pub use html::html;
pub use markdown::markdown;
pub use terminal::table;

use crate::json;

/// The version of the schema of [`json()`](fn@json).
pub const VERSION: u32 = 1;

/// The matrix, with what is needed to read it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Matrix {
    /// The version of this schema: [`VERSION`].
    pub version: u32,
    /// The version of picklock.
    pub picklock: String,
    /// How a shell calls the program.
    pub command: String,
    /// Each cell ran the seeds from 0 up to this one.
    pub seeds: u64,
    /// What the words of cells mean, the worst first.
    pub words: Vec<Named>,
    /// The classes of faults, one for each column.
    pub classes: Vec<Named>,
    /// The algorithms.
    pub rows: Vec<MatrixRow>,
}

/// A name, and what it means.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Named {
    /// The name.
    pub name: String,
    /// One sentence.
    pub meaning: String,
}

/// An algorithm under each class of faults.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MatrixRow {
    /// The algorithm.
    pub algorithm: String,
    /// The service that it stands on.
    pub family: String,
    /// What it can be held as.
    pub kind: String,
    /// What is wrong with it, if something is known to be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flaw: Option<String>,
    /// By column. `None`: there is nothing that faults of this class could strike.
    pub cells: Vec<Option<MatrixCell>>,
}

/// An algorithm under a class of faults.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MatrixCell {
    /// The word.
    pub word: String,
    /// The cell beside what the algorithm claims.
    pub standing: Standing,
    /// How many runs there were.
    pub seeds: u64,
    /// How many of them tell something.
    pub told: u64,
    /// What was seen, the worst first.
    pub findings: Vec<MatrixFinding>,
    /// Why the runs cannot tell that everything held, if so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undecided: Option<String>,
}

/// What was seen beside what the algorithm claims.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Standing {
    /// It claims this, and it is so.
    Kept,
    /// It claims to keep a promise that was broken.
    ClaimBroken,
    /// It does not claim to keep what was broken.
    NotClaimed,
    /// No lock keeps what was broken under the faults that were drawn.
    Excused,
    /// The runs cannot tell.
    Undecided,
}

impl Standing {
    /// All of them, as the legend has them.
    pub const ALL: [Self; 5] = [
        Self::Kept,
        Self::ClaimBroken,
        Self::NotClaimed,
        Self::Excused,
        Self::Undecided,
    ];

    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Kept => "claims it, and keeps it",
            Self::ClaimBroken => "claims it, broken",
            Self::NotClaimed => "does not claim it",
            Self::Excused => "no lock keeps it",
            Self::Undecided => "too few runs decide it",
        }
    }
}

/// A promise that some runs broke.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MatrixFinding {
    /// The word.
    pub word: String,
    /// The promise.
    pub invariant: String,
    /// What was seen beside what the algorithm claims.
    pub standing: Standing,
    /// In how many runs.
    pub runs: u64,
    /// The scenario, the case, and the seed of a run that shows it.
    pub scenario: String,
    /// The case.
    pub case: String,
    /// The seed.
    pub seed: u64,
    /// What happened in it, in one line.
    pub summary: String,
    /// Its faults, in words.
    pub faults: Vec<String>,
    /// The command that tells its story.
    pub replay: String,
    /// The scenario of the library that shows the same, if the algorithm does not claim it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shown_by: Option<String>,
    /// Why the algorithm does not claim it, if it does not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub because: Option<String>,
    /// The smallest run that shows it, where one was sought.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shrunk: Option<ShrunkRun>,
}

/// What is left of a run that was shrunk.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ShrunkRun {
    /// How much smaller it is.
    pub sizes: String,
    /// The faults that are left, in words.
    pub faults: Vec<String>,
    /// What happens in it, in one line.
    pub summary: String,
    /// The command that writes it down as a scenario file.
    pub command: String,
}

impl Matrix {
    /// How many cells stand so.
    pub fn number(&self, standing: Standing) -> usize {
        self.cells()
            .filter(|(_, _, cell)| cell.standing == standing)
            .count()
    }

    /// Every cell that has something to say, with its algorithm and its column.
    pub fn cells(&self) -> impl Iterator<Item = (&MatrixRow, &Named, &MatrixCell)> {
        self.rows.iter().flat_map(|row| {
            let columns = self.classes.iter().zip(&row.cells);
            columns.filter_map(move |(class, cell)| Some((row, class, cell.as_ref()?)))
        })
    }

    /// The words that stand in a cell of it.
    fn words_used(&self) -> Vec<&Named> {
        let used = |name: &str| {
            let mut cells = self.cells();
            cells.any(|(_, _, cell)| {
                cell.word == name || cell.findings.iter().any(|finding| finding.word == name)
            })
        };
        self.words.iter().filter(|word| used(&word.name)).collect()
    }
}

impl MatrixCell {
    /// The finding that the word of the cell is about, if something was seen.
    pub fn main(&self) -> Option<&MatrixFinding> {
        let mut found = self.findings.iter();
        found.find(|finding| finding.word == self.word && finding.standing == self.standing)
    }

    /// `safe 32`, `stuck! 3/32`: the word, `!` if the algorithm claims otherwise, and in how many of the runs that
    /// tell.
    pub fn text(&self) -> String {
        let mark = match self.standing {
            Standing::ClaimBroken => "!",
            Standing::Kept | Standing::NotClaimed | Standing::Excused | Standing::Undecided => "",
        };
        match self.main() {
            Some(found) => format!("{}{mark} {}/{}", self.word, found.runs, self.told),
            None => format!("{}{mark} {}", self.word, self.told),
        }
    }
}

/// The matrix as versioned JSON, ended by a line break.
pub fn json(matrix: &Matrix) -> String {
    json::to_text(matrix)
}

#[cfg(test)]
mod tests;
