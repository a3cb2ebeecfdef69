//! Locks that one database has and the other has not.

use picklock_scenarios::{Catalogue, parse};
use picklock_sim::plan::Service;

fn mistakes(text: &str) -> Vec<String> {
    let mistakes = parse("test", text, &Catalogue::EVERYTHING).err();
    let shown = mistakes.into_iter().flatten();
    shown.map(|mistake| mistake.to_string()).collect()
}

#[test]
fn a_lock_that_the_database_does_not_have_is_refused() {
    for (database, algorithm, needs, there) in [
        ("postgres", "mysql-get-lock", "mysql", "pg-advisory-lock"),
        ("mysql", "pg-advisory-lock", "postgres", "mysql-get-lock"),
        (
            "mysql",
            "pg-try-advisory-lock",
            "postgres",
            "sql-for-update",
        ),
    ] {
        let text = format!(
            "[service.sql]\ndatabase = \"{database}\"\n\n[[case]]\nalgorithm = \"{algorithm}\"\n"
        );
        let found = mistakes(&text);
        let [said] = &found[..] else {
            panic!("{found:?}");
        };
        for part in [
            "test.toml:5:13".to_owned(),
            format!("`{algorithm}` needs database = \"{needs}\""),
            format!("but this scenario stands on \"{database}\""),
            format!("`{there}`"),
            format!("or write database = \"{needs}\" in [service.sql]"),
        ] {
            assert!(said.contains(&part), "{part}: {said}");
        }
    }
}

#[test]
fn a_file_that_names_no_database_has_that_of_its_first_case() {
    for (algorithm, database) in [
        ("mysql-get-lock", "mysql"),
        ("pg-advisory-lock", "postgres"),
        ("sql-for-update", "postgres"),
    ] {
        let text = format!("[[case]]\nalgorithm = \"{algorithm}\"\n");
        let scenario = parse("test", &text, &Catalogue::EVERYTHING).expect("it is right");
        let service: &Service = &scenario.cases[0].plan.service;
        assert_eq!(service.variant(), Some(("database", database)));
    }
}
