//! One look-up for `help`, `explain`, and `list`: a command, a topic, a list, or a word. Each verb looks first at what
//! it is for, and then at what the others are for.

use crate::cli::cmd::help::TOPICS;
use crate::cli::cmd::{explain, help, list};
use crate::cli::console::{self, OutputArgs};
use crate::cli::exit;
use crate::cli::failure::Failure;

/// Where `help` looks first, and then.
pub const BY_HELP: [Kind; 4] = [Kind::Command, Kind::Topic, Kind::Word, Kind::List];
/// Where `explain` does.
pub const BY_EXPLAIN: [Kind; 4] = [Kind::Word, Kind::Topic, Kind::List, Kind::Command];
/// Where `list` does.
pub const BY_LIST: [Kind; 4] = [Kind::List, Kind::Word, Kind::Topic, Kind::Command];

/// Shows what there is to say of these words.
///
/// # Errors
///
/// [`Failure`], if nothing has this name, or it could not be printed.
pub fn show(
    words: &[String],
    order: [Kind; 4],
    usage: clap::Command,
    look: &OutputArgs,
) -> Result<u8, Failure> {
    let text = look_up(words, order, usage, look)?;
    console::print(&look.fitted(&text))?;
    Ok(exit::AS_EXPECTED)
}

/// What a word can be the name of.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    Command,
    Topic,
    List,
    Word,
}

/// What there is to say of these words, by the kinds in this order.
///
/// # Errors
///
/// [`Failure`], if nothing has this name.
fn look_up(
    words: &[String],
    order: [Kind; 4],
    mut usage: clap::Command,
    look: &OutputArgs,
) -> Result<String, Failure> {
    // The options of all commands are known to each of them when clap has built it.
    usage.build();
    let word = words.join(" ");
    for kind in order {
        let found = match kind {
            Kind::Command => help::of_command(&mut usage, words),
            Kind::Topic => help::of_topic(&word, look),
            Kind::List => list::of_name(&word, look)?,
            Kind::Word => explain::explanation(&word, look)?,
        };
        if let Some(text) = found {
            return Ok(text);
        }
    }
    let known = explain::names()?;
    let mut names: Vec<&str> = known.iter().map(String::as_str).collect();
    names.extend(usage.get_subcommands().map(clap::Command::get_name));
    names.extend(TOPICS.iter().map(|topic| topic.name));
    names.extend(list::LISTS);
    Err(Failure::unknown("command, topic, or word", &word, &names))
}
