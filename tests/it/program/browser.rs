//! The page in a real browser, if that is wanted: keys, zoom, and the causal past.

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
        assert!(number("colors") > 5.0, "something is drawn: {said}");
        assert!(number("zoom") < 50.0, "a zoom takes {} ms", number("zoom"));
    }
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
