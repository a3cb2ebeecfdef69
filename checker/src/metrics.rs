//! The cost of a lock: metrics computed from the counts of a run.

use crate::Counts;

/// A figure about a run, or about many runs whose counts were added up.
#[derive(Clone, Copy, Debug)]
pub struct Metric {
    /// Its name, as scenarios and reports write it.
    pub name: &'static str,
    /// What it says, one sentence.
    pub meaning: &'static str,
    /// What it is measured in.
    pub unit: &'static str,
    /// The figure; None if nothing was counted that it could be about.
    pub value: fn(&Counts) -> Option<f64>,
}

/// All metrics, in the order in which reports show them.
pub const METRICS: &[Metric] = &[
    Metric {
        name: "wakeups-per-release",
        meaning: "How many waiters a departure from the queue wakes.",
        unit: "wake-ups",
        value: |counts| per_departure(counts, counts.wakeups),
    },
    Metric {
        name: "wasted-wakeups-per-release",
        meaning: "How many waiters a departure wakes only to have them wait again.",
        unit: "wake-ups",
        value: |counts| per_departure(counts, counts.wasted_wakeups),
    },
    Metric {
        name: "notifications-per-release",
        meaning: "How many notifications servers send for a departure.",
        unit: "notifications",
        value: |counts| {
            let to_waiters = counts.notifications_to_waiters;
            per_departure(counts, to_waiters + counts.notifications_to_releaser)
        },
    },
    Metric {
        name: "requests-per-release",
        meaning: "How many requests reach servers for a departure, keep-alives apart.",
        unit: "requests",
        value: |counts| per_departure(counts, counts.requests),
    },
    Metric {
        name: "bytes-per-release",
        meaning: "How many bytes go to and from clients for a departure, keep-alives apart.",
        unit: "bytes",
        value: |counts| per_departure(counts, counts.bytes),
    },
];

/// The metric of that name.
pub fn find(name: &str) -> Option<&'static Metric> {
    METRICS.iter().find(|metric| metric.name == name)
}

fn per_departure(counts: &Counts, count: u64) -> Option<f64> {
    (counts.departures > 0).then(|| count as f64 / counts.departures as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_metric_is_found_by_its_name() {
        for metric in METRICS {
            assert_eq!(find(metric.name).unwrap().meaning, metric.meaning);
        }
        assert!(find("wakeups").is_none());
    }

    #[test]
    fn figures_are_per_departure_and_notifications_count_both_receivers() {
        let counts = Counts {
            departures: 4,
            notifications_to_waiters: 6,
            notifications_to_releaser: 4,
            wakeups: 6,
            wasted_wakeups: 2,
            requests: 12,
            bytes: 100,
            ..Counts::default()
        };
        let values = METRICS.iter().map(|metric| (metric.value)(&counts));
        let values: Option<Vec<f64>> = values.collect();
        assert_eq!(values.unwrap(), [1.5, 0.5, 2.5, 3.0, 25.0]);
    }

    #[test]
    fn without_a_departure_there_is_no_figure() {
        let counts = Counts {
            wakeups: 3,
            ..Counts::default()
        };
        assert!(METRICS.iter().all(|m| (m.value)(&counts).is_none()));
    }
}
