//! The JSON Schema of scenario files (draft 7, which editors know), made of the rows.
//!
//! It knows keys, types, words, and shapes of texts. What depends on other keys (how many contenders there are, which
//! service it is) the parser alone knows: `picklock validate` tells.

use picklock_checker::invariants;
use serde_json::{Map, Value, json};

use super::defaults::{default_of, default_value};
use super::file::FILE;
use super::specs::{self, Body, Spec};
use picklock_sim::plan::{Holds, Key, Variant};

/// The version of the schema. Within a version it only comes to accept more.
pub const VERSION: u32 = 1;

/// A duration, as a part of a pattern.
const DURATION: &str = r"[0-9]+(\.[0-9]+)?(us|ms|s|m|h)";
/// A rate, as a part of a pattern.
const RATE: &str = r"[0-9]+(\.[0-9]+)?%";
const NUMBERED: &str = "[1-9][0-9]*";

/// The schema of scenario files.
pub fn scenario() -> Value {
    let mut definitions = Map::new();
    let mut schema = table(FILE.keys(), &mut definitions);
    let of_the_whole = [
        ("$schema", json!("http://json-schema.org/draft-07/schema#")),
        (
            "$id",
            json!(format!("urn:picklock:schema:scenario:{VERSION}")),
        ),
        ("title", json!("A scenario file of picklock")),
        (
            "description",
            json!(
                "A claim about distributed locks, the world, what breaks there, and one case per algorithm."
            ),
        ),
        ("definitions", Value::Object(definitions)),
    ];
    insert(&mut schema, of_the_whole);
    schema
}

fn insert<'k>(schema: &mut Value, entries: impl IntoIterator<Item = (&'k str, Value)>) {
    if let Value::Object(object) = schema {
        object.extend(
            entries
                .into_iter()
                .map(|(key, value)| (key.to_owned(), value)),
        );
    }
}

/// A table with these keys and no others.
fn table<'k>(
    keys: impl Iterator<Item = &'k Key> + Clone,
    definitions: &mut Map<String, Value>,
) -> Value {
    let properties = keys.clone().map(|key| {
        let mut schema = of(&key.holds, definitions);
        let description = plain(&described(key));
        insert(&mut schema, [("description", json!(description))]);
        if let Some(value) = default_value(key).and_then(|value| serde_json::from_str(&value).ok())
        {
            insert(&mut schema, [("default", value)]);
        }
        (key.name.to_owned(), schema)
    });
    let properties: Map<String, Value> = properties.collect();
    let needed = keys.filter(|key| key.is_needed);
    let needed: Vec<&str> = needed.map(|key| key.name).collect();
    let mut schema = json!({
        "type": "object",
        "properties": properties,
        "additionalProperties": false,
    });
    if !needed.is_empty() {
        insert(&mut schema, [("required", json!(needed))]);
    }
    schema
}

/// What a key means, and what is so without it.
fn described(key: &Key) -> String {
    match (default_of(key).as_str(), default_value(key)) {
        ("" | "none", _) | (_, Some(_)) => key.means.to_owned(),
        (default, None) => format!("{} If it is left out: {default}.", key.means),
    }
}

/// Markdown without links.
fn plain(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, linked)) = rest.split_once('[') {
        let link = linked
            .split_once("](")
            .and_then(|(words, target)| Some((words, target.split_once(')')?.1)));
        plain.push_str(before);
        match link {
            // A list in backticks begins like a link, and is none.
            Some((words, behind)) if !words.contains(['`', '[', ']']) => {
                plain.push_str(words);
                rest = behind;
            }
            Some(_) | None => {
                plain.push('[');
                rest = linked;
            }
        }
    }
    plain + rest
}

fn text(pattern: &str) -> Value {
    json!({ "type": "string", "pattern": format!("^({pattern})$") })
}

/// What the schema says of what can stand there.
fn of(holds: &Holds, definitions: &mut Map<String, Value>) -> Value {
    match holds {
        Holds::Text => json!({ "type": "string", "pattern": r"\S" }),
        Holds::Claim => text(r"\s*[^\n]*\.\s*"),
        Holds::CaseName => {
            json!({ "type": "string", "pattern": "^[a-z0-9]([a-z0-9-]*[a-z0-9])?$", "maxLength": 80 })
        }
        Holds::Boolean => json!({ "type": "boolean" }),
        Holds::Whole(least, most) => whole(*least, *most),
        Holds::WholeOrRange(least, most) => {
            any_of([whole(*least, *most), text(r"[0-9]+\.\.[0-9]+")])
        }
        Holds::OneOf(numbers) => json!({ "enum": numbers }),
        Holds::Number => json!({ "type": "number" }),
        Holds::Duration | Holds::DurationOrZero => text(DURATION),
        Holds::Range | Holds::DurationOrRange => text(&format!(r"{DURATION}(\.\.{DURATION})?")),
        Holds::SignedDuration => text(&format!("-?{DURATION}")),
        Holds::SignedRange => text(&format!(r"-?{DURATION}(\.\.-?{DURATION})?")),
        Holds::Hold => text(&format!(r"settled|{DURATION}(\.\.{DURATION})?")),
        Holds::Rate => text(RATE),
        Holds::Reads => text(&format!("never|always|{RATE}")),
        Holds::Bytes => any_of([
            whole(1_024, i64::from(crate::units::MOST_BYTES)),
            text("[0-9]+(B|KiB|MiB|GiB)?"),
        ]),
        Holds::Hash => text("[0-9A-Fa-f]{16}"),
        Holds::KeyspaceEvents => text("[KEAg$lshzxetdn]*"),
        Holds::Contender => text(&format!("contender-{NUMBERED}")),
        Holds::ContenderNames => any_of([
            text(&format!("any|contender-{NUMBERED}")),
            list(of(&Holds::Contender, definitions)),
        ]),
        Holds::Server => text(&format!(
            "leader|primary|(follower|server|observer|sentinel)-{NUMBERED}|server-of-contender-{NUMBERED}"
        )),
        Holds::Lock => text("lock-[a-z]"),
        Holds::Words(words) => json!({ "enum": (words.names)() }),
        Holds::Variants(_, variants) => of_variants(variants, definitions),
        Holds::List(items) => list(of(items, definitions)),
        Holds::OneOrList(value) => {
            let value = of(value, definitions);
            any_of([value.clone(), list(value)])
        }
        Holds::Either(all) => {
            let all: Vec<Value> = all.iter().map(|holds| of(holds, definitions)).collect();
            json!({ "anyOf": all })
        }
        Holds::Table(of) => table(of.keys(), definitions),
        Holds::Tables(of) => {
            json!({ "type": "array", "items": table(of.keys(), definitions) })
        }
        Holds::ByWord(words, name, value) => by_word(&(words.names)(), name, value, definitions),
        Holds::MachinesByRegion => {
            let machine = text(&format!(
                "resource|(server|observer|sentinel|contender)-{NUMBERED}"
            ));
            by_region(list(machine))
        }
        Holds::LatenciesByRegions => by_region(by_region(of(&Holds::Range, definitions))),
        Holds::Trigger => of_specs(&specs::triggers(), definitions),
        Holds::Fault => of_specs(&specs::faults(), definitions),
    }
}

fn whole(least: i64, most: i64) -> Value {
    json!({ "type": "integer", "minimum": least, "maximum": most })
}

fn list(items: Value) -> Value {
    json!({ "type": "array", "items": items })
}

fn any_of<const N: usize>(all: [Value; N]) -> Value {
    json!({ "anyOf": all.to_vec() })
}

fn by_region(value: Value) -> Value {
    json!({
        "type": "object",
        "patternProperties": { "^[a-z0-9]+(-[a-z0-9]+)*$": value },
        "additionalProperties": false,
    })
}

/// A table with a value of one kind for each of these names.
fn by_word(
    words: &[&'static str],
    name: &str,
    value: &Holds,
    definitions: &mut Map<String, Value>,
) -> Value {
    let definition = of(value, definitions);
    definitions.insert(name.to_owned(), definition);
    let value = json!({ "$ref": format!("#/definitions/{name}") });
    let properties = words.iter().map(|word| {
        // Beside a reference, draft 7 reads nothing.
        let mut property = json!({ "allOf": [value] });
        if let Some(invariant) = invariants::find(word) {
            insert(&mut property, [("description", json!(invariant.meaning))]);
        }
        ((*word).to_owned(), property)
    });
    let properties: Map<String, Value> = properties.collect();
    json!({ "type": "object", "properties": properties, "additionalProperties": false })
}

/// A table with one key, which is one of these.
fn one_of_these(properties: Map<String, Value>) -> Value {
    json!({
        "type": "object",
        "properties": properties,
        "additionalProperties": false,
        "minProperties": 1,
        "maxProperties": 1,
    })
}

fn words_or_table(words: &[&str], properties: Map<String, Value>) -> Value {
    match (words.is_empty(), properties.is_empty()) {
        (false, true) => json!({ "enum": words }),
        (true, _) => one_of_these(properties),
        (false, false) => any_of([json!({ "enum": words }), one_of_these(properties)]),
    }
}

fn of_variants(variants: &[Variant], definitions: &mut Map<String, Value>) -> Value {
    let words = variants.iter().filter(|variant| variant.is_word);
    let words: Vec<&str> = words.map(|variant| variant.name).collect();
    let tables = variants.iter().filter_map(|variant| {
        let mut schema = of(&variant.holds?, definitions);
        insert(&mut schema, [("description", json!(variant.means))]);
        Some((variant.name.to_owned(), schema))
    });
    let tables = tables.collect();
    words_or_table(&words, tables)
}

fn of_specs(specs: &[Spec], definitions: &mut Map<String, Value>) -> Value {
    let words = specs.iter().filter(|spec| spec.body.may_be_left_out());
    let words: Vec<&str> = words.map(|spec| spec.name).collect();
    let tables = specs.iter().map(|spec| {
        let mut schema = match &spec.body {
            Body::Value(holds) => of(holds, definitions),
            Body::Fields(keys) => table(keys.iter(), definitions),
        };
        let description = format!("{} `{}`", spec.means, spec.example);
        insert(&mut schema, [("description", json!(description))]);
        (spec.name.to_owned(), schema)
    });
    let tables = tables.collect();
    words_or_table(&words, tables)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descriptions_have_the_words_of_links_and_no_links() {
        assert_eq!(
            plain("See [the page](a.md#b), as in `[\"x\"]`, or [[case]]."),
            "See the page, as in `[\"x\"]`, or [[case]]."
        );
    }
}
