//! Runs the comparison with a real Redis, and shows it.

use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use picklock::reports::words::thousands;
use picklock_verify::VerifyError;
use picklock_verify::redis::{Compared, HOW, Installed, Plan, Span, compare_clusters};

use super::Verify;
use super::compared::{bar, told_of};
use crate::console;
use crate::exit;
use crate::failure::Failure;

/// Compares the model with a real server.
pub(super) fn redis(asked: &Verify) -> Result<u8, Failure> {
    let installed = Installed::find(asked.redis_server.as_deref()).map_err(|error| {
        let hints = [
            format!("install it: {HOW}"),
            "or say where it is: --redis-server PROGRAM".to_owned(),
        ];
        Failure::usage(error.to_string(), hints)
    })?;
    let stop = Arc::new(AtomicBool::new(false));
    let heard = Arc::clone(&stop);
    // Without a handler Ctrl-C ends us at once, and the server with us.
    let _ = ctrlc::set_handler(move || heard.store(true, Ordering::Relaxed));
    let plan = Plan {
        seed: asked.seed,
        operations: asked.operations,
    };
    let bar = bar("redis".to_owned(), asked.operations);
    let told = |done: u64| bar.set_position(done);
    let compared = picklock_verify::redis::compare(&installed, plan, &stop, &told);
    bar.finish_and_clear();
    let clusters = compared.and_then(|compared| {
        let clusters = clusters(asked, &installed, &stop)?;
        Ok((compared, clusters))
    });
    match clusters {
        Ok((compared, (nodes, spans))) => {
            console::print(&shown("redis", asked.seed, &compared))?;
            console::print(&shown("redis cluster", asked.seed, &nodes))?;
            console::print(&timed(&spans))?;
            let agrees = |it: &Compared| it.differences.is_empty() && it.not_modelled.is_empty();
            let agree = agrees(&compared) && agrees(&nodes) && spans.iter().all(Span::agrees);
            Ok(if agree {
                exit::AS_EXPECTED
            } else {
                exit::NOT_AS_EXPECTED
            })
        }
        Err(VerifyError::Interrupted) => Err(Failure::Interrupted),
        Err(error) => {
            console::tell(&told_of(&error));
            Ok(exit::UNDECIDED)
        }
    }
}

/// Compares clusters, with a fifth as many commands.
fn clusters(
    asked: &Verify,
    installed: &Installed,
    stop: &AtomicBool,
) -> Result<(Compared, Vec<Span>), VerifyError> {
    let operations = asked.operations / 5;
    let bar = bar("redis cluster".to_owned(), operations);
    let told = |done: u64| bar.set_position(done);
    let compared = compare_clusters(installed, asked.seed, operations, stop, &told);
    bar.finish_and_clear();
    compared
}

/// How long things took on both sides.
fn timed(spans: &[Span]) -> String {
    let mut text = String::new();
    for span in spans {
        let verdict = if span.agrees() { "agrees" } else { "differs" };
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "{}: {verdict}\n  real   {}\n  model  {}",
            span.what, span.real, span.model
        );
    }
    text
}

/// What came of it: every difference, and one line at the end.
fn shown(name: &str, seed: u64, compared: &Compared) -> String {
    let mut text = String::new();
    for difference in &compared.differences {
        // Writing to a string cannot fail.
        let _ = write!(
            text,
            "{}, over connection {}\n  asked  {}\n  real   {}\n  model  {}\n\n",
            difference.part, difference.wire, difference.asked, difference.real, difference.model
        );
    }
    for (what, times) in &compared.not_modelled {
        let _ = writeln!(text, "not modelled: {what}, {} times", thousands(*times));
    }
    let names = compared.names.iter();
    let names: Vec<String> = names
        .map(|(name, number)| format!("{name} {}", thousands(*number)))
        .collect();
    let _ = writeln!(text, "asked: {}", names.join(", "));
    let (agreeing, answers) = (compared.agreeing, compared.answers);
    let share = match answers {
        0 => 0.0,
        all => 100.0 * agreeing as f64 / all as f64,
    };
    if compared.streamed > 0 {
        let (told, alike) = (compared.streamed, compared.streamed_alike);
        let (told, alike) = (thousands(told), thousands(alike));
        let _ = writeln!(text, "replicas were told {told} commands, {alike} agree");
    }
    let _ = writeln!(
        text,
        "{name}, seed {seed}: {} commands, {} of {} answers agree ({share:.2} %)",
        thousands(compared.commands),
        thousands(agreeing),
        thousands(answers),
    );
    text
}
