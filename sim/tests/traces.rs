//! A trace is of the same run, and leaves no message out.

mod common;

use common::{A, FIRST, acquired, history_on, plan_on, planned, seconds};
use picklock_algorithms::clients::RequestKind;
use picklock_checker::EventKind;
use picklock_sim::engine::Tape;
use picklock_sim::plan::{Deployment, Ensemble, Fault, LeaseServer, Service, Trigger};
use picklock_sim::trace::{MessageDirection, MessageStep, TracedMessage};
use picklock_sim::{simulate, simulate_traced};

fn trace_of(service: Service, algorithm: &str, lost: RequestKind) -> Vec<TracedMessage> {
    let answered = Trigger::Answered {
        request: lost,
        by: FIRST,
        nth: 1,
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
    assert!(end.is_some_and(|end| end.at >= picklock_checker::VirtualTime::ZERO + seconds(5)));
}
