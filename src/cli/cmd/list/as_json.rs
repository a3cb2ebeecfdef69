//! What `picklock list --json` prints.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;

use crate::checker::Truth;

/// The lists for machines; the schema only ever gains keys within a version. What was not asked for is not there.
pub struct Lists;

impl JsonSchema for Lists {
    fn schema_name() -> Cow<'static, str> {
        "Lists".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let examples = generator.subschema_for::<Vec<ExampleRow>>();
        let meanings = generator.subschema_for::<Vec<MeaningRow>>();
        let clients = generator.subschema_for::<Vec<ClientRow>>();
        json_schema!({
            "type": "object",
            "properties": {
                "version": {},
                "algorithms": generator.subschema_for::<Vec<AlgorithmRow>>(),
                "faults": examples,
                "triggers": examples,
                "timing": examples,
                "classes": meanings,
                "requests": meanings,
                "circumstances": examples,
                "invariants": generator.subschema_for::<Vec<InvariantRow>>(),
                "metrics": generator.subschema_for::<Vec<MetricRow>>(),
                "clients-of-zookeeper": clients,
                "clients-of-redis": clients,
                "sometimes": meanings,
                "distances": meanings,
                "scenarios": generator.subschema_for::<Vec<ScenarioRow>>(),
            },
            "required": ["version"],
        })
    }
}

/// An algorithm.
#[derive(Serialize, JsonSchema)]
pub(super) struct AlgorithmRow {
    /// Its name.
    pub(super) name: &'static str,
    /// What it is, one sentence.
    pub(super) summary: &'static str,
    /// What is wrong with it; null if nothing is.
    pub(super) flaw: Option<&'static str>,
    /// Where it is from.
    pub(super) source: &'static str,
    /// The invariants that it promises to keep.
    pub(super) claims: Vec<&'static str>,
    /// What it does not keep, and under which faults.
    pub(super) hazards: Vec<HazardRow>,
    /// The kind of lock.
    pub(super) kind: &'static str,
    /// Whether a pending call can be dropped.
    pub(super) cancellable: bool,
    /// Whether its holder can be asked to give it up.
    pub(super) revocable: bool,
    /// Whether tasks can share a lock object.
    pub(super) shareable: bool,
}

/// What an algorithm does not keep.
#[derive(Serialize, JsonSchema)]
pub(super) struct HazardRow {
    /// The invariants.
    pub(super) breaks: Vec<&'static str>,
    /// The classes of faults.
    pub(super) under: Vec<&'static str>,
    /// The scenario that shows it.
    pub(super) scenario: &'static str,
}

/// A thing that a scenario file can say.
#[derive(Serialize, JsonSchema)]
pub(super) struct ExampleRow {
    /// Its name.
    pub(super) name: &'static str,
    /// What it is.
    pub(super) meaning: String,
    /// A line of a scenario file.
    pub(super) example: &'static str,
}

/// A thing of which there is no more to say than what it means.
#[derive(Serialize, JsonSchema)]
pub(super) struct MeaningRow {
    /// Its name.
    pub(super) name: &'static str,
    /// What it is.
    pub(super) meaning: String,
}

/// A promise.
#[derive(Serialize, JsonSchema)]
pub(super) struct InvariantRow {
    /// Its name.
    pub(super) name: &'static str,
    /// What it says.
    pub(super) meaning: &'static str,
    /// Which of the truths it is about.
    pub(super) truth: Truth,
}

/// A figure.
#[derive(Serialize, JsonSchema)]
pub(super) struct MetricRow {
    /// Its name.
    pub(super) name: &'static str,
    /// What it says, one sentence.
    pub(super) meaning: &'static str,
    /// What it is measured in.
    pub(super) unit: &'static str,
}

/// A client library.
#[derive(Serialize, JsonSchema)]
pub(super) struct ClientRow {
    /// Its name.
    pub(super) name: String,
    /// The table of a scenario file in which it is named: `zookeeper` or `redis`.
    pub(super) service: &'static str,
    /// What it does.
    pub(super) meaning: String,
    /// Where this is from.
    pub(super) source: String,
}

/// A scenario.
#[derive(Serialize, JsonSchema)]
pub(super) struct ScenarioRow {
    /// Its name.
    pub(super) name: String,
    /// What it shows, one sentence.
    pub(super) claim: String,
    /// Why this is so.
    pub(super) because: String,
    /// Where it is from.
    pub(super) source: String,
    /// The names of its cases.
    pub(super) cases: Vec<String>,
}
