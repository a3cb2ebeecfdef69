//! The herd, measured: tables, JSON, and charts.
//!
//! With `PICKLOCK_CHARTS=FOLDER` the charts are left there to be looked at.

use insta::assert_snapshot;
use picklock_reports::chart::{Figure, WIDTH};
use picklock_reports::herd::chart::{Chart, parameters};
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

fn figure(chart: Chart, rows: &[HerdRow]) -> Figure {
    let others = ["seed 7".to_owned(), "picklock 0.1.0".to_owned()];
    chart.figure(rows, &parameters(rows, &others))
}

/// Leaves a picture to be looked at, if that is wanted.
fn keep(name: &str, figure: &Figure) {
    if let Ok(folder) = std::env::var("PICKLOCK_CHARTS") {
        let file = |end: &str| std::path::Path::new(&folder).join(format!("{name}.{end}"));
        let (png, svg) = (
            figure.png().expect("it can be drawn"),
            figure.svg().expect("it can be drawn"),
        );
        picklock_reports::files::write_whole(&file("png"), &png).expect("it can be written");
        picklock_reports::files::write_whole(&file("svg"), svg.as_bytes())
            .expect("it can be written");
    }
}

/// The texts of a picture, in their order.
fn texts(svg: &str) -> Vec<String> {
    let texts = svg.split("<text ").skip(1);
    texts
        .filter_map(|element| element.split_once('>')?.1.split_once("</text>"))
        .map(|(text, _)| text.trim().to_owned())
        .collect()
}

#[test]
fn every_chart_names_its_axes_its_parameters_and_all_algorithms() {
    for chart in Chart::ALL {
        let figure = figure(chart, &rows());
        let svg = figure.svg().unwrap();
        let texts = texts(&svg);
        for words in [
            chart.title(),
            "3 servers, each holds the lock for 1s, seed 7, picklock 0.1.0.",
            "contenders (logarithmic)",
            "zk-herd",
            "zk-predecessor-watch",
        ] {
            assert!(
                texts.iter().any(|text| text == words),
                "{words:?}: {texts:?}"
            );
        }
        assert!(texts.contains(&figure.y.label), "{texts:?}");
        assert!(!svg.contains("NaN"));
        assert_eq!(svg, figure.svg().unwrap());
        keep(chart.name(), &figure);
    }
}

#[test]
fn the_axis_has_a_tick_at_each_number_of_contenders_that_was_measured_and_at_no_other() {
    let svg = figure(Chart::Bytes, &rows()).svg().unwrap();
    let texts = texts(&svg);
    for contenders in ["10", "100", "1,000", "10,000"] {
        assert!(texts.iter().any(|text| text == contenders), "{texts:?}");
    }
    assert!(!texts.iter().any(|text| text == "20"), "{texts:?}");
}

#[test]
fn what_was_never_counted_is_said_and_not_drawn() {
    let figure = figure(Chart::Notifications, &rows());
    assert_eq!(figure.series.len(), 3);
    let said = figure
        .caption
        .iter()
        .any(|line| line == "None at all: redis-spin.");
    assert!(said, "{:?}", figure.caption);
}

#[test]
fn every_chart_is_a_picture_of_the_promised_size() {
    for chart in Chart::ALL {
        let figure = figure(chart, &rows());
        let bytes = figure.png().unwrap();
        let decoder = png::Decoder::new(std::io::Cursor::new(&bytes));
        let mut reader = decoder.read_info().unwrap();
        let (width, height) = figure.size();
        assert_eq!(width, WIDTH);
        assert_eq!(reader.info().size(), (2 * width, 2 * height));
        let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
        reader.next_frame(&mut pixels).unwrap();
        let dark = pixels.iter().filter(|&&value| value < 100).count();
        assert!(dark > 1_000, "{} shows nothing", chart.name());
    }
}

#[test]
fn a_chart_of_nothing_or_of_one_point_can_be_drawn() {
    for chart in Chart::ALL {
        let nothing = figure(chart, &[]).svg().unwrap();
        assert!(nothing.contains("nothing to show"));
        keep("one", &figure(chart, &rows()[..1]));
        figure(chart, &rows()[..1]).svg().unwrap();
        figure(chart, &[HerdRow::default()]).svg().unwrap();
    }
}

#[test]
fn ten_algorithms_have_a_panel_each() {
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
    let figure = figure(Chart::Notifications, &rows);
    let svg = figure.svg().unwrap();
    let texts = texts(&svg);
    for place in 0..10 {
        let title = format!("zk-algorithm-{place}, hold {}ms", 1 + place % 2);
        assert_eq!(texts.iter().filter(|text| **text == title).count(), 1);
    }
    assert_eq!(
        texts.iter().filter(|text| *text == "1,000").count(),
        20,
        "both axes"
    );
    keep("ten", &figure);
}

#[test]
fn hostile_names_are_text() {
    let rows = [HerdRow {
        algorithm: "<script>alert(1)</script>".to_owned(),
        contenders: 10,
        notifications: 9,
        ..HerdRow::default()
    }];
    let svg = figure(Chart::Notifications, &rows).svg().unwrap();
    assert!(!svg.contains("<script"), "{svg}");
}

#[test]
fn a_page_gives_a_chart_its_own_colours() {
    let inline = figure(Chart::Handover, &rows()).inline().unwrap();
    assert!(
        inline.starts_with("<svg class=\"chart\""),
        "{}",
        &inline[..60]
    );
    assert!(!inline.contains("=\"#"), "a colour of its own");
}
