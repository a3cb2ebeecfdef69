//! Charts of runs. With `PICKLOCK_CHARTS=FOLDER` they are left there to be looked at.
#![cfg(feature = "charts")]

use crate::common::hostile::HOSTILE;
use crate::common::outcome;

use picklock_checker::outcome::{Nearest, ScenarioOutcome, Standing};
use picklock_reports::chart::Figure;
use picklock_reports::run_charts::{Waits, YieldFigure, fairness, nearness, waiting, yields};

fn caption() -> Vec<String> {
    vec!["seeds 0 to 99, picklock 0.1.0.".to_owned()]
}

/// Leaves a picture to be looked at, if that is wanted; and gives its text.
fn seen(figure: &Figure) -> String {
    let svg = figure.svg().expect("it can be drawn");
    if let Ok(folder) = std::env::var("PICKLOCK_CHARTS") {
        let file = std::path::Path::new(&folder).join(format!("{}.png", figure.name));
        let png = figure.png().expect("it can be drawn");
        picklock_reports::files::write_whole(&file, &png).expect("it can be written");
    }
    svg
}

fn waits() -> Vec<Waits> {
    let one = |(place, name): (u64, &str)| Waits {
        name: name.to_owned(),
        seeds: 100,
        micros: (1..=200).map(|wait| wait * 900 * (place + 1)).collect(),
        overtaken: (0..200).map(|wait| wait * place / 40).collect(),
    };
    let names = ["zk-hardened", "redis-spin", "redlock"];
    (0..).zip(names).map(one).collect()
}

#[test]
fn waiting_times_and_fairness_have_a_line_for_each_case_and_a_place_for_each_share() {
    let waiting = waiting(&waits(), &caption());
    assert_eq!(waiting.series.len(), 3);
    // Of 200 waits from 0.9 ms to 180 ms, half wait 90 ms at most.
    assert_eq!(waiting.series[0].points[1], (1.0, 90_000.0));
    assert_eq!(waiting.series[0].points[4], (4.0, 180_000.0));
    let svg = seen(&waiting);
    for words in [
        "zk-hardened",
        "redlock",
        "99 %",
        "waiting time, virtual (logarithmic)",
    ] {
        assert!(svg.contains(words), "{words}");
    }
    let fairness = fairness(&waits(), &caption());
    assert_eq!(fairness.series[0].points[4], (4.0, 0.0));
    assert_eq!(fairness.series[2].points[4], (4.0, 9.0));
    assert!(seen(&fairness).contains("overtaken"));
}

#[test]
fn a_chart_is_xml_whatever_the_names_are() {
    let mut waits = waits();
    for one in &mut waits {
        one.name = HOSTILE.to_owned();
    }
    let figure = waiting(&waits, &[format!("{HOSTILE}\u{7f}\u{ffff}")]);
    let inline = figure.inline().expect("it can be drawn");
    for svg in [figure.svg().expect("it can be drawn"), inline] {
        let is_legal = |letter: char| match letter {
            '\n' | '\t' => true,
            '\u{ffff}' => false,
            letter => !letter.is_control(),
        };
        let illegal = svg.chars().find(|letter| !is_legal(*letter));
        assert_eq!(illegal, None, "no XML has it");
        assert!(!svg.contains("<script"), "{svg}");
    }
}

#[test]
fn an_overlap_lies_left_of_every_distance() {
    let case = |name: &str, micros: &[(&str, u64)]| {
        let mut case = outcome::case(name, Standing::Holds);
        for (distance, micros) in micros {
            let nearest = Nearest {
                micros: *micros,
                seed: 3,
            };
            case.nearest.insert((*distance).to_owned(), nearest);
        }
        case
    };
    let outcomes = [ScenarioOutcome {
        name: "zookeeper/gc-pause".to_owned(),
        claim: "It holds.".to_owned(),
        cases: vec![
            case("far", &[("between-holds", 4_000), ("lease-left", 900_000)]),
            case("inside", &[("between-holds", 0)]),
        ],
    }];
    let figure = nearness(&outcomes, &caption());
    let svg = seen(&figure);
    // The nearest comes first.
    assert!(svg.find("inside") < svg.find("far"));
    assert!(svg.contains("overlap") && svg.contains("between-holds") && svg.contains("lease-left"));
    assert!(!svg.contains("before-loss"), "that was not measured");
    assert_eq!(figure.series[0].points, [(1_000.0, 0.0), (4_000.0, 1.0)]);
}

#[test]
fn what_a_search_does_not_find_lies_right_of_its_limit_and_comes_first() {
    let of = |row: &str, way: &str, median, most| YieldFigure {
        row: row.to_owned(),
        way: way.to_owned(),
        median,
        most,
    };
    let figures = [
        of("easy", "file", Some(1), Some(4)),
        of("easy", "swarm", Some(30), None),
        of("hard", "file", None, None),
        of("hard", "swarm", Some(700), None),
    ];
    let figure = yields(&figures, 2_000, &caption());
    let svg = seen(&figure);
    assert!(svg.find(">\nhard\n<") < svg.find(">\neasy\n<"));
    assert!(svg.contains("not found"));
    assert_eq!(figure.series[1].points, [(30.0, 1.0), (700.0, 0.0)]);
    assert!(figure.series[1].tails.iter().all(|tail| tail.0 > 2_000.0));
}

#[test]
fn of_many_rows_those_are_shown_that_say_most_and_it_says_so() {
    let figures = (1..=60).map(|place| YieldFigure {
        row: format!("violation {place}"),
        way: "file".to_owned(),
        median: Some(place),
        most: Some(place * 3),
    });
    let figure = yields(&figures.collect::<Vec<_>>(), 2_000, &caption());
    let svg = seen(&figure);
    let said = "Of 60 violations, 40 are shown: those that are hardest to find.";
    assert!(svg.contains(said));
    assert!(svg.contains("violation 60") && !svg.contains("violation 20"));
}
