//! Faults that strike several servers at once, or a clock by more than a lease.

use picklock_sim::plan::{Fault, FaultKind, ServerName};

use super::fault_parameters::AimedFault;
use super::fault_variants::Variant;

impl AimedFault<'_> {
    /// Faults of a kind at several servers of an ensemble at once.
    pub(super) fn at_several_servers(
        &self,
        kind: FaultKind,
        variant: Variant,
    ) -> Option<Vec<Fault>> {
        let followers = u32::from(self.plan.service.servers()).saturating_sub(1);
        let struck: Vec<ServerName> = match variant {
            Variant::Majority => {
                let followers = (0..followers / 2).map(ServerName::Follower);
                followers.chain([ServerName::Leader]).collect()
            }
            Variant::LeaderAndOwn => vec![ServerName::Of(self.target), ServerName::Leader],
            _ => return None,
        };
        let fault = |target| match kind {
            FaultKind::HangServer => Fault::HangServer {
                target,
                length: self.lease.into(),
            },
            _ => Fault::CrashServer {
                target,
                restart_after: Some(self.back()),
            },
        };
        Some(struck.into_iter().map(fault).collect())
    }

    /// The servers that a contender is to be cut off from: the one that it talks to, or a majority of those it asks.
    pub(super) fn other_side(&self) -> Vec<ServerName> {
        if !self.plan.service.asks_majority() {
            return vec![self.its_server()];
        }
        let servers = u32::from(self.plan.service.servers());
        (0..=servers / 2).map(ServerName::Number).collect()
    }

    /// By how much a clock is set: back by a little; or ahead, or behind, by more than a lease and a hold.
    pub(super) fn clock_jump(&self, variant: Variant) -> i64 {
        let far = i64::try_from((self.lease * 4).as_millis()).unwrap_or(i64::MAX);
        match (variant, self.stay) {
            // What a holder has written down is old to others, and what they have is old to a waiter.
            (Variant::Best, Some(_)) | (Variant::Other, None) => -far,
            (Variant::Best, None) | (Variant::Other, Some(_)) => far,
            _ => -5_000,
        }
    }
}
