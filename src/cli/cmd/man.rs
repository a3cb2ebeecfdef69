//! `picklock man`: manual pages, one for picklock and one for each command.

use std::path::PathBuf;

use clap_mangen::Man;

use super::shrink::make_folder;
use crate::cli::console;
use crate::cli::exit;
use crate::cli::failure::Failure;
use crate::cli::progress::Work;

const EXAMPLES: &str = "\
Examples:
  picklock man run | man -l -                        one page, to read
  picklock man --out ~/.local/share/man/man1         all of them, for `man picklock-run`";

/// Print the manual page of picklock or of a command, or write all of them.
#[derive(Debug, clap::Args)]
#[command(name = "man", after_help = EXAMPLES)]
pub struct Manual {
    /// The command whose page to print; that of picklock as a whole, if none is named.
    #[arg(value_name = "COMMAND", conflicts_with = "out")]
    command: Option<String>,
    /// Write all pages into this folder. It is made if it is not there; pages that are there are replaced.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

impl Manual {
    /// Prints or writes them. `usage` is what the command line may say.
    ///
    /// # Errors
    ///
    /// [`Failure`], if there is no such command, or a page could not be written.
    pub fn execute(self, usage: clap::Command) -> Result<u8, Failure> {
        let pages = pages(&usage);
        let Some(out) = &self.out else {
            let name = usage.get_name();
            let wanted = match &self.command {
                Some(command) => format!("{name}-{command}"),
                None => name.to_owned(),
            };
            let Some((_, page)) = pages.iter().find(|(name, _)| *name == wanted) else {
                let names = usage.get_subcommands().map(clap::Command::get_name);
                let names: Vec<&str> = names.collect();
                let asked = self.command.unwrap_or_default();
                return Err(Failure::unknown("command", &asked, &names));
            };
            console::print(&String::from_utf8_lossy(&rendered(page)?))?;
            return Ok(exit::AS_EXPECTED);
        };
        make_folder(out)?;
        let work = Work::whole();
        let mut told = String::new();
        for (name, page) in &pages {
            let path = out.join(format!("{name}.1"));
            work.write(&path, &rendered(page)?)?;
            told.push_str(&format!("wrote {}\n", path.display()));
        }
        console::shown(console::print(&told))?;
        Ok(exit::AS_EXPECTED)
    }
}

/// What each page is about, by its name.
fn pages(usage: &clap::Command) -> Vec<(String, clap::Command)> {
    let name = usage.get_name().to_owned();
    let commands = usage.get_subcommands().map(|command| {
        let page = format!("{name}-{}", command.get_name());
        // Otherwise its synopsis would call it by its last word.
        let synopsis = format!("{name} {}", command.get_name());
        (page.clone(), command.clone().name(page).bin_name(synopsis))
    });
    let commands: Vec<_> = commands.collect();
    let all = [(name, usage.clone())].into_iter();
    all.chain(commands).collect()
}

fn rendered(page: &clap::Command) -> Result<Vec<u8>, Failure> {
    let mut text = Vec::new();
    let written = Man::new(page.clone()).render(&mut text);
    written.map_err(Failure::Output)?;
    Ok(text)
}
