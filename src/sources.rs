//! Where scenarios come from: files, folders, and the library that is part of picklock.

use std::path::Path;

use picklock_scenarios::load::has_scenarios;
use picklock_scenarios::{
    BUILT_IN, Catalogue, Diagnostic, Scenario, load, matrix, nearest, nearest_few, parse, program,
};

/// Every scenario that comes with picklock, sorted by name.
///
/// # Errors
///
/// Every mistake in them, if the catalogue lacks something that they speak of.
pub fn library(catalogue: &Catalogue) -> Result<Vec<Scenario>, Vec<Diagnostic>> {
    built_in(catalogue, |_| true)
}

/// The scenarios that a word means: a file, all files of a folder, a scenario of the library
/// (`zookeeper/herd`) or of the matrix (`matrix/pause`), or a group of them (`zookeeper`). What is on the disk comes
/// first, but for a folder without a scenario that has the name of a group.
///
/// # Errors
///
/// Every mistake in the files, or that there is nothing of this name.
pub fn find(word: &Path, catalogue: &Catalogue) -> Result<Vec<Scenario>, Vec<Diagnostic>> {
    let shown = word.display().to_string();
    let name = shown.strip_suffix(".toml").unwrap_or(&shown);
    let name = name.trim_end_matches('/');
    let group = format!("{name}/");
    let is_group = BUILT_IN.iter().any(|(known, _)| known.starts_with(&group));
    let is_meant = !(is_group && word.is_dir() && !has_scenarios(word));
    if word.symlink_metadata().is_ok() && is_meant {
        return load(word, catalogue);
    }
    let is_named = |own: &str| own == name || own.starts_with(&group);
    let mut found = built_in(catalogue, is_named)?;
    found.extend(matrix::scenarios(catalogue, is_named)?);
    if found.is_empty() {
        return Err(vec![unknown(word, name)]);
    }
    Ok(found)
}

fn built_in(
    catalogue: &Catalogue,
    wanted: impl Fn(&str) -> bool,
) -> Result<Vec<Scenario>, Vec<Diagnostic>> {
    let mut scenarios = Vec::new();
    let mut mistakes = Vec::new();
    for (name, text) in BUILT_IN.iter().filter(|(name, _)| wanted(name)) {
        match parse(name, text, catalogue) {
            Ok(mut scenario) => {
                // Commands know it by its name; there is no file.
                scenario.path.clone_from(&scenario.name);
                scenarios.push(scenario);
            }
            Err(found) => mistakes.extend(found),
        }
    }
    if mistakes.is_empty() {
        Ok(scenarios)
    } else {
        Err(mistakes)
    }
}

fn unknown(word: &Path, name: &str) -> Diagnostic {
    let shown = word.display().to_string();
    let mistake = Diagnostic::of_file(shown, "there is no such file, folder, or scenario");
    let file = format!("{name}.toml");
    let of_matrix = matrix::names();
    let names = || {
        let library = BUILT_IN.iter().map(|(name, _)| *name);
        library.chain(of_matrix.iter().map(String::as_str))
    };
    let groups = || names().filter_map(|name| Some(name.split_once('/')?.0));
    let there = Path::new(&file).is_file().then_some(file.as_str());
    let near = there.or_else(|| nearest(name, names().chain(groups())));
    let near = near.or_else(|| {
        let near = nearest(last_of(name), names().map(last_of))?;
        names().find(|name| last_of(name) == near)
    });
    let mistake = match near {
        Some(near) => mistake.with_help(format!("did you mean `{near}`?")),
        None => mistake,
    };
    let few = nearest_few(name, names()).join("`, `");
    let mistake = mistake.with_help(format!("nearest: `{few}`"));
    let program = program::command();
    let mut locks = program::algorithms().iter();
    let mistake = match locks.any(|recipe| recipe.name == name) {
        true => mistake.with_help(format!(
            "`{name}` is a lock: `{program} explain {name}` names scenarios that have it"
        )),
        false => mistake,
    };
    mistake.with_help(format!(
        "`{program} list scenarios` shows those that come with picklock"
    ))
}

fn last_of(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}
