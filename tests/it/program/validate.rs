//! `picklock validate`: the mistakes that `picklock run` would tell, and nothing runs.

use super::common::{FAILING, Folder, UNDECIDED, picklock};

#[test]
fn files_without_a_mistake_are_counted_and_not_run() {
    let folder = Folder::new();
    folder.file("failing.toml", FAILING);
    folder.file("undecided.toml", UNDECIDED);
    // Run, the one would end with 1, and the other with 3.
    let done = picklock(&["validate", &folder.at("")]);
    assert_eq!(
        (done.code, done.stdout.as_str(), done.stderr.as_str()),
        (Some(0), "2 scenarios, 2 cases: no mistakes\n", "")
    );
    let named = picklock(&["validate", "zookeeper/waiter-death"]);
    assert_eq!(named.code, Some(0), "{named:?}");
}

#[test]
fn settings_that_no_lock_is_of_use_with_are_warned_of() {
    let folder = Folder::new();
    let of = |servers: u8, lease: &str| {
        format!(
            "claim = \"A lock.\"\n[service.redis]\nservers = {servers}\nlease = \"{lease}\"\n\n\
             [[case]]\nalgorithm = \"redlock\"\n\n[[case]]\nalgorithm = \"redlock-one-token\"\n"
        )
    };
    let doubtful = folder.file("doubtful.toml", of(4, "2ms"));
    let done = picklock(&["validate", &doubtful]);
    assert_eq!(done.code, Some(0), "{done:?}");
    let told = [
        "1 scenario, 2 cases: no mistakes, 2 warnings\n",
        "a lease of 2ms is no longer than the 2020us by which clocks may drift",
        "a majority of 4 servers can do without 1, as a majority of 3 can: one server more can fail, \
         and nothing is gained",
    ];
    for part in told {
        assert!(done.stdout.contains(part), "{part}: {}", done.stdout);
    }
    let sound = folder.file("sound.toml", of(5, "3ms"));
    let done = picklock(&["validate", &sound]);
    assert_eq!(done.stdout, "1 scenario, 2 cases: no mistakes\n");
}

#[test]
fn mistakes_are_told_as_run_tells_them_and_those_of_all_files() {
    let folder = Folder::new();
    let twice = FAILING.replace("hold = \"20s\"", "hold = \"20\"\nhoild = 3");
    let wrong = folder.file("wrong.toml", twice);
    let other = folder.file("other.toml", FAILING.replace("[[case]]", "[[caze]]"));
    let missing = folder.at("missing.toml");
    let good = folder.file("good.toml", FAILING);
    let files = [wrong.as_str(), &good, &other, &missing];
    let validated = picklock(&[&["validate"], &files[..]].concat());
    let run = picklock(&[&["run"], &files[..]].concat());
    assert_eq!((validated.code, run.code), (Some(2), Some(2)));
    assert_eq!(validated.stdout, "");
    let told = validated.stderr.strip_prefix("picklock: 4 mistakes");
    let run = { run.stderr }.replacen("picklock: nothing was run because of 4 mistakes", "", 1);
    assert_eq!(told, Some(run.as_str()));
    for part in ["unknown key `hoild`", "wrong.toml:12", "unknown key `caze`"] {
        assert!(run.contains(part), "{part}: {run}");
    }
}

#[test]
fn a_file_has_to_be_named() {
    let done = picklock(&["validate"]);
    assert_eq!(done.code, Some(2), "{done:?}");
    assert!(done.stderr.contains("PATH"), "{}", done.stderr);
}
