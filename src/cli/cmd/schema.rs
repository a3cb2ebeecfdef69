//! `picklock schema`: the JSON Schemas of what picklock reads and writes.

use crate::cli::console;
use crate::cli::exit;
use crate::cli::failure::Failure;
use crate::cli::schemas::SCHEMAS;

const EXAMPLES: &str = "\
Examples:
  picklock schema                                    which there are
  picklock schema scenario > picklock.schema.json    for editors: see docs/schemas.md
  picklock schema run                                of what `run --json` writes";

/// Print the JSON Schema of scenario files, or of what a command writes with --json.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct SchemaArgs {
    /// Which one; all names are shown if none is given.
    #[arg(value_name = "NAME")]
    name: Option<String>,
}

impl SchemaArgs {
    /// Prints it.
    ///
    /// # Errors
    ///
    /// [`Failure`], if there is none of this name, or standard output could not be written to.
    pub fn execute(self) -> Result<u8, Failure> {
        let text = match &self.name {
            Some(name) => match SCHEMAS.iter().find(|schema| schema.name == name) {
                Some(schema) => console::json(&schema.document())?,
                None => {
                    let names = SCHEMAS.map(|schema| schema.name);
                    return Err(Failure::unknown("schema", name, &names));
                }
            },
            None => {
                let lines = SCHEMAS.iter().map(|schema| {
                    let (name, version, about) = (schema.name, schema.version, schema.about);
                    format!("{name:<8}  version {version}  {about}\n")
                });
                lines.collect()
            }
        };
        console::shown(console::print(&text))?;
        Ok(exit::AS_EXPECTED)
    }
}
