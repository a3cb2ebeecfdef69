//! Reports for other programs: JUnit XML, SARIF, and what GitHub reads.

use std::fs;

use super::common::{FAILING, Folder, UNDECIDED, command, picklock};

/// A claim that would be a command of GitHub's runner at the beginning of a line.
fn with_a_command_for_a_claim() -> String {
    FAILING.replace("claim = \"", "claim = \"::error::")
}

#[test]
fn all_reports_show_the_same_failure_at_its_line() {
    let folder = Folder::new();
    let path = folder.file("a <b>&\"lock\".toml", with_a_command_for_a_claim());
    let (junit, sarif, summary) = (folder.at("j.xml"), folder.at("s.json"), folder.at("s.md"));
    fs::write(&summary, "said before\n").expect("it can be written");
    let arguments = [
        "run",
        &path,
        "--seeds",
        "2",
        "--no-shrink",
        "--format",
        "github",
    ];
    let mut done = command(&arguments);
    done.args(["--junit", &junit, "--sarif", &sarif]);
    let done = done.env("GITHUB_STEP_SUMMARY", &summary).output();
    let done = done.expect("it runs");
    assert_eq!(done.status.code(), Some(1), "{done:?}");
    let read = |path: &str| fs::read_to_string(path).expect("it was written");

    let line = FAILING
        .lines()
        .position(|line| line.starts_with("algorithm"))
        .map(|index| index + 1);
    let line = line.expect("it has a case");
    let stdout = String::from_utf8_lossy(&done.stdout);
    let commands: Vec<&str> = stdout
        .lines()
        .filter(|line| line.trim_start().starts_with("::"))
        .collect();
    let place = format!(",line={line}::mutual-exclusion violated at seed 0");
    assert!(
        matches!(commands[..], [only] if only.contains(&place)),
        "{commands:?}"
    );
    assert!(
        commands[0].contains("%0AReplay: picklock replay"),
        "{commands:?}"
    );

    assert!(read(&junit).contains("name=\"a &lt;b&gt;&amp;&quot;lock&quot;\""));
    assert!(read(&junit).contains("  Replay   picklock replay"));
    assert!(read(&sarif).contains(&format!("\"startLine\": {line}")));
    let told = read(&summary);
    assert!(
        told.starts_with("said before\n## picklock: exit 1\n"),
        "{told}"
    );
    assert!(told.contains("a &#60;b&#62;&#38;&#34;lock&#34;"), "{told}");
}

#[test]
fn the_summary_of_a_step_is_not_needed_and_an_undecided_case_is_an_error() {
    let folder = Folder::new();
    let path = folder.file("u.toml", UNDECIDED);
    let junit = folder.at("j.xml");
    let run = [
        "run", &path, "--seeds", "2", "--format", "github", "--junit", &junit,
    ];
    let done = command(&run).env_remove("GITHUB_STEP_SUMMARY").output();
    let done = done.expect("it runs");
    assert_eq!(done.status.code(), Some(3), "{done:?}");
    let stdout = String::from_utf8_lossy(&done.stdout);
    assert!(
        stdout.contains("\n::warning title=u zk-predecessor-watch"),
        "{stdout}"
    );
    let junit = fs::read_to_string(junit).expect("it was written");
    assert!(
        junit.contains("<error type=\"mutual-exclusion\""),
        "{junit}"
    );
    assert_eq!(folder.names(), ["j.xml", "u.toml"]);
}

#[test]
fn merged_shards_are_reported_and_one_alone_is_not() {
    let folder = Folder::new();
    let path = folder.file("mine.toml", FAILING);
    let refused = [
        "run", &path, "--seeds", "4", "--shard", "1/2", "--junit", "x.xml",
    ];
    let done = picklock(&refused);
    assert_eq!(done.code, Some(2), "{done:?}");
    assert!(
        done.stderr.contains("a shard alone does not know"),
        "{}",
        done.stderr
    );
    let shards = ["1/2", "2/2"].map(|shard| {
        let json = folder.at(&format!("{}.json", &shard[..1]));
        let run = [
            "run", &path, "--seeds", "4", "--shard", shard, "--json", &json,
        ];
        assert_eq!(picklock(&run).code, Some(1));
        json
    });
    let (junit, sarif) = (folder.at("j.xml"), folder.at("s.json"));
    let [first, second] = &shards;
    let merge = [
        "merge",
        first,
        second,
        "--no-shrink",
        "--junit",
        &junit,
        "--sarif",
        &sarif,
    ];
    assert_eq!(picklock(&merge).code, Some(1));
    let junit = fs::read_to_string(junit).expect("it was written");
    assert!(
        junit.contains("<failure type=\"mutual-exclusion\""),
        "{junit}"
    );
    // A shard does not know the lines of the file.
    let sarif = fs::read_to_string(sarif).expect("it was written");
    assert!(
        sarif.contains("mine.toml") && !sarif.contains("startLine"),
        "{sarif}"
    );
}

#[test]
fn a_report_that_cannot_be_written_is_refused_before_anything_runs() {
    let folder = Folder::new();
    let path = folder.file("mine.toml", FAILING);
    for option in ["--junit", "--sarif"] {
        let done = picklock(&["run", &path, option, &folder.at("no/such.xml")]);
        assert_eq!((done.code, done.stdout.as_str()), (Some(2), ""), "{done:?}");
        assert!(done.stderr.contains("mkdir -p"), "{}", done.stderr);
        let done = picklock(&["run", option, &path]);
        assert_eq!(done.code, Some(2), "{done:?}");
        assert!(
            done.stderr.contains("which is a scenario"),
            "{}",
            done.stderr
        );
        assert_eq!(fs::read_to_string(&path).unwrap_or_default(), FAILING);
    }
    assert_eq!(folder.names(), ["mine.toml"]);
}
