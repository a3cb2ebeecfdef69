//! What documents on distributed locks claim, beside what was measured.

use std::sync::atomic::AtomicBool;

use picklock_algorithms::registry::RECIPES;
use picklock_algorithms::{FaultClass, Recipe};

use super::{BrokenPromise, CROWDS, Crowd, Entry, broken_under};
use crate::matrix::Word;
use crate::scenario::Scenario;
use crate::services::supported;

/// A claim, and what the measurements say to it.
#[derive(Clone, Debug, PartialEq)]
pub struct Judged {
    /// What is claimed, in one sentence.
    pub claim: &'static str,
    /// Where it stands.
    pub source: &'static str,
    /// Whether it is so.
    pub verdict: Verdict,
    /// What was measured.
    pub because: String,
}

/// Whether a claim is so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// All measurements bear it out.
    Right,
    /// No measurement bears it out.
    Wrong,
    /// Some do.
    Depends,
}

impl Verdict {
    /// In words.
    pub fn name(self) -> &'static str {
        match self {
            Self::Right => "right",
            Self::Wrong => "wrong",
            Self::Depends => "it depends",
        }
    }
}

const RANKING: &str = "the ranking of database, cache, and ZooKeeper that many articles copy";
const REDIS_ARTICLE: &str = "articles on locks with Redis and Redisson";
const ZOOKEEPER_ARTICLE: &str = "articles on locks with ZooKeeper";

/// What a claim is held against.
struct Measured<'m> {
    entries: &'m [Entry],
    swarms: &'m [Scenario],
    seeds: u64,
    stop: &'m AtomicBool,
}

/// A figure by which locks are ranked: the less, the better.
type Figure = (&'static str, fn(&Entry) -> f64);

struct Claim {
    claim: &'static str,
    source: &'static str,
    judge: fn(&Measured<'_>) -> Option<(Verdict, String)>,
}

const CLAIMS: &[Claim] = &[
    Claim {
        claim: "By how hard they are to understand: database, cache, ZooKeeper.",
        source: RANKING,
        judge: |measured| measured.ranked(&[LINES, KINDS], &[DATABASE, CACHE, ZOOKEEPER]),
    },
    Claim {
        claim: "By how hard they are to implement: ZooKeeper, cache, database.",
        source: RANKING,
        judge: |measured| measured.ranked(&[LINES, KINDS], &[ZOOKEEPER, CACHE, DATABASE]),
    },
    Claim {
        claim: "By performance: cache before ZooKeeper, and ZooKeeper before database or level with it.",
        source: RANKING,
        judge: |measured| {
            const FIGURES: &[Figure] = &[
                ("round trips of an acquire and a release, alone", |entry| {
                    entry.cost.map_or(f64::INFINITY, |cost| {
                        cost.acquire.round_trips + cost.release.round_trips
                    })
                }),
                ("milliseconds of a hand-over among 10", |entry| {
                    handover(&entry.crowds[0])
                }),
                ("among 100", |entry| handover(&entry.crowds[1])),
                ("requests of it among 100", |entry| entry.crowds[1].requests),
            ];
            measured.ranked(FIGURES, &[CACHE, ZOOKEEPER, DATABASE])
        },
    },
    Claim {
        claim: "By reliability: ZooKeeper, cache, database.",
        source: RANKING,
        judge: |measured| {
            const FIGURES: &[Figure] = &[
                ("broken promises", |entry| {
                    entry.inexcusable().count() as f64
                }),
                ("classes of faults that break exclusion", |entry| {
                    entry.breaks_exclusion().len() as f64
                }),
            ];
            measured.ranked(FIGURES, &[ZOOKEEPER, CACHE, DATABASE])
        },
    },
    Claim {
        claim: "A release wakes one waiter if each watches the node before its own, all if they watch the children.",
        source: ZOOKEEPER_ARTICLE,
        judge: |_| {
            let of = |name| {
                CROWDS.map(|contenders| {
                    recipe(name).map(|recipe| Crowd::measure(recipe, contenders).notifications)
                })
            };
            let queue = of("zk-predecessor-watch");
            let herd = of("zk-children-watch");
            let ([Some(queue), _], [Some(few), Some(many)]) = (queue, herd) else {
                return None;
            };
            let is_so = queue <= 1.0 && many > few * 5.0;
            Some((
                right_if(is_so),
                format!(
                    "{queue:.1} notifications for each release; of those that watch the children {few:.1} among 10 and \
                     {many:.1} among 100"
                ),
            ))
        },
    },
    Claim {
        claim: "A dead holder's ephemeral node goes with its session, so that no waiter waits for ever.",
        source: ZOOKEEPER_ARTICLE,
        judge: |measured| measured.is_never("zk-hardened", FaultClass::Crash, Word::Stuck),
    },
    Claim {
        claim: "A waiter cannot miss the notification, for the watch is set by the read itself.",
        source: ZOOKEEPER_ARTICLE,
        judge: |measured| measured.is_never("zk-predecessor-watch", FaultClass::None, Word::Stuck),
    },
    Claim {
        claim: "SETNX and EXPIRE in two requests leave a lock for ever if the holder dies between them.",
        source: REDIS_ARTICLE,
        judge: |measured| measured.happens("redis-setnx-expire", FaultClass::Crash, Word::Stuck),
    },
    Claim {
        claim: "A key that expires frees the lock of a dead holder.",
        source: REDIS_ARTICLE,
        judge: |measured| {
            measured.is_never("redis-compare-and-delete", FaultClass::Crash, Word::Stuck)
        },
    },
    Claim {
        claim: "DEL without a look at the value deletes the lock of another.",
        source: REDIS_ARTICLE,
        judge: |measured| measured.happens("redis-set-nx-px-del", FaultClass::Pause, Word::Release),
    },
    Claim {
        claim: "A script that compares and deletes deletes only its own.",
        source: REDIS_ARTICLE,
        judge: |measured| {
            measured.is_never("redis-compare-and-delete", FaultClass::Pause, Word::Release)
        },
    },
    Claim {
        claim: "At any time only one client has the lock (SET NX PX).",
        source: REDIS_ARTICLE,
        judge: |measured| measured.excludes("redis-compare-and-delete"),
    },
    Claim {
        claim: "At any time only one client has the lock (Redlock).",
        source: REDIS_ARTICLE,
        judge: |measured| measured.excludes("redlock"),
    },
    Claim {
        claim: "Sentinel or cluster mode keeps the lock when a server dies.",
        source: REDIS_ARTICLE,
        judge: |measured| {
            let broken = measured.broken("redis-compare-and-delete", FaultClass::ServerCrash)?;
            let lost = exclusion(&broken).len();
            Some((
                right_if(lost == 0),
                match lost {
                    0 => "exclusion held under crashes of servers with replicas".to_owned(),
                    _ => "a replica takes over without the key, and a second contender enters"
                        .to_owned(),
                },
            ))
        },
    },
    Claim {
        claim: "Redisson's channel wakes waiters, which need not ask again and again.",
        source: REDIS_ARTICLE,
        judge: |_| {
            let of = |name| Some(crate::cost::measure(recipe(name)?, 5)?.waiting);
            let (told, asks) = (of("redisson-lock")?, of("redis-compare-and-delete")?);
            Some((
                right_if(told * 10.0 < asks),
                format!(
                    "{told:.1} requests per second of a waiter, against {asks:.1} of one that asks again"
                ),
            ))
        },
    },
];

/// What those articles call databases, caches, and ZooKeeper: the `ranked_as` of their services.
const DATABASE: &str = "database";
const CACHE: &str = "cache";
const ZOOKEEPER: &str = "ZooKeeper";

const LINES: Figure = ("lines of the recipe", |entry| {
    entry.lines.map_or(f64::INFINITY, f64::from)
});
const KINDS: Figure = ("kinds of requests", |entry| {
    entry.recipe.requests.len() as f64
});

/// Judges every claim. `None`, if `stop` is set.
pub fn judge(
    entries: &[Entry],
    swarms: &[Scenario],
    seeds: u64,
    stop: &AtomicBool,
) -> Option<Vec<Judged>> {
    let measured = Measured {
        entries,
        swarms,
        seeds,
        stop,
    };
    let judged = CLAIMS.iter().map(|claim| {
        let (verdict, because) = (claim.judge)(&measured)?;
        Some(Judged {
            claim: claim.claim,
            source: claim.source,
            verdict,
            because,
        })
    });
    judged.collect()
}

impl Measured<'_> {
    /// Whether the locks of each of these families are as good as those of the next or better, by each figure: of all
    /// locks, of none, or of some.
    fn ranked(&self, figures: &[Figure], order: &[&'static str]) -> Option<(Verdict, String)> {
        let mut words = Vec::new();
        let mut verdicts = Vec::new();
        for (name, figure) in figures {
            let ranges: Vec<(&str, f64, f64)> = order
                .iter()
                .filter_map(|family| {
                    let is_of = |entry: &&Entry| {
                        supported(entry.recipe.build.service()).ranked_as == Some(*family)
                    };
                    let of_family = self.entries.iter().filter(is_of);
                    let values: Vec<f64> =
                        of_family.map(figure).filter(|x| x.is_finite()).collect();
                    let least = values.iter().copied().min_by(f64::total_cmp)?;
                    let most = values.iter().copied().max_by(f64::total_cmp)?;
                    Some((*family, least, most))
                })
                .collect();
            let mut pairs = ranges.windows(2);
            let verdict = if pairs.clone().all(|pair| pair[0].2 <= pair[1].1) {
                Verdict::Right
            } else if pairs.any(|pair| pair[0].1 > pair[1].2) {
                Verdict::Wrong
            } else {
                Verdict::Depends
            };
            verdicts.push(verdict);
            let ranges = ranges
                .iter()
                .map(|(family, least, most)| match least == most {
                    true => format!("{family} {least:.1}"),
                    false => format!("{family} {least:.1} to {most:.1}"),
                });
            words.push(format!("{name}: {}", ranges.collect::<Vec<_>>().join(", ")));
        }
        let is_all = |of: Verdict| verdicts.iter().all(|verdict| *verdict == of);
        let verdict = match () {
            () if is_all(Verdict::Right) => Verdict::Right,
            () if is_all(Verdict::Wrong) => Verdict::Wrong,
            () => Verdict::Depends,
        };
        let depends = match verdict {
            Verdict::Depends => " (it depends on the figure, and on the recipe)",
            Verdict::Right | Verdict::Wrong => "",
        };
        Some((verdict, format!("{}{depends}", words.join("; "))))
    }

    fn broken(&self, name: &str, class: FaultClass) -> Option<Vec<BrokenPromise>> {
        broken_under(recipe(name)?, class, self.swarms, self.seeds, self.stop)
    }

    fn runs(&self, name: &str, class: FaultClass, word: Word) -> Option<u64> {
        let broken = self.broken(name, class)?;
        Some(
            broken
                .iter()
                .filter(|broken| broken.word == word)
                .map(|broken| broken.runs)
                .sum(),
        )
    }

    /// Right, if some run of the lock shows it.
    fn happens(&self, name: &str, class: FaultClass, word: Word) -> Option<(Verdict, String)> {
        let runs = self.runs(name, class, word)?;
        Some((right_if(runs > 0), self.counted(name, class, word, runs)))
    }

    /// Right, if no run of the lock shows it.
    fn is_never(&self, name: &str, class: FaultClass, word: Word) -> Option<(Verdict, String)> {
        let runs = self.runs(name, class, word)?;
        Some((right_if(runs == 0), self.counted(name, class, word, runs)))
    }

    fn counted(&self, name: &str, class: FaultClass, word: Word, runs: u64) -> String {
        format!(
            "{name} is `{}` in {runs} of {} runs under {}",
            word.name(),
            self.seeds,
            match class {
                FaultClass::None => "no faults",
                _ => class.name(),
            }
        )
    }

    /// Right, if no class of faults lets a second contender in.
    fn excludes(&self, name: &str) -> Option<(Verdict, String)> {
        let mut broken = Vec::new();
        for class in FaultClass::ALL {
            broken.extend(self.broken(name, class)?);
        }
        let classes: Vec<&str> = exclusion(&broken)
            .into_iter()
            .map(FaultClass::name)
            .collect();
        Some(match classes[..] {
            [] => (
                Verdict::Right,
                format!("{name} let in one at a time under every class of faults"),
            ),
            _ => (
                Verdict::Depends,
                format!("{name} lets in two under {}", classes.join(", ")),
            ),
        })
    }
}

/// The classes of faults under which two contenders held the lock, whether a lock could have kept them apart or not.
pub(super) fn exclusion(broken: &[BrokenPromise]) -> Vec<FaultClass> {
    const WORDS: [Word; 5] = [
        Word::Overlap,
        Word::Owners,
        Word::Stale,
        Word::Unaware,
        Word::LostUpdate,
    ];
    let broken = broken.iter().filter(|broken| WORDS.contains(&broken.word));
    let mut classes: Vec<FaultClass> = broken.map(|broken| broken.class).collect();
    classes.dedup();
    classes
}

fn right_if(is_so: bool) -> Verdict {
    match is_so {
        true => Verdict::Right,
        false => Verdict::Wrong,
    }
}

fn handover(crowd: &Crowd) -> f64 {
    crowd.handover.p50 as f64 / 1_000.0
}

fn recipe(name: &str) -> Option<&'static Recipe> {
    RECIPES.iter().find(|recipe| recipe.name == name)
}
