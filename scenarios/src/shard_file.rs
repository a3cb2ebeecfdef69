//! What a shard hands over to be joined with the others, as JSON.

mod join;

use std::ops::Range;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::case_statistics::Tally;
use crate::digest::digest;
use crate::format::parse;
use crate::program;
use crate::scenario::{Case, Scenario};
use crate::shard::{Seeds, Shard};
use crate::write::write;

pub use join::{Misfit, join};

/// What says that a file is one of a shard.
const KIND: &str = "shard";

/// What a shard saw of all its cases.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ShardFile {
    /// The version of the schema: [`ShardFile::VERSION`].
    pub version: u32,
    /// What the file is.
    kind: String,
    /// The version of picklock, which a seed travels with.
    pub picklock: String,
    /// All seeds, of which the shard has a part.
    pub seeds: Range<u64>,
    /// Whether the shard had so much time and not so many seeds.
    pub timed: bool,
    /// Which part.
    pub shard: Shard,
    /// The cases, in the order in which they ran.
    pub cases: Vec<Ran>,
}

/// What a shard saw of one case.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ran {
    /// The scenario's name.
    pub scenario: String,
    /// Where the scenario was read from.
    pub path: String,
    /// The case's name.
    pub case: String,
    /// The digest of the text: 16 hexadecimal digits.
    pub digest: String,
    /// The scenario with this case alone, and nothing left to defaults.
    pub text: String,
    /// What was seen.
    pub tally: Tally,
}

/// Why a text is not what a shard handed over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShardFileError(pub String);

impl ShardFile {
    /// The version of the schema.
    pub const VERSION: u32 = 2;

    /// With no case yet.
    pub fn new(picklock: &str, seeds: &Seeds, timed: bool) -> Self {
        Self {
            version: Self::VERSION,
            kind: KIND.to_owned(),
            picklock: picklock.to_owned(),
            seeds: seeds.range.clone(),
            timed,
            shard: seeds.shard,
            cases: Vec::new(),
        }
    }

    /// Adds what was seen of the next case.
    pub fn push(&mut self, scenario: &Scenario, case: &Case, tally: Tally) {
        let text = write(scenario, case);
        self.cases.push(Ran {
            scenario: scenario.name.clone(),
            path: scenario.path.clone(),
            case: case.name.clone(),
            digest: digest(&text),
            text,
            tally,
        });
    }

    /// Reads what a shard handed over, for this version of picklock.
    ///
    /// # Errors
    ///
    /// [`ShardFileError`], if it is something else, or not whole.
    pub fn read(bytes: &[u8], picklock: &str) -> Result<Self, ShardFileError> {
        let mut document: Value = serde_json::from_slice(bytes)
            .map_err(|error| ShardFileError(format!("this is not JSON: {error}")))?;
        make_harmless(&mut document);
        if document["kind"] != KIND {
            let whole = document["cases"].is_array() && document["picklock"].is_string();
            return Err(ShardFileError(if whole {
                "these are the results of a whole run, and not of a shard".to_owned()
            } else {
                "this is not what a shard wrote: run one with --shard and --json".to_owned()
            }));
        }
        // Before anything else of it, which another version may say otherwise.
        if document["version"] != Self::VERSION {
            let (version, ours) = (&document["version"], Self::VERSION);
            let problem =
                format!("its schema is version {version}, and this picklock reads {ours}");
            return Err(ShardFileError(problem));
        }
        if document["picklock"] != picklock {
            let by = document["picklock"].as_str().unwrap_or("unknown");
            return Err(ShardFileError(format!(
                "it was written by picklock {by}, and this is picklock {picklock}: seeds mean something else there"
            )));
        }
        let file: Self = serde_json::from_value(document)
            .map_err(|error| ShardFileError(format!("this is not what a shard wrote: {error}")))?;
        for ran in &file.cases {
            let intact = ran.digest == digest(&ran.text);
            let asked = Seeds {
                range: file.seeds.clone(),
                shard: file.shard,
            };
            let seeds = match intact.then(|| ran.scenario()).transpose()? {
                Some(scenario) => scenario.cases[0].seeds(&asked),
                None => asked,
            };
            let whole = file.timed || ran.tally.seeds() == seeds.len();
            if !intact || !whole || !ran.tally.fits(&seeds) {
                let (scenario, case) = (&ran.scenario, &ran.case);
                return Err(ShardFileError(format!(
                    "{scenario} {case} is not as a shard wrote it"
                )));
            }
        }
        Ok(file)
    }
}

/// What is in a text that is shown to people controls no terminal.
fn make_harmless(value: &mut Value) {
    match value {
        Value::String(text) => {
            if text.contains(is_harmful) {
                *text = text.replace(is_harmful, " ");
            }
        }
        Value::Array(values) => values.iter_mut().for_each(make_harmless),
        Value::Object(entries) => {
            let plain = !entries.keys().any(|key| key.contains(is_harmful));
            entries.values_mut().for_each(make_harmless);
            if !plain {
                let named = std::mem::take(entries).into_iter();
                entries.extend(named.map(|(key, value)| (key.replace(is_harmful, " "), value)));
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn is_harmful(letter: char) -> bool {
    letter.is_control() && letter != '\n'
}

impl Ran {
    /// The scenario with this case alone.
    ///
    /// # Errors
    ///
    /// [`ShardFileError`], if it cannot be read any more.
    pub fn scenario(&self) -> Result<Scenario, ShardFileError> {
        let foreign =
            |why: String| ShardFileError(format!("{} {}: {why}", self.scenario, self.case));
        let mut scenario =
            parse(&self.scenario, &self.text, &program::catalogue()).map_err(|mistakes| {
                foreign(
                    mistakes
                        .first()
                        .map(ToString::to_string)
                        .unwrap_or_default(),
                )
            })?;
        let same = matches!(&scenario.cases[..], [case] if case.name == self.case);
        if !same {
            return Err(foreign("its text has another case".to_owned()));
        }
        scenario.path.clone_from(&self.path);
        // The lines of this text are not those of the file.
        scenario.cases.iter_mut().for_each(|case| case.line = None);
        Ok(scenario)
    }
}
