//! What a diagram shows of a run besides its history, under the names that reports use.

use std::time::Duration;

use crate::reports::diagram::{MessageEvent, MessageState, Traffic};
use crate::sim::plan::{Plan, PlannedFault};
use crate::sim::trace::{MessageDirection, MessageStep, Party, TracedMessage};

/// The machines of a plan, how long its faults last, and its messages but for signs of life.
pub fn traffic(plan: &Plan, messages: &[TracedMessage]) -> Traffic {
    let machines = 0..plan.service.machines();
    let messages = messages.iter().filter(|message| !message.is_sign_of_life);
    let event = |message: &TracedMessage| MessageEvent {
        at: message.at,
        after: message.after,
        from: party(plan, message.from),
        to: party(plan, message.to),
        connection: message.connection.map(|number| number.0),
        state: state(message.step),
        between_servers: message.direction() == MessageDirection::BetweenServers,
        text: message.text.clone(),
    };
    Traffic {
        machines: machines.map(|id| plan.service.machine_name(id)).collect(),
        messages: messages.map(event).collect(),
        fault_lengths: plan
            .faults
            .iter()
            .map(|fault| length(plan, fault))
            .collect(),
    }
}

/// How long a fault lasts from when it strikes; none if it is over at once.
fn length(plan: &Plan, fault: &PlannedFault) -> Option<Duration> {
    let lasts = plan.lasts(&fault.inject)?;
    Some(lasts.duration().unwrap_or(Duration::MAX))
}

fn state(step: MessageStep) -> MessageState {
    match step {
        MessageStep::Sent => MessageState::Sent,
        MessageStep::Received => MessageState::Received,
        MessageStep::Lost => MessageState::Lost,
        MessageStep::Closed
        | MessageStep::Opened
        | MessageStep::Refused
        | MessageStep::PacketLost
        | MessageStep::LinkDown => MessageState::Notice(step.name()),
    }
}

/// What a machine or a client is called.
pub fn party(plan: &Plan, party: Party) -> String {
    let workload = &plan.workload;
    let process = match party {
        Party::Server(server) => return plan.service.machine_name(server.0),
        Party::EveryServer => return "every server".to_owned(),
        Party::Client(process) => process,
    };
    match process.0.checked_sub(workload.processes()) {
        None if workload.tasks_per_process > 1 => format!("process-{}", process.0 + 1),
        None => format!("contender-{}", process.0 + 1),
        Some(index) if index < workload.bystanders => format!("bystander-{}", index + 1),
        Some(_) => "operator".to_owned(),
    }
}

#[cfg(test)]
mod tests;
