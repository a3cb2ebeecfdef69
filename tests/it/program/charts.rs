//! Charts: what writes them, where to, and the pictures of the documents.

use std::fs;
use std::path::{Path, PathBuf};

use crate::program::common::{Folder, command, picklock};
use crate::program::documents::is_made;

/// A small herd.
const HERD: [&str; 5] = [
    "herd",
    "--algorithm",
    "zk-children-watch,zk-predecessor-watch",
    "--contenders",
    "5,11",
];

const CHARTS: [&str; 4] = ["notifications", "handover-p99", "bystander-p99", "bytes"];

#[test]
fn a_herd_names_the_charts_that_it_draws_and_draws_none_unasked() {
    let folder = Folder::new();
    let run = |arguments: &[&str]| {
        let mut command = command(&[&HERD[..], arguments].concat());
        let done = command.current_dir(folder.path()).output();
        let done = done.expect("the program runs");
        assert_eq!(done.status.code(), Some(0));
        String::from_utf8(done.stdout).expect("it is text")
    };
    assert!(!run(&[]).contains("Charts"));
    assert_eq!(folder.names(), Vec::<String>::new());
    let said = run(&["--out", "charts"]);
    assert_eq!(folder.names(), ["charts"]);
    let named: Vec<&str> = said
        .lines()
        .skip_while(|line| *line != "Charts")
        .skip(1)
        .map(str::trim)
        .collect();
    let files = CHARTS.map(|chart| ["svg", "png"].map(|end| format!("charts/{chart}.{end}")));
    assert_eq!(named, files.concat());
    let there = fs::read_dir(folder.path().join("charts")).expect("it was made");
    assert_eq!(there.count(), named.len(), "each of them is named");
    for name in named {
        let bytes = fs::read(folder.path().join(name)).expect("it was written");
        let begins: &[u8] = if name.ends_with("svg") {
            b"<svg"
        } else {
            b"\x89PNG"
        };
        assert!(bytes.starts_with(begins), "{name}");
    }
}

#[test]
fn a_herd_page_has_all_charts_and_figures_and_loads_nothing() {
    let folder = Folder::new();
    let html = folder.at("herd.html");
    let done = picklock(&[&HERD[..], &["--html", &html]].concat());
    assert_eq!((done.code, done.stderr.as_str()), (Some(0), ""));
    let page = fs::read_to_string(&html).expect("it was written");
    assert_eq!(page.matches("<svg class=\"chart\"").count(), CHARTS.len());
    assert!(
        page.contains("1 server, each holds the lock until all others wait, seed 0, picklock ")
    );
    assert!(page.contains("<th>wasted</th>"));
    assert!(!page.contains("<script") && !page.contains("<img"));
    assert_eq!(folder.names(), ["herd.html"]);
}

#[test]
fn charts_that_cannot_be_written_are_refused_before_anything_is_measured() {
    let folder = Folder::new();
    let file = folder.file("charts", "a file and no folder");
    let long = ["herd", "--contenders", "100000", "--out", &file];
    let done = picklock(&long);
    assert_eq!((done.code, done.stdout.as_str()), (Some(2), ""));
    assert!(
        done.stderr.contains("cannot make the folder"),
        "{}",
        done.stderr
    );
    let nowhere = folder.at("not/there.html");
    let done = picklock(&["herd", "--contenders", "100000", "--html", &nowhere]);
    assert_eq!((done.code, done.stdout.as_str()), (Some(2), ""));
}

#[test]
fn a_run_draws_waiting_times_fairness_and_nearness_and_names_the_files() {
    let folder = Folder::new();
    let out = folder.at("charts");
    let run = ["run", "zookeeper/gc-pause", "--seeds", "6"];
    let done = picklock(&[&run[..], &["--charts", &out]].concat());
    assert_eq!((done.code, done.stderr.as_str()), (Some(0), ""));
    let names = ["waiting-times", "fairness", "nearness"];
    for name in names {
        assert!(done.stdout.contains(&format!("charts/{name}.svg\n")));
        let svg = fs::read_to_string(folder.path().join(format!("charts/{name}.svg")));
        let svg = svg.expect("it was drawn");
        assert!(svg.contains("zk-hardened"), "{name}");
        assert!(svg.contains("zookeeper/gc-pause, "), "{name}");
    }
    // What is printed besides is no other because of it.
    let alone = picklock(&run).stdout;
    let summary = |text: &str| text.lines().filter(|line| !line.contains(" s")).count();
    assert!(summary(&done.stdout) > summary(&alone));
    let refused = picklock(&[
        "run", "--shard", "1/2", "--json", "x.json", "--charts", &out,
    ]);
    assert_eq!(refused.code, Some(2));
}

/// A spin lock is not fair, and a queue is.
#[test]
fn a_queue_serves_in_order_and_a_spin_lock_does_not() {
    let folder = Folder::new();
    let text = |algorithm: &str, service: &str| {
        format!(
            "claim = \"All get the lock.\"\nbecause = \"x\"\nsource = \"a test\"\n\n[service.{service}]\n\n[workload]\n\
             contenders = 6\nrounds = 3\narrive = \"in-order\"\n\n[[case]]\nalgorithm = \"{algorithm}\"\n"
        )
    };
    let most = |algorithm: &str, service: &str| {
        let file = folder.file(&format!("{algorithm}.toml"), text(algorithm, service));
        let out = folder.at(algorithm);
        let done = picklock(&["run", &file, "--seeds", "10", "--charts", &out]);
        assert!(done.stdout.contains("Charts"), "{done:?}");
        let svg = fs::read_to_string(format!("{out}/fairness.svg")).expect("it was drawn");
        // The largest number that the axis has.
        let texts = svg
            .split("<text ")
            .filter_map(|text| text.split_once(">\n"));
        let numbers = texts.filter_map(|text| text.1.split('\n').next()?.parse::<u64>().ok());
        numbers.max().unwrap_or(0)
    };
    assert!(most("zk-hardened", "zookeeper") <= 1);
    assert!(most("redis-compare-and-delete", "redis") > 2);
}

#[test]
fn a_yield_is_drawn_with_a_row_for_each_violation_and_a_mark_for_each_way() {
    let folder = Folder::new();
    let (svg, png) = (folder.at("yield.svg"), folder.at("yield.png"));
    let few = [
        "yield",
        "zookeeper/waiter-death",
        "--bases",
        "3",
        "--limit",
        "20",
    ];
    let done = picklock(&[&few[..], &["--svg", &svg, "--png", &png]].concat());
    assert_eq!((done.code, done.stderr.as_str()), (Some(0), ""));
    let text = fs::read_to_string(&svg).expect("it was drawn");
    for words in [
        "zookeeper/waiter-death, 3 bases, 20 runs from each at most, picklock ",
        "zk-no-recheck, mutual-exclusion",
        "\nfile\n",
        "\nswarm\n",
        "\naimed\n",
        "runs (logarithmic)",
    ] {
        assert!(text.contains(words), "{words}");
    }
    assert!(
        fs::read(&png)
            .expect("it was drawn")
            .starts_with(b"\x89PNG")
    );
    let scenario = folder.at("mine.toml");
    assert_eq!(
        picklock(&[&few[..], &["--svg", &scenario]].concat()).code,
        Some(2)
    );
}

/// A picture of the documents: its name in docs/pictures, the command that draws it, and which of its files it is.
type Picture = (&'static str, &'static [&'static str], &'static str);

const OF_HERDS: &[&str] = &["herd", "--out", "FOLDER"];

/// Locks of each service that many use.
const COMPARED: &str = "zk-hardened,zk-children-watch,curator-mutex,redis-compare-and-delete,redisson-lock,redlock,\
                        etcd-mutex-hardened,pg-advisory-lock,sql-unique-key-expiring";

const PICTURES: &[Picture] = &[
    (
        "hand-over.svg",
        &[
            "compare",
            "--algorithm",
            COMPARED,
            "--seeds",
            "1",
            "--out",
            "FOLDER",
        ],
        "hand-over.svg",
    ),
    (
        "envelope.svg",
        &["envelope", "--precision", "0.02", "--out", "FOLDER"],
        "overlap.svg",
    ),
    ("herd-notifications.svg", OF_HERDS, "notifications.svg"),
    ("herd-bystander.svg", OF_HERDS, "bystander-p99.svg"),
    (
        "diagram.svg",
        &[
            "replay",
            "zookeeper/gc-pause",
            "--case",
            "zk-hardened-unfenced",
            "--seed",
            "3",
            "--svg",
            "FOLDER/diagram.svg",
        ],
        "diagram.svg",
    ),
    (
        "waiting-times.svg",
        &[
            "run",
            "zookeeper/shared-locks",
            "--seeds",
            "100",
            "--charts",
            "FOLDER",
        ],
        "waiting-times.svg",
    ),
    (
        "nearness.svg",
        &[
            "run",
            "zookeeper/waiter-death",
            "--seeds",
            "100",
            "--charts",
            "FOLDER",
        ],
        "nearness.svg",
    ),
    (
        "yield.svg",
        &[
            "yield",
            "zookeeper/waiter-death",
            "zookeeper/gc-pause",
            "zookeeper/unsorted-children",
            "redis/redlock-restart",
            "--bases",
            "10",
            "--limit",
            "300",
            "--svg",
            "FOLDER/yield.svg",
        ],
        "yield.svg",
    ),
];

fn drawn(picture: &Picture, folder: &Folder) -> String {
    let (_, arguments, file) = picture;
    let into = folder.at(".");
    let arguments: Vec<String> = arguments
        .iter()
        .map(|word| word.replace("FOLDER", &into))
        .collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = picklock(&arguments);
    assert_eq!(done.code, Some(0), "{}", done.stderr);
    fs::read_to_string(folder.path().join(file)).expect("it was drawn")
}

#[test]
fn every_picture_of_the_documents_is_what_its_command_draws() {
    for picture in PICTURES {
        let path = format!("docs/pictures/{}", picture.0);
        is_made(&path, |_| drawn(picture, &Folder::new()));
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/pictures");
    let kept: Vec<PathBuf> = fs::read_dir(&root)
        .expect("they are there")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    assert_eq!(kept.len(), PICTURES.len(), "{kept:?}");
}
