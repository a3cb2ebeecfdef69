//! Charts of runs: waiting times, fairness, how near they came to an overlap; and of how soon searches find what they
//! seek.

use std::collections::BTreeMap;

use picklock_checker::DISTANCES;
use picklock_checker::outcome::{CaseOutcome, ScenarioOutcome};

use crate::chart::{Axis, Figure, Form, Series, Ticks};
use crate::herd::chart::tick;
use crate::words::{count, thousands};

/// A chart has no more panels, or rows, than this.
pub const MOST_PANELS: usize = 24;
const MOST_ROWS: usize = 40;

/// What the acquisitions of a case have waited.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Waits {
    /// The case, with its scenario if there are several.
    pub name: String,
    /// From how many seeds.
    pub seeds: u64,
    /// From each call that got the lock until it had it, in microseconds of virtual time.
    pub micros: Vec<u64>,
    /// How many others called later and had the lock sooner, of each of these.
    pub overtaken: Vec<u64>,
}

/// Which share of the acquisitions a place of the axis is about: names, and hundredths.
const SHARES: [(&str, usize); 5] = [
    ("10 %", 10),
    ("50 %", 50),
    ("90 %", 90),
    ("99 %", 99),
    ("all", 100),
];

fn shares(label: &str) -> Axis {
    Axis {
        label: label.to_owned(),
        log: false,
        ticks: Ticks::Steps(SHARES.map(|share| share.0.to_owned()).to_vec()),
        write: whole,
    }
}

fn whole(value: f64) -> String {
    thousands(value.round() as u64)
}

/// Of each share, the value that it does not exceed.
fn distribution(values: &[u64]) -> Vec<(f64, f64)> {
    let mut values = values.to_vec();
    values.sort_unstable();
    let at = |hundredths: usize| {
        let place = (values.len() * hundredths).div_ceil(100).max(1) - 1;
        values.get(place).copied()
    };
    let places = SHARES.iter().enumerate();
    places
        .filter_map(|(place, share)| Some((place as f64, at(share.1)? as f64)))
        .collect()
}

fn of_waits(waits: &[Waits], of: fn(&Waits) -> &Vec<u64>) -> Vec<Series> {
    let one = |waits: &Waits| Series {
        name: waits.name.clone(),
        points: distribution(of(waits)),
        ..Series::default()
    };
    let all = waits.iter().map(one);
    all.filter(|series| !series.points.is_empty()).collect()
}

/// How long contenders wait for the lock: a line per case.
pub fn waiting(waits: &[Waits], caption: &[String]) -> Figure {
    Figure {
        name: "waiting-times".to_owned(),
        title: "Time from a call of acquire until it has the lock".to_owned(),
        caption: caption.to_vec(),
        x: shares("share of the acquisitions that wait no longer"),
        y: Axis {
            label: "waiting time, virtual (logarithmic)".to_owned(),
            log: true,
            ticks: Ticks::Round,
            write: tick,
        },
        series: of_waits(waits, |waits| &waits.micros),
        form: Form::Lines,
    }
}

/// How often those who wait are overtaken: a line per case.
pub fn fairness(waits: &[Waits], caption: &[String]) -> Figure {
    Figure {
        name: "fairness".to_owned(),
        title: "How often a waiting contender is overtaken".to_owned(),
        caption: caption.to_vec(),
        x: shares("share of the acquisitions that are overtaken no more often"),
        y: Axis {
            label: "others that call acquire later and have the lock sooner".to_owned(),
            log: false,
            ticks: Ticks::Round,
            write: whole,
        },
        series: of_waits(waits, |waits| &waits.overtaken),
        form: Form::Lines,
    }
}

/// How near the seeds of each case came to an overlap: a row per case.
pub fn nearness(outcomes: &[ScenarioOutcome], caption: &[String]) -> Figure {
    let cases = outcomes.iter().flat_map(|outcome| &outcome.cases);
    let mut cases: Vec<_> = cases.filter(|case| !case.nearest.is_empty()).collect();
    let all = cases.len();
    let least = |micros: Option<u64>| micros.unwrap_or(u64::MAX);
    cases.sort_by_key(|case| least(case.nearest.values().map(|near| near.micros).min()));
    // Cases that overlap come first, and leave at least half of the rows to near misses.
    let overlaps = |case: &&CaseOutcome| case.nearest.values().any(|near| near.micros == 0);
    let overlapping = cases.iter().filter(|case| overlaps(case)).count();
    let near = (all - overlapping).min(MOST_ROWS / 2);
    let kept = overlapping.min(MOST_ROWS - near);
    cases.drain(kept..overlapping);
    cases.truncate(MOST_ROWS);
    let several = outcomes.len() > 1;
    let rows = cases.iter().map(|case| match several {
        true => format!("{}, {}", case.scenario, case.case),
        false => case.case.clone(),
    });
    let found = cases.iter().flat_map(|case| case.nearest.values());
    let nearest = found
        .map(|near| near.micros)
        .filter(|micros| *micros > 0)
        .min();
    // Farther to the left than anything that was measured.
    let overlap = nearest.unwrap_or(1_000) as f64 / 4.0;
    let series = DISTANCES.iter().map(|distance| {
        let places = cases.iter().enumerate();
        let points = places.filter_map(|(row, case)| {
            let micros = case.nearest.get(distance.name)?.micros;
            let x = if micros == 0 { overlap } else { micros as f64 };
            Some((x, row as f64))
        });
        Series {
            name: distance.name.to_owned(),
            points: points.collect(),
            ..Series::default()
        }
    });
    let series = series.filter(|series| !series.points.is_empty()).collect();
    let mut caption = caption.to_vec();
    caption.extend(cut(cases.len(), all, "case", "those that came nearest"));
    Figure {
        name: "nearness".to_owned(),
        title: "How near the runs came to an overlap".to_owned(),
        caption,
        x: Axis {
            label: "least distance of all seeds, virtual time (logarithmic)".to_owned(),
            log: true,
            ticks: Ticks::Beyond(overlap, "overlap".to_owned()),
            write: tick,
        },
        y: of_rows(rows.collect()),
        series,
        form: Form::Rows,
    }
}

/// How soon a way to search finds what a case expects to be violated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct YieldFigure {
    /// What is sought.
    pub row: String,
    /// The way.
    pub way: String,
    /// After how many runs it was found from half of the bases, if it was from so many.
    pub median: Option<u64>,
    /// The same, from 99 of 100.
    pub most: Option<u64>,
}

/// After how many runs each thing is found, by each way: a row for each thing.
pub fn yields(figures: &[YieldFigure], limit: u64, caption: &[String]) -> Figure {
    let mut ways: Vec<&str> = Vec::new();
    // Of each thing, after how many runs the best and the worst way find it.
    let mut hardest: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
    for figure in figures {
        if !ways.contains(&figure.way.as_str()) {
            ways.push(&figure.way);
        }
        let median = figure.median.unwrap_or(u64::MAX);
        let kept = hardest.entry(&figure.row).or_insert((median, median));
        *kept = (median.min(kept.0), median.max(kept.1));
    }
    let all = hardest.len();
    let mut rows: Vec<&str> = Vec::new();
    for figure in figures {
        if !rows.contains(&figure.row.as_str()) {
            rows.push(&figure.row);
        }
    }
    rows.sort_by_key(|row| std::cmp::Reverse(hardest.get(row).copied()));
    rows.truncate(MOST_ROWS);
    // Farther to the right than any run.
    let never = limit as f64 * 1.8;
    let x = |runs: Option<u64>| runs.map_or(never, |runs| runs as f64);
    let series = ways.into_iter().map(|way| {
        let mut one = Series {
            name: way.to_owned(),
            ..Series::default()
        };
        for figure in figures.iter().filter(|figure| figure.way == way) {
            if let Some(row) = rows.iter().position(|row| *row == figure.row) {
                one.points.push((x(figure.median), row as f64));
                one.tails.push((x(figure.most), row as f64));
            }
        }
        one
    });
    let series = series.collect();
    let mut caption = caption.to_vec();
    caption.extend(cut(
        rows.len(),
        all,
        "violation",
        "those that are hardest to find",
    ));
    Figure {
        name: "yield".to_owned(),
        title: "After how many runs a violation is found".to_owned(),
        caption,
        x: Axis {
            label: "runs (logarithmic)".to_owned(),
            log: true,
            ticks: Ticks::Beyond(never, "not found".to_owned()),
            write: whole,
        },
        y: of_rows(rows.into_iter().map(str::to_owned).collect()),
        series,
        form: Form::Rows,
    }
}

/// An axis with a row for each of these names.
pub(crate) fn of_rows(names: Vec<String>) -> Axis {
    let ticks = names.into_iter().enumerate();
    Axis {
        label: String::new(),
        log: false,
        ticks: Ticks::At(ticks.map(|(row, name)| (row as f64, name)).collect()),
        write: whole,
    }
}

/// That not everything is shown, if so.
pub fn cut(shown: usize, all: usize, noun: &str, which: &str) -> Option<String> {
    (shown < all).then(|| {
        let all = count(all as u64, noun);
        format!("Of {all}, {shown} are shown: {which}.")
    })
}
