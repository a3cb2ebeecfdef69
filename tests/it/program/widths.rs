//! No line is wider than the terminal, whatever is told.

use super::common::{FAILING, Folder, command};
use unicode_width::UnicodeWidthStr;

/// A scenario file with a mistake of each kind, and with a name that has wide letters.
const MISTAKEN: &str = r#"
claim = "鎖鎖鎖鎖鎖鎖鎖鎖鎖鎖鎖鎖 is a claim of which nothing stays in one line on a narrow terminal."
because = "A test."
source = "a test"

[service.zookeper]

[workload]
contendrs = 3

[[fault]]
when.waitin = { by = "contender-3" }
inject.expire-sesion = { target = "contender-2" }

[[case]]
algorithm = "zk-no-rechek"
expect.mutual-exclusio.holds = true
"#;

/// What is run, a line a command; `MINE` is a scenario that fails, and `BAD` one that cannot be read.
const COMMANDS: &str = "\
run zookeeper/waiter-death --seeds 20
run zookeeper/waiter-death redis/pause zookeeper/swarm --seeds 5
run zookeeper/swarm redis/pause --seeds 5 --verbose
run zookeeper/swarm --seeds 5 --detail
run lease-server --seeds 2
run curator/test-kill-session-then-close-should-elect-new-leader curator/test-basic --seeds 1
run MINE --seeds 5
cost --algorithm zk-hardened,zk-hardened-multi,redis-compare-and-delete
herd --algorithm zk-predecessor-watch,zk-children-watch --contenders 10
list algorithms
list faults
list invariants
list metrics
list clients
list sometimes
list distances
list scenarios
list scenarios --match barrier
list pause
hunt zookeeper/waiter-death --case zk-hardened --runs 20
why zookeeper/waiter-death --case zk-no-recheck --seed 3 --runs 5 --samples 5
replay zookeeper/waiter-death --case zk-no-recheck --seed 3
replay zookeeper/gc-pause --case zk-hardened-unfenced --seed 7 --full
replay redis/pause --seed 0
compare --algorithm zk-hardened,redlock --seeds 1
envelope --at-most 40 --lease 2s --pause 2s
matrix zk-hardened zk-no-recheck --seeds 2 --details
yield zookeeper/waiter-death --bases 2 --limit 20
merge nothing.json
explain mutual-exclusion
explain zk-hardened
explain herd
help
help run
help cost
help faults
help nothing-like-it
--help
rnu
run --sedes 5
run --seeds x
run zookeeper/nothing-like-it
run --case nothing-like-it
run BAD
validate BAD
validate MINE
herd --algorithm nothing-like-it
cost --algorithm nothing-like-it
matrix nothing-like-it
matrix --fault nothing-like-it
hunt zookeeper/waiter-death --case zk-hardened --kind nothing-like-it
hunt zookeeper/waiter-death --case zk-hardened --way nothing-like-it
list nothing-like-it
list scenarios --fault nothing-like-it
explain nothing-like-it
replay zookeeper/waiter-death
replay zookeeper/waiter-death --case nothing-like-it --seed 0
why
new nothing-like-it
shrink zookeeper/waiter-death --case zk-no-recheck --seed 3 --invariant nothing-like-it
shrink zookeeper/waiter-death --case zk-hardened --seed 3
bench --millis 1
";

/// The lines that are too wide; a colour takes no column.
fn too_wide(text: &str, width: usize) -> Vec<String> {
    let wide = text.lines().filter(|line| line.width() > width);
    wide.map(str::to_owned).collect()
}

#[test]
fn no_line_of_any_verb_is_wider_than_the_terminal() {
    let folder = Folder::new();
    folder.file("mine.toml", FAILING);
    folder.file("bad.toml", MISTAKEN);
    let mut wrong = Vec::new();
    for line in COMMANDS.lines() {
        let line = line.replace("MINE", "mine.toml").replace("BAD", "bad.toml");
        for width in [60, 80, 120] {
            let arguments: Vec<&str> = line.split(' ').collect();
            let mut program = command(&arguments);
            program.args(["--width", &width.to_string()]);
            let done = program.current_dir(folder.path()).output();
            let done = done.expect("the program runs");
            for told in [&done.stdout, &done.stderr] {
                let told = String::from_utf8_lossy(told);
                let wide = too_wide(&told, width).into_iter();
                wrong.extend(wide.map(|wide| format!("{line} at {width}: {wide}")));
            }
        }
    }
    assert!(wrong.is_empty(), "{}\n{}", wrong.len(), wrong.join("\n"));
}
