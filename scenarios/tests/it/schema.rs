//! The JSON Schema of scenario files: it takes every scenario that there is, and refuses what no table has.

use std::path::Path;

use jsonschema::Validator;
use picklock_scenarios::keys::{Holds, schema};
use picklock_scenarios::{BUILT_IN, Catalogue, matrix, parse, write};
use serde_json::{Map, Value, json};
use toml::de::{DeTable, DeValue};

use crate::common::key_tables::{each, freed, line};

fn validator() -> Validator {
    jsonschema::validator_for(&schema::scenario()).expect("it is a schema")
}

/// A scenario file as an editor sees it.
fn document(text: &str) -> Value {
    let table = DeTable::parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    object(table.get_ref())
}

fn object(table: &DeTable) -> Value {
    let entries = table
        .iter()
        .map(|(key, value)| (key.get_ref().to_string(), value_of(value.get_ref())));
    Value::Object(entries.collect::<Map<_, _>>())
}

fn value_of(value: &DeValue) -> Value {
    match value {
        DeValue::String(text) => json!(text),
        DeValue::Integer(number) => {
            json!(i64::from_str_radix(number.as_str(), number.radix()).expect("it fits"))
        }
        DeValue::Float(number) => json!(number.as_str().parse::<f64>().expect("it is a number")),
        DeValue::Boolean(value) => json!(value),
        DeValue::Datetime(time) => json!(time.to_string()),
        DeValue::Array(items) => items.iter().map(|item| value_of(item.get_ref())).collect(),
        DeValue::Table(table) => object(table),
    }
}

/// What the schema has against a file.
fn refused(validator: &Validator, text: &str) -> Vec<String> {
    let document = document(text);
    let errors = validator.iter_errors(&document);
    errors
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect()
}

#[test]
fn every_scenario_of_the_library_is_taken_and_every_plan_of_one_that_is_written() {
    let validator = validator();
    let none: Vec<String> = Vec::new();
    for (name, text) in BUILT_IN {
        assert_eq!(refused(&validator, text), none, "{name}");
        let scenario = parse(name, text, &Catalogue::EVERYTHING).expect(name);
        for case in &scenario.cases {
            for seed in 0..2 {
                let plan = write(&scenario, &case.settled(seed));
                assert_eq!(refused(&validator, &plan), none, "{name}: {plan}");
            }
        }
    }
    let of_matrix = matrix::scenarios(&Catalogue::EVERYTHING, |_| true).expect("they are right");
    for scenario in of_matrix {
        let text = write(&scenario, &scenario.cases[0]);
        assert_eq!(refused(&validator, &text), none, "{}", scenario.name);
    }
}

#[test]
fn the_files_of_the_documents_are_taken() {
    let validator = validator();
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/scenarios.md");
    let page = std::fs::read_to_string(page).expect("the document is there");
    let blocks = page.split("```toml\n").skip(1);
    let mut seen = 0;
    for block in blocks.filter_map(|block| block.split("```").next()) {
        let text = match block.contains("[[case]]") {
            true => block.to_owned(),
            false => format!("{block}\n[[case]]\nalgorithm = \"zk-hardened\"\n"),
        };
        seen += 1;
        assert_eq!(refused(&validator, &text), Vec::<String>::new(), "{text}");
    }
    assert!(seen > 4, "{seen}");
}

#[test]
fn a_key_that_no_table_has_is_refused_in_every_table() {
    let validator = validator();
    for (table, place) in each() {
        let right = place.replace('@', "");
        assert_eq!(refused(&validator, &right), Vec::<String>::new(), "{right}");
        let wrong = place.replace('@', "zzzz = 1");
        assert!(!refused(&validator, &wrong).is_empty(), "{}", table.title);
        for key in table.keys() {
            // One letter too many, as it is typed.
            let slip = format!("{}s = 1", key.name);
            let exists = table
                .keys()
                .any(|other| other.name == format!("{}s", key.name));
            let wrong = place.replace('@', &slip);
            assert!(exists || !refused(&validator, &wrong).is_empty(), "{wrong}");
        }
    }
}

#[test]
fn values_of_another_type_and_numbers_beyond_the_bounds_are_refused() {
    let validator = validator();
    for (table, place) in each() {
        for key in table.keys() {
            let mut wrong = vec!["[[[1]]]".to_owned(), "\"a b c\"".to_owned()];
            match key.holds {
                Holds::Text => drop(wrong.pop()),
                Holds::Whole(least, most) | Holds::WholeOrRange(least, most) => {
                    wrong.push((least - 1).to_string());
                    wrong.extend(most.checked_add(1).map(|next| next.to_string()));
                }
                _ => {}
            }
            for value in wrong {
                let place = freed(&place, key);
                let text = match key.name == "case" {
                    // It stands in every file, in tables of its own.
                    true => format!("case = {value}"),
                    false => place.replace('@', &line(&table, key, &value)),
                };
                // A table cannot be said twice: that is no TOML.
                if DeTable::parse(&text).is_err() {
                    continue;
                }
                assert!(!refused(&validator, &text).is_empty(), "{text}");
            }
        }
    }
}

#[test]
fn what_a_fault_or_a_trigger_lacks_or_has_not_is_refused() {
    let validator = validator();
    let fault = |when: &str, inject: &str| {
        format!("[[fault]]\nwhen.{when}\ninject.{inject}\n[[case]]\nalgorithm = \"zk-hardened\"\n")
    };
    let acquired = "acquired = { by = \"contender-1\" }";
    let cut = "cut = { target = \"contender-1\" }";
    for (when, inject) in [
        (acquired, cut),
        ("at = \"2s\"", "recreate-lock = {}"),
        ("elected = {}", "pause = { target = \"contender-2\" }"),
    ] {
        let text = fault(when, inject);
        assert_eq!(refused(&validator, &text), Vec::<String>::new(), "{text}");
    }
    for (when, inject) in [
        ("acquired = {}", cut),
        ("acquired = { by = \"contender-0\" }", cut),
        ("acquired = { by = \"contender-1\", nht = 2 }", cut),
        ("acquird = { by = \"contender-1\" }", cut),
        ("at = 2", cut),
        (acquired, "cut = {}"),
        (acquired, "cut = { target = \"contender-1\", for = \"2s\" }"),
        (
            acquired,
            "pause = { target = \"contender-1\", for = \"2\" }",
        ),
        (
            acquired,
            "black-hole = { target = \"contender-1\", direction = \"up\" }",
        ),
        (
            acquired,
            "lose-packets = { target = \"contender-1\", rate = \"5\", for = \"2s\" }",
        ),
        (acquired, "crash-server = { target = \"master\" }"),
        (acquired, "pauze = { target = \"contender-1\" }"),
    ] {
        let text = fault(when, inject);
        assert!(!refused(&validator, &text).is_empty(), "{text}");
    }
}
