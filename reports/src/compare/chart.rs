//! The chart of a comparison.

use super::{ComparedCrowd, Comparison};
use crate::chart::{Axis, Figure, Form, Series, Ticks};
use crate::run_charts::of_rows;
use crate::words::thousands;

/// The name of the chart: of its file, too.
pub const CHART: &str = "hand-over";

/// What the locks cost when many want them at once: a row for each lock, a mark for each crowd. A crowd in which one
/// waits for ever has none.
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
