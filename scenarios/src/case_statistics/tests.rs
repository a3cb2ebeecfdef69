use picklock_checker::{Evidence, Reached, Step, VirtualTime, notation};

use super::*;

/// What is not the same in all arguments.
fn kind(seed: u64) -> &'static str {
    if seed.is_multiple_of(2) {
        "so"
    } else {
        "otherwise"
    }
}

fn outcome(seed: u64) -> SeedOutcome {
    let witness = Witness {
        summary: format!("at {seed}"),
        at: VirtualTime::ZERO,
        overlap: None,
        events: Vec::new(),
        argument: vec![Step::Then(format!("It is {}.", kind(seed)))],
    };
    let verdict = match seed % 3 {
        0 => vec![("fifo", Verdict::Violated(Box::new(witness)))],
        1 => vec![("fifo", Verdict::Undecided(format!("at {seed}")))],
        _ => Vec::new(),
    };
    SeedOutcome {
        seed,
        hash: seed * seed,
        verdicts: verdict,
        vacuous: (seed.is_multiple_of(5)).then(|| "no contender waits".to_owned()),
        vacuous_detail: (seed.is_multiple_of(5)).then(|| format!("that was at {seed}")),
        excused: Vec::new(),
        moot: Vec::new(),
        reached: Reached::default(),
        nearness: apart(9 - seed % 4),
        counts: Counts {
            grants: seed,
            ..Counts::default()
        },
        broken: None,
    }
}

fn sample(seed: u64) -> Sample {
    let hash = outcome(seed).hash;
    Sample { seed, hash }
}

/// A run in which two holds are so many seconds apart.
fn apart(seconds: u64) -> Nearness {
    let run = notation::run(&format!("a:0-10 b:{}-30", 10 + seconds));
    Nearness::of(&Evidence::of(&run))
}

/// What a shard sees of its first so many seeds.
fn seen(range: &Range<u64>, shard: Shard, ran: u64) -> Tally {
    let range = range.clone();
    let seeds = Seeds { range, shard };
    let mut tally = Tally::new(&seeds);
    for index in 0..ran.min(seeds.len()) {
        tally.add(shard, outcome(seeds.nth(index)));
    }
    tally
}

fn stretch(from: u64, to: u64, step: u64) -> SeedRange {
    SeedRange { from, to, step }
}

#[test]
fn shards_add_up_to_the_whole_in_any_order() {
    let seeds = 4..27;
    let whole = seen(&seeds, Shard::WHOLE, 100);
    for order in [[1, 2, 3, 4], [3, 1, 4, 2]] {
        let mut parts = order
            .map(|index| seen(&seeds, Shard::new(index, 4).unwrap(), 100))
            .into_iter();
        let mut joined = parts.next().unwrap();
        assert!(joined.is_part());
        parts.for_each(|part| joined.join(part));
        assert!(!joined.is_part());
        assert_eq!(
            (joined.seeds(), joined.ran()),
            (23, vec![stretch(4, 27, 1)])
        );
        let as_one = Tally {
            of: 1,
            ran: whole.ran.clone(),
            ..joined
        };
        assert_eq!(as_one, whole);
        assert_eq!(as_one.violated["fifo"].seed, 6);
        assert_eq!(as_one.unknown["fifo"].reason, "at 4");
        let mut alike: Vec<SimilarSeeds> =
            as_one.violated["fifo"].alike.values().cloned().collect();
        alike.sort_by_key(|alike| alike.first[0].seed);
        let of = |seeds, first: &[u64]| SimilarSeeds {
            seeds,
            first: first.iter().map(|&seed| sample(seed)).collect(),
        };
        assert_eq!(alike, [of(4, &[6, 12, 18, 24]), of(3, &[9, 15, 21])]);
        let nearest = Nearest {
            micros: 6_000_000,
            seed: 7,
        };
        assert_eq!(
            as_one.nearest,
            BTreeMap::from([("between-holds".to_owned(), nearest)])
        );
    }
}

#[test]
fn the_hash_tells_which_seed_had_which_history() {
    let seeds = 0..2;
    let hash = |first: u64, second: u64| {
        let mut tally = Tally::new(&Seeds::all(seeds.clone()));
        for (seed, hash) in [(0, first), (1, second)] {
            tally.add(
                Shard::WHOLE,
                SeedOutcome {
                    hash,
                    ..outcome(seed)
                },
            );
        }
        tally.hash
    };
    assert_eq!(hash(3, 4), hash(3, 4));
    assert_ne!(hash(3, 4), hash(4, 3));
}

#[test]
fn what_ran_is_told_even_where_shards_got_less_far() {
    let seeds = 0..1000;
    let mut joined = seen(&seeds, Shard::new(1, 2).unwrap(), 5);
    joined.join(seen(&seeds, Shard::new(2, 2).unwrap(), 3));
    assert_eq!(joined.ran(), [stretch(0, 6, 1), stretch(6, 9, 2)]);
    assert_eq!(
        [6, 7, 8, 9].map(|number| joined.ran_of_the_first(number)),
        [6, 7, 7, 8]
    );
}
