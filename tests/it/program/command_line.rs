//! `help`, `new`, `completions`, and `man`; and that no command writes a file that was not named.

use std::fs;
use std::path::Path;

use super::common::{Done, FAILING, Folder, command, picklock};

fn told(arguments: &[&str]) -> String {
    let done = picklock(arguments);
    assert_eq!(done.code, Some(0), "{done:?}");
    assert_eq!(done.stderr, "");
    done.stdout
}

/// Runs the program in a folder.
fn inside(folder: &Path, arguments: &[&str]) -> Done {
    let output = command(arguments).current_dir(folder).output();
    let output = output.expect("the program runs");
    Done {
        code: output.status.code(),
        stdout: String::from_utf8(output.stdout).expect("output is UTF-8"),
        stderr: String::from_utf8(output.stderr).expect("output is UTF-8"),
    }
}

#[test]
fn help_alone_names_all_commands_and_topics() {
    let text = told(&["help"]);
    let (commands, topics) = text.split_once("\nTopics of ").expect("there are topics");
    assert!(commands.contains("Usage: picklock"), "{commands}");
    insta::assert_snapshot!(format!("Topics of {topics}"));
}

#[test]
fn help_on_a_command_is_what_the_command_says() {
    assert_eq!(told(&["help", "run"]), told(&["run", "--help"]));
    let new = told(&["help", "new", "scenario"]);
    assert_eq!(new, told(&["new", "scenario", "--help"]));
}

#[test]
fn help_on_a_topic_is_its_page_and_on_a_word_what_explain_says() {
    insta::assert_snapshot!(told(&["help", "exit-codes"]));
    assert_eq!(
        told(&["help", "exit", "codes"]),
        told(&["help", "exit-codes"])
    );
    assert_eq!(
        told(&["help", "lose-reply"]),
        told(&["explain", "lose-reply"])
    );
    let unknown = picklock(&["help", "exit-kodes"]);
    assert_eq!(unknown.code, Some(2), "{unknown:?}");
    assert!(
        unknown.stderr.contains("did you mean `exit-codes`?"),
        "{unknown:?}"
    );
}

#[test]
fn every_topic_that_is_named_has_a_page() {
    let text = told(&["help"]);
    let topics = text
        .lines()
        .skip_while(|line| !line.starts_with("Topics of "));
    let topics = topics.skip(1).filter(|line| !line.starts_with("    "));
    let mut shown = 0;
    for topic in topics.filter_map(|line| line.split_whitespace().next()) {
        assert!(told(&["help", topic]).lines().count() > 3, "{topic}");
        shown += 1;
    }
    assert!(shown >= 15, "{shown}");
}

/// What the code asks the environment for.
fn variables(folder: &Path, found: &mut Vec<String>) {
    for entry in fs::read_dir(folder).expect("the folder can be read") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            variables(&path, found);
            continue;
        }
        let text = fs::read_to_string(&path).unwrap_or_default();
        let asked = [
            "var(\"",
            "var_os(\"",
            "variable(\"",
            "const VARIABLE: &str = \"",
            "STEP_SUMMARY: &str = \"",
        ];
        for asks in asked {
            let names = text
                .split(asks)
                .skip(1)
                .filter_map(|rest| rest.split('"').next());
            found.extend(names.map(str::to_owned));
        }
    }
}

#[test]
fn every_variable_of_the_environment_is_on_the_page() {
    let mut found = Vec::new();
    for folder in [
        "src",
        "sim/src",
        "scenarios/src",
        "reports/src",
        "verify/src",
    ] {
        variables(
            &Path::new(env!("CARGO_MANIFEST_DIR")).join(folder),
            &mut found,
        );
    }
    assert!(found.len() >= 8, "{found:?}");
    let page = told(&["help", "environment"]);
    for name in found {
        assert!(page.contains(&format!("`{name}`")), "{name}");
    }
}

#[test]
fn a_new_scenario_runs_as_it_stands_and_is_never_replaced() {
    let folder = Folder::new();
    for service in ["zookeeper", "redis", "lease-server"] {
        let file = folder.at(&format!("{service}.toml"));
        let said = told(&["new", "scenario", &file, "--service", service]);
        assert!(
            said.contains(&format!("\n  picklock run {file}\n")),
            "{said}"
        );
        let run = picklock(&["run", &file, "--seeds", "20"]);
        assert_eq!(run.code, Some(0), "{run:?}");
        assert!(run.stdout.contains(" HOLDS "), "{}", run.stdout);
        let text = fs::read_to_string(&file).expect("it was written");
        assert_eq!(told(&["new", "scenario", "--service", service]), text);
        fs::write(&file, "# mine\n").expect("it can be written");
        let again = picklock(&["new", "scenario", &file]);
        assert_eq!(again.code, Some(2), "{again:?}");
        assert!(again.stderr.contains("never replaced"), "{}", again.stderr);
        assert_eq!(fs::read_to_string(&file).unwrap_or_default(), "# mine\n");
    }
    insta::assert_snapshot!(told(&["new", "scenario"]));
}

#[test]
fn what_is_wrong_with_a_new_scenario_is_said_and_nothing_is_written() {
    let folder = Folder::new();
    let (file, other) = (folder.at("a.toml"), folder.at("a.txt"));
    for (arguments, said) in [
        (
            &["--algorithm", "zk-hardend"][..],
            "did you mean `zk-hardened`?",
        ),
        (
            &["--algorithm", "redlock", "--service", "zookeeper"],
            "redlock stands on Redis",
        ),
        (
            &["--service", "hazelcast"],
            "expected one of zookeeper, redis, lease-server, etcd, sql, memcached, consul, chubby",
        ),
        (&[&other], "does not end in .toml"),
    ] {
        let file: &[&str] = if arguments.len() == 1 { &[] } else { &[&file] };
        let done = picklock(&[&["new", "scenario"], file, arguments].concat());
        assert_eq!(done.code, Some(2), "{done:?}");
        assert!(done.stderr.contains(said), "{said}: {}", done.stderr);
    }
    assert_eq!(folder.names(), Vec::<String>::new());
}

#[test]
fn every_shell_can_complete_every_command() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = told(&["completions", shell]);
        for word in [
            "replay",
            "shrink",
            "explain",
            "completions",
            "fail-fast",
            "verify-determinism",
        ] {
            assert!(script.contains(word), "{shell}: {word}");
        }
    }
    let unknown = picklock(&["completions", "tcsh"]);
    assert_eq!(unknown.code, Some(2), "{unknown:?}");
}

/// Where there is a bash, it takes the script, and completes by it.
#[cfg(unix)]
#[test]
fn bash_completes_a_command_and_an_option() {
    use std::process::Command;

    let folder = Folder::new();
    let script = folder.file("picklock.bash", told(&["completions", "bash"]));
    let completed = |words: &str, at: usize| {
        let ask = format!(
            "source {script}; COMP_WORDS=({words}); COMP_CWORD={at}; \
             _picklock picklock \"${{COMP_WORDS[{at}]}}\" \"${{COMP_WORDS[{at}-1]}}\"; echo \"${{COMPREPLY[*]}}\""
        );
        let output = Command::new("bash").args(["-c", &ask]).output();
        output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned())
    };
    let Ok(commands) = completed("picklock re", 1) else {
        return;
    };
    assert_eq!(commands.trim(), "replay");
    let options = completed("picklock run --fail", 2).unwrap_or_default();
    assert_eq!(options.trim(), "--fail-fast");
}

#[test]
fn manual_pages_are_printed_and_written_one_for_each_command() {
    let folder = Folder::new();
    let out = folder.at("man1");
    let said = told(&["man", "--out", &out]);
    let help = told(&["--help"]);
    let commands = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let commands = commands.take_while(|line| !line.is_empty());
    let commands = commands.filter(|line| !line.starts_with("    "));
    let mut pages = 1;
    for command in commands.filter_map(|line| line.split_whitespace().next()) {
        let page = fs::read_to_string(format!("{out}/picklock-{command}.1")).unwrap_or_default();
        assert!(
            page.contains(".SH SYNOPSIS") && page.contains(".SH OPTIONS"),
            "{command}: {page}"
        );
        assert!(
            page.contains(&format!("picklock {command}")),
            "{command}: {page}"
        );
        assert_eq!(told(&["man", command]), page);
        pages += 1;
    }
    assert!(pages > 15, "{pages}");
    assert_eq!(said.lines().count(), pages, "{said}");
    let whole = fs::read_to_string(format!("{out}/picklock.1")).unwrap_or_default();
    assert_eq!(told(&["man"]), whole);
    assert!(whole.contains(".SH SUBCOMMANDS"), "{whole}");
    let unknown = picklock(&["man", "rum"]);
    assert_eq!(unknown.code, Some(2), "{unknown:?}");
    assert!(
        unknown.stderr.contains("did you mean `run`?"),
        "{}",
        unknown.stderr
    );
}

/// A hunt that finds how the file of these tests fails.
const HUNT: [&str; 6] = [
    "hunt",
    "mine.toml",
    "--kind",
    "expire-session",
    "--runs",
    "2000",
];

#[test]
fn no_file_that_is_not_named_is_written_into_the_current_folder() {
    let folder = Folder::new();
    folder.file("mine.toml", FAILING);
    for arguments in [
        &["run", "mine.toml", "--seeds", "2"][..],
        &["replay", "mine.toml", "--seed", "0"],
        &["shrink", "mine.toml", "--seed", "0"],
        &["why", "mine.toml", "--seed", "0"],
        &["plan", "mine.toml", "--seed", "0"],
        &HUNT,
        &["new", "scenario"],
        &["man"],
        &["herd", "--contenders", "10"],
    ] {
        let done = inside(folder.path(), arguments);
        assert!(matches!(done.code, Some(0 | 1)), "{arguments:?}: {done:?}");
        assert_eq!(folder.names(), ["mine.toml"], "{arguments:?}");
    }
}

#[test]
fn what_shrink_and_hunt_show_is_a_file_that_replays_and_their_command_keeps_it() {
    let folder = Folder::new();
    folder.file("mine.toml", FAILING);
    for arguments in [&["shrink", "mine.toml", "--seed", "0"][..], &HUNT] {
        let done = inside(folder.path(), arguments);
        let shown = done.stdout.split("--out keeps it:\n\n").nth(1);
        let shown = shown.unwrap_or_else(|| panic!("no file: {done:?}"));
        let end = shown
            .find("\n  own-release-only violated")
            .unwrap_or(shown.len());
        let text = shown[..end].split("\n\n  ").next().unwrap_or_default();
        folder.file("shown.toml", text);
        let replay = inside(folder.path(), &["replay", "shown.toml"]);
        assert_eq!(replay.code, Some(0), "{replay:?}\n{text}");
        assert!(replay.stdout.contains(" violated: "), "{replay:?}");
        let keep = done
            .stdout
            .lines()
            .find_map(|line| line.strip_prefix("  Keep     picklock "));
        let keep = keep.unwrap_or_else(|| panic!("no command: {done:?}"));
        let words: Vec<&str> = keep.split_whitespace().collect();
        inside(folder.path(), &words);
        let kept = fs::read_dir(folder.path().join("regressions")).map_or(0, Iterator::count);
        assert!(kept > 0, "{keep}");
        fs::remove_dir_all(folder.path().join("regressions")).expect("it is there");
    }
}
