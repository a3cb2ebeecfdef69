//! Bad input: each gets exit code 2 and an error that says where, and what would be right. Nothing
//! is written.

use super::common::{FAILING, Folder, picklock};

/// Runs the program with bad arguments, and answers what it says of them.
fn refused(arguments: &[&str]) -> String {
    let done = picklock(arguments);
    assert_eq!(done.code, Some(2), "{arguments:?}: {done:?}");
    assert_eq!(done.stdout, "", "{arguments:?}");
    assert!(
        done.stderr.starts_with("picklock: "),
        "{arguments:?}: {}",
        done.stderr
    );
    done.stderr
}

/// Whether a text has all of these in it.
fn has(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "{part:?} is not in: {text}");
    }
}

#[test]
fn seeds_that_are_none() {
    for (seeds, remedy) in [
        ("5..5", "write 5..6"),
        ("9..3", "write 3..9"),
        ("many", "such as 0..100"),
        ("", "such as 0..100"),
        ("-1..3", "such as 0..100"),
        ("0..99999999999999999999", "seeds end at"),
        ("0..18446744073709551615", "1,000,000,000"),
    ] {
        let seeds_is = format!("--seeds={seeds}");
        has(&refused(&["run", &seeds_is]), &["--seeds", remedy]);
    }
}

#[test]
fn tens_of_thousands_of_mistakes_are_counted_and_twenty_are_shown() {
    let folder = Folder::new();
    let keys: String = (0..32_000)
        .map(|n| format!("unknown-key-{n} = {n}\n"))
        .collect();
    let file = folder.file("many.toml", format!("{keys}{FAILING}"));
    let shown = refused(&["run", &file]);
    has(
        &shown,
        &[
            "because of 32000 mistakes",
            "31980 other mistakes",
            "many.toml:20:1",
        ],
    );
    assert!(!shown.contains("many.toml:21:1"), "{shown}");
    assert!(shown.len() < 30_000, "{} bytes", shown.len());
}

#[test]
fn words_that_are_no_commands_and_options_that_are_none() {
    has(&refused(&["rum"]), &["rum", "`run`", "picklock help"]);
    has(&refused(&["run", "--sedes", "3"]), &["--sedes", "--seeds"]);
    has(&refused(&["run", "--jobs", "0"]), &["--jobs", "1..=1024"]);
    has(&refused(&["run", "--jobs", "two"]), &["--jobs", "two"]);
    has(&refused(&["list"]), &["algorithms", "scenarios"]);
    let what = refused(&["list", "algorithmz"]);
    has(&what, &["algorithms"]);
    let color = refused(&["--color", "sometimes", "list", "metrics"]);
    has(&color, &["sometimes", "always", "never"]);
    has(&refused(&["replay", "zookeeper/herd"]), &["--seed"]);
    let huge = ["replay", "zookeeper/herd", "--seed", "18446744073709551616"];
    has(&refused(&huge), &["--seed", "18446744073709551616"]);
}

#[test]
fn names_that_nothing_has() {
    let near = refused(&["run", "zookeeper/waiter-deth"]);
    has(&near, &["zookeeper/waiter-death", "list scenarios"]);
    let near = refused(&["run", "waiter-death"]);
    has(&near, &["did you mean `zookeeper/waiter-death`"]);
    let near = refused(&["run", "zookeeper/waiter-death", "--case", "zk-norecheck"]);
    has(&near, &["did you mean `zk-no-recheck`", "zk-hardened"]);
    let replay = ["replay", "zookeeper/waiter-death", "--seed", "1"];
    has(&refused(&replay), &["--case", "zk-no-recheck"]);
    let near = refused(&[&replay[..], &["--case", "zk-hardend"]].concat());
    has(&near, &["did you mean `zk-hardened`"]);
    let group = ["replay", "zookeeper", "--seed", "1"];
    has(&refused(&group), &["name one of them", "zookeeper/herd"]);
}

#[test]
fn a_name_is_nearest_to_a_group_or_to_a_file_without_its_ending_too() {
    has(
        &refused(&["run", "zookeper"]),
        &["did you mean `zookeeper`?"],
    );
    let folder = Folder::new();
    let file = folder.file("mine.toml", FAILING);
    let near = refused(&["run", &folder.at("mine")]);
    has(&near, &[&format!("did you mean `{file}`?")]);
}

#[test]
fn what_there_is_nothing_to_measure_of() {
    let redis = ["herd", "--algorithm", "zk-hardened,redlock"];
    has(
        &refused(&redis),
        &[
            "redlock does not stand on ZooKeeper",
            "picklock list algorithms",
        ],
    );
    let barrier = refused(&["herd", "--algorithm", "zk-double-barrier"]);
    has(&barrier, &["zk-double-barrier is a double barrier"]);
    let readers = refused(&["herd", "--algorithm", "zk-hardened", "--readers"]);
    has(
        &readers,
        &["zk-hardened is of the kind mutex", "--kind read-write"],
    );
    let permits = refused(&["herd", "--algorithm", "zk-shared-locks", "--permits", "2"]);
    has(&permits, &["and not semaphore", "--kind semaphore"]);
    let barrier = refused(&["cost", "--algorithm", "zk-double-barrier"]);
    has(
        &barrier,
        &["zk-double-barrier is a double barrier", "handed over"],
    );
    let unknown = refused(&["herd", "--algorithm", "zk-hardend"]);
    has(&unknown, &["did you mean `zk-hardened`?"]);
    assert!(!unknown.contains("redlock"), "{unknown}");
    let unknown = refused(&["cost", "--algorithm", "redlok"]);
    has(&unknown, &["did you mean `redlock`?"]);
    let long = refused(&["herd", "--hold", "366d"]);
    has(&long, &["unknown unit `d`", "30ms", "settled"]);
    has(&refused(&["bench", "--millis", "0"]), &["0 is not in 1.."]);
    let holds = ["yield", "zookeeper/waiter-death", "--case", "zk-hardened"];
    has(&refused(&holds), &["nothing to find", ".violated"]);
}

#[test]
fn what_is_found_is_not_written_where_it_cannot_be_or_must_not() {
    let folder = Folder::new();
    let file = folder.file("mine.toml", FAILING);
    let hunt = ["hunt", &file, "--runs", "100000000", "--out", &file];
    has(&refused(&hunt), &["cannot make the folder", "--out"]);
    let shrink = ["shrink", &file, "--seed", "0", "--out", &file];
    has(
        &refused(&shrink),
        &["shrink did not write", "name another file"],
    );
    let json = ["run", &file, "--json", "-"];
    has(&refused(&json), &["/dev/stdout", "./-"]);
    let json = ["run", "--json", &file, &file];
    has(&refused(&json), &["is a scenario", "--json results.json"]);
    let there = std::fs::read_to_string(&file).unwrap_or_default();
    assert_eq!(there, FAILING);
    assert_eq!(folder.names(), ["mine.toml"]);
}

#[test]
fn files_that_no_shard_wrote() {
    let folder = Folder::new();
    let text = folder.file("text.json", "no JSON");
    let whole = folder.file("whole.json", r#"{"picklock": "0.1.0", "cases": []}"#);
    for (file, problem) in [(&text, "not JSON"), (&whole, "of a whole run")] {
        let hint = "name what `picklock run --shard I/N --json FILE` of this picklock wrote";
        has(&refused(&["merge", file]), &[file, problem, hint]);
    }
}

#[test]
fn mistakes_in_a_file_are_pointed_at_all_of_them() {
    let folder = Folder::new();
    let text = FAILING
        .replace("zk-no-recheck", "zk-no-rechek")
        .replace("20s", "20 fortnights");
    let path = folder.file("wrong.toml", text);
    let told = refused(&["run", &path]);
    has(&told, &["2 mistakes", "zk-no-recheck", "20 fortnights"]);
    has(
        &told,
        &[&format!("{path}:11:8"), &format!("{path}:18:13"), "^^^"],
    );
    let told = refused(&["replay", &path, "--seed", "1"]);
    has(&told, &["2 mistakes"]);
}

#[test]
fn files_that_cannot_be_read() {
    let folder = Folder::new();
    let path = folder.path().display().to_string();
    has(&refused(&["run", &path]), &[&path, "no scenarios", ".toml"]);
    let missing = folder.at("missing.toml");
    has(&refused(&["run", &missing]), &[&missing, "no such file"]);
    let binary = folder.file("binary.toml", b"claim = \"\xff\"");
    has(&refused(&["run", &binary]), &[&binary, "UTF-8"]);
    let empty = folder.file("empty.toml", "");
    has(&refused(&["run", &empty]), &[&empty, "case"]);
    let all = refused(&["run", &missing, &binary, &empty]);
    has(&all, &[&missing, &binary, &empty]);
}

#[test]
fn a_report_that_cannot_be_written_is_refused_before_anything_runs() {
    let folder = Folder::new();
    let path = folder.path().display().to_string();
    let nowhere = folder.at("not/there.json");
    for (json, remedy) in [
        (nowhere.as_str(), "mkdir -p"),
        (path.as_str(), "name a file inside it"),
    ] {
        let many = ["run", "--seeds", "100000000", "--json", json];
        has(&refused(&many), &[json, remedy]);
        let replay = ["replay", "zookeeper/waiter-death", "--case"];
        let rest = ["zk-hardened", "--seed", "1", "--json", json];
        has(&refused(&[&replay[..], &rest].concat()), &[json, remedy]);
    }
    assert_eq!(folder.names(), Vec::<String>::new());
}

#[test]
fn a_bad_file_leaves_an_old_report_as_it_was() {
    let folder = Folder::new();
    let path = folder.file("wrong.toml", "claim = 1");
    let json = folder.file("results.json", "old");
    refused(&["run", &path, "--json", &json]);
    assert_eq!(std::fs::read_to_string(&json).unwrap_or_default(), "old");
    assert_eq!(folder.names(), ["results.json", "wrong.toml"]);
}

#[test]
fn two_outputs_of_one_file_are_refused_before_anything_runs() {
    let folder = Folder::new();
    let (file, other) = (folder.at("out.json"), folder.at("./out.json"));
    let failing = folder.file("failing.toml", FAILING);
    for arguments in [
        vec!["run", &failing, "--json", &file, "--html", &other],
        vec!["run", &failing, "--junit", &file, "--sarif", &file],
        vec![
            "replay", &failing, "--seed", "0", "--json", &file, "--svg", &file,
        ],
        vec![
            "herd",
            "--contenders",
            "2",
            "--json",
            &file,
            "--html",
            &file,
        ],
    ] {
        has(
            &refused(&arguments),
            &["two outputs", "out.json", "a file for each"],
        );
        assert!(!std::path::Path::new(&file).exists(), "{arguments:?}");
    }
}

#[test]
fn what_shrink_did_not_write_it_does_not_replace() {
    let folder = Folder::new();
    let failing = folder.file("failing.toml", FAILING);
    let mine = folder.file("mine.toml", "# my own\n");
    for kept in [&mine, &failing] {
        let before = std::fs::read_to_string(kept).unwrap_or_default();
        let told = refused(&["shrink", &failing, "--seed", "0", "--out", kept]);
        has(
            &told,
            &["shrink did not write", "name another file, or a folder"],
        );
        assert_eq!(std::fs::read_to_string(kept).unwrap_or_default(), before);
    }
    let small = folder.at("small.toml");
    for _ in 0..2 {
        let done = picklock(&["shrink", &failing, "--seed", "0", "--out", &small]);
        assert_eq!(done.code, Some(0), "its own it replaces: {done:?}");
    }
}

#[test]
fn what_files_say_controls_no_terminal() {
    let folder = Folder::new();
    let replay = "\n[replay]\nchoices = []\npicklock = \"0.0\\u001b[31m\"\n";
    let file = folder.file("replay.toml", format!("{FAILING}{replay}"));
    let done = picklock(&["replay", &file]);
    assert!(done.stdout.contains("0.0 [31m"), "{done:?}");
    let failing = folder.file("failing.toml", FAILING);
    let shard = folder.at("shard.json");
    let arguments = [
        "run", &failing, "--seeds", "4", "--shard", "1/1", "--json", &shard,
    ];
    assert_eq!(picklock(&arguments).code, Some(1));
    let text = std::fs::read_to_string(&shard).unwrap_or_default();
    for (plain, hostile) in [
        (
            "\"scenario\": \"failing\"",
            "\"scenario\": \"\\u001b[31mfailing\"",
        ),
        ("contender-", "\\u001b[31mcontender-"),
        ("\"picklock\": \"", "\"picklock\": \"\\u001b[31m"),
    ] {
        assert!(text.contains(plain), "{plain} is not in {text}");
        let hostile = folder.file("hostile.json", text.replacen(plain, hostile, 1));
        let merged = picklock(&["merge", &hostile]);
        let shown = format!("{}{}{}", done.stdout, merged.stdout, merged.stderr);
        assert!(!shown.contains('\u{1b}'), "{shown}");
    }
}

#[test]
fn a_seed_that_is_none_is_told_what_to_write() {
    let (seeds, one) = ("expected seeds such as 0..100", "expected one seed");
    for (words, right) in [
        (&["run", "--seeds", "-1"][..], seeds),
        (&["run", "--seeds", "x"], seeds),
        (&["replay", "zookeeper/herd", "--seed", "-1"], one),
        (&["plan", "zookeeper/herd", "--seed", "x"], one),
        (&["hunt", "zookeeper/herd", "--seed", "1.5"], one),
        (&["shrink", "zookeeper/herd", "--seed", "-1"], one),
    ] {
        let done = picklock(words);
        assert_eq!(done.code, Some(2), "{done:?}");
        assert!(done.stderr.contains(right), "{}", done.stderr);
        assert!(!done.stderr.contains("-- -1"), "{}", done.stderr);
    }
}
