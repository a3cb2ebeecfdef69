//! A file that does not say what it stands on stands on what its algorithms need.

use picklock_scenarios::{Catalogue, Diagnostic, Scenario, parse, write};

/// With a fault that each service can have.
fn text(service: &str, algorithms: &[&str]) -> String {
    let fault = "when.acquired = { by = \"contender-1\" }\n\
        inject.crash-server = { target = \"server-1\", restart-after = \"5s\" }";
    let cases = algorithms
        .iter()
        .map(|name| format!("[[case]]\nalgorithm = \"{name}\"\n"));
    let cases: String = cases.collect();
    format!("{service}\n[[fault]]\n{fault}\n{cases}")
}

fn read(text: &str) -> Result<Scenario, String> {
    parse("mine", text, &Catalogue::EVERYTHING).map_err(|mistakes| {
        let said: Vec<String> = mistakes.iter().map(Diagnostic::to_string).collect();
        said.join("\n\n")
    })
}

/// Everything that a case says.
fn written(scenario: &Scenario) -> Vec<String> {
    let cases = scenario.cases.iter();
    cases.map(|case| write(scenario, case)).collect()
}

#[test]
fn a_service_that_is_left_out_is_the_one_that_the_algorithms_stand_on_with_every_default() {
    for (service, algorithms) in [
        ("[service.zookeeper]", ["zk-hardened", "zk-same-name"]),
        (
            "[service.redis]",
            ["redis-compare-and-delete", "redis-set-nx-get"],
        ),
    ] {
        let said = read(&text(service, &algorithms)).map(|scenario| written(&scenario));
        let left_out = read(&text("", &algorithms)).map(|scenario| written(&scenario));
        assert_eq!(left_out, said);
        assert_eq!(left_out.map(|files| files.len()), Ok(2));
    }
}

#[test]
fn what_is_written_of_such_a_file_says_the_service_and_reads_back() {
    let read_first = read(&text("", &["redis-compare-and-delete"])).unwrap();
    let first = written(&read_first);
    assert!(first[0].contains("\n[service.redis]\nservers = 1\n"));
    assert_eq!(
        read(&first[0]).map(|scenario| written(&scenario)),
        Ok(first)
    );
}

#[test]
fn algorithms_on_different_services_are_told_apart() {
    let mixed = ["zk-hardened", "redis-compare-and-delete", "zk-same-name"];
    let found = read(&text("", &mixed)).err().unwrap_or_default();
    insta::assert_snapshot!(found);
}

#[test]
fn a_fault_of_another_service_is_refused_although_no_service_is_said() {
    let text = text("", &["redis-compare-and-delete"]);
    let found = read(&text.replace("crash-server", "expire-session"));
    let found = found.err().unwrap_or_default();
    assert!(found.contains("expire-session"), "{found}");
}

#[test]
fn without_an_algorithm_that_is_known_the_algorithm_is_the_mistake() {
    let found = read(&text("", &["zk-hardend"])).err().unwrap_or_default();
    assert!(found.contains("did you mean `zk-hardened`?"), "{found}");
    assert_eq!(found.matches("error:").count(), 1, "{found}");
}
