//! `picklock completions`: what a shell needs to complete commands and options.

use clap_complete::Shell;

use crate::cli::console;
use crate::cli::exit;
use crate::cli::failure::Failure;

const EXAMPLES: &str = "\
Examples:
  picklock completions bash > ~/.local/share/bash-completion/completions/picklock
  picklock completions zsh > ~/.zfunc/_picklock
  picklock completions fish > ~/.config/fish/completions/picklock.fish";

/// Print what a shell needs to complete commands and options.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Completions {
    /// The shell: bash, elvish, fish, powershell, or zsh.
    #[arg(value_name = "SHELL", hide_possible_values = true)]
    shell: Shell,
}

impl Completions {
    /// Prints it. `usage` is what the command line may say.
    ///
    /// # Errors
    ///
    /// [`Failure`], if standard output could not be written to.
    pub fn execute(self, mut usage: clap::Command) -> Result<u8, Failure> {
        let name = usage.get_name().to_owned();
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut usage, name, &mut script);
        console::print(&String::from_utf8_lossy(&script))?;
        Ok(exit::AS_EXPECTED)
    }
}
