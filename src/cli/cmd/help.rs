//! `picklock help`: how a command is used, a page of the documentation, or what a word means.

mod topics;

use crate::reports::style::Style;
use crate::scenarios::program;

use super::explain;
use super::suggestions::suggestions;
use crate::cli::config;
use crate::cli::console::{self, OutputArgs};
use crate::cli::exit;
use crate::cli::failure::Failure;
use crate::cli::markdown;
use topics::TOPICS;

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
    about: Vec<String>,
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
        let text = match self.about.as_slice() {
            [] => format!("{}\n{}", usage.render_help(), all(&style)),
            about => match of_command(&mut usage, about) {
                Some(text) => text,
                None => self.of_topic_or_word(&usage, look)?,
            },
        };
        console::print(&text)?;
        Ok(exit::AS_EXPECTED)
    }

    fn of_topic_or_word(
        &self,
        usage: &clap::Command,
        look: &OutputArgs,
    ) -> Result<String, Failure> {
        let wanted = self.about.join(" ");
        let dashed = wanted.to_lowercase().replace(' ', "-");
        if let Some(topic) = TOPICS.iter().find(|topic| topic.is_called(&dashed)) {
            let mut text = markdown::render(topic.page(), look.stdout().columns());
            if topic.name == "config" {
                text.push_str(&in_use());
            }
            return Ok(text);
        }
        if let Some(text) = explain::explanation(&wanted, look)? {
            return Ok(text);
        }
        let commands = usage.get_subcommands().map(clap::Command::get_name);
        let commands: Vec<&str> = commands.collect();
        let topics = TOPICS.iter().map(|topic| topic.name);
        let words = explain::names()?;
        let words = words.iter().map(String::as_str);
        let names = commands.iter().copied().chain(topics).chain(words);
        let mut hints = suggestions(&wanted, names);
        hints.push(format!(
            "`{} help` names all commands and topics",
            program::command()
        ));
        let problem = format!("there is no help on `{wanted}`");
        Err(Failure::Usage { problem, hints })
    }
}

/// How a command is used, or one that belongs to it: `new scenario`.
fn of_command(usage: &mut clap::Command, about: &[String]) -> Option<String> {
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
