//! Faults and triggers read as sentences.

use picklock_scenarios::{BUILT_IN, Catalogue, describe, parse};

const WORLD: &str = r#"
claim = "Words read well."
because = "Reports show them."
source = "Here"
[service.zookeeper]
servers = 5
session-timeout = "6s"
[workload]
contenders = 30
"#;

const FAULTS: &str = r#"
acquired = { by = "contender-1" }
pause = { target = "contender-1", for = "20s" }
acquired = { by = "contender-1", nth = 2 }
crash = { target = "contender-1" }
acquiring = { by = "contender-2", nth = 11 }
crash = { target = "contender-1", restart-after = "1.5s" }
waiting = { by = "contender-3", nth = 3 }
cancel = { target = "contender-3" }
queued = { by = "contender-3" }
expire-session = { target = "contender-3" }
writing = { by = "contender-3", nth = 21 }
cut = { target = "contender-3" }
releasing = { by = "contender-3" }
black-hole = { target = "contender-3", for = "5s" }
released = { by = "contender-3" }
slow-link = { target = "contender-3", direction = "to-server", by = "200ms", for = "5s" }
sent = { request = "create", by = "contender-2" }
lose-request = { target = "contender-2" }
answered = { request = "get-data", by = "contender-2", nth = 2 }
lose-reply = { target = "contender-2" }
committed = { request = "delete", by = "contender-2" }
swallow-reply = { target = "contender-2" }
sent = { request = "delete", by = "contender-2", nth = 12 }
delay-request = { target = "contender-2", by = "3s" }
committed = { request = "create", by = "contender-2" }
delay-reply = { target = "contender-2", by = "3s" }
proposed = { request = "create", by = "contender-2", nth = 3 }
clock-jump = { target = "contender-2", by = "-5s" }
at = "2m"
clock-drift = { target = "contender-2", parts-per-million = -200 }
session-expired = { by = "contender-2" }
crash-server = { target = "leader", restart-after = "5s" }
fired = { fault = 1 }
hang-server = { target = "follower-2", for = "5s" }
at = "90s"
isolate-server = { target = "server-of-contender-30", for = "5s" }
at = "2s"
partition = { servers = ["leader", "server-of-contender-2"], contenders = ["contender-3"], for = "5s" }
at = "0s"
hold-link = { from = ["follower-1", "follower-2", "server-5"], to = "leader", for = "3s" }
at = "1h"
lag-server = { target = "server-1", by = "2s", for = "10s" }
at = "1us"
slow-disk = { target = "leader", fsync = "200ms", for = "10s" }
at = "1ms"
delete-node = { of = "contender-1" }
at = "1ms"
recreate-lock = {}
at = "1ms"
revoke = { of = "contender-1" }
"#;

#[test]
fn every_fault_and_every_trigger_reads_as_a_sentence() {
    let mut text = WORLD.to_owned();
    let lines: Vec<&str> = FAULTS.lines().filter(|line| !line.is_empty()).collect();
    for pair in lines.chunks(2) {
        text.push_str(&format!(
            "[[fault]]\nwhen.{}\ninject.{}\n",
            pair[0], pair[1]
        ));
    }
    text.push_str("[[case]]\nalgorithm = \"zk-revocable-shared-locks\"\n");
    let scenario = parse("words", &text, &Catalogue::EVERYTHING)
        .unwrap_or_else(|mistakes| panic!("{}", mistakes[0]));
    let faults = &scenario.cases[0].plan.faults;
    let sentences: Vec<String> = faults.iter().map(describe::planned).collect();
    insta::assert_snapshot!(sentences.join("\n"));
}

#[test]
fn the_faults_of_the_library_are_described_in_their_plans() {
    for (name, text) in BUILT_IN {
        for case in parse(name, text, &Catalogue::EVERYTHING)
            .unwrap_or_else(|m| panic!("{}", m[0]))
            .cases
        {
            for fault in &case.plan.faults {
                assert_eq!(fault.text, describe::repeated(&fault.inject, fault.repeat));
            }
        }
    }
}
