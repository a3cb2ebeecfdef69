//! Kinds of faults: what they are called, and what they can strike.

use std::time::Duration;

use picklock_algorithms::Recipe;
use picklock_clients::ServiceKind;

use super::{
    Fault, FaultDuration, FaultEffect, FaultKind, Field, FieldType, Plan, RedisLibrary, Service,
};

/// What must be on its way when a fault strikes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MessageInFlight {
    /// A request, to the server.
    Request,
    /// An answer, back to the client.
    Reply,
    /// The message of a channel, to the client.
    Message,
}

impl FaultKind {
    /// Its name in scenario files.
    pub fn name(self) -> &'static str {
        self.spec().name
    }

    /// The service that it can strike, alone or with those that share it ([`is_of`](Self::is_of)); `None` if it can
    /// strike any.
    pub fn service(self) -> Option<ServiceKind> {
        self.spec().service
    }

    /// Whether it can strike this service: as a fault of all services, of this one, or of another that shares it.
    pub fn is_of(self, service: ServiceKind) -> bool {
        let shares = || Service::from(service).row().shares.contains(&self);
        self.service().is_none_or(|of| of == service) || shares()
    }

    /// Those that are drawn, and hunted with, if no kinds are named.
    pub fn unasked() -> Vec<Self> {
        let mut all = Self::ALL.to_vec();
        all.retain(|kind| kind.spec().drawn_unasked);
        all
    }

    /// Every kind with its name.
    pub fn named() -> Vec<(&'static str, Self)> {
        Self::ALL.iter().map(|kind| (kind.name(), *kind)).collect()
    }

    /// Those that can strike in a scenario on a service, by name.
    pub fn named_on(service: ServiceKind) -> impl Iterator<Item = (&'static str, Self)> {
        let all = Self::named().into_iter();
        all.filter(move |(_, kind)| kind.is_of(service))
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
            .filter(|kind| *kind != Self::Cancel || plan.recipe.cancellable)
            .filter(|kind| *kind != Self::BlockEvents || has_event_loop(&plan.recipe))
            .filter(|kind| *kind != Self::Revoke || plan.recipe.revoke_message().is_some())
            // A replica that loses its primary, and no more than that, learns nothing that it could act upon.
            .filter(|kind| *kind != Self::IsolateServer || plan.service.elects())
            .collect()
    }

    /// Whether there is anything in a service that it could strike, for a lock to outlive.
    pub fn can_strike(self, service: &Service) -> bool {
        self.can_be_tried(service) && self.is_outlived(service)
    }

    /// Whether a lock can outlive it: a client without a time-out waits for an answer for ever.
    pub fn is_outlived(self, service: &Service) -> bool {
        self != Self::SwallowReply || service.has_request_timeout()
    }

    /// Whether there is anything in a service that it could strike.
    pub fn can_be_tried(self, service: &Service) -> bool {
        let is_there = self.is_of(service.kind());
        let has_links = service.has_links() || !self.needs_links();
        let has_sides = service.servers() > 1 || self != Self::Partition;
        // Where there are Sentinels, they decide, and the nodes of a cluster do.
        let others_decide = service.sentinels() > 0 || service.elects();
        let writes = self != Self::FullDisk || service.tolerates_disk_errors();
        let has_callbacks = self != Self::BlockEvents || service.has_event_thread();
        let has_names = service.has_names() || self != Self::DeleteStale;
        let has_slots = service.slot_owners().is_some() || self != Self::MoveSlot;
        is_there
            && writes
            && has_callbacks
            && has_names
            && has_slots
            && has_links
            && has_sides
            && !(others_decide && self == Self::Promote)
    }

    /// Why it strikes nothing in a service that it is a fault of.
    pub fn why_not(self, service: &Service) -> &'static str {
        let alone = service.servers() == 1;
        match self {
            Self::SwallowReply => "no client gives up waiting for an answer",
            Self::BlockEvents => "the clients have no event thread",
            Self::DeleteStale => {
                "the server forgets a lock by itself, and has no name to delete it by"
            }
            Self::FullDisk => "no server writes to its disk and goes on without",
            Self::MoveSlot => "the servers are no cluster, so there are no slots",
            Self::Promote if service.has_links() => {
                "Sentinels or the nodes of a cluster choose the next primary, and not an operator"
            }
            Self::Partition => "there is one server, so that no server is left on the other side",
            Self::IsolateServer | Self::HoldLink | Self::Promote if alone => {
                "there is one server, which has no link to another"
            }
            Self::IsolateServer | Self::HoldLink | Self::Promote => {
                "the servers know nothing of each other"
            }
            _ => "it needs what this service does not have",
        }
    }

    /// Whether one of its fields holds this.
    pub fn has_field(self, holds: FieldType) -> bool {
        let mut fields = self.spec().fields.iter();
        fields.any(|field| field.holds == holds)
    }

    /// Whether it strikes one contender.
    pub fn strikes_contender(self) -> bool {
        self.has_field(FieldType::Contender)
    }

    /// The request or message in flight that it strikes, if it strikes a single one.
    pub fn strikes_message(self) -> Option<MessageInFlight> {
        match self.spec().effect {
            FaultEffect::LostRequest | FaultEffect::LateRequest => Some(MessageInFlight::Request),
            FaultEffect::LostReply | FaultEffect::LateReply => Some(MessageInFlight::Reply),
            FaultEffect::LostMessage => Some(MessageInFlight::Message),
            FaultEffect::Standstill
            | FaultEffect::Silence
            | FaultEffect::Death
            | FaultEffect::Withdrawal
            | FaultEffect::Loss
            | FaultEffect::Disconnection
            | FaultEffect::WallClock
            | FaultEffect::Disagreement
            | FaultEffect::PowerLoss
            | FaultEffect::Recreation => None,
        }
    }

    /// Whether it breaks something between servers that talk to each other.
    fn needs_links(self) -> bool {
        matches!(self, Self::IsolateServer | Self::HoldLink | Self::Promote)
    }
}

/// Whether the client library of a recipe reads in an event loop: where none is known, clients do.
fn has_event_loop(recipe: &Recipe) -> bool {
    let library = recipe.client_library().and_then(RedisLibrary::named);
    library.is_none_or(RedisLibrary::has_event_loop)
}

impl Fault {
    /// How long it stays; `None` if it is over as soon as it has struck. A drift of a clock without an end of its own
    /// stays for as long as the run says.
    pub fn lasts(&self) -> Option<FaultDuration> {
        self.fields().into_iter().find_map(|field| match field {
            (_, Field::FaultDuration(lasts)) => Some(lasts),
            ("restart-after", Field::MaybeDuration(back_after)) => Some(back_after.into()),
            ("for", Field::MaybeDuration(length)) => length.map(FaultDuration::For),
            ("for" | "think", Field::Duration(length)) => Some(FaultDuration::For(length)),
            _ => None,
        })
    }

    /// For how long something can still come late because of it when it is over: a message that it holds up, or
    /// what was sent or written at its very end.
    pub fn lingers(&self) -> Duration {
        match *self {
            Self::DelayRequest { by, .. }
            | Self::DelayReply { by, .. }
            | Self::SlowLink { by, .. }
            | Self::LagServer { by, .. }
            | Self::SlowDisk { fsync: by, .. } => by,
            // What a script deletes is on its way.
            Self::DeleteStale { .. } => Duration::from_secs(1),
            // What was lost again and again is sent again at most as long after the end as it has been tried until
            // then.
            Self::LosePackets { length, .. } => length,
            _ => Duration::ZERO,
        }
    }

    /// Whether what it breaks stays broken, in the calm too.
    pub fn is_for_good(&self) -> bool {
        self.lasts() == Some(FaultDuration::ForGood)
    }
}

impl Plan {
    /// How long a fault stays in a run of this plan; `None` if it is over as soon as it has struck. If the plan says no
    /// length, a clock drifts until an operator sets it right: long enough to matter to a session.
    pub fn lasts(&self, fault: &Fault) -> Option<FaultDuration> {
        match fault {
            Fault::ClockDrift { length: None, .. } => {
                Some(FaultDuration::For(self.service.lease_at_most() * 3))
            }
            other => other.lasts(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Deployment, Ensemble};
    use super::*;

    #[test]
    fn every_kind_has_a_row_and_a_name_of_its_own() {
        for (index, kind) in FaultKind::ALL.iter().enumerate() {
            let spec = kind.spec();
            let before = &FaultKind::ALL[..index];
            assert!(before.iter().all(|other| other.name() != spec.name));
            assert!(
                spec.example
                    .starts_with(&format!("inject.{} = ", spec.name))
            );
            for field in spec.fields {
                let read = spec.sentence.contains(field.key);
                assert!(read, "{} does not say {}", spec.name, field.key);
            }
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
            for kind in FaultKind::ALL.iter().copied() {
                let of_it = kind.is_of(service.kind());
                let why = kind.why_not(service);
                let known = why != "it needs what this service does not have";
                let fits = kind.can_strike(service) || !of_it || known;
                assert!(fits, "{} on {service:?}", kind.name());
            }
            let why = FaultKind::Partition.why_not(service);
            assert_eq!(
                why,
                "there is one server, so that no server is left on the other side"
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
