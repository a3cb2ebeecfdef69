//! The tables of a comparison: for a terminal, as Markdown, and as HTML.

use super::{ComparedCrowd, ComparedLock, Comparison};
use crate::columns::{Column, table_of};
use crate::cost::{CostRow, call};
use crate::escape::escaped;
use crate::html::document;
use crate::style::Style;
use crate::words::{decimal, duration, wrap};

/// The titles of the tables of sentences.
const BREAKS: &str = "What breaks it";
const CLAIMS: &str = "What documents claim";
/// The words for a lock that broke no promise.
const NOTHING: &str = "nothing that was drawn";

const TABLES: &[(&str, &[Column<ComparedLock>])] = &[
    (
        "The recipe, and what it costs alone",
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
    ("Ten contenders come at once", &of_crowd::<0>()),
    ("A hundred contenders come at once", &of_crowd::<1>()),
];

/// A definition a line, so that a narrow terminal breaks it where it may.
const LEGEND: &str = "\
lines: of code in the recipe's own file, without its client library.
acquire, release: `2 in 1.0` is 2 requests in 1.0 round trips.
requests: of all contenders, for each hand-over. notifications: for each release.
hand-over: from a release until the next contender has the lock, median.
wait: from a contender's call until it has the lock.
messages: requests and notifications of a hand-over; clients of other things wait behind them.
A round trip takes 1 ms, servers take no time, and each contender holds the lock for 10 ms.
What breaks it: promises that runs broke, by class of faults; in brackets those that no lock keeps
under these faults. `picklock matrix ALGORITHM` shows a run of each.
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
        ("messages", |lock| {
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

impl ComparedLock {
    /// What breaks it: each class of faults, with the words of the promises that were broken, excused ones in brackets.
    fn breaks(&self) -> Vec<(&str, String)> {
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
        let classes = classes.into_iter();
        classes
            .map(|(class, words)| (class, words.join(", ")))
            .collect()
    }

    /// The same in a line: `pause: stale, (lost); crash: orphan`.
    fn breaks_in_a_line(&self) -> String {
        let classes = self.breaks().into_iter();
        let classes: Vec<String> = classes
            .map(|(class, words)| format!("{class}: {words}"))
            .collect();
        match classes.is_empty() {
            true => NOTHING.to_owned(),
            false => classes.join("; "),
        }
    }
}

/// A table: its title, its heads, and its cells.
type Table = (&'static str, Vec<String>, Vec<Vec<String>>);

impl Comparison {
    /// The tables of figures.
    fn figures(&self) -> Vec<Table> {
        let of_table = |(title, columns): &(&'static str, &[Column<ComparedLock>])| {
            let heads = columns.iter().map(|(head, _)| *head);
            let cells = self.locks.iter().map(|lock| {
                let own = [lock.family.clone(), lock.algorithm.clone()];
                own.into_iter()
                    .chain(columns.iter().map(|(_, cell)| cell(lock)))
                    .collect()
            });
            (*title, own_heads(heads), cells.collect())
        };
        TABLES.iter().map(of_table).collect()
    }

    /// All tables: those of figures, of what breaks the locks, and of claims, if there are any.
    fn tables(&self) -> Vec<Table> {
        let mut tables = self.figures();
        let breaks = self.locks.iter();
        let breaks = breaks.map(|lock| {
            vec![
                lock.family.clone(),
                lock.algorithm.clone(),
                lock.breaks_in_a_line(),
            ]
        });
        tables.push((
            BREAKS,
            own_heads(["broken promises by class of faults"]),
            breaks.collect(),
        ));
        if !self.claims.is_empty() {
            let claims = self.claims.iter();
            let claims = claims.map(|claim| {
                [&claim.verdict, &claim.claim, &claim.because, &claim.source]
                    .map(String::clone)
                    .to_vec()
            });
            let heads = ["verdict", "claim", "measured", "where it stands"].map(str::to_owned);
            tables.push((CLAIMS, heads.to_vec(), claims.collect()));
        }
        tables
    }
}

/// The heads of a table of locks.
fn own_heads<'h>(heads: impl IntoIterator<Item = &'h str>) -> Vec<String> {
    ["family", "algorithm"]
        .into_iter()
        .chain(heads)
        .map(str::to_owned)
        .collect()
}

/// The comparison for a terminal that is so wide.
pub fn text(comparison: &Comparison, width: usize, style: &Style) -> String {
    let mut text = String::new();
    for (title, heads, cells) in comparison.figures() {
        text.push_str(&format!(
            "{title}\n{}\n",
            table_of(&heads, &cells, 2, style)
        ));
    }
    text.push_str(&format!("{BREAKS}\n"));
    for lock in &comparison.locks {
        text.push_str(&format!("  {}\n", lock.algorithm));
        let breaks = lock.breaks();
        if breaks.is_empty() {
            text.push_str(&format!("    {NOTHING}\n"));
        }
        for (class, words) in breaks {
            text.push_str(&format!("    {class:<17}{words}\n"));
        }
    }
    if !comparison.claims.is_empty() {
        text.push_str(&format!("\n{CLAIMS}\n"));
    }
    for claim in &comparison.claims {
        let said = format!("{:<12}{}", claim.verdict, claim.claim);
        let because = format!("{} ({})", claim.because, claim.source);
        let lines = wrap(&because, width.saturating_sub(14));
        text.push_str(&format!("  {said}\n"));
        for line in lines {
            text.push_str(&format!("              {line}\n"));
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
            "<section>\n<h2>{}</h2>\n<div class=\"wide\"><table class=\"figures\">\n<thead><tr>{}</tr></thead>\n\
             <tbody>\n\
             {}</tbody></table></div>\n</section>\n",
            escaped(title),
            heads.collect::<String>(),
            cells.iter().map(row).collect::<String>(),
        ));
    }
    text.push_str(&format!("<p>{}</p>\n", escaped(LEGEND)));
    document("picklock compare", &comparison.picklock, &text, "")
}
