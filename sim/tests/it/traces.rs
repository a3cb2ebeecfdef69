//! A trace is of the same run, and leaves no message out.

use crate::common;

use common::{A, FIRST, acquired, history_on, plan_on, planned, seconds};
use picklock_algorithms::clients::RequestKind;
use picklock_checker::{EventKind, VirtualTime};
use picklock_sim::engine::Tape;
use picklock_sim::plan::lease_server::LeaseServer;
use picklock_sim::plan::{
    Deployment, Ensemble, Fault, LockNode, Plan, ServerName, Service, Trigger,
};
use picklock_sim::process::ProcessId;
use picklock_sim::trace::{MessageDirection, MessageStep, TracedMessage};
use picklock_sim::{simulate, simulate_traced};

fn trace_of(service: Service, algorithm: &str, lost: RequestKind) -> Vec<TracedMessage> {
    let answered = Trigger::Answered {
        request: lost,
        by: FIRST,
        nth: 1,
        at: None,
    };
    let lose = Fault::LoseReply { target: FIRST };
    let plan = plan_on(service, algorithm, vec![planned(answered, lose)]);
    let tape = Tape::explored(plan.network.chance, 1);
    let (simulated, trace) = simulate_traced(&plan, tape);
    assert_eq!(simulated.hash, simulate(&plan, 1).hash);
    trace
}

fn services() -> [(Service, &'static str, RequestKind); 3] {
    [
        (
            Service::ZooKeeper(Ensemble::default()),
            "zk-hardened",
            RequestKind::Create,
        ),
        (
            Service::Redis(Deployment::default()),
            "redis-compare-and-delete",
            RequestKind::Set,
        ),
        (
            Service::LeaseServer(LeaseServer::default()),
            "lease-lock",
            RequestKind::Claim,
        ),
    ]
}

#[test]
fn what_is_received_or_lost_was_sent() {
    for (service, algorithm, lost) in services() {
        let trace = trace_of(service, algorithm, lost);
        let count = |step| trace.iter().filter(|message| message.step == step).count();
        let sent = count(MessageStep::Sent);
        assert!(sent > 10, "{algorithm}");
        let arrived = count(MessageStep::Received) + count(MessageStep::Lost);
        assert!(arrived <= sent, "{algorithm}: {arrived} of {sent}");
        assert!(count(MessageStep::Received) * 10 > sent * 8, "{algorithm}");
    }
}

#[test]
fn the_answer_that_a_fault_takes_is_lost() {
    for (service, algorithm, lost) in services() {
        let trace = trace_of(service, algorithm, lost);
        let is_lost = |message: &&TracedMessage| {
            message.step == MessageStep::Lost && message.direction() == MessageDirection::ToClient
        };
        let lost: Vec<&TracedMessage> = trace.iter().filter(is_lost).collect();
        assert!(!lost.is_empty(), "{algorithm}");
        let whose = lost[0].process().map(|process| process.0);
        assert_eq!(whose, Some(FIRST.0), "{algorithm}");
    }
}

#[test]
fn a_run_without_a_trace_is_told_as_before() {
    let service = Service::ZooKeeper(Ensemble::default());
    let cut = planned(acquired(), Fault::Cut { target: FIRST });
    let plan = plan_on(service.clone(), "zk-hardened", vec![cut.clone()]);
    let history = history_on(service, "zk-hardened", vec![cut]);
    let (traced, _) = simulate_traced(&plan, Tape::explored(plan.network.chance, 1));
    assert_eq!(traced.run.history.events, history.events);
    let ended = |what: &EventKind| matches!(what, EventKind::Ended { .. });
    let end = history.events.iter().find(|event| ended(&event.what));
    let entered = |what: &EventKind| matches!(what, EventKind::Acquired { by: A, .. });
    assert!(history.events.iter().any(|event| entered(&event.what)));
    assert!(end.is_some_and(|end| end.at >= VirtualTime::ZERO + seconds(5)));
}

/// Curator's lock at one server, where its own node is so at the start.
fn curator_with(lock_node: LockNode) -> Plan {
    let ensemble = Ensemble {
        servers: 1,
        lock_node,
        ..Ensemble::default()
    };
    plan_on(Service::ZooKeeper(ensemble), "curator-mutex", Vec::new())
}

/// What the first contender asks for, up to its lock.
fn asked(lock_node: LockNode, most: usize) -> Vec<String> {
    let plan = curator_with(lock_node);
    let tape = Tape::explored(plan.network.chance, 1);
    let (simulated, trace) = simulate_traced(&plan, tape);
    assert_eq!(simulated.hash, simulate(&plan, 1).hash);
    let first = trace.iter().filter(|message| {
        let sent = (MessageStep::Sent, MessageDirection::ToServer);
        (message.step, message.direction()) == sent && message.process() == Some(ProcessId(0))
    });
    let requests = first.filter_map(|message| message.text.split_once(' '));
    let requests = requests.filter(|(number, _)| number.starts_with('#'));
    requests
        .map(|(_, request)| request.to_owned())
        .take(most)
        .collect()
}

/// The request without what is drawn.
fn kind(request: &str) -> String {
    let parts = request.split_once("_c_");
    let after = request.split_once("-lock-");
    match parts.zip(after) {
        Some(((before, _), (_, after))) => format!("{before}_c_GUID-lock-{after}"),
        None => request.to_owned(),
    }
}

#[test]
fn the_stat_is_always_asked_for_and_the_address_of_the_host_is_the_data() {
    let requests: Vec<String> = asked(LockNode::Persistent, 2)
        .iter()
        .map(|request| kind(request))
        .collect();
    let ticket = "create(/locks/a/_c_GUID-lock-, 6 bytes, ephemeral, sequential, stat)";
    assert_eq!(requests, [ticket, "get-children(/locks/a, stat)"]);
}

#[test]
fn missing_parents_are_made_as_containers_from_the_root_on() {
    let requests: Vec<String> = asked(LockNode::Missing, 6)
        .iter()
        .map(|request| kind(request))
        .collect();
    let ticket = "create(/locks/a/_c_GUID-lock-, 6 bytes, ephemeral, sequential, stat)";
    let expected = [
        ticket,
        "exists(/locks)",
        "exists(/locks/a)",
        "create(/locks/a, 0 bytes, container)",
        ticket,
        "get-children(/locks/a, stat)",
    ];
    assert_eq!(requests, expected);
}

/// What is sent long before the end of the trace and neither received nor lost, however often the same is said.
fn without_an_end(trace: &[TracedMessage]) -> Vec<String> {
    let last = trace.last().map_or(VirtualTime::ZERO, |message| message.at);
    let number = |of: &TracedMessage, is_it: fn(MessageStep) -> bool| {
        let alike = trace.iter().filter(|message| {
            let ends = (message.from, message.to, message.connection);
            ends == (of.from, of.to, of.connection) && message.text == of.text
        });
        alike.filter(|message| is_it(message.step)).count()
    };
    let sent = trace
        .iter()
        .filter(|message| message.step == MessageStep::Sent && last.since(message.at) > seconds(1));
    let open = sent.filter(|message| {
        let ends = |step| matches!(step, MessageStep::Received | MessageStep::Lost);
        number(message, |step| step == MessageStep::Sent) > number(message, ends)
    });
    open.map(|message| format!("{} {}", message.at, message.text))
        .collect()
}

#[test]
fn a_message_to_a_process_that_dies_before_it_reads_is_lost() {
    let server = ServerName::Number(0);
    let restart_after = Some(seconds(3));
    for (service, algorithm, request) in services() {
        let sent = Trigger::Sent {
            request,
            by: FIRST,
            nth: 1,
            at: None,
        };
        let crashes = [
            Fault::CrashServer {
                target: server,
                restart_after,
            },
            Fault::Crash {
                target: FIRST,
                restart_after,
            },
        ];
        for crash in crashes {
            let faults = vec![planned(sent.clone(), crash)];
            let plan = plan_on(service.clone(), algorithm, faults);
            let (simulated, trace) = simulate_traced(&plan, Tape::explored(plan.network.chance, 1));
            assert_eq!(simulated.hash, simulate(&plan, 1).hash);
            let open = without_an_end(&trace);
            assert!(open.is_empty(), "{algorithm}: {open:?}");
        }
    }
}
