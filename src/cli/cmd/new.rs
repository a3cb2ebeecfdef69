//! `picklock new`: a scenario file to begin with.

use std::path::{Path, PathBuf};

use crate::algorithms::clients::{RequestKind, ServiceKind};
use crate::algorithms::{LockKind, Recipe};
use crate::reports::files;
use crate::scenarios::program;
use crate::scenarios::replay_command::quoted;
use crate::scenarios::services::supported;
use crate::sim::plan::Service;
use clap::Subcommand;

use super::services::{one_of, service_named};
use crate::cli::console;
use crate::cli::exit;
use crate::cli::failure::Failure;

const EXAMPLES: &str = "\
Examples:
  picklock new scenario my-locks/outage.toml
  picklock new scenario my-locks/outage.toml --algorithm redlock
  picklock new scenario --service redis                 shows the file, and writes nothing";

/// Write a scenario file to begin with.
#[derive(Debug, clap::Args)]
pub struct New {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    Scenario(NewScenario),
}

/// Write a scenario file with comments, which runs as it stands: a world, something that breaks in it, and a case. A
/// file that is there is never replaced.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
struct NewScenario {
    /// The file, which ends in .toml; standard output, if none is named.
    #[arg(value_name = "FILE")]
    path: Option<PathBuf>,
    #[arg(long, value_name = "SERVICE", value_parser = service_named, help = help_of_service())]
    service: Option<ServiceKind>,
    /// The algorithm of the case.
    #[arg(long, value_name = "NAME")]
    algorithm: Option<String>,
}

/// What `--service` says of itself.
fn help_of_service() -> String {
    format!(
        "The service that the lock stands on: {}; that of the algorithm, or else {}",
        one_of(ServiceKind::name),
        ServiceKind::ALL[0].name()
    )
}

impl New {
    /// Writes it.
    ///
    /// # Errors
    ///
    /// [`Failure`], if there is such a file, or it cannot be written.
    pub fn execute(self) -> Result<u8, Failure> {
        let What::Scenario(new) = self.what;
        new.execute()
    }
}

impl NewScenario {
    fn execute(self) -> Result<u8, Failure> {
        let text = text(self.recipe()?);
        let said = match &self.path {
            None => text,
            Some(path) if path.extension().is_none_or(|end| end != "toml") => {
                let problem = format!("{} does not end in .toml", path.display());
                let hint = format!("name it {}", path.with_extension("toml").display());
                return Err(Failure::usage(problem, [hint]));
            }
            Some(path) => {
                files::create_whole(path, text.as_bytes())?;
                told(path)
            }
        };
        console::shown(console::print(&said))?;
        Ok(exit::AS_EXPECTED)
    }

    /// The algorithm of the case: the one that was asked for, or a sound one of the service.
    fn recipe(&self) -> Result<&'static Recipe, Failure> {
        let asked = self.service;
        let name = match &self.algorithm {
            Some(name) => name.as_str(),
            None => {
                supported(asked.unwrap_or(ServiceKind::ALL[0]))
                    .example
                    .algorithm
            }
        };
        let known = program::algorithms();
        let Some(recipe) = known.iter().find(|lock| lock.name == name) else {
            let names: Vec<&str> = known.iter().map(|lock| lock.name).collect();
            return Err(Failure::unknown("algorithm", name, &names));
        };
        let service = recipe.build.service();
        if asked.is_some_and(|asked| asked != service) {
            let problem = format!("{name} stands on {}", service.title());
            let hint = format!(
                "leave --service away, or write --service {}",
                service.name()
            );
            return Err(Failure::usage(problem, [hint]));
        }
        Ok(recipe)
    }
}

/// The table of the service that an algorithm stands on, with the variant that it asks for.
fn world(recipe: &Recipe) -> String {
    let world = supported(recipe.build.service()).example.world;
    let usual = Service::from(recipe.build.service());
    match (usual.variant(), Service::for_build(recipe.build).variant()) {
        (Some((key, usual)), Some((_, word))) => {
            let line = |word| format!("{key} = \"{word}\"");
            let replaced = world.replace(&line(usual), &line(word));
            match usual == word || replaced != world {
                true => replaced,
                // What the usual variant need not say.
                false => format!("{}\n{}\n", world.trim_end(), line(word)),
            }
        }
        _ => world.to_owned(),
    }
}

/// A file to begin with, for this algorithm.
fn text(recipe: &Recipe) -> String {
    let world = world(recipe);
    let of_kind = match recipe.ownership.kind {
        LockKind::Semaphore => "# How many contenders may hold it at once.\npermits = 2\n",
        LockKind::CountDownLatch => {
            "# How many contenders count down. A latch opens once: each round has its own.\ncount = 1\nlocks = 2\n"
        }
        LockKind::MultiLock => {
            "# How many locks there are, and how many of them one call acquires.\nlocks = 3\nlocks-at-once = 2\n"
        }
        LockKind::Mutex
        | LockKind::ReadWrite
        | LockKind::Election
        | LockKind::Barrier
        | LockKind::DoubleBarrier => "",
    };
    // What has set a barrier leaves it standing when it dies, and the others wait until it has come back.
    let crash = match recipe.ownership.kind {
        LockKind::Barrier => r#"{ target = "contender-1", restart-after = "10s" }"#,
        LockKind::Mutex
        | LockKind::ReadWrite
        | LockKind::Election
        | LockKind::Semaphore
        | LockKind::MultiLock
        | LockKind::DoubleBarrier => r#"{ target = "contender-1" }"#,
        // A latch never opens without one that counts down.
        LockKind::CountDownLatch => r#"{ target = "contender-3" }"#,
    };
    let rest = include_str!("new/rest.toml").replace("ALGORITHM", recipe.name);
    let rest = rest.replace("OF_KIND\n", of_kind).replace("CRASH", crash);
    let head = include_str!("new/head.toml");
    let (replicas, log) = (replicas(recipe), log(recipe));
    format!("{head}\n{world}{replicas}{log}\n{rest}")
}

/// What a lock needs that waits for the disk.
fn log(recipe: &Recipe) -> &'static str {
    let waits = recipe.requests.contains(&RequestKind::WaitAof);
    match waits && recipe.requests.len() < RequestKind::ALL.len() {
        true => {
            "# What the server keeps on its disk: `WAITAOF` waits until it is there.\npersistence = \"aof-everysec\"\n"
        }
        false => "",
    }
}

/// What a lock that waits for a replica needs. A lock of the program that may make every request does not say that it
/// does.
fn replicas(recipe: &Recipe) -> &'static str {
    let waits = recipe.requests.contains(&RequestKind::Wait);
    match waits && recipe.requests.len() < RequestKind::ALL.len() {
        true => {
            "# How many replicas copy the writes of the primary: `WAIT` waits for them.\nreplicas = 1\n"
        }
        false => "",
    }
}

/// What was written, and what to do next.
fn told(path: &Path) -> String {
    let (program, shown) = (program::command(), quoted(&path.display().to_string()));
    format!("wrote {shown}\n  {program} validate {shown}\n  {program} run {shown}\n")
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use super::*;
    use crate::checker::outcome::Standing;
    use crate::scenarios::parse;
    use crate::scenarios::runner::{RunOptions, run_case};
    use crate::scenarios::shard::Seeds;

    #[test]
    fn every_file_to_begin_with_holds_for_every_sound_lock() {
        let settings = RunOptions {
            seeds: Seeds::all(0..20),
            verify_determinism: false,
        };
        let never = AtomicBool::new(false);
        let known = program::algorithms().iter();
        for recipe in known.filter(|lock| lock.flaw.is_none()) {
            let scenario = parse("new", &text(recipe), &program::catalogue());
            let scenario = scenario.unwrap_or_else(|found| panic!("{}: {}", recipe.name, found[0]));
            let outcome = run_case(&scenario, &scenario.cases[0], &settings, &never, &|| {});
            let outcome = outcome.unwrap_or_else(|stopped| panic!("{}: {stopped:?}", recipe.name));
            assert_eq!(outcome.standing, Standing::Holds, "{}", recipe.name);
        }
    }

    #[test]
    fn every_file_to_begin_with_is_read_without_a_mistake_with_every_lock_of_its_service() {
        for recipe in program::algorithms() {
            let read = parse("new", &text(recipe), &program::catalogue());
            let read = read.map_err(|mistakes| mistakes[0].to_string());
            let read = read.unwrap_or_else(|mistake| panic!("{}: {mistake}", recipe.name));
            assert_eq!(read.cases.len(), 1);
        }
        for service in ServiceKind::ALL {
            let algorithm = supported(service).example.algorithm;
            let known = program::algorithms();
            let usual = known.iter().find(|lock| lock.name == algorithm);
            assert!(usual.is_some_and(|lock| lock.build.service() == service));
        }
    }
}
