//! The layout rules, as a test of the source tree. `STYLE.md` gives the reasons.
//!
//! Each rule is a function from the tree to the places that break it. A tree is a list of files, so that `bites` can
//! show each rule a bad one.

mod bites;
mod build_size;
mod circles;
mod hidden_subjects;
mod imports;
mod map;
mod rules;
mod scan;
mod services;
mod tree;

use circles::imports_run_one_way;
use map::{crates_keep_their_budgets, imports_run_inward};
use rules::*;
use tree::{Breach, Tree};

fn report(breaches: Vec<Breach>) {
    let lines: Vec<String> = breaches.iter().map(Breach::to_string).collect();
    assert!(lines.is_empty(), "\n\n{}\n", lines.join("\n"));
}

#[test]
fn every_recipe_is_in_the_registry() {
    report(recipes_in_registry(&Tree::of_repository()));
}

#[test]
fn every_invariant_is_in_the_slice() {
    report(invariants_in_slice(&Tree::of_repository()));
}

#[test]
fn every_source_file_is_a_module() {
    report(files_are_modules(&Tree::of_repository()));
}

#[test]
fn crates_depend_on_each_other_only_as_the_picture_has_it() {
    report(dependencies_fit_picture(&Tree::of_repository()));
}

#[test]
fn the_world_knows_no_service() {
    report(world_knows_no_service(&Tree::of_repository()));
}

#[test]
fn imports_run_in_no_circle() {
    report(imports_run_one_way(&Tree::of_repository()));
}

#[test]
fn nothing_imports_a_satellite_but_the_command_line() {
    report(imports_run_inward(&Tree::of_repository()));
}

#[test]
fn crates_are_no_larger_than_their_budgets() {
    report(crates_keep_their_budgets(&Tree::of_repository()));
}

#[test]
fn every_scenario_that_a_recipe_names_exists() {
    report(named_scenarios_exist(&Tree::of_repository()));
}

#[test]
fn every_flaw_has_a_row_in_the_track_record() {
    report(flaws_are_on_record(&Tree::of_repository()));
}

#[test]
fn every_row_of_the_track_record_is_what_its_scenario_expects() {
    report(record_is_expected(&Tree::of_repository()));
}

#[test]
fn no_file_is_too_long() {
    report(files_are_short(&Tree::of_repository()));
}

#[test]
fn no_function_is_too_long() {
    report(functions_are_short(&Tree::of_repository()));
}

#[test]
fn no_line_is_too_long() {
    report(lines_are_short(&Tree::of_repository()));
}

#[test]
fn no_source_has_banned_words() {
    report(words_are_allowed(&Tree::of_repository()));
}

#[test]
fn no_file_names_a_place_on_somebodys_machine() {
    report(paths_are_relative(&Tree::of_repository()));
}

#[test]
fn build_output_is_ignored_wherever_it_lies() {
    report(build_output_is_ignored(&Tree::of_repository()));
}
