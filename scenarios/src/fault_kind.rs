//! The kinds of faults, by the names that scenario files use.

use picklock_algorithms::clients::ServiceKind;
use picklock_sim::plan::{Fault, Fsync, Persistence, Plan, Service};

/// A kind of fault: what breaks, but not whom, when, or for how long.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[expect(
    missing_docs,
    reason = "each is the `Fault` of its name, and documented there"
)]
pub enum FaultKind {
    Pause,
    BlockEvents,
    Crash,
    Cancel,
    ExpireSession,
    Cut,
    BlackHole,
    SlowLink,
    LoseRequest,
    LoseReply,
    SwallowReply,
    LoseMessage,
    DelayRequest,
    DelayReply,
    ClockJump,
    ClockDrift,
    CrashServer,
    PowerLoss,
    HangServer,
    IsolateServer,
    Partition,
    HoldLink,
    LagServer,
    SlowDisk,
    ServerClockJump,
    Promote,
    FullMemory,
    FullDisk,
    MoveSlot,
    EvictKey,
    DeleteNode,
    RecreateLock,
}

impl FaultKind {
    /// Every kind with its name, in the order in which they are listed to people.
    pub const NAMED: [(&'static str, Self); 32] = [
        ("pause", Self::Pause),
        ("block-events", Self::BlockEvents),
        ("crash", Self::Crash),
        ("cancel", Self::Cancel),
        ("expire-session", Self::ExpireSession),
        ("cut", Self::Cut),
        ("black-hole", Self::BlackHole),
        ("slow-link", Self::SlowLink),
        ("lose-request", Self::LoseRequest),
        ("lose-reply", Self::LoseReply),
        ("swallow-reply", Self::SwallowReply),
        ("lose-message", Self::LoseMessage),
        ("delay-request", Self::DelayRequest),
        ("delay-reply", Self::DelayReply),
        ("clock-jump", Self::ClockJump),
        ("clock-drift", Self::ClockDrift),
        ("crash-server", Self::CrashServer),
        ("power-loss", Self::PowerLoss),
        ("hang-server", Self::HangServer),
        ("isolate-server", Self::IsolateServer),
        ("partition", Self::Partition),
        ("hold-link", Self::HoldLink),
        ("lag-server", Self::LagServer),
        ("slow-disk", Self::SlowDisk),
        ("server-clock-jump", Self::ServerClockJump),
        ("promote", Self::Promote),
        ("full-memory", Self::FullMemory),
        ("full-disk", Self::FullDisk),
        ("move-slot", Self::MoveSlot),
        ("evict-key", Self::EvictKey),
        ("delete-node", Self::DeleteNode),
        ("recreate-lock", Self::RecreateLock),
    ];

    /// Every kind.
    pub fn all() -> Vec<Self> {
        Self::NAMED.map(|(_, kind)| kind).to_vec()
    }

    /// Those that are drawn, and hunted with, by whoever names none: all but what is several others at once, what makes
    /// a server say plainly that it does not serve, what nobody does without a plan, and what a program does to itself.
    pub fn unasked() -> Vec<Self> {
        let mut all = Self::all();
        let asked = [
            Self::BlockEvents,
            Self::Partition,
            Self::FullMemory,
            Self::FullDisk,
            Self::MoveSlot,
        ];
        all.retain(|kind| !asked.contains(kind));
        all
    }

    /// The kind of a fault.
    pub fn of(fault: &Fault) -> Self {
        match fault {
            Fault::Pause { .. } => Self::Pause,
            Fault::BlockEvents { .. } => Self::BlockEvents,
            Fault::Crash { .. } => Self::Crash,
            Fault::Cancel { .. } => Self::Cancel,
            Fault::ExpireSession { .. } => Self::ExpireSession,
            Fault::Cut { .. } => Self::Cut,
            Fault::BlackHole { .. } => Self::BlackHole,
            Fault::SlowLink { .. } => Self::SlowLink,
            Fault::LoseRequest { .. } => Self::LoseRequest,
            Fault::LoseReply { .. } => Self::LoseReply,
            Fault::SwallowReply { .. } => Self::SwallowReply,
            Fault::LoseMessage { .. } => Self::LoseMessage,
            Fault::DelayRequest { .. } => Self::DelayRequest,
            Fault::DelayReply { .. } => Self::DelayReply,
            Fault::ClockJump { .. } => Self::ClockJump,
            Fault::ClockDrift { .. } => Self::ClockDrift,
            Fault::CrashServer { .. } => Self::CrashServer,
            Fault::PowerLoss { .. } => Self::PowerLoss,
            Fault::HangServer { .. } => Self::HangServer,
            Fault::IsolateServer { .. } => Self::IsolateServer,
            Fault::Partition { .. } => Self::Partition,
            Fault::HoldLink { .. } => Self::HoldLink,
            Fault::LagServer { .. } => Self::LagServer,
            Fault::SlowDisk { .. } => Self::SlowDisk,
            Fault::ServerClockJump { .. } => Self::ServerClockJump,
            Fault::Promote { .. } => Self::Promote,
            Fault::FullMemory { .. } => Self::FullMemory,
            Fault::FullDisk { .. } => Self::FullDisk,
            Fault::MoveSlot { .. } => Self::MoveSlot,
            Fault::EvictKey { .. } => Self::EvictKey,
            Fault::DeleteNode { .. } => Self::DeleteNode,
            Fault::RecreateLock => Self::RecreateLock,
        }
    }

    /// Those of some kinds that can strike in the world of a plan, in their order, for a lock to outlive.
    pub fn possible_in(plan: &Plan, kinds: &[Self]) -> Vec<Self> {
        let mut possible = Self::tried_in(plan, kinds);
        possible.retain(|kind| kind.can_strike(&plan.service));
        possible
    }

    /// Those that can strike at all there, in their order: also what no lock outlives, which is tried where it is asked
    /// for by name.
    pub fn tried_in(plan: &Plan, kinds: &[Self]) -> Vec<Self> {
        let kinds = kinds.iter().copied();
        kinds
            .filter(|kind| kind.can_be_tried(&plan.service))
            // A replica that loses its primary, and no more than that, learns nothing that it could act upon.
            .filter(|kind| {
                let service = &plan.service;
                let acts = service.kind() == ServiceKind::ZooKeeper || service.cluster().is_some();
                acts || *kind != Self::IsolateServer
            })
            .collect()
    }

    /// Whether there is anything in a service that it could strike, for a lock to outlive.
    pub fn can_strike(self, service: &Service) -> bool {
        self.can_be_tried(service) && self.is_outlived(service)
    }

    /// Whether a lock can outlive it: who waits for an answer for ever waits for ever.
    pub fn is_outlived(self, service: &Service) -> bool {
        self != Self::SwallowReply || gives_up_waiting(service)
    }

    /// Whether there is anything in a service that it could strike.
    pub fn can_be_tried(self, service: &Service) -> bool {
        let is_there = self.service().is_none_or(|of| of == service.kind());
        let has_links = service.has_links() || !self.needs_links();
        let has_sides = service.servers() > 1 || self != Self::Partition;
        // Where there are Sentinels, they decide, and the nodes of a cluster do.
        let others_decide = service.sentinels() > 0 || service.cluster().is_some();
        let writes = self != Self::FullDisk || writes_and_goes_on(service);
        let has_callbacks = self != Self::BlockEvents || has_event_thread(service);
        let has_slots = service.cluster().is_some() || self != Self::MoveSlot;
        is_there
            && writes
            && has_callbacks
            && has_slots
            && has_links
            && has_sides
            && !(others_decide && self == Self::Promote)
    }

    /// Why it strikes nothing in a service that it is a fault of.
    pub(crate) fn why_not(self, service: &Service) -> &'static str {
        let alone = service.servers() == 1;
        match self {
            Self::SwallowReply => "nobody gives up waiting for an answer",
            Self::BlockEvents => "the clients have no event thread",
            Self::FullDisk => "no server writes to its disk and goes on without",
            Self::MoveSlot => "the servers are no cluster, so there are no slots",
            Self::Promote if service.has_links() => {
                "whoever watches the primary chooses the next, and not an operator"
            }
            Self::Partition => "there is one server, so that nobody is left on the other side",
            Self::IsolateServer | Self::HoldLink | Self::Promote if alone => {
                "there is one server, which has no link to another"
            }
            Self::IsolateServer | Self::HoldLink | Self::Promote => {
                "the servers know nothing of each other"
            }
            Self::Pause
            | Self::Crash
            | Self::Cancel
            | Self::ExpireSession
            | Self::Cut
            | Self::BlackHole
            | Self::SlowLink
            | Self::LoseRequest
            | Self::LoseReply
            | Self::LoseMessage
            | Self::DelayRequest
            | Self::DelayReply
            | Self::ClockJump
            | Self::ClockDrift
            | Self::CrashServer
            | Self::PowerLoss
            | Self::HangServer
            | Self::LagServer
            | Self::SlowDisk
            | Self::ServerClockJump
            | Self::FullMemory
            | Self::EvictKey
            | Self::DeleteNode
            | Self::RecreateLock => "it needs what this service does not have",
        }
    }

    /// Those that can strike in a scenario on a service, by name.
    pub fn named_on(service: ServiceKind) -> impl Iterator<Item = (&'static str, Self)> {
        let all = Self::NAMED.into_iter();
        all.filter(move |(_, kind)| kind.service().is_none_or(|of| of == service))
    }

    /// The only service that it can strike; `None` if it can strike any.
    pub fn service(self) -> Option<ServiceKind> {
        match self {
            Self::BlockEvents
            | Self::ExpireSession
            | Self::SwallowReply
            | Self::LagServer
            | Self::SlowDisk
            | Self::DeleteNode
            | Self::RecreateLock => Some(ServiceKind::ZooKeeper),
            Self::LoseMessage
            | Self::PowerLoss
            | Self::ServerClockJump
            | Self::FullMemory
            | Self::FullDisk
            | Self::MoveSlot
            | Self::EvictKey
            | Self::Promote => Some(ServiceKind::Redis),
            Self::Pause
            | Self::Crash
            | Self::Cancel
            | Self::Cut
            | Self::BlackHole
            | Self::SlowLink
            | Self::LoseRequest
            | Self::LoseReply
            | Self::DelayRequest
            | Self::DelayReply
            | Self::ClockJump
            | Self::ClockDrift
            | Self::CrashServer
            | Self::HangServer
            | Self::IsolateServer
            | Self::Partition
            | Self::HoldLink => None,
        }
    }

    /// Whether it breaks something between servers that talk to each other.
    fn needs_links(self) -> bool {
        matches!(self, Self::IsolateServer | Self::HoldLink | Self::Promote)
    }

    /// Its name in scenario files.
    pub fn name(self) -> &'static str {
        let mut named = Self::NAMED.iter();
        let found = named.find(|(_, kind)| *kind == self);
        found.map_or("fault", |(name, _)| name)
    }
}

/// Whether its servers write to disks, and go on if they cannot: one that must write before it answers ends.
pub(crate) fn writes_and_goes_on(service: &Service) -> bool {
    match service {
        Service::ZooKeeper(_) => false,
        Service::Redis(deployment) => !matches!(
            deployment.persistence,
            Persistence::None | Persistence::Log(Fsync::Always)
        ),
    }
}

/// Whether a callback that does not return holds up anything in its clients.
pub(crate) fn has_event_thread(service: &Service) -> bool {
    match service {
        Service::ZooKeeper(ensemble) => ensemble.library.has_event_thread(),
        Service::Redis(_) => false,
    }
}

/// Whether its clients give up a request that is not answered.
pub(crate) fn gives_up_waiting(service: &Service) -> bool {
    match service {
        Service::ZooKeeper(ensemble) => ensemble.request_timeout.is_some(),
        Service::Redis(_) => true,
    }
}

#[cfg(test)]
mod tests {
    use picklock_sim::plan::{Deployment, Ensemble};

    use super::*;

    #[test]
    fn every_kind_has_a_name_of_its_own() {
        for (place, (name, kind)) in FaultKind::NAMED.iter().enumerate() {
            assert_eq!(kind.name(), *name);
            assert!(
                FaultKind::NAMED[..place]
                    .iter()
                    .all(|(other, _)| other != name)
            );
        }
    }

    #[test]
    fn what_a_kind_cannot_strike_is_told_truly() {
        let redis = Service::Redis(Deployment::default());
        let alone = Service::ZooKeeper(Ensemble {
            servers: 1,
            ..Ensemble::default()
        });
        for service in [&redis, &alone] {
            for kind in FaultKind::all() {
                let of_it = kind.service().is_none_or(|of| of == service.kind());
                let why = kind.why_not(service);
                let known = why != "it needs what this service does not have";
                let fits = kind.can_strike(service) || !of_it || known;
                assert!(fits, "{} on {service:?}", kind.name());
            }
            let why = FaultKind::Partition.why_not(service);
            assert_eq!(
                why,
                "there is one server, so that nobody is left on the other side"
            );
        }
        let three = Service::Redis(Deployment {
            servers: 3,
            ..Deployment::default()
        });
        let why = FaultKind::HoldLink.why_not(&three);
        assert_eq!(why, "the servers know nothing of each other");
    }
}
