//! `picklock help`: how a command is used, a page of the documentation, or what a word means.

mod topics;

use crate::reports::style::Style;
use crate::scenarios::program;

use crate::cli::config;
use crate::cli::console::{self, OutputArgs};
use crate::cli::exit;
use crate::cli::failure::Failure;
use crate::cli::markdown;
pub(super) use topics::TOPICS;

const EXAMPLES: &str = "\
Examples:
  picklock help run             as `picklock run --help`
  picklock help exit-codes      a topic
  picklock help near miss       a word, as `picklock explain` says it";

/// Show how a command is used, a page of the documentation, or what a word means.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Help {
    /// A command, such as `run`; a topic, such as `scenarios`; or a word that `explain` knows. Without one, all
    /// commands and topics are named.
    #[arg(value_name = "COMMAND|TOPIC")]
    pub(super) about: Vec<String>,
}

impl Help {
    /// Shows it. `usage` is what the command line may say.
    ///
    /// # Errors
    ///
    /// [`Failure`], if there is no such topic.
    pub fn execute(self, mut usage: clap::Command, look: &OutputArgs) -> Result<u8, Failure> {
        let style = look.stdout();
        // The options of all commands are known to each of them when clap has built it.
        usage.build();
        let text = format!("{}\n{}", usage.render_help(), all(&style));
        console::print(&look.fitted(&text))?;
        Ok(exit::AS_EXPECTED)
    }
}

/// A page of the documentation, or a part of one.
pub(super) fn of_topic(wanted: &str, look: &OutputArgs) -> Option<String> {
    let dashed = wanted.to_lowercase().replace(' ', "-");
    let topic = TOPICS.iter().find(|topic| topic.is_called(&dashed))?;
    let mut text = markdown::render(topic.page(), look.stdout().columns());
    if topic.name == "config" {
        text.push_str(&in_use());
    }
    Some(text)
}

/// How a command is used, or one that belongs to it: `new scenario`.
pub(super) fn of_command(usage: &mut clap::Command, about: &[String]) -> Option<String> {
    let command = about
        .iter()
        .try_fold(usage, |command, word| command.find_subcommand_mut(word));
    Some(command?.render_help().to_string())
}

/// Which `picklock.toml` counts here.
fn in_use() -> String {
    match config::find() {
        Some(path) => format!("\nIn use here: {}\n", path.display()),
        None => format!(
            "\nIn use here: none; there is no {} here or above.\n",
            config::NAME
        ),
    }
}

/// All topics, a line each.
fn all(style: &Style) -> String {
    let widest = TOPICS
        .iter()
        .map(|topic| topic.name.len())
        .max()
        .unwrap_or(0);
    let mut text = format!("Topics of `{} help TOPIC`:\n", program::command());
    for topic in TOPICS {
        let wide = style.columns().saturating_sub(widest + 4);
        for (index, line) in console::wrapped(topic.about, wide).iter().enumerate() {
            let name = if index == 0 { topic.name } else { "" };
            text.push_str(&format!("  {name:<widest$}  {line}\n"));
        }
    }
    text
}
