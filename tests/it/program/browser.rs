//! The page in a real browser, if that is wanted: keys, zoom, the causal past, notches, links, lanes, and curves.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::program::common::{Folder, picklock};

/// What Chromium is called where it is installed.
const NAMES: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "chrome"];

/// Uses the page as a reader would, and writes what came of it into the title.
const DRIVER: &str = r#"
const said = {};
addEventListener("error", (event) => { said.error = event.message; });
seen.disconnect();
{
  // At once, and not when it comes into view: Chromium ends when the page is there.
  const view = start(document.querySelector(".live")), now = document.querySelector(".now");
  const press = (key) => view.canvas.dispatchEvent(new KeyboardEvent("keydown", { key }));
  const frame = () => { view.drawing.draw(); view.context.getImageData(0, 0, 1, 1); };
  said.figures = document.querySelectorAll("figure.drawn canvas").length;
  press("ArrowRight");
  said.first = now.textContent;
  press("ArrowRight");
  said.second = now.textContent;
  press("v");
  said.violation = now.textContent;
  press("c");
  said.past = view.past.marks.size;
  said.events = [...view.past.marks].map((index) => view.model.marks[index].event).filter((event) => event >= 0);
  said.events.sort((one, other) => one - other);
  said.marks = view.model.marks.length;
  press("Escape");
  said.unfiltered = view.past === null;
  const axis = () => document.querySelector(".axis").textContent;
  said.shortened = axis();
  press("t");
  said.scaled = axis();
  press("t");
  const zooms = [];
  press("0");
  for (let step = 0; step < 11; step++) {
    const begin = performance.now();
    press("+");
    frame();
    zooms.push(performance.now() - begin);
  }
  said.zoom = zooms.sort((one, other) => one - other)[5];
  said.closer = view.zoom;
  view.showAll();
  frame();
  const mark = view.model.marks.find((mark) => mark.lane >= 0);
  view.hover(view.x(mark.x1), view.model.lanes[mark.lane].line);
  said.hover = view.tip.textContent;
  const inked = view.context.getImageData(0, 0, view.canvas.width, view.canvas.height).data;
  said.colors = new Set(Array.from({ length: 4000 }, (_, index) => {
    const at = Math.floor((index * inked.length) / 16000) * 4;
    return `${inked[at]},${inked[at + 1]},${inked[at + 2]}`;
  })).size;
  // What a pointer does, at the places where things are drawn.
  view.canvas.setPointerCapture = () => {};
  const click = (x, y) => {
    const box = view.canvas.getBoundingClientRect();
    // The canvas has a border.
    const at = { pointerId: 1, clientX: box.left + 1 + x, clientY: box.top + 1 + y };
    for (const type of ["pointerdown", "pointerup"]) view.canvas.dispatchEvent(new PointerEvent(type, at));
  };
  view.showStory();
  const gone = () => view.model.marks.filter((mark) => mark.gone).length;
  const notch = view.story.gaps.find((gap) => !gap.open);
  said.notches = view.story.gaps.length;
  if (notch) {
    const middle = () => (view.model.scale.place(notch.from) + view.model.scale.place(notch.until)) / 2;
    view.left = middle() - view.room / view.zoom / 2;
    view.clamp();
    const before = gone();
    click(view.x(middle()), view.story.begin + 3);
    said.notch = { opened: notch.open, shown: before - gone(), number: notch.number };
  }
  const link = document.querySelector("a[data-at]");
  link.click();
  said.link = { at: Number(link.dataset.at), chosen: view.model.marks[view.selected]?.at };
  said.link.here = link.className.includes("here");
  const lanes = [...document.querySelectorAll(".lanes button")];
  const lane = lanes.findIndex((button) => button.getAttribute("aria-pressed") === "true");
  const high = view.model.height;
  lanes[lane].click();
  said.lane = { gone: view.model.lanes[lane].gone, less: high - view.model.height };
  said.lane.pressed = lanes[lane].getAttribute("aria-pressed");
  lanes[lane].click();
  said.lane.back = view.model.height === high;
  const rows = view.model.marks.filter((mark) => mark.weight === 2 && mark.lane >= 0 && !mark.gone);
  view.select(view.model.marks.indexOf(rows[0]));
  view.hover(view.x(rows[0].x1), view.model.lanes[rows[0].lane].line);
  said.state = view.tip.textContent;
  const waiting = view.model.strips[0];
  view.hover(view.x(rows[0].x1) + 1, waiting.top + 5);
  said.strip = view.tip.textContent;
  const turned = view.model.strips.find((strip) => strip.turning);
  if (turned) {
    const event = turned.turning.event, chosen = () => view.model.marks[view.selected]?.event;
    view.select(-1);
    document.querySelector("a[data-event]").click();
    said.turning = { event, byLink: chosen() };
    view.select(-1);
    click(view.x(turned.turning.x1), turned.top + 5);
    said.turning.byClick = chosen();
  }
  document.title = JSON.stringify(said);
}
"#;

/// Chromium, if this is to be tested and it is there.
fn chromium() -> Option<PathBuf> {
    if env::var_os("PICKLOCK_BROWSER").is_none() {
        println!("skipped: set PICKLOCK_BROWSER=1 to try the page in Chromium");
        return None;
    }
    let path = env::var_os("PATH").unwrap_or_default();
    let folders = env::split_paths(&path);
    let mut all = folders.flat_map(|folder| NAMES.map(|name| folder.join(name)));
    let found = all.find(|path| path.is_file());
    if found.is_none() {
        println!("skipped: install Chromium to try the page in it");
    }
    found
}

/// What the driver has written about a page.
fn drive(chromium: &Path, page: &str, folder: &Folder) -> serde_json::Value {
    let text = fs::read_to_string(page).expect("the page was written");
    let driven = text.replace("</body>", &format!("<script>{DRIVER}</script></body>"));
    let driven = folder.file("driven.html", driven);
    let output = Command::new(chromium)
        .args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-quic",
        ])
        .args(["--no-first-run", "--disable-background-networking"])
        .args([
            "--disable-component-update",
            "--disable-sync",
            "--window-size=1280,900",
        ])
        .arg(format!("--user-data-dir={}", folder.at("profile")))
        .arg("--dump-dom")
        .arg(format!("file://{driven}"))
        .output()
        .expect("Chromium runs");
    let dom = String::from_utf8_lossy(&output.stdout);
    let title = dom
        .split_once("<title>")
        .and_then(|(_, rest)| rest.split_once("</title>"));
    let (title, _) = title.expect("the page has a title");
    let title = title
        .replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&amp;", "&");
    serde_json::from_str(&title)
        .unwrap_or_else(|_| panic!("the driver has not come to its end: {title}"))
}

#[test]
fn a_reader_can_step_zoom_and_see_the_causal_past() {
    let Some(chromium) = chromium() else { return };
    let mut notches = 0;
    for (scenario, case) in [
        ("zookeeper/gc-pause", "zk-hardened-unfenced"),
        ("redis/sentinel-failover", "redis-wait-ignored"),
        ("redis/redlock-restart", "redlock"),
    ] {
        let folder = Folder::new();
        let page = folder.at("page.html");
        let run = ["replay", scenario, "--case", case, "--seed", "3"];
        let done = picklock(&[&run[..], &["--html", &page]].concat());
        assert_eq!(done.code, Some(0), "{}", done.stderr);
        let said = drive(&chromium, &page, &folder);
        let number = |name: &str| said[name].as_f64().unwrap_or(-1.0);
        assert!(said["error"].is_null(), "{said}");
        assert_eq!(said["figures"], 1);
        assert_ne!(said["first"], said["second"], "the arrow key goes on");
        assert!(said["violation"].to_string().contains("acquires"), "{said}");
        assert!(
            number("past") > 1.0 && number("past") < number("marks"),
            "{said}"
        );
        let why = folder.at("why.json");
        let run = ["why", scenario, "--case", case, "--seed", "3"];
        let few = ["--runs", "1", "--samples", "1", "--json", &why];
        picklock(&[run, few].concat());
        let why = fs::read_to_string(why).expect("the answers were written");
        let why: serde_json::Value = serde_json::from_str(&why).expect("they are JSON");
        assert_eq!(said["events"], why["past"], "{scenario}");
        assert_eq!(said["unfiltered"], true);
        assert!(
            said["shortened"].to_string().contains("is shortened"),
            "{said}"
        );
        assert!(said["scaled"].to_string().contains("is to scale"), "{said}");
        assert!(number("closer") > 2.0, "{said}");
        assert!(said["hover"].to_string().contains(" s: "), "{said}");
        assert_eq!(said["link"]["here"], true, "{said}");
        let millis = |at: &serde_json::Value| at.as_u64().map(|micros| micros / 1_000);
        assert_eq!(
            millis(&said["link"]["at"]),
            millis(&said["link"]["chosen"]),
            "{said}"
        );
        assert_eq!(said["lane"]["gone"], true, "{said}");
        assert_eq!(said["lane"]["pressed"], "false", "{said}");
        assert!(said["lane"]["less"].as_f64() > Some(30.0), "{said}");
        assert_eq!(said["lane"]["back"], true, "{said}");
        let state = said["state"].to_string();
        assert!(
            state.contains("state: ") || state.contains("; after: "),
            "{said}"
        );
        assert!(
            said["strip"].to_string().contains(" s: waiting: "),
            "{said}"
        );
        notches += said["notches"].as_u64().unwrap_or(0);
        if said["notches"] != 0 {
            assert_eq!(said["notch"]["opened"], true, "{said}");
            assert!(said["notch"]["shown"].as_u64() > Some(0), "{said}");
        }
        assert!(number("colors") > 5.0, "something is drawn: {said}");
        assert!(number("zoom") < 50.0, "a zoom takes {} ms", number("zoom"));
    }
    assert!(notches > 0, "a notch was clicked");
}

#[test]
fn the_turning_choice_is_reached_by_its_link_and_by_a_click() {
    let Some(chromium) = chromium() else { return };
    let folder = Folder::new();
    let page = folder.at("why.html");
    let run = [
        "why",
        "zookeeper/unsorted-children",
        "--case",
        "zk-unsorted",
        "--seed",
        "3",
    ];
    let few = [
        "--invariant",
        "fencing-monotonic",
        "--runs",
        "5",
        "--samples",
        "20",
    ];
    let done = picklock(&[&run[..], &few, &["--html", &page]].concat());
    assert_eq!(done.code, Some(0), "{}", done.stderr);
    let said = drive(&chromium, &page, &folder);
    assert!(said["error"].is_null(), "{said}");
    let turning = &said["turning"];
    assert!(turning["event"].is_u64(), "{said}");
    assert_eq!(turning["byLink"], turning["event"], "{said}");
    assert_eq!(turning["byClick"], turning["event"], "{said}");
}

/// As many events as a page has room for.
const LARGE: &str = r#"
claim = "A page at its limit can be moved about in."
because = "The next one has the lock while the first is paused."
source = "a test"

[service.zookeeper]
servers = 3

[workload]
contenders = 10
rounds = 1_000

[[fault]]
when.acquired = { by = "contender-1", nth = 2 }
inject.pause = { target = "contender-1", for = "40s" }

[[case]]
algorithm = "zk-predecessor-watch"
"#;

#[test]
fn a_page_of_ten_thousand_acquisitions_keeps_to_its_limit_and_answers_a_zoom() {
    let folder = Folder::new();
    let file = folder.file("large.toml", LARGE);
    let page = folder.at("page.html");
    let done = picklock(&["replay", &file, "--seed", "1", "--html", &page]);
    assert!(done.stderr.is_empty(), "{}", done.stderr);
    let size = fs::metadata(&page).expect("the page was written").len();
    assert!((1_000_000..2_000_000).contains(&size), "{size} bytes");
    let Some(chromium) = chromium() else { return };
    let said = drive(&chromium, &page, &folder);
    let number = |name: &str| said[name].as_f64().unwrap_or(-1.0);
    assert!(said["error"].is_null(), "{said}");
    assert!(number("marks") > 4_000.0, "{said}");
    assert!(number("zoom") < 50.0, "a zoom takes {} ms", number("zoom"));
}
