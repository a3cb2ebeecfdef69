//! JUnit XML, as continuous integration reads it.

use crate::common;
use crate::common::hostile;
use crate::common::outcome;

use std::collections::BTreeMap;

use common::two_inside;
use hostile::{HOSTILE, hostile};
use outcome::{case, failed, finding, scenario};
use picklock_checker::Broken;
use picklock_checker::outcome::{Breakage, Standing};
use picklock_reports::Remark;
use picklock_reports::junit::junit;
use quick_xml::events::{BytesStart, Event};
use quick_xml::{Reader, XmlVersion};

/// An attribute, and whether it must be there.
type Attribute = (&'static str, bool);

/// What `junit-10.xsd` of Jenkins' xUnit plugin allows of what is used: an element, what it may stand in, and its
/// attributes.
const SCHEMA: &[(&str, &[&str], &[Attribute])] = &[
    (
        "testsuites",
        &[""],
        &[
            ("name", false),
            ("time", false),
            ("tests", false),
            ("failures", false),
            ("errors", false),
        ],
    ),
    (
        "testsuite",
        &["testsuites"],
        &[
            ("name", true),
            ("tests", true),
            ("failures", true),
            ("errors", true),
            ("time", false),
            ("skipped", false),
            ("file", false),
        ],
    ),
    ("properties", &["testsuite"], &[]),
    (
        "property",
        &["properties"],
        &[("name", true), ("value", true)],
    ),
    (
        "testcase",
        &["testsuite"],
        &[("name", true), ("time", false), ("classname", false)],
    ),
    (
        "failure",
        &["testcase"],
        &[("type", false), ("message", false)],
    ),
    (
        "error",
        &["testcase"],
        &[("type", false), ("message", false)],
    ),
    (
        "skipped",
        &["testcase"],
        &[("type", false), ("message", false)],
    ),
    ("system-out", &["testcase"], &[]),
];

/// Elements in which text may stand.
const WITH_TEXT: [&str; 4] = ["failure", "error", "skipped", "system-out"];

/// Whether the schema takes this for a time in seconds: digits, with or without commas, and a fraction.
fn is_time(text: &str) -> bool {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let digits =
        |text: &str, more: &str| text.chars().all(|c| c.is_ascii_digit() || more.contains(c));
    digits(whole, ",") && digits(fraction, "")
}

/// An element, as it was read.
#[derive(Debug, Default)]
struct Element {
    name: String,
    attributes: BTreeMap<String, String>,
    text: String,
}

/// All elements of a document, each after what stands in it. Panics at whatever the schema does not have.
fn read(xml: &str) -> Vec<Element> {
    let mut reader = Reader::from_str(xml);
    let (mut open, mut read): (Vec<Element>, Vec<Element>) = (Vec::new(), Vec::new());
    loop {
        match reader.read_event().expect("it is well-formed") {
            Event::Decl(_) => assert!(open.is_empty() && read.is_empty()),
            Event::Start(start) => {
                let element = checked(&start, &open);
                open.push(element);
            }
            Event::Empty(start) => {
                let element = checked(&start, &open);
                read.push(element);
            }
            Event::End(_) => read.push(open.pop().expect("it was begun")),
            Event::Text(text) => {
                if let Some(element) = open.last_mut() {
                    let has_text = WITH_TEXT.contains(&element.name.as_str());
                    let name = &element.name;
                    assert!(has_text || text.trim().is_empty(), "{text:?} in <{name}>");
                    element.text.push_str(&text);
                }
            }
            Event::GeneralRef(reference) => {
                let element = open.last_mut().expect("text stands in an element");
                let letter = match &reference[..] {
                    "lt" => '<',
                    "gt" => '>',
                    "amp" => '&',
                    "quot" => '"',
                    "apos" => '\'',
                    other => panic!("&{other};"),
                };
                element.text.push(letter);
            }
            Event::Eof => return read,
            other => panic!("{other:?}"),
        }
    }
}

fn checked(start: &BytesStart, open: &[Element]) -> Element {
    let name = start.name().as_ref().to_owned();
    let parent = open.last().map_or("", |parent| parent.name.as_str());
    let (_, parents, known) = SCHEMA
        .iter()
        .find(|(known, _, _)| *known == name)
        .unwrap_or_else(|| panic!("<{name}>"));
    assert!(parents.contains(&parent), "<{name}> in <{parent}>");
    let mut attributes = BTreeMap::new();
    for attribute in start.attributes() {
        let attribute = attribute.expect("it is well-formed");
        let key = attribute.key.as_ref().to_owned();
        assert!(known.iter().any(|(name, _)| *name == key), "{name} {key}");
        let value = attribute.normalized_value(XmlVersion::Explicit1_0);
        let value = value.expect("it is escaped").into_owned();
        assert!(key != "time" || is_time(&value), "{name} {key}={value}");
        attributes.insert(key, value);
    }
    for (key, needed) in *known {
        assert!(!needed || attributes.contains_key(*key), "{name} {key}");
    }
    Element {
        name,
        attributes,
        text: String::new(),
    }
}

fn named<'a>(read: &'a [Element], name: &str) -> Vec<&'a Element> {
    read.iter().filter(|element| element.name == name).collect()
}

#[test]
fn times_are_seconds() {
    for (time, is) in [
        ("5.509", true),
        ("1,234.5", true),
        ("0", true),
        ("-1", false),
        ("1e3", false),
    ] {
        assert_eq!(is_time(time), is, "{time}");
    }
}

#[test]
fn a_case_is_a_test_and_a_failure_ends_with_its_command() {
    let mut held = case("zk-hardened", Standing::Holds);
    held.findings = vec![finding("fifo", Standing::Holds, "fifo holds")];
    let scenario = scenario(vec![held, failed("zk-no-recheck", two_inside())]);
    let xml = junit(&[scenario], &[], "0.1.0");
    let read = read(&xml);
    let suite = &named(&read, "testsuite")[0].attributes;
    assert_eq!((&*suite["tests"], &*suite["failures"]), ("2", "1"));
    let tests = named(&read, "testcase");
    assert_eq!(tests[0].attributes["classname"], "zookeeper.waiter-death");
    let failure = named(&read, "failure");
    assert_eq!(failure.len(), 1);
    let told = failure[0].text.trim_end();
    let last = told.lines().last().unwrap_or_default();
    assert!(
        last.trim().starts_with("Replay   picklock replay"),
        "{told}"
    );
    assert!(told.contains("mutual-exclusion violated"), "{told}");
    insta::assert_snapshot!(xml);
}

#[test]
fn what_broke_off_or_cannot_tell_is_an_error_and_no_failure() {
    let mut undecided = case("etcd-mutex", Standing::Undecided);
    undecided.findings = vec![finding(
        "undecided",
        Standing::Undecided,
        "fault 1 never fired: contender-1 never acquired",
    )];
    let mut broken = case("zk-panics", Standing::Broken);
    let why = Broken::panic("index out of bounds", None);
    broken.broken = Some(Breakage {
        seed: 3,
        hash: 0,
        seeds: 1,
        why,
    });
    broken.findings = vec![finding("broken", Standing::Broken, "broken at seed 3")];
    let read = read(&junit(&[scenario(vec![undecided, broken])], &[], "0.1.0"));
    let messages: Vec<_> = named(&read, "error")
        .iter()
        .map(|error| error.attributes["message"].as_str())
        .collect();
    assert_eq!(
        messages,
        [
            "fault 1 never fired: contender-1 never acquired",
            "broken at seed 3"
        ]
    );
    assert!(named(&read, "failure").is_empty());
    let all = &named(&read, "testsuites")[0].attributes;
    assert_eq!((&*all["failures"], &*all["errors"]), ("0", "2"));
}

#[test]
fn what_is_wrong_with_the_whole_run_is_a_failure_of_its_own() {
    let remark = Remark {
        about: "coverage-of-redis".to_owned(),
        text: "nothing ever came through two-wait".to_owned(),
    };
    let read = read(&junit(&[], &[remark], "0.1.0"));
    assert_eq!(named(&read, "failure").len(), 1);
    assert_eq!(named(&read, "testsuites")[0].attributes["failures"], "1");
}

#[test]
fn no_name_and_no_finding_is_ever_markup() {
    let xml = junit(&[hostile(two_inside())], &[], HOSTILE);
    let legal = |letter: char| letter >= ' ' || "\t\n\r".contains(letter);
    assert!(xml.chars().all(legal), "{xml:?}");
    let read = read(&xml);
    assert_eq!(named(&read, "testcase").len(), 1);
    let name = &named(&read, "testcase")[0].attributes["name"];
    assert!(
        name.contains("<script>alert(1)</script>\"' ]]> &"),
        "{name}"
    );
    let failure = named(&read, "failure")[0];
    assert!(failure.text.contains("<script>"), "{}", failure.text);
}
