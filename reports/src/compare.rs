//! Locks beside each other, and what documents claim of them: for a terminal, as Markdown, as HTML, and as JSON.

use serde::{Deserialize, Serialize};

#[cfg(feature = "charts")]
use crate::chart::{Axis, Figure, Form, Series, Ticks};
use crate::columns::{Column, table_of};
use crate::cost::CostRow;
use crate::escape::escaped;
use crate::html::document;
use crate::json;
#[cfg(feature = "charts")]
use crate::run_charts::of_rows;
use crate::style::Style;
#[cfg(feature = "charts")]
use crate::words::thousands;
use crate::words::{decimal, duration};

/// The version of the schema of [`json()`](fn@json).
pub const VERSION: u32 = 1;

/// The comparison, with what is needed to read it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Comparison {
    /// The version of this schema: [`VERSION`].
    pub version: u32,
    /// The version of picklock.
    pub picklock: String,
    /// The unit of all virtual times: `us`.
    pub unit_of_time: String,
    /// How many runs each lock had under each class of faults.
    pub seeds: u64,
    /// The locks.
    pub locks: Vec<ComparedLock>,
    /// What documents claim.
    pub claims: Vec<ComparedClaim>,
}

/// What was measured of a lock.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ComparedLock {
    /// The service that it stands on.
    pub family: String,
    /// The algorithm.
    pub algorithm: String,
    /// Lines of code of the recipe's own file; none, if it is a variant of another.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lines: Option<u32>,
    /// How many kinds of requests it makes.
    pub kinds_of_requests: u64,
    /// What it costs alone, and with one that waits; none, if that is not measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alone: Option<CostRow>,
    /// What it costs when many want it at once.
    pub crowds: Vec<ComparedCrowd>,
    /// The promises that it broke, in the order of the classes of faults.
    pub broken: Vec<BrokenPromise>,
}

/// What a lock costs when many want it at once. Times are in microseconds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ComparedCrowd {
    /// How many contenders come.
    pub contenders: u32,
    /// How many of them got the lock.
    pub served: u32,
    /// Requests that servers get for each hand-over.
    pub requests_per_handover: f64,
    /// Notifications that servers send for each release.
    pub notifications_per_release: f64,
    /// From the call of a release until the next contender has the lock, median.
    pub handover_p50: u64,
    /// From the call of an acquire until it returns, median.
    pub waiting_p50: u64,
    /// The same, the longest.
    pub waiting_max: u64,
}

/// A promise that runs of a lock broke under faults of a class.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BrokenPromise {
    /// The class of the faults.
    pub class: String,
    /// The invariant.
    pub invariant: String,
    /// In a word of the matrix.
    pub word: String,
    /// Whether no lock keeps it under the faults that were drawn.
    pub excused: bool,
    /// In so many runs.
    pub runs: u64,
}

/// What a document claims, beside what was measured.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ComparedClaim {
    /// The claim.
    pub claim: String,
    /// Where it stands.
    pub source: String,
    /// `right`, `wrong`, or `it depends`.
    pub verdict: String,
    /// What was measured.
    pub because: String,
}

/// The name of the chart: of its file, too.
#[cfg(feature = "charts")]
pub const CHART: &str = "hand-over";

/// The first head of the table of claims.
const VERDICT: &str = "verdict";

const TABLES: &[(&str, &[Column<ComparedLock>])] = &[
    (
        "The recipe, and what it costs while nothing is in its way",
        &[
            ("lines", |lock| {
                lock.lines
                    .map_or_else(|| "-".to_owned(), |lines| lines.to_string())
            }),
            ("kinds of requests", |lock| {
                lock.kinds_of_requests.to_string()
            }),
            ("acquire", |lock| {
                of_alone(lock, |alone| {
                    call(alone.acquire_requests, alone.acquire_round_trips)
                })
            }),
            ("release", |lock| {
                of_alone(lock, |alone| {
                    call(alone.release_requests, alone.release_round_trips)
                })
            }),
            ("requests/s of a waiter", |lock| {
                of_alone(lock, |alone| decimal(alone.waiting_requests_per_second, 1))
            }),
        ],
    ),
    ("Ten come at once", &of_crowd::<0>()),
    ("A hundred come at once", &of_crowd::<1>()),
];

const LEGEND: &str = "\
lines: of code in the recipe's own file; what a client library does for it is not in it. acquire, release: requests in
round trips. requests: for each hand-over, of all contenders. notifications: for each release. hand-over: from a
release until the next has the lock, median. wait: from the call until it has the lock. in the way of others: what a server
handles for each hand-over, which clients that do not use the lock wait behind. A round trip takes 1 ms, servers take
no time, and each holds the lock for 10 ms.
What breaks it: promises that runs broke, by class of faults; in brackets those that no lock keeps then.
`picklock matrix ALGORITHM` shows a run of each.
";

const fn of_crowd<const PLACE: usize>() -> [Column<ComparedLock>; 6] {
    [
        ("requests", |lock| {
            crowd::<PLACE>(lock, |crowd| decimal(crowd.requests_per_handover, 1))
        }),
        ("notifications", |lock| {
            crowd::<PLACE>(lock, |crowd| decimal(crowd.notifications_per_release, 1))
        }),
        ("hand-over", |lock| {
            crowd::<PLACE>(lock, |crowd| duration(crowd.handover_p50))
        }),
        ("wait, median", |lock| {
            crowd::<PLACE>(lock, |crowd| duration(crowd.waiting_p50))
        }),
        ("wait, longest", |lock| {
            crowd::<PLACE>(lock, |crowd| duration(crowd.waiting_max))
        }),
        ("in the way of others", |lock| {
            crowd::<PLACE>(lock, |crowd| {
                decimal(
                    crowd.requests_per_handover + crowd.notifications_per_release,
                    1,
                )
            })
        }),
    ]
}

/// A figure of a crowd; none of one in which not all got the lock.
fn crowd<const PLACE: usize>(lock: &ComparedLock, figure: fn(&ComparedCrowd) -> String) -> String {
    match lock.crowds.get(PLACE) {
        Some(crowd) if crowd.served == crowd.contenders => figure(crowd),
        _ => "-".to_owned(),
    }
}

fn of_alone(lock: &ComparedLock, figure: fn(&CostRow) -> String) -> String {
    lock.alone.as_ref().map_or_else(|| "-".to_owned(), figure)
}

/// Requests, and in how many round trips.
fn call(requests: u64, trips: f64) -> String {
    format!("{requests} in {}", decimal(trips, 1))
}

impl ComparedLock {
    /// What breaks it: `pause: stale, (lost); crash: orphan`.
    fn breaks(&self) -> String {
        let mut classes: Vec<(&str, Vec<String>)> = Vec::new();
        for broken in &self.broken {
            let word = match broken.excused {
                true => format!("({})", broken.word),
                false => broken.word.clone(),
            };
            match classes.last_mut() {
                Some((class, words)) if *class == broken.class => {
                    if !words.contains(&word) {
                        words.push(word);
                    }
                }
                _ => classes.push((&broken.class, vec![word])),
            }
        }
        let classes = classes.iter();
        let classes = classes.map(|(class, words)| format!("{class}: {}", words.join(", ")));
        match classes.collect::<Vec<_>>().join("; ") {
            nothing if nothing.is_empty() => "nothing that was drawn".to_owned(),
            breaks => breaks,
        }
    }
}

impl Comparison {
    /// The tables: the title, the heads, and the cells of each. The last column of the last two is a sentence.
    fn tables(&self) -> Vec<(&'static str, Vec<String>, Vec<Vec<String>>)> {
        let own = |heads: &[&str]| heads.iter().map(|head| (*head).to_owned()).collect();
        let figures = TABLES.iter().map(|(title, columns)| {
            let mut heads: Vec<String> = own(&["family", "algorithm"]);
            heads.extend(columns.iter().map(|(head, _)| (*head).to_owned()));
            let cells = self.locks.iter().map(|lock| {
                let own = [lock.family.clone(), lock.algorithm.clone()];
                let figures = columns.iter().map(|(_, cell)| cell(lock));
                own.into_iter().chain(figures).collect()
            });
            (*title, heads, cells.collect())
        });
        let mut tables: Vec<_> = figures.collect();
        let breaks = self
            .locks
            .iter()
            .map(|lock| vec![lock.family.clone(), lock.algorithm.clone(), lock.breaks()]);
        tables.push((
            "What breaks it",
            own(&["family", "algorithm", "broken promises by class of faults"]),
            breaks.collect(),
        ));
        if self.claims.is_empty() {
            return tables;
        }
        let claims = self.claims.iter().map(|claim| {
            [&claim.verdict, &claim.claim, &claim.because, &claim.source]
                .map(String::clone)
                .to_vec()
        });
        tables.push((
            "What documents claim",
            own(&[VERDICT, "claim", "measured", "where it stands"]),
            claims.collect(),
        ));
        tables
    }
}

/// The comparison for a terminal.
pub fn text(comparison: &Comparison, style: &Style) -> String {
    let mut text = String::new();
    for (title, heads, cells) in comparison.tables() {
        text.push_str(&format!("{title}\n"));
        if heads[0] != VERDICT {
            let to_left = if heads.len() == 3 { 3 } else { 2 };
            text.push_str(&format!("{}\n", table_of(&heads, &cells, to_left, style)));
            continue;
        }
        for cell in cells {
            if let [verdict, claim, because, source] = &cell[..] {
                text.push_str(&format!(
                    "  {verdict:<10}  {claim}\n              {because}\n              ({source})\n"
                ));
            }
        }
    }
    format!("{text}\n{LEGEND}")
}

/// The comparison as Markdown.
pub fn markdown(comparison: &Comparison) -> String {
    let mut text = String::new();
    for (title, heads, cells) in comparison.tables() {
        let rule = "---|".repeat(heads.len());
        text.push_str(&format!(
            "### {title}\n\n| {} |\n|{rule}\n",
            heads.join(" | ")
        ));
        for row in cells {
            text.push_str(&format!("| {} |\n", row.join(" | ")));
        }
        text.push('\n');
    }
    format!("{text}{LEGEND}")
}

/// The comparison as a page.
pub fn html(comparison: &Comparison) -> String {
    let mut text = String::new();
    for (title, heads, cells) in comparison.tables() {
        let heads = heads
            .iter()
            .map(|head| format!("<th>{}</th>", escaped(head)));
        let row = |row: &Vec<String>| {
            let cells = row.iter().map(|cell| format!("<td>{}</td>", escaped(cell)));
            format!("<tr>{}</tr>\n", cells.collect::<String>())
        };
        text.push_str(&format!(
            "<section>\n<h2>{}</h2>\n<div class=\"wide\"><table class=\"figures\">\n<thead><tr>{}</tr></thead>\n<tbody>\n\
             {}</tbody></table></div>\n</section>\n",
            escaped(title),
            heads.collect::<String>(),
            cells.iter().map(row).collect::<String>(),
        ));
    }
    text.push_str(&format!("<p>{}</p>\n", escaped(LEGEND)));
    document("picklock compare", &comparison.picklock, &text, "")
}

/// What the locks cost when many want them at once: a row for each lock, a mark for each crowd. A crowd in which one
/// waits for ever has none.
#[cfg(feature = "charts")]
pub fn figure(comparison: &Comparison) -> Figure {
    let mut crowds: Vec<u32> = Vec::new();
    for crowd in comparison.locks.iter().flat_map(|lock| &lock.crowds) {
        if !crowds.contains(&crowd.contenders) {
            crowds.push(crowd.contenders);
        }
    }
    let series = crowds.into_iter().map(|contenders| {
        let points = (0_u32..).zip(&comparison.locks).filter_map(|(row, lock)| {
            let of_crowd = |crowd: &&ComparedCrowd| {
                crowd.contenders == contenders && crowd.served == contenders
            };
            let crowd = lock.crowds.iter().find(of_crowd)?;
            let messages = crowd.requests_per_handover + crowd.notifications_per_release;
            Some((messages.max(0.5), f64::from(row)))
        });
        Series {
            name: format!("{contenders} contenders"),
            points: points.collect(),
            ..Series::default()
        }
    });
    let names = comparison.locks.iter().map(|lock| lock.algorithm.clone());
    Figure {
        name: CHART.to_owned(),
        title: "What servers handle for each hand-over of a lock".to_owned(),
        caption: vec![
            "All come at once, and each holds the lock for 10 ms. A round trip takes 1 ms."
                .to_owned(),
        ],
        x: Axis {
            label: "requests and notifications (logarithmic)".to_owned(),
            log: true,
            ticks: Ticks::Round,
            write: |messages| thousands(messages.round() as u64),
        },
        y: of_rows(names.collect()),
        series: series.collect(),
        form: Form::Rows,
    }
}

/// The comparison as versioned JSON, ended by a line break.
///
/// ```json
/// { "version": 1, "picklock": "0.1.0", "unit_of_time": "us", "seeds": 40, "locks": [], "claims": [] }
/// ```
pub fn json(comparison: &Comparison) -> String {
    json::to_text(comparison)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn comparison() -> Comparison {
        let broken = |class: &str, word: &str, excused| BrokenPromise {
            class: class.to_owned(),
            invariant: "no-stale-effect".to_owned(),
            word: word.to_owned(),
            excused,
            runs: 3,
        };
        let crowd = |served| ComparedCrowd {
            contenders: 10,
            served,
            requests_per_handover: 4.25,
            ..ComparedCrowd::default()
        };
        Comparison {
            version: VERSION,
            picklock: "0.1.0".to_owned(),
            unit_of_time: "us".to_owned(),
            seeds: 40,
            locks: vec![ComparedLock {
                family: "redis".to_owned(),
                algorithm: "redlock".to_owned(),
                lines: Some(77),
                kinds_of_requests: 2,
                alone: None,
                crowds: vec![crowd(10), crowd(9)],
                broken: vec![
                    broken("pause", "stale", false),
                    broken("pause", "lost", true),
                    broken("clock", "overlap", false),
                ],
            }],
            claims: vec![ComparedClaim {
                claim: "A & B.".to_owned(),
                source: "articles".to_owned(),
                verdict: "wrong".to_owned(),
                because: "it is not so".to_owned(),
            }],
        }
    }

    #[test]
    fn text_markdown_and_html_say_the_same() {
        let comparison = comparison();
        let cells = [
            "redlock",
            "77",
            "4.2",
            "pause: stale, (lost); clock: overlap",
            "wrong",
            "it is not so",
        ];
        for shown in [
            text(&comparison, &Style::PLAIN),
            markdown(&comparison),
            html(&comparison),
        ] {
            assert!(cells.iter().all(|cell| shown.contains(cell)), "{shown}");
        }
        assert!(html(&comparison).contains("A &amp; B."));
    }

    #[test]
    fn a_crowd_in_which_one_waits_for_ever_has_no_figures() {
        let comparison = comparison();
        let lock = &comparison.locks[0];
        let requests = |column: &[Column<ComparedLock>]| (column[0].1)(lock);
        assert_eq!(requests(&of_crowd::<0>()), "4.2");
        assert_eq!(requests(&of_crowd::<1>()), "-");
    }
}
