//! The JSON Schemas of what the program reads and writes, by name. All are of draft 7, which editors know.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Value, json};

use crate::reports;
use crate::scenarios::keys;

use super::cmd::{Lists, Measured, Replayed, WhyAnswers};

/// A schema.
pub struct Schema {
    /// Its name: that of the command that writes what it is of, or `scenario`.
    pub name: &'static str,
    /// Its version. Within a version of what is written, keys are only added.
    pub version: u32,
    /// What it is of.
    pub about: &'static str,
    make: fn() -> Value,
}

/// All of them.
pub const SCHEMAS: [Schema; 11] = [
    Schema {
        name: "scenario",
        version: keys::schema::VERSION,
        about: "scenario files, for editors",
        make: keys::schema::scenario,
    },
    Schema {
        name: "run",
        version: reports::json::VERSION,
        about: "what `run --json` and `merge --json` write",
        make: derived::<reports::json::Results>,
    },
    Schema {
        name: "replay",
        version: 1,
        about: "what `replay --json` writes",
        make: derived::<Replayed>,
    },
    Schema {
        name: "why",
        version: 1,
        about: "what `why --json` writes",
        make: derived::<WhyAnswers>,
    },
    Schema {
        name: "matrix",
        version: reports::matrix::VERSION,
        about: "what `matrix --json` writes",
        make: derived::<reports::matrix::Matrix>,
    },
    Schema {
        name: "herd",
        version: reports::herd::VERSION,
        about: "what `herd --json` writes",
        make: derived::<reports::herd::HerdResults>,
    },
    Schema {
        name: "cost",
        version: reports::cost::VERSION,
        about: "what `cost --json` writes",
        make: derived::<reports::cost::CostResults>,
    },
    Schema {
        name: "compare",
        version: reports::compare::VERSION,
        about: "what `compare --json` writes",
        make: derived::<reports::compare::Comparison>,
    },
    Schema {
        name: "envelope",
        version: reports::envelope::VERSION,
        about: "what `envelope --json` writes",
        make: derived::<reports::envelope::EnvelopeResults>,
    },
    Schema {
        name: "yield",
        version: 1,
        about: "what `yield --json` writes",
        make: derived::<Measured>,
    },
    Schema {
        name: "list",
        version: 1,
        about: "what `list --json` prints",
        make: derived::<Lists>,
    },
];

impl Schema {
    /// The schema itself.
    pub fn document(&self) -> Value {
        let Self {
            name,
            version,
            about,
            make,
        } = self;
        let mut schema = make();
        if *name == "scenario" {
            return schema;
        }
        schema["$id"] = json!(format!("urn:picklock:schema:{name}:{version}"));
        schema["title"] = json!(format!("{about}, version {version}").replace('`', ""));
        schema["properties"]["version"] = json!({
            "description": "The version of this schema.",
            "const": version,
        });
        schema
    }
}

/// The schema of what serde writes of a type.
fn derived<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft07().for_serialize();
    let mut schema = settings.into_generator().into_root_schema_for::<T>();
    let mut document = schema.ensure_object().clone().into();
    without_links(&mut document);
    document
}

/// Descriptions are comments of the code; what is a link there is a word here.
fn without_links(schema: &mut Value) {
    match schema {
        Value::Object(object) => {
            for (key, value) in object {
                match value {
                    Value::String(text) if key == "description" => {
                        *text = text.replace("[`", "`").replace("`]", "`");
                    }
                    _ => without_links(value),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(without_links),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}
