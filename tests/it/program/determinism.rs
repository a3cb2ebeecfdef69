//! Same scenario, same seed: same history, whatever else differs.

use super::common::{FAILING, Folder, picklock};

/// The results of a run, as JSON.
fn results(folder: &Folder, arguments: &[&str]) -> String {
    let json = folder.at("results.json");
    let run = ["run", "zookeeper/waiter-death", "zookeeper/gc-pause"];
    let seeds = ["--seeds", "20", "--json", &json];
    let done = picklock(&[&run[..], &seeds, arguments].concat());
    assert_eq!(done.code, Some(0), "{done:?}");
    std::fs::read_to_string(&json).unwrap_or_default()
}

#[test]
fn the_number_of_jobs_changes_nothing() {
    let folder = Folder::new();
    let alone = results(&folder, &["--jobs", "1"]);
    assert!(alone.contains(r#""hash": ""#), "{alone}");
    assert_eq!(alone, results(&folder, &["--jobs", "2"]));
    assert_eq!(alone, results(&folder, &["--jobs", "5"]));
}

#[test]
fn running_every_seed_twice_finds_no_difference() {
    let folder = Folder::new();
    let once = results(&folder, &[]);
    assert_eq!(once, results(&folder, &["--verify-determinism"]));
}

#[test]
fn a_replay_has_the_hash_of_the_run() {
    let folder = Folder::new();
    let path = folder.file("failing.toml", FAILING);
    let run = picklock(&["run", &path, "--seeds", "4..9", "--no-shrink"]).stdout;
    let json = folder.at("replay.json");
    let replay = ["replay", &path, "--case", "zk-no-recheck", "--seed", "4"];
    let replay = picklock(&[&replay[..], &["--json", &json]].concat()).stdout;
    let hash = |text: &str| {
        let mut lines = text.lines();
        let line = lines.find_map(|line| line.strip_prefix("  Hash     "));
        line.unwrap_or_default().to_owned()
    };
    assert_eq!(hash(&run).len(), 16, "{run}");
    assert_eq!(hash(&run), hash(&replay));
    let text = std::fs::read_to_string(&json).unwrap_or_default();
    let document: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
    assert_eq!(document["hash"], hash(&run));
    assert_eq!(document["standing"], "fail");
    assert_eq!(document["verdicts"][0]["invariant"], "mutual-exclusion");
}
