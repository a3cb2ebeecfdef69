//! The page with diagrams.

use crate::common;
use crate::common::outcome;

use picklock_checker::outcome::{ScenarioOutcome, Standing, Story};
use picklock_checker::{EventKind, History, VirtualTime, Witness};
use picklock_reports::diagram::{
    Diagram, MessageEvent, MessageState, Scope, Strip, Traffic, TurningMark,
};
use picklock_reports::html::{
    DIAGRAM, Head, LARGEST, Page, PlanFile, Reasons, RunSection, fitting,
};

use common::{history, two_inside};

fn none(_: usize) -> Vec<usize> {
    Vec::new()
}

fn message(at: u64, after: usize, (from, to): (&str, &str), state: MessageState) -> MessageEvent {
    MessageEvent {
        at: VirtualTime::from_micros(at),
        after,
        from: from.to_owned(),
        to: to.to_owned(),
        connection: Some(1),
        state,
        between_servers: false,
        text: "create(/locks/stock/lock-)".to_owned(),
    }
}

fn traffic() -> Traffic {
    let way = ("contender-1", "server-1");
    Traffic {
        machines: vec!["server-1".to_owned(), "server-2".to_owned()],
        messages: vec![
            message(1_000, 1, way, MessageState::Sent),
            message(3_000, 1, way, MessageState::Received),
            message(5_000, 2, ("server-1", "contender-1"), MessageState::Sent),
            message(6_000, 2, ("server-1", "contender-1"), MessageState::Lost),
        ],
        fault_lengths: Vec::new(),
    }
}

fn section<'s>(story: &'s Story, traffic: &Traffic, case: &'s str) -> RunSection<'s> {
    RunSection {
        scenario: "zookeeper/waiter-death",
        claim: "The death of a waiter does not hand the lock to the one behind it.",
        case,
        standing: Standing::Fail,
        remarks: vec!["mutual-exclusion was to hold".to_owned()],
        story,
        diagram: fitting(story, traffic, DIAGRAM, &none),
        still: Diagram::of(story, traffic, Scope::Essential, &none),
        plan: Some(PlanFile {
            name: "plan.toml".to_owned(),
            text: "claim = \"It holds.\"\n".to_owned(),
        }),
        folded: false,
        reasons: None,
    }
}

const HEAD: Head<'_> = Head {
    title: "zookeeper/waiter-death, zk-no-recheck",
    picklock: "0.1.0",
    lead: &[],
    outcomes: &[],
    charts: &[],
};

fn page(story: &Story, traffic: &Traffic) -> String {
    let mut page = Page::new(HEAD);
    assert!(page.add(&section(story, traffic, "zk-no-recheck")));
    page.html(HEAD)
}

/// The data of the first diagram.
fn data(page: &str) -> serde_json::Value {
    let begin = page.find("id=\"data-1\">").expect("there is a diagram") + 12;
    let end = begin + page[begin..].find("</script>").expect("it ends");
    serde_json::from_str(&page[begin..end]).expect("it is JSON")
}

#[test]
fn the_page_says_what_broke_why_and_how_to_see_it_again() {
    let story = two_inside();
    let page = page(&story, &traffic());
    for part in [
        "<strong>mutual-exclusion violated:</strong> contender-1 and contender-3 both inside",
        "overlap: 8,012 ms of virtual time, from 2.000 s",
        "<dt class=\"c0\">A</dt><dd>contender-1",
        "A is inside until 10.012 s",
        "However, C is inside from 2.000 s",
        "a contradiction.</p>",
        "picklock replay zookeeper/waiter-death --case zk-no-recheck --seed 4127",
        "claim = &quot;It holds.&quot;",
        "<svg class=\"still\"",
        "The story as a terminal prints it",
    ] {
        assert!(page.contains(part), "{part}");
    }
}

#[test]
fn the_diagram_has_a_track_for_each_of_the_three_truths_and_both_ends_of_messages() {
    let data = data(&page(&two_inside(), &traffic()));
    let rows = |name: &str| data[name].as_array().expect("a list").clone();
    let tracks: Vec<u64> = rows("b").iter().filter_map(|bar| bar[5].as_u64()).collect();
    // Waiting, belief, and ownership; no contender writes in this run.
    assert_eq!(tracks, [1, 1, 1, 2, 2, 3]);
    let messages = rows("a");
    let lost: Vec<u64> = messages
        .iter()
        .filter_map(|message| message[5].as_u64())
        .collect();
    let long: Vec<u64> = messages
        .iter()
        .filter_map(|message| message[3].as_u64())
        .collect();
    assert_eq!((lost, long), (vec![0, 1], vec![2_000, 1_000]));
    assert_eq!(data["v"][0], 2_000_000);
    assert_eq!(rows("l").len(), 5, "three contenders and two servers");
}

#[test]
fn what_an_event_depends_on_is_in_the_page_by_the_places_of_marks() {
    let story = two_inside();
    let causes = |event: usize| Vec::from_iter(event.checked_sub(1));
    let mut page = Page::new(HEAD);
    let diagram = fitting(&story, &traffic(), DIAGRAM, &causes);
    let run = RunSection {
        diagram,
        ..section(&story, &traffic(), "zk-no-recheck")
    };
    assert!(page.add(&run));
    let data = data(&page.html(HEAD));
    let marks = data["m"].as_array().expect("a list");
    let last = marks
        .iter()
        .rev()
        .find(|mark| mark[3] == 12)
        .expect("the last event");
    let cause = last[10][0].as_u64().expect("a place") as usize;
    assert_eq!(marks[cause][3], 11);
}

#[test]
fn the_past_of_a_violation_begins_with_all_that_shows_it() {
    let data = data(&page(&two_inside(), &traffic()));
    // The grant of the first holder as well as the one of the second; not the release, which comes later.
    assert_eq!(data["v"][2], 11);
    assert_eq!(data["v"][4], serde_json::json!([3, 11]));
    let rows = |name: &str| data[name].as_array().expect("a list").clone();
    let begins = rows("b").into_iter().map(|bar| {
        let in_history = bar[7].as_u64().is_some_and(|is| is & 4 > 0);
        (bar[5].as_u64(), bar[10].as_u64(), in_history)
    });
    let begins: Vec<_> = begins
        .filter_map(|(track, after, in_history)| Some((track?, after?, in_history)))
        .collect();
    let waiting = [(1, 0, true), (1, 4, true), (1, 6, true)];
    let inside = [(2, 3, true), (2, 11, true), (3, 2, true)];
    assert_eq!(begins, [waiting, inside].concat());
    assert_eq!(rows("s")[0][5], 8, "the fault begins with its event");
}

#[test]
fn strips_say_how_many_wait_and_hold_and_keep_to_the_axis() {
    let story = two_inside();
    let mut run = section(&story, &traffic(), "zk-no-recheck");
    run.diagram.add_strips(Strip::of_contenders(&story.history));
    let mut page = Page::new(HEAD);
    assert!(page.add(&run));
    let data = data(&page.html(HEAD));
    let [waiting, holders] = [&data["k"][0], &data["k"][1]];
    let most = |values: &serde_json::Value| {
        let values = values.as_array().into_iter().flatten();
        values.filter_map(serde_json::Value::as_u64).max()
    };
    assert_eq!((most(&waiting[7]), most(&holders[7])), (Some(2), Some(2)));
    let long: u64 = holders[6].as_array().map_or(0, |steps| {
        steps.iter().filter_map(serde_json::Value::as_u64).sum()
    });
    assert!(long <= 12_000_000, "the last hold ends at 12 s: {long}");
    let ends = waiting[4].as_u64().zip(data["l"][0][3].as_u64());
    assert!(ends.is_some_and(|(strip, lane)| strip < lane), "{ends:?}");
}

#[test]
fn the_reasons_stand_beside_the_diagram_and_lead_into_it() {
    let story = two_inside();
    let at = VirtualTime::from_micros(2_000_000);
    let turning = TurningMark {
        at,
        event: 11,
        label: "turning choice 7".to_owned(),
    };
    let points = vec![(VirtualTime::ZERO, 3), (at, 50)];
    let mut run = section(&story, &traffic(), "zk-no-recheck");
    run.explain(Reasons {
        needs: vec!["without fault 1: holds in 200 of 200".to_owned()],
        turning: vec!["choice 7 turned it; it shows at 2.000 s".to_owned()],
        past: "7 of 13 events".to_owned(),
        likelihood: Strip::likelihood(points, 50, Some(turning)),
    });
    let mut page = Page::new(HEAD);
    assert!(page.add(&run));
    let html = page.html(HEAD);
    for part in [
        "<li>without fault 1: holds in 200 of 200</li>",
        "it shows at <a class=\"at\" href=\"#diagram-1\" data-at=\"2000000\">2.000 s</a>",
        "<a href=\"#diagram-1\" data-event=\"11\">The turning choice 7 in the diagram</a>",
        "<p class=\"step\">7 of 13 events</p>",
    ] {
        assert!(html.contains(part), "{part}");
    }
    assert_eq!(data(&html)["k"][0][8][1], 11);
}

#[test]
fn the_same_run_gives_the_same_bytes_and_asks_for_nothing_from_anywhere() {
    let one = page(&two_inside(), &traffic());
    assert_eq!(one, page(&two_inside(), &traffic()));
    for elsewhere in ["http:", "https:", "@import", "url(", "src="] {
        assert!(!one.contains(elsewhere), "{elsewhere}");
    }
}

const EVIL: &str =
    "</script></pre><script>alert(1)</script><img src=x onerror='alert(2)'>\"&amp;<!--";

/// A run of which every text that a user can choose tries to be markup.
fn evil() -> (Story, Traffic) {
    let mut story = two_inside();
    let history = &mut story.history;
    for name in history.contenders.iter_mut().chain(&mut history.names) {
        name.push_str(EVIL);
    }
    history.locks = vec![EVIL.to_owned(), format!("{EVIL}2")];
    history.faults = vec![EVIL.to_owned()];
    history.fault_requests = vec![Some(EVIL.to_owned())];
    story.also = vec![EVIL.to_owned()];
    for text in [&mut story.replay, story.why.get_or_insert_default()] {
        text.push_str(EVIL);
    }
    if let Some((invariant, witness)) = &mut story.violated {
        invariant.push_str(EVIL);
        witness.summary.push_str(EVIL);
        let step = picklock_checker::Step::Then(EVIL.to_owned());
        witness.argument.push(step);
    }
    let way = (&*format!("contender-1{EVIL}"), &*format!("server-1{EVIL}"));
    let mut sent = message(1_000, 1, way, MessageState::Sent);
    sent.text = EVIL.to_owned();
    let traffic = Traffic {
        machines: vec![way.1.to_owned(), EVIL.to_owned()],
        messages: vec![sent],
        fault_lengths: Vec::new(),
    };
    (story, traffic)
}

#[test]
fn nothing_that_a_scenario_or_a_run_says_becomes_markup() {
    let (story, traffic) = evil();
    let head = Head {
        title: EVIL,
        picklock: EVIL,
        outcomes: &[],
        lead: &[],
        charts: &[],
    };
    let run = RunSection {
        scenario: EVIL,
        claim: EVIL,
        case: EVIL,
        remarks: vec![EVIL.to_owned()],
        plan: Some(PlanFile {
            name: EVIL.to_owned(),
            text: EVIL.to_owned(),
        }),
        ..section(&story, &traffic, EVIL)
    };
    let mut page = Page::new(head);
    assert!(page.add(&run));
    let text = page.html(head);
    // The data, and the code of the page.
    assert_eq!(text.matches("<script").count(), 2);
    assert_eq!(text.matches("</script").count(), 2);
    assert!(!text.contains("<img") && !text.contains("<!--"));
    let words = data(&text)["w"].to_string();
    assert!(
        words.contains("<img src=x"),
        "the code gets the text as it is"
    );
}

#[test]
fn the_table_of_all_cases_escapes_what_they_say() {
    let mut case = outcome::failed("zk-no-recheck", two_inside());
    (case.scenario, case.case) = (EVIL.to_owned(), EVIL.to_owned());
    for finding in &mut case.findings {
        finding.line = EVIL.to_owned();
    }
    let mut undecided = outcome::case("zk-hardened", Standing::Undecided);
    undecided.undecided.insert(EVIL.to_owned(), 7);
    let outcomes = [ScenarioOutcome {
        name: EVIL.to_owned(),
        claim: EVIL.to_owned(),
        cases: vec![case, undecided],
    }];
    let head = Head {
        outcomes: &outcomes,
        ..HEAD
    };
    let text = Page::new(head).html(head);
    assert!(!text.contains("<script") && !text.contains("<img") && !text.contains("<!--"));
    assert!(text.contains("&lt;img src=x"));
}

#[test]
fn failures_stand_first_and_lead_to_their_sections() {
    let fails = outcome::failed("zk-no-recheck", two_inside());
    let holds = outcome::case("zk-hardened", Standing::Holds);
    let outcomes = [outcome::scenario(vec![holds, fails])];
    let head = Head {
        outcomes: &outcomes,
        ..HEAD
    };
    let mut page = Page::new(head);
    assert!(page.add(&section(&two_inside(), &traffic(), "zk-no-recheck")));
    let text = page.html(head);
    assert!(text.contains("1 scenario, 2 cases: 1 as expected, 1 not."));
    let link = text.find("<a href=\"#run-1\">zk-no-recheck</a>");
    let other = text.find("<td>zk-hardened</td>");
    assert!(link.is_some() && link < other);
    // Without room for a section, the row says how to see the run.
    let without = Page::new(head).html(head);
    assert!(without.contains("<code>picklock replay zookeeper/waiter-death"));
}

#[test]
fn on_paper_only_a_later_run_begins_a_sheet() {
    let page = page(&two_inside(), &traffic());
    let (_, print) = page.split_once("@media print").expect("a style for paper");
    let breaks = print.matches("break-before").count();
    assert_eq!(
        (breaks, page.contains("<main>\n<section class=\"run\"")),
        (2, true)
    );
    assert!(print.contains("section.run + section.run { break-before: page; }"));
}

#[test]
fn the_legend_says_what_the_axis_means_as_it_is_drawn() {
    let page = page(&two_inside(), &traffic());
    let code = page
        .rsplit("\"use strict\"")
        .next()
        .expect("the page has code");
    // What the button does changes the words, and they are written nowhere else.
    let toggles = "toggle(\"scale\", false, (on) => { view.toScale(on); view.scaled(on); });";
    assert!(code.contains(toggles), "{toggles}");
    assert_eq!(code.matches("the axis is to scale").count(), 1);
    assert_eq!(code.matches("the more the axis is shortened").count(), 1);
}

#[test]
fn charts_stand_below_the_runs_and_the_summary_leads_to_them() {
    let outcomes = [outcome::scenario(vec![outcome::failed(
        "zk-no-recheck",
        two_inside(),
    )])];
    let head = Head {
        outcomes: &outcomes,
        charts: &["<svg class=\"chart\"></svg>\n".to_owned()],
        ..HEAD
    };
    let mut page = Page::new(head);
    assert!(page.add(&section(&two_inside(), &traffic(), "zk-no-recheck")));
    let html = page.html(head);
    let place = |words: &str| html.find(words).unwrap_or_else(|| panic!("{words}"));
    assert!(place("<a href=\"#charts\">Charts</a>") < place("class=\"run\""));
    assert!(place("class=\"run\"") < place("<section id=\"charts\">"));
    assert!(place("<section id=\"charts\">") < place("<svg class=\"chart\">"));
}

#[test]
fn scenarios_of_the_matrix_are_a_table_of_algorithms_by_classes_of_faults() {
    let of = |class: &str, mut case: picklock_checker::outcome::CaseOutcome| {
        case.scenario = format!("matrix/{class}");
        ScenarioOutcome {
            name: case.scenario.clone(),
            cases: vec![case],
            ..outcome::scenario(Vec::new())
        }
    };
    let outcomes = [
        of("pause", outcome::failed("zk-no-recheck", two_inside())),
        of("crash", outcome::case("zk-no-recheck", Standing::Holds)),
        of("power<br>", outcome::case(EVIL, Standing::Undecided)),
    ];
    let head = Head {
        outcomes: &outcomes,
        ..HEAD
    };
    let text = Page::new(head).html(head);
    let heads = "<th scope=\"col\">pause</th><th scope=\"col\">crash</th><th scope=\"col\">power&lt;br&gt;</th>";
    assert!(text.contains(heads));
    let row = "<th scope=\"row\">zk-no-recheck</th><td>mutual-exclusion 41/1000</td><td><span class=\"verdict \
               holds\">HOLDS</span></td><td>-</td>";
    assert!(text.contains(row), "{text}");
    assert!(!text.contains("<img"));
    let other = [outcome::scenario(vec![outcome::case(
        "zk-hardened",
        Standing::Holds,
    )])];
    let head = Head {
        outcomes: &other,
        ..HEAD
    };
    assert!(!Page::new(head).html(head).contains("id=\"matrix\""));
}

/// So many rounds of two contenders, with the messages of each; in the middle, both are inside.
fn long(rounds: u64) -> (Story, Traffic) {
    let mut lines = String::new();
    let mut messages = Vec::new();
    let mut events = 0;
    for round in 0..rounds {
        let by = round % 2 + 1;
        let at = round * 10;
        let place = round % 100;
        let (queued, owned, entered, left) = (at + 1, at + 2, at + 3, at + 9);
        lines.push_str(&format!(
            "{at} acquire {by}\n{queued} queued {by} {place}\n"
        ));
        lines.push_str(&format!(
            "{owned} owns {by} {place}\n{entered} enters {by} {round}\n"
        ));
        lines.push_str(&format!(
            "{left} leaves {by}\n{left} disowned {by} {place}\n"
        ));
        events += 6;
        if round == rounds / 2 {
            lines.push_str(&format!("{} enters {} 1\n", at + 9, 3 - by));
            events += 1;
        }
        let (client, number) = (format!("contender-{by}"), round);
        for (index, state) in [MessageState::Sent, MessageState::Received]
            .into_iter()
            .enumerate()
        {
            let at = (at + index as u64) * 1_000;
            let mut ask = message(at, events, (&client, "server-1"), state);
            ask.text =
                format!("#{number} create(/locks/a/6640103d0da2abeecb7634b0f061274f-{number:010})");
            let mut answer = message(at + 1_500, events, ("server-1", &client), state);
            answer.text =
                format!("#{number} created /locks/a/6640103d0da2abeecb7634b0f061274f-{number:010}");
            messages.extend([ask, answer]);
        }
    }
    let history = history(2, &[], &lines);
    let enters = |what: &EventKind| matches!(what, EventKind::Acquired { .. });
    let middle = history.events.iter().enumerate();
    let breach = middle
        .filter(|(_, event)| enters(&event.what))
        .map(|(index, _)| index)
        .find(|index| {
            enters(&history.events[index - 1].what) || *index * 2 >= history.events.len()
        });
    let breach = breach.expect("both are inside in the middle");
    let witness = Witness {
        summary: "both inside".to_owned(),
        at: history.events[breach].at,
        overlap: None,
        events: vec![breach],
        argument: Vec::new(),
    };
    let traffic = Traffic {
        machines: vec!["server-1".to_owned()],
        messages,
        fault_lengths: Vec::new(),
    };
    (common::story("mutual-exclusion", witness, history), traffic)
}

fn events(history: &History) -> usize {
    history.events.len()
}

#[test]
fn ten_thousand_operations_fit_into_two_megabytes() {
    // An acquire and a release in each round.
    let (story, traffic) = long(5_000);
    let page = page(&story, &traffic);
    assert!(page.len() <= LARGEST, "{}", page.len());
    assert!(
        page.len() > LARGEST / 3,
        "most of the room is used: {}",
        page.len()
    );
}

#[test]
fn a_run_of_a_hundred_thousand_events_is_cut_and_the_page_says_so() {
    let (story, traffic) = long(20_000);
    assert!(events(&story.history) > 100_000);
    let page = page(&story, &traffic);
    assert!(page.len() <= LARGEST, "{}", page.len());
    assert!(page.contains("This run is too large for a page: of its 120,001 events, "));
    // What is shown lies around the violation.
    assert!(!data(&page)["v"].is_null());
}

#[test]
fn a_small_run_is_not_cut() {
    assert!(!page(&two_inside(), &traffic()).contains("class=\"cut\""));
}

#[test]
fn sections_are_added_for_as_long_as_there_is_room() {
    let (story, traffic) = long(2_500);
    let run = section(&story, &traffic, "zk-no-recheck");
    let mut page = Page::new(HEAD);
    let added = (0..10).take_while(|_| page.add(&run)).count();
    assert!((1..10).contains(&added), "{added}");
    assert!(page.html(HEAD).len() <= LARGEST);
}

#[test]
fn a_run_of_which_nothing_is_known_is_no_reason_to_panic() {
    let mut story = two_inside();
    story.violated = None;
    story.history = History::default();
    let page = page(&story, &Traffic::default());
    assert!(page.contains("violates nothing"));
}
