//! The herd, measured: tables, JSON, and charts.
//!
//! With `PICKLOCK_CHARTS=FOLDER` the charts are left there to be looked at.

use insta::assert_snapshot;
use picklock_reports::herd::chart::Chart;
use picklock_reports::herd::render::{HEIGHT, WIDTH};
use picklock_reports::herd::{self, HerdResults, HerdRow};
use picklock_reports::style::Style;

/// Figures like those of a real run.
fn rows() -> Vec<HerdRow> {
    let mut rows = Vec::new();
    for algorithm in [
        "zk-herd",
        "zk-shared-name",
        "zk-predecessor-watch",
        "redis-spin",
    ] {
        for contenders in [10_u64, 100, 1_000, 10_000] {
            let n = contenders;
            let (notifications, formula) = match algorithm {
                "zk-herd" => (n * (n - 1) / 2 + n - 2, Some(n * (n - 1) / 2 + n - 2)),
                "zk-shared-name" => (n * (n - 1) * 4 / 9, Some(n * (n - 1) / 2)),
                "zk-predecessor-watch" => (n - 1, Some(n - 1)),
                _ => (0, None),
            };
            let per_handover = notifications / n;
            rows.push(HerdRow {
                algorithm: algorithm.to_owned(),
                mode: None,
                contenders,
                hold: "1s".to_owned(),
                servers: 3,
                notifications,
                to_waiters: notifications.saturating_sub(n - 2),
                to_releaser: n - 2,
                arriving: per_handover * 3,
                wasted_wakeups: notifications.saturating_sub(n - 1),
                wakeups: notifications,
                requests_per_handover: 2.0 + per_handover as f64 / 2.0,
                bytes_per_handover: 300.0 + per_handover as f64 * 85.0,
                handover_p50: 900 + per_handover * 11,
                handover_p99: 1_800 + per_handover * 23,
                handover_max: 4_000 + per_handover * 40,
                bystander_p50: 410 + per_handover * 2,
                bystander_p99: 800 + per_handover * 21,
                bystander_max: 1_200 + per_handover * 30,
                bystander_idle_p50: 400,
                bystander_idle_p99: 620,
                bystander_idle_max: 800,
                formula,
                took_seconds: Some(n as f64 / 700.0),
            });
        }
    }
    rows
}

#[test]
fn the_tables_fit_and_line_up() {
    let style = Style::default();
    let text = herd::table(&rows(), &style);
    let widest = text.lines().map(|line| line.chars().count()).max();
    assert!(widest <= Some(100), "{widest:?} columns");
    assert_snapshot!(text);
    assert!(herd::table(&rows(), &Style::PLAIN).is_ascii());
    assert_snapshot!("nothing_measured", herd::table(&[], &style));
}

#[test]
fn the_results_can_be_read_back_and_leave_out_unknown_real_time() {
    let mut rows = rows();
    rows.truncate(1);
    rows[0].took_seconds = None;
    let text = herd::json(&rows, &[], "0.1.0");
    assert_snapshot!(text);
    let read: HerdResults = serde_json::from_str(&text).unwrap();
    assert_eq!(read.rows, rows);
}

#[test]
fn every_chart_names_its_axes_and_all_algorithms() {
    for chart in Chart::ALL {
        let svg = chart.svg(&rows()).unwrap();
        for word in [
            chart.title(),
            "contenders (log)",
            "zk-herd",
            "zk-predecessor-watch",
        ] {
            assert!(svg.contains(word), "{} lacks {word:?}", chart.name());
        }
        assert!(!svg.contains("NaN"));
        assert_eq!(svg, chart.svg(&rows()).unwrap());
    }
}

#[test]
fn every_chart_is_a_picture_of_the_promised_size() {
    for chart in Chart::ALL {
        let bytes = chart.png(&rows()).unwrap();
        if let Ok(folder) = std::env::var("PICKLOCK_CHARTS") {
            let file = std::path::Path::new(&folder).join(format!("{}.png", chart.name()));
            picklock_reports::files::write_whole(&file, &bytes).unwrap();
        }
        let decoder = png::Decoder::new(std::io::Cursor::new(&bytes));
        let mut reader = decoder.read_info().unwrap();
        assert_eq!(reader.info().size(), (WIDTH, HEIGHT));
        let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
        reader.next_frame(&mut pixels).unwrap();
        let dark = pixels.iter().filter(|&&value| value < 100).count();
        assert!(dark > 1_000, "{} shows nothing", chart.name());
    }
}

#[test]
fn a_chart_of_nothing_or_of_one_point_can_be_drawn() {
    for chart in Chart::ALL {
        assert!(chart.svg(&[]).unwrap().contains("nothing to show"));
        chart.svg(&rows()[..1]).unwrap();
        chart.svg(&[HerdRow::default()]).unwrap();
    }
}

#[test]
fn ten_algorithms_can_be_told_apart() {
    let mut rows = Vec::new();
    for place in 0..10_u64 {
        for contenders in [10_u64, 100, 1_000] {
            rows.push(HerdRow {
                algorithm: format!("zk-algorithm-{place}"),
                mode: None,
                contenders,
                hold: format!("{}ms", 1 + place % 2),
                servers: 3,
                notifications: contenders * (place + 1),
                ..HerdRow::default()
            });
        }
    }
    let svg = Chart::Notifications.svg(&rows).unwrap();
    for place in 0..10 {
        assert!(svg.contains(&format!("zk-algorithm-{place}\n")));
    }
    if let Ok(folder) = std::env::var("PICKLOCK_CHARTS") {
        let file = std::path::Path::new(&folder).join("ten.png");
        let bytes = Chart::Notifications.png(&rows).unwrap();
        picklock_reports::files::write_whole(&file, &bytes).unwrap();
    }
}
