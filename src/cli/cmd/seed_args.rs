//! Which part of which seeds a run has: `--seeds`, `--seed-base`, `--shard`, `--time`.

use std::collections::VecDeque;
use std::ops::Range;
use std::time::Duration;

use crate::scenarios::case_statistics::Tally;
use crate::scenarios::clock::{Stopwatch, days_since_epoch};
use crate::scenarios::runner::{RunOptions, Stopped, run_block};
use crate::scenarios::shard::{Seeds, Shard};
use crate::scenarios::{Case, Scenario, program, units};
use rayon::ThreadPool;

use crate::cli::failure::Failure;
use crate::cli::progress::Work;
use crate::cli::seeds;

/// The seeds of each day are so far from those of the next.
const SEEDS_A_DAY: u64 = 1_000_000;

/// Which part of which seeds, as a command line says it.
#[derive(Debug, clap::Args)]
pub struct SeedArgs {
    /// The seeds to run each case with, from A to below B; N alone is 0..N [default: 100, new ones
    /// every day, or as many as fit with --time].
    #[arg(long, value_name = "A..B", value_parser = seeds::parse, allow_hyphen_values = true)]
    seeds: Option<Range<u64>>,
    /// Add N to all seeds; `today` is a number of the day (UTC), and the default without --seeds. The
    /// report shows the number: with it, the same seeds run again.
    #[arg(long, value_name = "N", value_parser = base)]
    seed_base: Option<u64>,
    /// Run only the I-th of N parts of the seeds, for `picklock merge`; `auto` takes I and N from
    /// what continuous integration sets.
    #[arg(long, value_name = "I/N", value_parser = shard)]
    shard: Option<ShardChoice>,
    /// Take all seeds that are asked for, also in files that say `seeds-at-most`.
    #[arg(long)]
    all_seeds: bool,
    /// Run as many seeds of each case as fit into this time, such as 60s or 5m.
    #[arg(long, value_name = "TIME", value_parser = time)]
    time: Option<Duration>,
}

/// Which shard is wanted.
#[derive(Clone, Copy, Debug)]
enum ShardChoice {
    This(Shard),
    Auto,
}

/// Which part of which seeds, worked out.
#[derive(Clone, Debug)]
pub struct Span {
    /// The seeds.
    pub seeds: Seeds,
    /// Whether the run is one of several, each with a shard.
    pub is_shard: bool,
    /// How much time there is, if that is the limit.
    pub time: Option<Duration>,
    /// What was added to all seeds, if that was asked for, or the seeds were not.
    pub base: Option<u64>,
}

impl SeedArgs {
    /// Works it out.
    ///
    /// # Errors
    ///
    /// [`Failure::Usage`], if seeds become too large, or there is no shard to be found.
    pub fn span(&self) -> Result<Span, Failure> {
        let base = match (self.seed_base, &self.seeds) {
            (None, None) => Some(today()),
            (asked, _) => asked,
        };
        let added = base.unwrap_or(0);
        let most = if self.time.is_some() {
            seeds::MOST
        } else {
            100
        };
        let seeds = self.seeds.clone().unwrap_or(0..most);
        let start = seeds.start.checked_add(added);
        let seeds = start.zip(seeds.end.checked_add(added)).ok_or_else(|| {
            let problem = format!(
                "--seed-base {added} is too large: seeds end at {}",
                u64::MAX
            );
            Failure::usage(problem, ["try a smaller one".to_owned()])
        })?;
        let range = seeds.0..seeds.1;
        let shard = match self.shard {
            None => None,
            Some(ShardChoice::This(shard)) => Some(shard),
            Some(ShardChoice::Auto) => Some(from_environment(|name| std::env::var(name).ok())?),
        };
        Ok(Span {
            seeds: Seeds {
                range,
                shard: shard.unwrap_or(Shard::WHOLE),
            },
            is_shard: shard.is_some(),
            time: self.time,
            base,
        })
    }

    /// Has files take all seeds that are asked for, if that is wanted.
    pub fn lift_limits(&self, scenarios: &mut [Scenario]) {
        let cases = scenarios
            .iter_mut()
            .flat_map(|scenario| &mut scenario.cases);
        for case in cases.filter(|_| self.all_seeds) {
            case.seeds_at_most = None;
        }
    }

    /// What to add to a command to run the same seeds on another day, if that needs to be said: as many of each case
    /// as have run, if time was the limit.
    fn pinned(&self, span: &Span, ran: u64) -> Option<String> {
        let base = span.base?;
        let seeds = match (&self.seeds, span.time) {
            (None, None) => String::new(),
            (Some(seeds), None) => format!("--seeds {}..{} ", seeds.start, seeds.end),
            (seeds, Some(_)) => {
                let from = seeds.as_ref().map_or(0, |seeds| seeds.start);
                let all = ran.saturating_mul(span.seeds.shard.of());
                format!("--seeds {from}..{} ", from.saturating_add(all))
            }
        };
        let shard = match span.is_shard {
            true => format!(" --shard {}", span.seeds.shard),
            false => String::new(),
        };
        let all = if self.all_seeds { " --all-seeds" } else { "" };
        Some(format!("{seeds}--seed-base {base}{shard}{all}"))
    }

    /// What to say of the seeds after the results, if they are not just what was asked for: lines that end with a line
    /// break. `ran` is how many of a case have run, and `command` runs the same cases.
    pub fn describe(&self, span: &Span, ran: u64, command: &str) -> String {
        let mut text = String::new();
        let (from, to) = (span.seeds.range.start, span.seeds.range.end);
        if span.is_shard {
            let shard = span.seeds.shard;
            let seeds = if span.time.is_some() {
                format!("from {from} on")
            } else {
                format!("{from}..{to}")
            };
            text.push_str(&format!(
                "  Shard {shard} of the seeds {seeds}: {} merge joins it with the others.\n",
                program::command()
            ));
        }
        if let Some(time) = span.time {
            let time = units::write_duration(time);
            text.push_str(&format!(
                "  {ran} seeds of each case ran; the time was {time}.\n"
            ));
        }
        if let Some(pinned) = self.pinned(span, ran) {
            let which = match self.seed_base {
                None if !span.is_shard => format!("Seeds from {from} on; each day has others. "),
                None | Some(_) => String::new(),
            };
            text.push_str(&format!(
                "  {which}To run the same again:\n    {command} {pinned}\n"
            ));
        }
        text
    }
}

/// Runs as many seeds as fit into the time: a block of each case after the other, for as long as another round is
/// expected to end in time. One round runs in any case.
///
/// # Errors
///
/// As of a run.
pub fn timed(
    scenarios: &[Scenario],
    settings: &RunOptions,
    span: &Span,
    pool: &ThreadPool,
    work: &Work,
) -> Result<Option<VecDeque<Tally>>, Failure> {
    let Some(time) = span.time else {
        return Ok(None);
    };
    let cases = || {
        scenarios
            .iter()
            .flat_map(|scenario| scenario.cases.iter().map(move |case| (scenario, case)))
    };
    let nothing = |case: &Case| Tally::of(case, &settings.seeds);
    let mut tallies: VecDeque<Tally> = cases().map(|(_, case)| nothing(case)).collect();
    let watch = Stopwatch::start();
    loop {
        let started = watch.elapsed();
        let mut ran = 0;
        for ((scenario, case), tally) in cases().zip(&mut tallies) {
            work.at(format!("{} {}", scenario.name, case.name));
            let progress = || work.seed_done();
            ran += match pool
                .install(|| run_block(scenario, case, settings, tally, work.stop(), &progress))
            {
                Ok(ran) => ran,
                Err(Stopped::Interrupted) => return Ok(Some(tallies)),
                Err(why @ Stopped::NotDeterministic { .. }) => {
                    return Err(Failure::stopped(scenario, case, why));
                }
            };
        }
        let now = watch.elapsed();
        if ran == 0 || now + (now - started) > time {
            return Ok(Some(tallies));
        }
    }
}

/// The shard that the environment names.
fn from_environment(variable: impl Fn(&str) -> Option<String>) -> Result<Shard, Failure> {
    let wrong = |what: String| {
        Failure::usage(
            format!("--shard auto: {what}"),
            ["name the shard: --shard 1/4".to_owned()],
        )
    };
    if let Some(text) = variable("PICKLOCK_SHARD") {
        return parse_shard(&text)
            .map_err(|why| wrong(format!("PICKLOCK_SHARD is `{text}`: {why}")));
    }
    // Where the place is, where the number is, and what the first place is called.
    let engines = [
        ("PICKLOCK_SHARD_INDEX", "PICKLOCK_SHARDS", 0),
        ("CI_NODE_INDEX", "CI_NODE_TOTAL", 1),
        ("JOB_COMPLETION_INDEX", "PICKLOCK_SHARDS", 0),
    ];
    for (index, total, first) in engines {
        let Some(position) = variable(index) else {
            continue;
        };
        let of = variable(total).ok_or_else(|| {
            wrong(format!(
                "{index} is set, and {total}, the number of shards, is not"
            ))
        })?;
        let number = |name: &str, text: &str| {
            let parsed = text.parse::<u64>();
            parsed.map_err(|_| wrong(format!("{name} is `{text}`, and should be a number")))
        };
        let (position, of) = (number(index, &position)?, number(total, &of)?);
        let shard = position.checked_add(1 - first).unwrap_or(position);
        return Shard::new(shard, of)
            .map_err(|why| wrong(format!("{index} is {position} and {total} is {of}: {why}")));
    }
    Err(wrong(
        "none of PICKLOCK_SHARD, PICKLOCK_SHARD_INDEX, CI_NODE_INDEX, and JOB_COMPLETION_INDEX is set".to_owned(),
    ))
}

fn shard(text: &str) -> Result<ShardChoice, String> {
    if text == "auto" {
        return Ok(ShardChoice::Auto);
    }
    parse_shard(text).map(ShardChoice::This)
}

fn parse_shard(text: &str) -> Result<Shard, String> {
    let number = |text: &str| {
        text.bytes()
            .all(|byte| byte.is_ascii_digit())
            .then(|| text.parse().ok())
    };
    let parts = text
        .split_once('/')
        .map(|(index, of)| (number(index), number(of)));
    match parts {
        Some((Some(Some(index)), Some(Some(of)))) => Shard::new(index, of),
        Some(_) | None => {
            Err("expected a shard such as 2/4, the second of four, or auto".to_owned())
        }
    }
}

fn base(text: &str) -> Result<u64, String> {
    if text == "today" {
        return Ok(today());
    }
    let expected = || "expected a number such as 1000000, or today".to_owned();
    if !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(expected());
    }
    text.parse().map_err(|_| expected())
}

/// What is added to all seeds today.
fn today() -> u64 {
    days_since_epoch() * SEEDS_A_DAY
}

/// A real time that is not zero.
pub(super) fn time(text: &str) -> Result<Duration, String> {
    let time = units::parse_duration(text)
        .map_err(|mistake| format!("{}; {}", mistake.message, mistake.help))?;
    if time.is_zero() {
        return Err("nothing runs in no time".to_owned());
    }
    Ok(time)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shard_is_read_strictly() {
        assert_eq!(parse_shard("2/4"), Shard::new(2, 4));
        for text in [
            "", "/", "2", "2/", "/4", "0/4", "5/4", "1/0", "+1/4", "1/4/4", " 1/4", "a/b",
        ] {
            assert!(parse_shard(text).is_err(), "{text}");
        }
    }

    #[test]
    fn the_environment_of_each_engine_names_the_shard() {
        let found = |set: &[(&str, &str)]| {
            let set: Vec<(String, String)> = set
                .iter()
                .map(|(name, text)| ((*name).to_owned(), (*text).to_owned()))
                .collect();
            let variable = |name: &str| {
                set.iter()
                    .find(|(known, _)| known == name)
                    .map(|(_, text)| text.clone())
            };
            from_environment(variable).map_err(|failure| failure.message(false).unwrap_or_default())
        };
        let second = Shard::new(2, 4);
        assert_eq!(
            found(&[("PICKLOCK_SHARD", "2/4")]).ok(),
            second.clone().ok()
        );
        let gitlab = [("CI_NODE_INDEX", "2"), ("CI_NODE_TOTAL", "4")];
        assert_eq!(found(&gitlab).ok(), second.clone().ok());
        let kubernetes = [("JOB_COMPLETION_INDEX", "1"), ("PICKLOCK_SHARDS", "4")];
        assert_eq!(found(&kubernetes).ok(), second.clone().ok());
        let github = [("PICKLOCK_SHARD_INDEX", "1"), ("PICKLOCK_SHARDS", "4")];
        assert_eq!(found(&github).ok(), second.ok());
        for (set, told) in [
            (&[][..], "CI_NODE_INDEX"),
            (&[("JOB_COMPLETION_INDEX", "1")], "PICKLOCK_SHARDS"),
            (&[("CI_NODE_INDEX", "x"), ("CI_NODE_TOTAL", "4")], "`x`"),
            (
                &[("CI_NODE_INDEX", "5"), ("CI_NODE_TOTAL", "4")],
                "no shard 5",
            ),
            (&[("PICKLOCK_SHARD", "two")], "`two`"),
        ] {
            let why = found(set).unwrap_err();
            assert!(why.contains(told), "{why}");
        }
    }
}
