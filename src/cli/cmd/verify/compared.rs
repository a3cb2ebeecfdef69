//! Runs the comparison, and shows it.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::reports::words::{count, thousands};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use picklock_verify::VerifyError;
use picklock_verify::harness::comparison::{Compared, Difference};
use picklock_verify::zookeeper::{self, HOW, Installed, JARS, Plan};

use super::Verify;
use crate::cli::console::{self, OutputArgs};
use crate::cli::exit;
use crate::cli::failure::Failure;

/// Compares the model with real servers, one and three of them.
pub(super) fn compare(asked: &Verify, _look: &OutputArgs) -> Result<u8, Failure> {
    let (installed, stop, sizes) = prepared(asked)?;
    let mut code = exit::AS_EXPECTED;
    for servers in sizes {
        let plan = Plan {
            servers,
            seed: asked.seed,
            operations: asked.operations,
        };
        let bar = bar(name(servers), asked.operations);
        let progress = |done: u64| bar.set_position(done);
        let compared = zookeeper::compare(&installed, plan, &stop, &progress);
        bar.finish_and_clear();
        match compared {
            Ok(compared) => {
                console::print(&shown(servers, asked.seed, &compared))?;
                if !compared.differences.is_empty() {
                    code = exit::NOT_AS_EXPECTED;
                }
            }
            Err(error) => return not_compared(&error),
        }
    }
    Ok(code)
}

/// The servers, a flag that Ctrl-C sets, and how many servers there are to be.
pub(super) fn prepared(asked: &Verify) -> Result<(Installed, Arc<AtomicBool>, Vec<u8>), Failure> {
    let folder = asked.jars.clone().unwrap_or_else(|| PathBuf::from(JARS));
    let installed = installed(&folder)?;
    let stop = interrupted();
    let sizes = match asked.servers.as_deref() {
        Some("1") => vec![1],
        Some(_) => vec![3],
        None => vec![1, 3],
    };
    Ok((installed, stop, sizes))
}

/// A flag that Ctrl-C sets.
pub(super) fn interrupted() -> Arc<AtomicBool> {
    let stop = Arc::new(AtomicBool::new(false));
    let heard = Arc::clone(&stop);
    // Without a handler Ctrl-C ends this program at once, and the real servers with it.
    let _ = ctrlc::set_handler(move || heard.store(true, Ordering::Relaxed));
    stop
}

fn installed(folder: &Path) -> Result<Installed, Failure> {
    Installed::find(folder).map_err(|error| {
        let hints = [
            format!("install it: {HOW}"),
            "or say where its archives are: --jars FOLDER".to_owned(),
        ];
        Failure::usage(error.to_string(), hints)
    })
}

pub(super) fn bar(name: String, operations: u64) -> ProgressBar {
    let style = ProgressStyle::with_template("{msg} {wide_bar} {pos}/{len} {eta}");
    let bar = ProgressBar::with_draw_target(Some(operations), ProgressDrawTarget::stderr());
    // The template is ours; if it were wrong, the usual look would do.
    let bar = bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    bar.set_message(name);
    bar.enable_steady_tick(Duration::from_millis(250));
    bar
}

pub(super) fn name(servers: u8) -> String {
    match servers {
        1 => "one server".to_owned(),
        more => format!("{more} servers"),
    }
}

/// What came of it: every difference, and one line at the end.
fn shown(servers: u8, seed: u64, compared: &zookeeper::Compared) -> String {
    let mut text = differences(&format!("{}, ", name(servers)), &compared.differences);
    if compared.set_aside > 0 {
        let parts = count(compared.set_aside, "part");
        let _ = writeln!(
            text,
            "{parts} set aside: the machine stood still, so sessions may have expired"
        );
    }
    if compared.counters.late_answers > 0 {
        let answers = count(compared.counters.late_answers, "answer");
        let _ = writeln!(
            text,
            "{answers} of the real servers came late, after a ping"
        );
    }
    let _ = writeln!(text, "asked: {}", requests(&compared.requests));
    let notifications = thousands(compared.counters.notifications);
    let _ = writeln!(text, "told: {notifications} notifications");
    let _ = writeln!(
        text,
        "{}, seed {seed}: {} operations, {}",
        name(servers),
        thousands(compared.operations),
        agreement(compared),
    );
    text
}

/// Every difference, with these words before each.
pub(super) fn differences(before: &str, differences: &[Difference]) -> String {
    let mut text = String::new();
    for difference in differences {
        // Writing to a string cannot fail.
        let _ = write!(
            text,
            "{before}{}, over {}\n  asked  {}\n  real   {}\n  model  {}\n\n",
            difference.part,
            difference.connection,
            difference.asked,
            difference.real,
            difference.model
        );
    }
    text
}

/// How often each kind of request was asked.
pub(super) fn requests(requests: &BTreeMap<String, u64>) -> String {
    let counts = requests.iter();
    let counts: Vec<String> = counts
        .map(|(name, number)| format!("{name} {}", thousands(*number)))
        .collect();
    counts.join(", ")
}

/// How many of the answers are the same.
pub(super) fn agreement<C>(compared: &Compared<C>) -> String {
    let (agreeing, answers) = (compared.agreeing, compared.answers);
    let share = match answers {
        0 => 0.0,
        all => 100.0 * agreeing as f64 / all as f64,
    };
    let (agreeing, answers) = (thousands(agreeing), thousands(answers));
    format!("{agreeing} of {answers} answers agree ({share:.2} %)")
}

/// Says why it could not be compared.
pub(super) fn not_compared(error: &VerifyError) -> Result<u8, Failure> {
    if matches!(error, VerifyError::Interrupted) {
        return Err(Failure::Interrupted);
    }
    console::print_message(&describe_error(error));
    Ok(exit::UNDECIDED)
}

/// What there is to say when it could not be compared: why, and the last lines of the server's log.
fn describe_error(error: &VerifyError) -> String {
    let mut text = format!("picklock: {error}\n");
    if !error.log().is_empty() {
        text.push_str("  the last lines of its log:\n");
    }
    for line in error.log() {
        let _ = writeln!(text, "  | {line}");
    }
    text
}
