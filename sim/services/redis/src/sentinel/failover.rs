//! The failover, step by step, as the Sentinel that was elected does it.

use picklock_clients::redis::Command;
use picklock_machines::Chance;

use super::Sentinel;
use super::instance::Purpose;
use super::io::Event;
use super::replica::Reconfiguration;
use super::settings::{DESYNC_MILLIS, ELECTION, RECONFIGURATION};
use super::wall_time::Stamp;
use crate::replication_protocol::Address;

/// How far a failover is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FailoverState {
    /// There is none.
    None,
    /// A leader is to be elected.
    WaitStart,
    /// We were elected, and choose a replica.
    Select,
    /// The replica is to be promoted.
    Promote,
    /// The replica has the order, and is to say that it is the primary.
    WaitPromotion,
    /// The replica has said so; the others are told to follow it.
    Reconfigure,
    /// All is done but what we call the primary ourselves.
    Update,
}

/// The failover that goes on, or the last one.
#[derive(Clone, Debug)]
pub(super) struct Failover {
    pub stage: FailoverState,
    pub epoch: u64,
    /// When an attempt, of any Sentinel, last began, or a little later.
    pub started: Stamp,
    changed: Stamp,
    promoted: Option<Address>,
}

impl Failover {
    pub fn none() -> Self {
        Self {
            stage: FailoverState::None,
            epoch: 0,
            started: Stamp::LONG_AGO,
            changed: Stamp::LONG_AGO,
            promoted: None,
        }
    }

    pub fn is_in_progress(&self) -> bool {
        self.stage != FailoverState::None
    }
}

impl Sentinel {
    pub(super) fn enter(&mut self, stage: FailoverState) {
        self.failover.stage = stage;
        self.failover.changed = self.context.now;
    }

    /// Whether this replica was chosen.
    pub(super) fn is_promoted(&self, index: usize) -> bool {
        self.failover.promoted.as_ref() == Some(&self.replicas[index].own.address)
    }

    /// Where the replica is that was chosen.
    pub(super) fn promoted_address(&self) -> Option<Address> {
        self.failover.promoted.clone()
    }

    fn promoted_place(&self) -> Option<usize> {
        (0..self.replicas.len()).find(|index| self.is_promoted(*index))
    }

    /// Where clients are sent.
    pub(super) fn current_primary(&self) -> &Address {
        let promoted = match self.failover.stage {
            FailoverState::Reconfigure | FailoverState::Update => self.failover.promoted.as_ref(),
            FailoverState::None
            | FailoverState::WaitStart
            | FailoverState::Select
            | FailoverState::Promote
            | FailoverState::WaitPromotion => None,
        };
        promoted.unwrap_or(&self.primary.address)
    }

    /// Begins a failover if it is time to.
    pub(super) fn begin_if_needed(&mut self, chance: &mut dyn Chance) {
        let now = self.context.now;
        let twice = self.settings.failover_timeout * 2;
        let early = now.since(self.failover.started) < twice;
        if !self.objectively_down || self.failover.is_in_progress() || early {
            return;
        }
        self.epoch += 1;
        self.failover.epoch = self.epoch;
        self.note(Event::NewEpoch);
        self.note(Event::TryFailover);
        self.failover.started = now.later(self.desync(chance));
        self.enter(FailoverState::WaitStart);
        self.ask_other_sentinels(true, chance);
    }

    pub(super) fn desync(&self, chance: &mut dyn Chance) -> std::time::Duration {
        std::time::Duration::from_millis(chance.choose(DESYNC_MILLIS).into())
    }

    fn abort(&mut self, why: Event) {
        self.note(why);
        self.failover.promoted = None;
        for replica in &mut self.replicas {
            replica.reconfiguration = Reconfiguration::None;
        }
        self.enter(FailoverState::None);
    }

    fn overdue(&self) -> bool {
        self.context.now.since(self.failover.changed) > self.settings.failover_timeout
    }

    /// Takes the next step.
    pub(super) fn go_on(&mut self, chance: &mut dyn Chance) {
        match self.failover.stage {
            FailoverState::None | FailoverState::Update => {}
            FailoverState::WaitStart => self.wait_for_election(chance),
            FailoverState::Select => match self.select() {
                Some(replica) => {
                    self.context.note(Event::SelectedReplica, &replica);
                    self.context.note(Event::SendReplicaOfNoOne, &replica);
                    self.failover.promoted = Some(replica);
                    self.enter(FailoverState::Promote);
                }
                None => self.abort(Event::AbortNoGoodReplica),
            },
            FailoverState::Promote => self.promote(),
            FailoverState::WaitPromotion if self.overdue() => {
                self.abort(Event::AbortReplicaTimeout)
            }
            FailoverState::WaitPromotion => {}
            FailoverState::Reconfigure => self.reconfigure(),
        }
    }

    fn wait_for_election(&mut self, chance: &mut dyn Chance) {
        let leader = self.leader_of(self.failover.epoch, chance);
        if leader.is_some_and(|leader| leader == self.id) {
            self.note(Event::ElectedLeader);
            self.note(Event::SelectReplica);
            self.enter(FailoverState::Select);
            return;
        }
        let most = self.settings.failover_timeout.min(ELECTION);
        if self.context.now.since(self.failover.started) > most {
            self.abort(Event::AbortNotElected);
        }
    }

    fn promote(&mut self) {
        let reachable = self
            .promoted_place()
            .filter(|index| self.replicas[*index].own.connected);
        if let Some(index) = reachable {
            if self.order_to_follow(index, None) {
                let promoted = self.replicas[index].own.address.clone();
                self.context.note(Event::WaitPromotion, &promoted);
                self.enter(FailoverState::WaitPromotion);
            }
        } else if self.overdue() {
            self.abort(Event::AbortReplicaTimeout);
        }
    }

    /// Tells replicas to follow the new primary, a few at a time.
    fn reconfigure(&mut self) {
        let now = self.context.now;
        let busy = |sentinel: &Self| {
            let all = sentinel.replicas.iter();
            let under_way = all.filter(|replica| {
                matches!(
                    replica.reconfiguration,
                    Reconfiguration::Sent(_) | Reconfiguration::Begun
                )
            });
            under_way.count()
        };
        for index in 0..self.replicas.len() {
            let replica = &mut self.replicas[index];
            if let Reconfiguration::Sent(at) = replica.reconfiguration
                && now.since(at) > RECONFIGURATION
            {
                replica.reconfiguration = Reconfiguration::None;
            }
            let may = replica.reconfiguration == Reconfiguration::None && replica.own.connected;
            if may && !self.is_promoted(index) && busy(self) < self.settings.parallel_syncs {
                self.reconfigure_replica(index);
            }
        }
        self.end_if_done();
    }

    fn reconfigure_replica(&mut self, index: usize) {
        let promoted = self.failover.promoted.clone();
        if promoted.is_some() && self.order_to_follow(index, promoted.as_ref()) {
            let replica = &mut self.replicas[index];
            replica.reconfiguration = Reconfiguration::Sent(self.context.now);
            let about = replica.own.address.clone();
            self.context.note(Event::ReconfigurationSent, &about);
        }
    }

    fn end_if_done(&mut self) {
        let promoted = self.promoted_place();
        if promoted.is_none_or(|index| self.replicas[index].own.is_down) {
            return;
        }
        let left: Vec<usize> = (0..self.replicas.len())
            .filter(|index| {
                let replica = &self.replicas[*index];
                let done = replica.reconfiguration == Reconfiguration::Done;
                !done && !replica.own.is_down && !self.is_promoted(*index)
            })
            .collect();
        if self.overdue() {
            self.note(Event::FailoverEndForTimeout);
            for index in left {
                if self.replicas[index].reconfiguration == Reconfiguration::None {
                    self.reconfigure_replica(index);
                }
            }
        } else if !left.is_empty() {
            return;
        }
        self.note(Event::FailoverEnd);
        self.enter(FailoverState::Update);
    }

    /// Tells a server to follow another, or none, and to send its clients away.
    pub(super) fn order_to_follow(&mut self, index: usize, primary: Option<&Address>) -> bool {
        let follow = Command::new("REPLICAOF");
        let follow = match primary {
            None => follow.arg("NO").arg("ONE"),
            Some(Address { host, port }) => follow.arg(&**host).number(*port),
        };
        let kill = |kind: &str| Command::new("CLIENT").arg("KILL").arg("TYPE").arg(kind);
        let commands = [
            Command::new("MULTI"),
            follow,
            Command::new("CONFIG").arg("REWRITE"),
            kill("normal"),
            kill("pubsub"),
            Command::new("EXEC"),
        ];
        let own = &mut self.replicas[index].own;
        let context = &mut self.context;
        let mut said = commands.map(|command| own.send_command(Purpose::Order, command, context));
        said.iter_mut().all(|said| *said)
    }

    /// Calls another the primary from now on, and the old one a replica.
    pub(super) fn switch_to(&mut self, new: &Address) {
        let old = self.primary.address.clone();
        self.context.note(Event::SwitchPrimary, new);
        self.publish_switch(&old, new);
        self.primary.hang_up(&mut self.context);
        let mut others: Vec<Address> = Vec::new();
        for mut replica in std::mem::take(&mut self.replicas) {
            replica.own.hang_up(&mut self.context);
            if replica.own.address != *new {
                others.push(replica.own.address);
            }
        }
        if old != *new {
            others.push(old);
        }
        let now = self.context.now;
        let refreshed = self.primary.refreshed;
        self.primary = super::watched_primary(new.clone(), now);
        self.primary.refreshed = refreshed;
        let replicas = others.into_iter();
        self.replicas = replicas
            .map(|address| super::replica::Replica::new(address, now))
            .collect();
        self.objectively_down = false;
        self.leader = None;
        self.failover = Failover::none();
    }

    /// The last step: we call the new primary what it is.
    pub(super) fn update(&mut self) {
        if self.failover.stage == FailoverState::Update
            && let Some(promoted) = self.failover.promoted.clone()
        {
            self.switch_to(&promoted);
        }
    }
}
