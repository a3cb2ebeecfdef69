//! Diagrams as pictures.

use crate::common;

use std::time::Duration;

use picklock_checker::outcome::Story;
use picklock_checker::service_event::{DataFound, KeyHolders, KeySource};
use picklock_checker::{ContenderId, ServiceEvent, ServiceEventKind, VirtualTime};
use picklock_reports::diagram::svg::svg;
use picklock_reports::diagram::{
    ArrowEnd, ArrowKind, Diagram, LaneKind, MessageEvent, MessageState, Scope, Track, Traffic,
};

use common::{history, story, two_inside, witness};

fn none(_: usize) -> Vec<usize> {
    Vec::new()
}

fn between(at: u64, from: &str, to: &str, state: MessageState, text: &str) -> MessageEvent {
    MessageEvent {
        at: VirtualTime::from_micros(at * 1_000),
        after: 0,
        from: from.to_owned(),
        to: to.to_owned(),
        connection: None,
        state,
        between_servers: from.starts_with("server") && to.starts_with("server"),
        text: text.to_owned(),
    }
}

fn traffic(messages: Vec<MessageEvent>) -> Traffic {
    let machines = ["server-1", "server-2", "server-3"].map(str::to_owned);
    Traffic {
        machines: machines.to_vec(),
        messages,
        fault_lengths: Vec::new(),
    }
}

fn drawn(story: &Story, messages: Vec<MessageEvent>) -> Diagram {
    Diagram::of(story, &traffic(messages), Scope::Essential, &none)
}

fn title() -> Vec<String> {
    vec![
        "zookeeper/waiter-death".to_owned(),
        "both inside".to_owned(),
    ]
}

#[test]
fn a_picture_shows_the_contenders_of_the_explanation_and_servers_at_which_something_happens() {
    let sent = between(40, "contender-2", "server-2", MessageState::Sent, "create");
    let diagram = drawn(&two_inside(), vec![sent]);
    let names: Vec<&str> = diagram
        .lanes
        .iter()
        .map(|lane| lane.name.as_str())
        .collect();
    assert_eq!(
        names,
        ["contender-1", "contender-2", "contender-3", "server-2"]
    );
    let ends: Vec<u32> = diagram
        .lanes
        .iter()
        .map(|lane| lane.top + lane.height)
        .collect();
    let tops: Vec<u32> = diagram.lanes.iter().map(|lane| lane.top).collect();
    assert_eq!(ends[..3], tops[1..], "no lane lies over another");
}

#[test]
fn belief_and_ownership_of_a_hold_are_two_bars_and_end_each_at_its_own_time() {
    let diagram = drawn(&two_inside(), Vec::new());
    let of = |track: Track| {
        let bars = diagram.bars.iter().filter(move |bar| bar.track == track);
        let ends = bars.map(|bar| {
            (
                bar.lane,
                bar.from.micros() / 1_000,
                bar.until.micros() / 1_000,
            )
        });
        ends.collect::<Vec<_>>()
    };
    assert_eq!(of(Track::Belief), [(0, 12, 10_012), (2, 2_000, 12_000)]);
    assert_eq!(of(Track::Ownership), [(0, 8, 10_014)]);
}

#[test]
fn a_write_goes_from_its_contender_to_the_resource_and_a_refused_one_is_marked() {
    let lines = "0 acquire 1
                 5 enters 1 1
                 6 writing 1 1
                 9 rejected 1 1 0 1
                 12 leaves 1";
    let mut story = two_inside();
    story.violated = None;
    story.history = history(1, &[], lines);
    let diagram = drawn(&story, Vec::new());
    assert_eq!(diagram.lanes[0].kind, LaneKind::Resource);
    let write = &diagram.arrows[0];
    assert_eq!((write.kind, write.from, write.to), (ArrowKind::Write, 1, 0));
    let effect = diagram.bars.iter().find(|bar| bar.track == Track::Effect);
    let effect = effect.expect("the write is a bar, too");
    assert!(effect.bad && effect.text.contains("refused"));
}

/// The faults of a run of 12 ms: row, from, until, whether it goes on, whether its words stand at an earlier strike.
fn faults(lengths: &[Option<Duration>], lines: &str) -> Vec<(u32, u64, u64, bool, bool)> {
    let mut story = two_inside();
    story.violated = None;
    let names = ["pause contender-1", "crash server-1 for good"];
    let lines = format!("0 acquire 1\n5 enters 1 1\n{lines}\n12 leaves 1");
    story.history = history(1, &names, &lines);
    let traffic = Traffic {
        fault_lengths: lengths.to_vec(),
        ..Traffic::default()
    };
    let diagram = Diagram::of(&story, &traffic, Scope::Essential, &none);
    let spans = diagram.spans.iter();
    let millis = |at: VirtualTime| at.micros() / 1_000;
    let spans = spans.map(|span| {
        (
            span.row,
            millis(span.from),
            millis(span.until),
            span.goes_on,
            span.again,
        )
    });
    spans.collect()
}

const fn lasts(millis: u64) -> Option<Duration> {
    Some(Duration::from_millis(millis))
}

#[test]
fn a_fault_lasts_until_it_is_over_and_one_for_good_to_the_end() {
    let lengths = [lasts(3), Some(Duration::MAX)];
    assert_eq!(
        faults(&lengths, "6 fault 1\n7 fault 2\n9 healed 1"),
        [(0, 6, 9, false, false), (1, 7, 12, true, false)]
    );
}

#[test]
fn a_fault_that_outlasts_the_run_goes_on_beyond_the_edge() {
    let lengths = [lasts(20), lasts(2)];
    // The second would have been over at 9 ms: it found nothing to break.
    assert_eq!(
        faults(&lengths, "6 fault 1\n7 fault 2"),
        [(0, 6, 12, true, false), (1, 7, 7, false, false)]
    );
    assert_eq!(faults(&[None], "6 fault 1"), [(0, 6, 6, false, false)]);
}

#[test]
fn each_strike_of_a_fault_has_its_length_and_all_have_one_row() {
    assert_eq!(
        faults(
            &[lasts(2)],
            "6 fault 1\n7 fault 1\n8 healed 1\n9 healed 1\n11 fault 1"
        ),
        [
            (0, 6, 8, false, false),
            (0, 7, 9, false, true),
            (0, 11, 12, true, true),
        ]
    );
    let at_once = faults(&[None], "6 fault 1\n8 fault 1");
    assert_eq!(at_once, [(0, 6, 6, false, false), (0, 8, 8, false, true)]);
}

#[test]
fn what_goes_on_at_the_edge_is_open_there_and_the_legend_says_so() {
    let mut story = two_inside();
    let picture = |story: &Story, lengths: &[Option<Duration>]| {
        let traffic = Traffic {
            fault_lengths: lengths.to_vec(),
            ..Traffic::default()
        };
        svg(
            &Diagram::of(story, &traffic, Scope::Essential, &none),
            &title(),
        )
    };
    let words = ">goes on beyond the right edge<";
    assert!(!picture(&story, &[None]).contains(words));
    assert!(picture(&story, &[lasts(20_000)]).contains(words));
    let diagram = |story: &Story| drawn(story, Vec::new());
    let open = |diagram: &Diagram| {
        let bars = diagram.bars.iter().filter(|bar| bar.goes_on);
        bars.map(|bar| (bar.lane, bar.track)).collect::<Vec<_>>()
    };
    // contender-2 waits in vain.
    assert_eq!(open(&diagram(&story)), [(1, Track::Waiting)]);
    // The story ends with the release of contender-1, and the request of that release reaches the service later.
    story.history.events.pop();
    let without_the_end = [
        (1, Track::Waiting),
        (2, Track::Belief),
        (0, Track::Ownership),
    ];
    assert_eq!(open(&diagram(&story)), without_the_end);
}

#[test]
fn of_too_many_messages_those_are_drawn_that_are_near_to_what_is_explained() {
    let many = (0..900).flat_map(|place| {
        let text = format!("get {place}");
        let at = 2_000 + place * 5;
        [
            between(at, "contender-3", "server-1", MessageState::Sent, &text),
            between(
                at + 2,
                "contender-3",
                "server-1",
                MessageState::Received,
                &text,
            ),
        ]
    });
    let diagram = drawn(&two_inside(), many.collect());
    assert_eq!(diagram.arrows.len(), 160);
    assert!(diagram.arrows.iter().any(|arrow| arrow.text == "get 0"));
    assert_eq!(
        diagram.notes,
        [
            "Of 900 messages, 160 are shown: those that are nearest in time to what the explanation names."
        ]
    );
}

#[test]
fn a_picture_is_the_same_twice_and_names_what_breaks() {
    let lost = vec![
        between(40, "contender-2", "server-2", MessageState::Sent, "create"),
        between(44, "contender-2", "server-2", MessageState::Lost, "create"),
    ];
    let picture = svg(&drawn(&two_inside(), lost.clone()), &title());
    assert_eq!(picture, svg(&drawn(&two_inside(), lost), &title()));
    for words in [
        ">both inside for 8,012 ms<",
        ">A  contender-1<",
        ">ownership<",
        ">server-2<",
        ">never arrives<",
        "fault 1: expire-session contender-2",
    ] {
        assert!(picture.contains(words), "{words}");
    }
}

#[test]
fn what_is_under_way_at_the_edge_is_open_and_has_no_cross() {
    let sent = |at, text| between(at, "contender-3", "server-1", MessageState::Sent, text);
    let arrives = |at, text| between(at, "contender-3", "server-1", MessageState::Received, text);
    // The explanation ends at 12 s, with the release of contender-3.
    let messages = vec![
        sent(11_999, "delete"),
        arrives(12_004, "delete"),
        sent(11_999, "get"),
    ];
    let diagram = drawn(&two_inside(), messages);
    let ends = diagram.arrows.iter();
    let ends: Vec<_> = ends
        .map(|arrow| (arrow.end, arrow.ends.micros() / 1_000))
        .collect();
    assert_eq!(ends, [(ArrowEnd::UnderWay, 12_000); 2]);
    let picture = svg(&diagram, &title());
    assert!(picture.contains(">still under way at the right edge<"));
    assert!(!picture.contains("never arrives"));
    assert!(!picture.contains(">request, answer<"), "none has arrived");
    assert_eq!(picture.matches("stroke-dasharray=\"2 3\"").count(), 3);
}

#[test]
fn a_write_that_arrives_after_the_picture_is_under_way_in_it() {
    let lines = "0 acquire 1
                 5 enters 1 1
                 6 writing 1 1
                 7 leaves 1
                 9 accepted 1 1 0 1
                 12 writing 1 1";
    let mut story = two_inside();
    story.history = history(1, &[], lines);
    if let Some((_, witness)) = &mut story.violated {
        witness.at = VirtualTime::from_micros(7_000);
        witness.events = vec![1, 3];
    }
    let diagram = drawn(&story, Vec::new());
    let ends = diagram.arrows.iter();
    let ends: Vec<_> = ends
        .map(|arrow| (arrow.sent.micros() / 1_000, arrow.end))
        .collect();
    assert_eq!(ends, [(6, ArrowEnd::UnderWay)]);
    assert_eq!(diagram.lanes[0].kind, LaneKind::Resource);
}

/// The bars of keys of a run in which server-1 has a key from 10 ms on, and is down from 20 to 30 ms, in milliseconds.
fn keys_of_a_crash(without_key_of: Option<ContenderId>) -> Vec<(u64, u64)> {
    let lines = "0 acquire 1
         10 enters 1
         20 fault 1
         30 healed 1
         50 leaves 1";
    let history = history(1, &["crash-server server-1, restarted after 10ms"], lines);
    let mut told = story(
        "progress",
        witness(0, "it is not the point", &[1, 4], &[]),
        history,
    );
    let of = ContenderId(0);
    let by = KeySource::Client;
    let holders = KeyHolders::default;
    let set = ServiceEventKind::KeySet {
        of,
        by,
        holders: holders(),
    };
    let restarted = ServiceEventKind::Restarted {
        data: DataFound::Nothing,
        without_key_of,
        left: holders(),
    };
    for (after, what) in [(1, set), (3, restarted)] {
        told.history.service.push(ServiceEvent {
            at: told.history.events[after].at,
            after,
            machine: "server-1".to_owned(),
            what,
        });
    }
    // A picture has no lane of a server at which nothing of the explanation happens.
    let scope = Scope::Whole { bytes: 1_000_000 };
    let diagram = Diagram::of(&told, &traffic(Vec::new()), scope, &none);
    let keys = diagram.bars.iter().filter(|bar| bar.track == Track::Key);
    let millis = |at: VirtualTime| at.micros() / 1_000;
    keys.map(|bar| (millis(bar.from), millis(bar.until)))
        .collect()
}

#[test]
fn a_server_that_is_down_has_no_key_and_has_it_again_only_from_its_disk() {
    assert_eq!(keys_of_a_crash(Some(ContenderId(0))), [(10, 20)]);
    assert_eq!(keys_of_a_crash(None), [(10, 20), (30, 50)]);
}

#[test]
fn nothing_in_a_picture_becomes_markup() {
    let evil = "<script>alert(1)</script>\"&";
    let mut story = two_inside();
    story.history.faults = vec![evil.to_owned()];
    story.history.contenders[0] = evil.to_owned();
    let picture = svg(&drawn(&story, Vec::new()), &[evil.to_owned()]);
    assert!(!picture.contains("<script"));
    assert!(picture.contains("&lt;script&gt;"));
}

#[cfg(feature = "charts")]
#[test]
fn a_png_has_the_size_of_two_pixels_for_each_unit() {
    let diagram = drawn(&two_inside(), Vec::new());
    let bytes = picklock_reports::diagram::png::png(&diagram, &title()).expect("it can be drawn");
    assert_eq!(&bytes[1..4], b"PNG");
    let wide = u32::from_be_bytes([bytes[16], bytes[17], bytes[18], bytes[19]]);
    assert_eq!(wide, 2_560);
    let again = picklock_reports::diagram::png::png(&diagram, &title()).expect("it can be drawn");
    assert_eq!(bytes, again);
}
