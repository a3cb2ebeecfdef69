//! The page and the pictures that `--html`, `--svg`, and `--png` write.

use std::fs;
use std::path::Path;

use crate::program::common::{FAILING, Folder, picklock};

/// A run of the library that breaks a promise.
const RUN: [&str; 6] = [
    "replay",
    "zookeeper/gc-pause",
    "--case",
    "zk-hardened-unfenced",
    "--seed",
    "3",
];

fn read(path: &str) -> String {
    fs::read_to_string(path).expect("the file was written")
}

#[test]
fn a_replay_is_told_as_a_page_and_as_pictures_the_same_each_time() {
    let folder = Folder::new();
    let write = |name: &str| {
        let files = ["html", "svg", "png"].map(|kind| folder.at(&format!("{name}.{kind}")));
        let [html, svg, png] = &files;
        let done = picklock(&[&RUN[..], &["--html", html, "--svg", svg, "--png", png]].concat());
        assert_eq!((done.code, done.stderr.as_str()), (Some(0), ""));
        // What a terminal shows is not another because of it.
        assert_eq!(done.stdout, picklock(&RUN).stdout);
        files.map(|file| fs::read(file).expect("the file was written"))
    };
    assert_eq!(write("one"), write("two"));
    let page = read(&folder.at("one.html"));
    for words in [
        "contender-1 and contender-2 both inside for 2.004 s",
        "session expired",
        "server-3",
        "--seed 3 --was",
        "[[case]]",
    ] {
        assert!(page.contains(words), "{words}");
    }
    let picture = read(&folder.at("one.svg"));
    assert!(picture.contains("fault 1: pause contender-1 for 20s"));
    assert!(picture.contains(">notification<"));
}

#[test]
fn a_run_that_fails_has_a_section_with_the_smallest_run_and_its_file() {
    let folder = Folder::new();
    let file = folder.file("waiter.toml", FAILING);
    let html = folder.at("report.html");
    let done = picklock(&["run", &file, "--seeds", "20", "--html", &html]);
    assert_eq!(done.code, Some(1), "{}", done.stdout);
    let page = read(&html);
    assert!(page.contains("<a href=\"#run-1\">zk-no-recheck</a>"));
    assert!(page.contains("shrunk: "));
    // The file in the page is the run that the page shows.
    let begin = page.find("<pre id=\"plan-1\">").expect("there is a plan") + 17;
    let end = begin + page[begin..].find("</pre>").expect("it ends");
    let plan = page[begin..end]
        .replace("&quot;", "\"")
        .replace("&gt;", ">");
    let plan = plan
        .replace("&#39;", "'")
        .replace("&lt;", "<")
        .replace("&amp;", "&");
    assert!(plan.contains("[replay]"), "{plan}");
    let again = picklock(&["replay", &folder.file("again.toml", plan)]);
    assert_eq!(again.code, Some(0), "{}{}", again.stdout, again.stderr);
    assert!(again.stdout.contains("mutual-exclusion violated"));
}

#[test]
fn the_page_of_why_links_its_turning_choice_with_an_event() {
    let folder = Folder::new();
    let (html, json) = (folder.at("why.html"), folder.at("why.json"));
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
        "10",
        "--samples",
        "20",
    ];
    let done = picklock(&[&run[..], &few, &["--html", &html, "--json", &json]].concat());
    assert_eq!((done.code, done.stderr.as_str()), (Some(0), ""));
    let page = read(&html);
    let answers: serde_json::Value = serde_json::from_str(&read(&json)).expect("it is JSON");
    let (choice, event) = (&answers["turning_choice"], &answers["turning_event"]);
    let link = format!("data-event=\"{event}\">The turning choice {choice} in the diagram</a>");
    for words in [
        "as planned: violated in ",
        "<h3>When it became inevitable</h3>",
        "what it decided shows first at <a class=\"at\"",
        &link,
        // On paper.
        &format!(">turning choice {choice}</text>"),
    ] {
        assert!(page.contains(words), "{words}");
    }
}

#[test]
fn the_page_of_a_hunt_has_a_section_and_a_plan_for_each_finding() {
    let folder = Folder::new();
    let html = folder.at("hunt.html");
    let hunt = ["hunt", "zookeeper/leader-crash", "--case", "zk-same-name"];
    let few = ["--kind", "cancel", "--runs", "60", "--html", &html];
    let done = picklock(&[&hunt[..], &few].concat());
    assert_eq!(done.code, Some(1), "{done:?}");
    let page = read(&html);
    let found = done.stdout.matches(" broken after ").count();
    assert!(found > 0, "{}", done.stdout);
    assert_eq!(page.matches("<section class=\"run\"").count(), found);
    assert_eq!(page.matches("<pre id=\"plan-").count(), found);
    assert!(page.contains("<p class=\"lead\">zk-same-name: progress broken after "));
    assert!(page.contains("why FILE --html why.html says"));
}

#[test]
fn a_page_about_what_holds_has_the_table_and_the_charts_alone() {
    let folder = Folder::new();
    let html = folder.at("report.html");
    let run = [
        "run",
        "zookeeper/waiter-death",
        "--case",
        "zk-hardened",
        "--seeds",
        "3",
    ];
    let done = picklock(&[&run[..], &["--html", &html]].concat());
    assert_eq!(done.code, Some(0));
    let page = read(&html);
    assert!(page.contains("1 scenario, 1 case: as expected."));
    assert!(!page.contains("<script") && !page.contains("class=\"run\""));
    for chart in [
        "Time from a call of acquire until it has the lock",
        "How often a waiting contender is overtaken",
        "How near the runs came to an overlap",
        "Notifications to hand the lock to every contender once",
        "Time from a release until the next contender has the lock",
    ] {
        assert!(page.contains(&format!("<title>{chart}</title>")), "{chart}");
    }
    let herds = page.find("Notifications to hand").map(|at| &page[at..]);
    assert!(herds.is_some_and(|herds| herds.contains("zk-hardened")));
}

#[test]
fn scenarios_cannot_put_markup_into_a_page() {
    let folder = Folder::new();
    let evil = "</script><script>alert(1)</script><img src=x onerror=alert(2)>";
    let text = FAILING
        .replace("The death of a waiter", evil)
        .replace("A waiter is no holder.", evil)
        .replace("source = \"a test\"", &format!("source = \"{evil}\""));
    let file = folder.file("a<img src=x onerror=alert(3)>b.toml", text);
    for command in [
        &["run", &file, "--seeds", "20"][..],
        &["replay", &file, "--seed", "0"],
    ] {
        let html = folder.at("report.html");
        picklock(&[command, &["--html", &html]].concat());
        let page = read(&html);
        assert_eq!(page.matches("<script").count(), 2, "the data and the code");
        assert!(page.contains("&lt;img src=x") && !page.contains("<img"));
    }
}

#[test]
fn a_page_that_cannot_be_written_is_refused_before_anything_runs() {
    let folder = Folder::new();
    let nowhere = folder.at("not/there");
    let scenario = folder.at("mine.toml");
    for (option, verb) in [
        ("--html", &["run", "--seeds", "100000000"][..]),
        ("--html", &RUN),
        ("--svg", &RUN),
        ("--png", &RUN),
    ] {
        let done = picklock(&[verb, &[option, &nowhere]].concat());
        assert_eq!((done.code, done.stdout.as_str()), (Some(2), ""));
        assert!(done.stderr.contains("mkdir -p"), "{}", done.stderr);
        let done = picklock(&[verb, &[option, &scenario]].concat());
        assert_eq!((done.code, done.stdout.as_str()), (Some(2), ""));
        let why = format!("{option} names {scenario}, which is a scenario");
        assert!(done.stderr.contains(&why), "{}", done.stderr);
    }
    assert_eq!(folder.names(), Vec::<String>::new());
}

#[test]
fn a_full_disk_is_an_error_and_says_what_to_do() {
    // A device that takes nothing.
    let full = "/dev/full";
    if !Path::new(full).exists() {
        return;
    }
    let done = picklock(&[&RUN[..], &["--html", full]].concat());
    assert_eq!(done.code, Some(2));
    assert!(
        done.stderr.contains("cannot write /dev/full"),
        "{}",
        done.stderr
    );
    assert!(
        done.stderr.contains("= help: free some space"),
        "{}",
        done.stderr
    );
}

#[test]
fn an_old_page_is_kept_until_the_new_one_is_whole() {
    let folder = Folder::new();
    let html = folder.file("report.html", "old");
    let unknown = ["run", "zookeeper/no-such-scenario", "--html", &html];
    assert_eq!(picklock(&unknown).code, Some(2));
    assert_eq!(read(&html), "old");
    assert_eq!(
        picklock(&[&RUN[..], &["--html", &html]].concat()).code,
        Some(0)
    );
    assert!(read(&html).starts_with("<!doctype html>"));
    assert_eq!(folder.names(), ["report.html"], "nothing else is left");
}

/// Whether a text has a character that no XML may have and no terminal should get.
fn has_control(text: &str) -> bool {
    let steers = |letter: char| letter.is_control() && !matches!(letter, '\n' | '\t');
    text.contains(steers)
}

#[test]
fn control_characters_in_the_name_of_a_file_reach_no_report() {
    let folder = Folder::new();
    let file = folder.file("wait\u{1b}[31m\u{1}\u{7f}er.toml", FAILING);
    let at = |name: &str| folder.at(name);
    let (html, junit, charts) = (at("all.html"), at("junit.xml"), at("charts"));
    let run = [
        "run",
        &file,
        "--seeds",
        "5",
        "--no-shrink",
        "--format",
        "github",
    ];
    let files = ["--html", &html, "--junit", &junit, "--charts", &charts];
    let done = picklock(&[&run[..], &files].concat());
    assert_eq!(done.code, Some(1), "{done:?}");
    assert!(done.stdout.contains("\n::error "), "{done:?}");
    let (page, svg) = (at("one.html"), at("one.svg"));
    let told = picklock(&[
        "replay", &file, "--seed", "0", "--html", &page, "--svg", &svg,
    ]);
    let few = ["--seed", "0", "--runs", "1", "--samples", "1"];
    let why = picklock(&[&["why", &file][..], &few].concat());
    for said in [&done, &told, &why] {
        let texts = [&said.stdout, &said.stderr];
        assert!(!texts.iter().any(|text| has_control(text)), "{said:?}");
    }
    let chart = at("charts/nearness.svg");
    for path in [&html, &junit, &chart, &page, &svg] {
        let text = read(path);
        assert!(text.contains("[31m"), "{path} has the name");
        assert!(!has_control(&text), "{path}");
    }
}
