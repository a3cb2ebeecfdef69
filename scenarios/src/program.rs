//! The program that runs the scenarios: how a shell calls it, and which algorithms it knows. It is picklock itself
//! unless another program says so when it starts.

use std::sync::OnceLock;

use picklock_algorithms::Recipe;
use picklock_algorithms::registry::RECIPES;

use crate::scenario::Catalogue;

struct Program {
    command: String,
    algorithms: Vec<Recipe>,
}

static PROGRAM: OnceLock<Program> = OnceLock::new();

/// From now on, commands that are shown begin with this one, and the program knows these algorithms beside those of
/// picklock. One that has the name of another takes its place. A program says this once: only the first time counts.
pub fn begin(command: String, algorithms: &[Recipe]) {
    let is_new = |known: &&Recipe| algorithms.iter().all(|recipe| recipe.name != known.name);
    let known = RECIPES.iter().filter(is_new);
    let algorithms = algorithms.iter().chain(known).copied().collect();
    PROGRAM.get_or_init(|| Program {
        command,
        algorithms,
    });
}

/// How a shell calls the program.
pub fn command() -> &'static str {
    PROGRAM.get().map_or("picklock", |program| &program.command)
}

/// The algorithms that it knows.
pub fn algorithms() -> &'static [Recipe] {
    PROGRAM.get().map_or(RECIPES, |program| &program.algorithms)
}

/// The names that its scenario files may use.
pub fn catalogue() -> Catalogue<'static> {
    Catalogue {
        algorithms: algorithms(),
        ..Catalogue::EVERYTHING
    }
}
