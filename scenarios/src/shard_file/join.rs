//! Joins what all shards of a run saw.

use super::ShardFile;

/// Why shards do not fit together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Misfit {
    /// What is wrong, with the files.
    pub problem: String,
    /// What would be right.
    pub hint: String,
}

impl Misfit {
    fn new(problem: String, hint: &str) -> Self {
        let hint = hint.to_owned();
        Self { problem, hint }
    }
}

/// Joins all shards of a run, each with the name of its file: what one process would have seen. The cases are those of
/// the first file, with the tallies of all.
///
/// # Errors
///
/// [`Misfit`], if they are not all shards of one run, each once.
pub fn join(files: Vec<(String, ShardFile)>) -> Result<ShardFile, Misfit> {
    let Some((first, _)) = files.first() else {
        return Err(Misfit::new(
            "there is nothing to join".to_owned(),
            "name the files of all shards",
        ));
    };
    for (name, file) in &files[1..] {
        if let Some(difference) = difference(&files[0].1, file) {
            let problem = format!("{first} and {name} are not shards of one run: {difference}");
            let hint = "run all shards with the same scenarios, cases, seeds, and number of shards";
            let (ours, theirs) = (&files[0].1.seeds, &file.seeds);
            if ours.start != theirs.start {
                let base = format!(
                    "without --seeds they begin with the date: give all shards the same --seed-base, such as {}",
                    ours.start
                );
                return Err(Misfit::new(problem, &base));
            }
            return Err(Misfit::new(problem, hint));
        }
    }
    let mut sorted: Vec<&(String, ShardFile)> = files.iter().collect();
    sorted.sort_by_key(|(_, file)| file.shard.index());
    for pair in sorted.windows(2) {
        let [(one, file), (other, next)] = pair else {
            continue;
        };
        if file.shard == next.shard {
            let problem = format!("{one} and {other} are both shard {}", file.shard);
            return Err(Misfit::new(problem, "name each shard once"));
        }
    }
    let of = files[0].1.shard.of();
    let there = |index: &u64| sorted.iter().any(|(_, file)| file.shard.index() == *index);
    let missing: Vec<String> = (1..=of)
        .filter(|index| !there(index))
        .map(|index| format!("{index}/{of}"))
        .collect();
    if !missing.is_empty() {
        let shards = if missing.len() == 1 {
            "shard"
        } else {
            "shards"
        };
        let some = missing[..missing.len().min(8)].join(", ");
        let more = if missing.len() > 8 { ", …" } else { "" };
        let problem = format!("{shards} {some}{more} missing beside {first}");
        return Err(Misfit::new(
            problem,
            "name the files of all shards of the run",
        ));
    }
    let mut files = files.into_iter().map(|(_, file)| file);
    let mut joined = files.next().expect("there is a first");
    for file in files {
        for (ran, other) in joined.cases.iter_mut().zip(file.cases) {
            ran.tally.join(other.tally);
        }
    }
    Ok(joined)
}

/// What two shards of one run may not differ in, if they do.
fn difference(one: &ShardFile, other: &ShardFile) -> Option<String> {
    if one.picklock != other.picklock {
        return Some(format!("picklock {} and {}", one.picklock, other.picklock));
    }
    if one.seeds != other.seeds {
        let (a, b) = (&one.seeds, &other.seeds);
        return Some(format!(
            "of seeds {}..{} and {}..{}",
            a.start, a.end, b.start, b.end
        ));
    }
    if one.shard.of() != other.shard.of() {
        return Some(format!("shard {} and shard {}", one.shard, other.shard));
    }
    if one.timed != other.timed {
        return Some("only one of them had a limit of time".to_owned());
    }
    for (a, b) in one.cases.iter().zip(&other.cases) {
        let (name, another) = (
            format!("{} {}", a.scenario, a.case),
            format!("{} {}", b.scenario, b.case),
        );
        if name != another {
            return Some(format!("{name} stands where the other has {another}"));
        }
        if a.digest != b.digest || a.text != b.text {
            return Some(format!(
                "{name} is not the same scenario (digests {} and {})",
                a.digest, b.digest
            ));
        }
    }
    let (a, b) = (one.cases.len(), other.cases.len());
    (a != b).then(|| format!("{a} cases and {b} cases"))
}
