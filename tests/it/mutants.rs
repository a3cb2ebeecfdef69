//! The list of mutants is about the code as it is now.

use picklock_mutants::list;
use picklock_mutants::rewrite::misplaced;

#[test]
fn every_mutant_of_the_list_finds_what_it_replaces_exactly_once() {
    let repository = list::repository();
    let mutants = list::read(&repository).unwrap_or_else(|mistake| panic!("{mistake}"));
    assert!(mutants.len() >= 60, "only {} mutants", mutants.len());
    let wrong = misplaced(&repository, &mutants);
    let remedy =
        "mend its row in tools/mutants/list, or take it out if there is nothing left to break";
    assert!(wrong.is_empty(), "\n\n{}\n    {remedy}\n", wrong.join("\n"));
}
