//! Faults and triggers, each with an example as a scenario file writes it.

use crate::algorithms::clients::RequestKind;
use crate::sim::plan::{FaultKind, FieldType, TriggerKind, TriggerSpec};

/// A thing and how to write it.
pub struct Example {
    /// Its name.
    pub name: &'static str,
    /// What it is, one sentence.
    pub meaning: String,
    /// A line of a `[[fault]]`.
    pub example: &'static str,
}

/// What can break, in the order of the format.
pub fn faults() -> Vec<Example> {
    let row = |kind: &FaultKind| {
        let spec = kind.spec();
        let or_for_good = if kind.has_field(FieldType::FaultDuration) {
            " For good, without `for`."
        } else {
            ""
        };
        Example {
            name: spec.name,
            meaning: format!("{}{or_for_good}", spec.meaning),
            example: spec.example,
        }
    };
    FaultKind::ALL.iter().map(row).collect()
}

/// What a fault can wait for, in the order of the format.
pub fn triggers() -> Vec<Example> {
    let row = |spec: &'static TriggerSpec| Example {
        name: spec.name,
        meaning: spec.meaning.to_owned(),
        example: spec.example,
    };
    TriggerKind::ALL
        .iter()
        .map(|kind| row(kind.spec()))
        .collect()
}

/// When a fault strikes, and how often, besides what it waits for.
pub fn timing() -> Vec<Example> {
    let row = |name, meaning: &str, example| Example {
        name,
        meaning: meaning.to_owned(),
        example,
    };
    vec![
        row(
            "after",
            "How long after its trigger a fault strikes.",
            r#"after = "5s""#,
        ),
        row(
            "times",
            "How often a fault strikes at most: whenever its trigger comes again, or by `every`.",
            "times = 3",
        ),
        row(
            "every",
            "Time from one strike of a fault to the next; it must be over by then.",
            r#"every = "10s""#,
        ),
    ]
}

/// What a trigger can say of a request: a name, and of which service it is.
pub fn requests() -> Vec<(RequestKind, String)> {
    let row = |kind: RequestKind| {
        let (service, general) = (kind.service().title(), kind.general());
        let meaning = match general == kind {
            true => format!("On {service}."),
            false => format!("On {service}: one kind of `{}`.", general.name()),
        };
        (kind, meaning)
    };
    RequestKind::ALL.into_iter().map(row).collect()
}

/// What a file can say of contenders, locks, and links, so that faults find something to strike.
pub fn circumstances() -> Vec<Example> {
    let row = |name, meaning: &str, example| Example {
        name,
        meaning: meaning.to_owned(),
        example,
    };
    vec![
        row(
            "call",
            "What `cancel` drops: the pending acquire, or the pending release.",
            r#"inject.cancel = { target = "contender-1", call = "release" }"#,
        ),
        row(
            "processing",
            "In `[workload]`: time from what arrives at a contender to what its code does about it.",
            r#"workload.processing = "1ms..5ms""#,
        ),
        row(
            "locks",
            "In `[workload]`: how many locks there are, which contenders take in turn.",
            "workload.locks = 2",
        ),
        row(
            "tasks-per-process",
            "In `[workload]`: how many contenders are tasks of one process, which stands still or dies as a whole.",
            "workload.tasks-per-process = 3",
        ),
        row(
            "share",
            "In `[workload]`: what the tasks of a process share: a session, a connection, or a lock object.",
            r#"workload.share = "session""#,
        ),
        row(
            "reads",
            "In `[workload]`: in how many rounds a contender takes a read-write lock to read.",
            r#"workload.reads = "50%""#,
        ),
        row(
            "permits",
            "In `[workload]`: how many may hold a semaphore at once.",
            "workload.permits = 2",
        ),
        row(
            "contender",
            "Settings of one contender; with `name = \"any\"`, each seed draws which.",
            r#"contender = [{ name = "contender-1", hold = "60s", locks = ["lock-a"] }]"#,
        ),
        row(
            "regions",
            "In `[network]`: who lies where, or, as a range, how many regions each seed draws.",
            r#"network.regions = { us = ["server-1", "resource"], eu = ["contender-1"] }"#,
        ),
        row(
            "between",
            "In `[network]`: how far regions are from each other, or, if they are drawn, may be.",
            r#"network.between = { us.eu = "40ms..45ms" }"#,
        ),
    ]
}

#[cfg(test)]
mod tests {
    use crate::scenarios::services::supported;
    use crate::scenarios::{Catalogue, Diagnostic, Scenario, parse};

    use super::*;

    /// On ZooKeeper, or, if it is of another service alone, on Redis, on a cluster of it, on etcd, on a database, or
    /// on Consul.
    fn read(when: &str, inject: &str) -> Result<Scenario, Vec<Diagnostic>> {
        let on = |service, algorithm| read_on(service, algorithm, when, inject);
        let heeding = match inject.starts_with("inject.revoke") {
            true => "zk-revocable-shared-locks",
            false => "zk-predecessor-watch",
        };
        on("zookeeper]\nservers = 3", heeding).or_else(|mistakes| {
            let redis = "redis]\nreplicas = 1\npersistence = \"rdb\"";
            let cluster = "redis]\ncluster = { primaries = 3 }";
            let others = [redis, cluster].map(|service| on(service, "redis-compare-and-delete"));
            let etcd = on("etcd]", "etcd-mutex");
            let sql = on("sql]", "sql-for-update");
            let consul = on("consul]", "consul-lock");
            others
                .into_iter()
                .chain([etcd, sql, consul])
                .find(Result::is_ok)
                .unwrap_or(Err(mistakes))
        })
    }

    fn read_on(
        service: &str,
        algorithm: &str,
        when: &str,
        inject: &str,
    ) -> Result<Scenario, Vec<Diagnostic>> {
        let text = format!(
            r#"
claim = "Things break."
because = "They do."
source = "A test"
[service.{service}
[workload]
contenders = 3
[[fault]]
when.at = "1s"
inject.cut = {{ target = "contender-1" }}
[[fault]]
{when}
{inject}
[[case]]
algorithm = "{algorithm}"
"#
        );
        parse("example", &text, &Catalogue::EVERYTHING)
    }

    /// A trigger that suits a fault: one that strikes a request needs one that speaks of a request.
    fn trigger_for(fault: &str) -> &'static str {
        match fault {
            "lose-request" | "delay-request" => {
                r#"when.sent = { request = "create", by = "contender-1" }"#
            }
            "lose-reply" | "swallow-reply" | "delay-reply" => {
                r#"when.answered = { request = "create", by = "contender-1" }"#
            }
            "lose-message" => r#"when.told = { by = "contender-1" }"#,
            _ => r#"when.at = "2s""#,
        }
    }

    #[test]
    fn every_example_can_be_read() {
        for fault in faults() {
            let read = read(trigger_for(fault.name), fault.example);
            assert!(read.is_ok(), "{:?}", read.err());
            let inject = format!("inject.{} = ", fault.name);
            assert!(fault.example.starts_with(&inject));
        }
        for trigger in triggers() {
            let read = read(
                trigger.example,
                r#"inject.cut = { target = "contender-1" }"#,
            );
            assert!(read.is_ok(), "{:?}", read.err());
            let when = format!("when.{} = ", trigger.name);
            assert!(trigger.example.starts_with(&when));
        }
        for setting in timing() {
            let cut = r#"inject.cut = { target = "contender-1" }"#;
            let when = r#"when.acquired = { by = "contender-1" }"#;
            let times = if setting.name == "every" {
                "times = 3"
            } else {
                ""
            };
            let read = read(when, &format!("{times}\n{}\n{cut}", setting.example));
            assert!(read.is_ok(), "{:?}", read.err());
        }
    }

    #[test]
    fn every_example_of_a_circumstance_can_be_read_beside_the_others() {
        let lines: Vec<_> = circumstances().iter().map(|row| row.example).collect();
        let (faults, world): (Vec<_>, Vec<_>) = lines
            .into_iter()
            .partition(|key| key.starts_with("inject."));
        // The tasks of a process lie in one region.
        let (of_tasks, of_others): (Vec<_>, Vec<_>) = world
            .into_iter()
            .partition(|line| line.contains("tasks") || line.contains("share"));
        assert_eq!(of_tasks.len(), 2);
        // No lock is of two kinds.
        let (of_semaphores, of_others): (Vec<_>, Vec<_>) = of_others
            .into_iter()
            .partition(|key| key.contains("permits"));
        reads(&of_semaphores, &faults, "curator-semaphore");
        for world in [of_tasks, of_others] {
            reads(&world, &faults, "zk-shared-locks");
        }
    }

    fn reads(world: &[&str], faults: &[&str], algorithm: &str) {
        let text = format!(
            r#"
claim = "Things are far apart."
because = "They are."
source = "A test"
{}
[service.zookeeper]
servers = 3
[[fault]]
when.releasing = {{ by = "contender-1" }}
{}
[[case]]
algorithm = "{algorithm}"
"#,
            world.join("\n"),
            faults.join("\n")
        );
        let read = parse("example", &text, &Catalogue::EVERYTHING);
        assert!(read.is_ok(), "{:?}", read.err());
    }

    #[test]
    fn every_request_that_is_listed_can_be_waited_for() {
        for (kind, _) in requests() {
            let name = kind.name();
            let when = format!(r#"when.sent = {{ request = "{name}", by = "contender-1" }}"#);
            let cut = r#"inject.cut = { target = "contender-1" }"#;
            let on = |service, algorithm| read_on(service, algorithm, &when, cut).is_ok();
            let table = format!("{}]", kind.service().name());
            let algorithm = supported(kind.service()).example.algorithm;
            assert!(on(&table, algorithm), "{name}");
        }
    }

    #[test]
    fn nothing_that_can_be_written_is_missing() {
        let names = |rows: Vec<Example>| -> Vec<&str> { rows.iter().map(|row| row.name).collect() };
        let kinds: Vec<&str> = FaultKind::ALL.iter().map(|kind| kind.name()).collect();
        let faults = names(super::faults());
        assert!(kinds.iter().all(|kind| faults.contains(kind)), "{faults:?}");
        let triggers = names(super::triggers());
        let kinds: Vec<&str> = TriggerKind::ALL
            .iter()
            .map(|kind| kind.spec().name)
            .collect();
        assert!(
            kinds.iter().all(|kind| triggers.contains(kind)),
            "{triggers:?}"
        );
    }
}
