//! `cargo run -p picklock-mutants`: puts small mistakes into recipes, checks, and servers, and says who notices which.

mod build;
mod library;
mod process;
mod table;
mod tree;
mod trial;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Mutex;
use std::{env, fs, thread};

use picklock_mutants::list::{self, Mutant};
use picklock_mutants::rewrite::misplaced;

use crate::table::{Row, sum, table};
use crate::trial::{Bench, Killer, Usual, seconds};

const HELP: &str = "\
Puts small mistakes into recipes, checks, and servers, one at a time, and says who notices which

Usage: cargo run -p picklock-mutants -- [OPTIONS] [NAME]...

Arguments:
  [NAME]...        Only the mutants that have this in their name or in the path of their file

Options:
      --list       Say which there are, and run nothing
      --jobs <N>   How many to try at the same time [default: 2]
      --to <FILE>  Write the table to this file, too
  -h, --help       Print help

Exit code: 0 if 95 of 100 are noticed and the list says why the others are not, 1 if not, 2 if it cannot be told.
";

struct Options {
    only: Vec<String>,
    list: bool,
    jobs: usize,
    to: Option<PathBuf>,
}

fn main() -> ExitCode {
    match options(env::args().skip(1)) {
        Ok(Some(options)) => match run(&options) {
            Ok(true) => ExitCode::SUCCESS,
            Ok(false) => ExitCode::from(1),
            Err(error) => wrong(&error),
        },
        Ok(None) => {
            print!("{HELP}");
            ExitCode::SUCCESS
        }
        Err(error) => wrong(&error),
    }
}

fn wrong(error: &str) -> ExitCode {
    eprintln!("error: {error}");
    ExitCode::from(2)
}

/// What is wanted; nothing if help is.
fn options(mut arguments: impl Iterator<Item = String>) -> Result<Option<Options>, String> {
    let mut options = Options {
        only: Vec::new(),
        list: false,
        jobs: 2,
        to: None,
    };
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "-h" | "--help" => return Ok(None),
            "--list" => options.list = true,
            "--jobs" => {
                let jobs = arguments.next().and_then(|jobs| jobs.parse().ok());
                let jobs = jobs.filter(|jobs| (1..=64).contains(jobs));
                options.jobs = jobs.ok_or("--jobs takes a number from 1 to 64")?;
            }
            "--to" => options.to = Some(arguments.next().ok_or("--to takes a file")?.into()),
            other if other.starts_with('-') => {
                return Err(format!("`{other}` is no option; see --help"));
            }
            name => options.only.push(name.to_owned()),
        }
    }
    Ok(Some(options))
}

/// Whether all is well.
fn run(options: &Options) -> Result<bool, String> {
    let repository = list::repository();
    let mutants = list::read(&repository).map_err(|mistake| mistake.to_string())?;
    // Their numbers do not depend on which are tried, so that no build is needed for that.
    let all: Vec<(usize, &Mutant)> = (1..).zip(&mutants).collect();
    let wanted = |mutant: &Mutant| {
        let has = |part: &String| mutant.name.contains(part) || mutant.file.contains(part);
        options.only.is_empty() || options.only.iter().any(has)
    };
    let tried: Vec<_> = all
        .iter()
        .copied()
        .filter(|(_, mutant)| wanted(mutant))
        .collect();
    if tried.is_empty() {
        return Err("no mutant is called so; --list says which there are".to_owned());
    }
    let wrong = misplaced(&repository, &mutants);
    if !wrong.is_empty() {
        return Err(wrong.join("\n"));
    }
    if options.list {
        for (
            _,
            Mutant {
                name, file, breaks, ..
            },
        ) in tried
        {
            println!("{name:<32} {file}: {breaks}");
        }
        return Ok(true);
    }
    let bench = prepared(&repository, &all)?;
    let began = process::now();
    eprintln!("running the library without a mutant");
    let control = bench.control(&tried)?;
    eprintln!(
        "trying {} mutants; that took {} s",
        tried.len(),
        seconds(began)
    );
    let rows = all_tried(&bench, &control, &tried, options.jobs)?;
    let text = table(&rows);
    let (last, well) = sum(&rows);
    println!("{text}\n{last}");
    if let Some(path) = &options.to {
        fs::write(path, text).map_err(|error| format!("{}: {error}", path.display()))?;
    }
    eprintln!("all of that took {} s", seconds(began));
    Ok(well)
}

/// Copies the tree, puts all mutants in, and builds it.
fn prepared(repository: &Path, all: &[(usize, &Mutant)]) -> Result<Bench, String> {
    let target = env::var_os("CARGO_TARGET_DIR").map(PathBuf::from);
    let folder = target
        .unwrap_or_else(|| repository.join("target"))
        .join("mutants");
    let (tree, results) = (folder.join("tree"), folder.join("results"));
    fs::create_dir_all(&results).map_err(|error| format!("{}: {error}", results.display()))?;
    tree::copy(repository, &tree, all)?;
    let began = process::now();
    eprintln!(
        "building the tree with {} mutants in it; that takes minutes",
        all.len()
    );
    let built = build::build(&tree, &folder.join("build"))?;
    eprintln!("that took {} s", seconds(began));
    Ok(Bench { built, results })
}

/// Tries all of them, several at a time. They come back in their order.
fn all_tried<'m>(
    bench: &Bench,
    usual: &[Usual],
    tried: &[(usize, &'m Mutant)],
    jobs: usize,
) -> Result<Vec<Row<'m>>, String> {
    let next = Mutex::new(tried.iter());
    let found: Mutex<Vec<(usize, &Mutant, Option<Killer>)>> = Mutex::new(Vec::new());
    let work = || -> Result<(), String> {
        loop {
            let Some((number, mutant)) = next.lock().ok().and_then(|mut next| next.next()) else {
                return Ok(());
            };
            let killer = bench.tried(*number, mutant, usual)?;
            let mut found = found.lock().map_err(|_| "another thread has panicked")?;
            found.push((*number, mutant, killer.clone()));
            let by = killer.map_or("UNNOTICED".to_owned(), |killer| format!("{killer:?}"));
            eprintln!(
                "{:>3}/{}  {:<32} {by}",
                found.len(),
                tried.len(),
                mutant.name
            );
        }
    };
    thread::scope(|scope| {
        let workers: Vec<_> = (0..jobs).map(|_| scope.spawn(work)).collect();
        let ends = workers.into_iter().map(|worker| worker.join());
        ends.map(|end| end.unwrap_or_else(|_| Err("a thread has panicked".to_owned())))
            .collect::<Result<Vec<()>, String>>()
    })?;
    let mut found = found.into_inner().map_err(|_| "a thread has panicked")?;
    found.sort_by_key(|(number, ..)| *number);
    let rows = found
        .into_iter()
        .map(|(_, mutant, killer)| (mutant, killer));
    Ok(rows.collect())
}
