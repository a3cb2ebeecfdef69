//! Runs the comparison with a real Redis, and shows it.

use std::fmt::Write as _;
use std::sync::atomic::AtomicBool;

use crate::reports::words::thousands;
use picklock_verify::VerifyError;
use picklock_verify::harness::timing::Span;
use picklock_verify::redis::{
    Compared, Failovers, HOW, Installed, Plan, Resumed, compare_clusters, compare_failovers,
    steps_of_failovers,
};

use super::Verify;
use super::compared::{agreement, bar, differences, interrupted, not_compared, requests};
use crate::cli::console;
use crate::cli::exit;
use crate::cli::failure::Failure;

/// Compares the model with a real server.
pub(super) fn redis(asked: &Verify) -> Result<u8, Failure> {
    let installed = Installed::find(asked.redis_server.as_deref()).map_err(|error| {
        let hints = [
            format!("install it: {HOW}"),
            "or say where it is: --redis-server PROGRAM".to_owned(),
        ];
        Failure::usage(error.to_string(), hints)
    })?;
    let stop = interrupted();
    let plan = Plan {
        seed: asked.seed,
        operations: asked.operations,
    };
    let bar = bar("redis".to_owned(), asked.operations);
    let progress = |done: u64| bar.set_position(done);
    let compared = picklock_verify::redis::compare(&installed, plan, &stop, &progress);
    bar.finish_and_clear();
    let all = compared.and_then(|compared| {
        let failovers = failovers(&installed, &stop)?;
        let clusters = clusters(asked, &installed, &stop)?;
        Ok((compared, failovers, clusters))
    });
    match all {
        Ok((compared, failovers, (nodes, spans))) => {
            console::print(&shown("redis", asked.seed, &compared))?;
            console::print(&shown("redis failover", asked.seed, &failovers.compared))?;
            console::print(&timed(&failovers.spans))?;
            console::print(&resumed(&failovers))?;
            console::print(&shown("redis cluster", asked.seed, &nodes))?;
            console::print(&timed(&spans))?;
            let agrees =
                |run: &Compared| run.differences.is_empty() && run.counters.not_modelled.is_empty();
            let spans = spans.iter().chain(&failovers.spans);
            let agree = [&compared, &failovers.compared, &nodes]
                .into_iter()
                .all(agrees)
                && spans.into_iter().all(Span::agrees)
                && resumed_alike(&failovers);
            Ok(if agree {
                exit::AS_EXPECTED
            } else {
                exit::NOT_AS_EXPECTED
            })
        }
        Err(error) => not_compared(&error),
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
    let progress = |done: u64| bar.set_position(done);
    let compared = compare_clusters(installed, asked.seed, operations, stop, &progress);
    bar.finish_and_clear();
    compared
}

/// Compares what follows when a primary fails.
fn failovers(installed: &Installed, stop: &AtomicBool) -> Result<Failovers, VerifyError> {
    let bar = bar("redis failover".to_owned(), steps_of_failovers());
    let progress = |done: u64| bar.set_position(done);
    let compared = compare_failovers(installed, stop, &progress);
    bar.finish_and_clear();
    compared
}

/// Whether old primaries lost what they had taken, on both sides.
fn resumed_alike(failovers: &Failovers) -> bool {
    let (real, model) = &failovers.resumed;
    let lost = |run: &Resumed| run.writes > 0 && run.kept == 0;
    !real.is_empty() && real.iter().chain(model).all(lost)
}

/// What old primaries took that were replaced while they stood still.
fn resumed(failovers: &Failovers) -> String {
    let (real, model) = &failovers.resumed;
    let verdict = if resumed_alike(failovers) {
        "agrees"
    } else {
        "differs"
    };
    let mut text = format!("an old primary that goes on: {verdict}\n");
    for (side, resumed) in [("real ", real), ("model", model)] {
        let mut shown: Vec<String> = resumed.iter().map(Resumed::to_string).collect();
        shown.sort_unstable();
        shown.dedup();
        for line in shown.iter().take(3) {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "  {side}  {line}");
        }
    }
    text
}

/// How long things took on both sides.
fn timed(spans: &[Span]) -> String {
    let mut text = String::new();
    for span in spans {
        let verdict = match (span.agrees(), span.outside()) {
            (true, 0) => "agrees".to_owned(),
            (true, 1) => "agrees, but for one".to_owned(),
            (true, outside) => format!("agrees, but for {outside}"),
            (false, _) => "differs".to_owned(),
        };
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
    let mut text = differences("", &compared.differences);
    let counters = &compared.counters;
    if let Some(server) = &counters.server {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{server}");
    }
    for (case, needed) in &counters.skipped {
        let _ = writeln!(
            text,
            "skipped: {case}, which an older server has not: it needs {needed}"
        );
    }
    for (what, times) in &counters.not_modelled {
        let _ = writeln!(text, "not modelled: {what}, {} times", thousands(*times));
    }
    let _ = writeln!(text, "asked: {}", requests(&compared.requests));
    if counters.streamed > 0 {
        let told = thousands(counters.streamed);
        let alike = thousands(counters.streamed_alike);
        let _ = writeln!(text, "replicas were told {told} commands, {alike} agree");
    }
    let _ = writeln!(
        text,
        "{name}, seed {seed}: {} commands, {}",
        thousands(compared.operations),
        agreement(compared),
    );
    text
}
