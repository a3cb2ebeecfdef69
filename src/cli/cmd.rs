//! The verbs of the command line.

mod bench;
mod case_of;
mod charts;
mod compare;
mod completions;
mod cost;
mod envelope;
mod explain;
mod help;
mod herd;
mod hunt;
mod left_out;
mod list;
mod look_up;
mod man;
mod matrix;
mod merge;
mod new;
mod page;
mod partial_results;
mod plan;
mod replay;
mod report_args;
mod run;
mod run_identity;
mod schema;
mod seed_args;
mod select;
mod services;
mod shrink;
mod traffic;
mod validate;
mod verbosity;
mod verify;
mod violating_run;
mod why;
mod yields;

use clap::Subcommand;

pub use list::Lists;
pub use replay::Replayed;
pub use why::WhyAnswers;
pub use yields::Measured;

use crate::cli::console::OutputArgs;
use crate::cli::failure::Failure;

/// A verb and its arguments.
#[derive(Debug, Subcommand)]
pub enum Command {
    Run(run::Run),
    Validate(validate::Validate),
    Schema(schema::SchemaArgs),
    Merge(merge::Merge),
    Replay(replay::Replay),
    Shrink(shrink::Shrink),
    Why(why::Why),
    Hunt(hunt::Hunt),
    Plan(plan::Plan),
    #[command(name = "yield")]
    Yields(yields::Yields),
    List(list::List),
    Explain(explain::Explain),
    Matrix(matrix::MatrixArgs),
    Herd(herd::Herd),
    Cost(cost::Cost),
    Compare(compare::Compare),
    Envelope(envelope::Envelope),
    Bench(bench::Bench),
    Verify(verify::Verify),
    New(new::New),
    Help(help::Help),
    Completions(completions::Completions),
    Man(man::Manual),
}

impl Command {
    /// Does it. The exit code, if it could be done. `usage` is what the command line may say.
    ///
    /// # Errors
    ///
    /// [`Failure`], if it could not.
    pub fn execute(self, look: &OutputArgs, usage: fn() -> clap::Command) -> Result<u8, Failure> {
        match self {
            Self::Run(run) => run.execute(look),
            Self::Validate(validate) => validate.execute(look),
            Self::Schema(schema) => schema.execute(),
            Self::Merge(merge) => merge.execute(look),
            Self::Replay(replay) => replay.execute(look),
            Self::Shrink(shrink) => shrink.execute(look),
            Self::Why(why) => why.execute(look),
            Self::Hunt(hunt) => hunt.execute(look),
            Self::Plan(plan) => plan.execute(),
            Self::Yields(yields) => yields.execute(look),
            Self::List(list) => match list.words() {
                Some(words) => look_up::show(words, look_up::BY_LIST, usage(), look),
                None => list.execute(look),
            },
            Self::Explain(explain) => {
                look_up::show(&explain.word, look_up::BY_EXPLAIN, usage(), look)
            }
            Self::Matrix(matrix) => matrix.execute(look),
            Self::Herd(herd) => herd.execute(look),
            Self::Cost(cost) => cost.execute(look),
            Self::Compare(compare) => compare.execute(look),
            Self::Envelope(envelope) => envelope.execute(look),
            Self::Bench(bench) => bench.execute(look),
            Self::Verify(verify) => verify.execute(look),
            Self::New(new) => new.execute(),
            Self::Help(help) => match &help.about[..] {
                [] => help.execute(usage(), look),
                about => look_up::show(about, look_up::BY_HELP, usage(), look),
            },
            Self::Completions(completions) => completions.execute(usage()),
            Self::Man(manual) => manual.execute(usage()),
        }
    }
}
