//! Drawn faults between servers, and between servers and clients.

use picklock_sim::plan::{ContenderName, Fault, FaultDuration, ServerName};

use super::draw::Draw;
use super::faults::Storm;

impl Storm<'_> {
    /// One server, and each contender with even odds.
    pub(super) fn partition(
        &self,
        target: ServerName,
        length: FaultDuration,
        draw: &mut Draw,
    ) -> Fault {
        let contenders = (0..self.plan.workload.contenders).map(ContenderName);
        Fault::Partition {
            servers: vec![target],
            contenders: contenders.filter(|_| draw.once_in(2)).collect(),
            length,
        }
    }

    /// Between the leader and some followers: most of them, so that there is no quorum, or just one.
    pub(super) fn hold_link(&self, length: FaultDuration, draw: &mut Draw) -> Fault {
        if !self.plan.service.row().has_roles {
            let primary = u32::from(self.plan.service.first_primary());
            let another = (primary + 1 + draw.below(self.servers - 1)) % self.servers;
            return Fault::HoldLink {
                from: vec![ServerName::Number(primary)],
                to: ServerName::Number(another),
                length,
            };
        }
        let followers: Vec<ServerName> = (0..self.servers - 1).map(ServerName::Follower).collect();
        let held = match draw.once_in(2) {
            true => followers.len() / 2 + 1,
            false => 1,
        };
        let first = draw.below(followers.len() as u32) as usize;
        let several = followers
            .iter()
            .cycle()
            .skip(first)
            .take(held.min(followers.len()));
        if draw.once_in(2) {
            let to = ServerName::Leader;
            return Fault::HoldLink {
                from: several.copied().collect(),
                to,
                length,
            };
        }
        let to = followers
            .get(first)
            .copied()
            .unwrap_or(ServerName::Follower(0));
        Fault::HoldLink {
            from: vec![ServerName::Leader],
            to,
            length,
        }
    }
}
