//! A replica of a cell: it promises masters their lease, wants to be elected when there is none, or is the master.

use std::collections::BTreeSet;
use std::time::Duration;

use picklock_checker::VirtualTime;
use picklock_clients::chubby::{Epoch, ServerBody, ServerMessage};
use picklock_machines::{Alarm, Chance, ConnectionId, Machine, Now, ServerId};

use crate::database::Cell;
use crate::io::{Input, Output, PeerMessage};
use crate::master::Master;
use crate::settings::Settings;

/// A replica.
pub struct Replica {
    id: ServerId,
    settings: Settings,
    cell: Cell,
    /// The replica that it has promised to elect no other, in which epoch, and until when. This is on its disk.
    promised: (Epoch, ServerId),
    promised_until: VirtualTime,
    /// The newest epoch in which another has refused it.
    newest: Epoch,
    /// When it wants to be the master, if there is none.
    stands_at: VirtualTime,
    /// What it has asked for last as a candidate or a master, and which replicas have promised it.
    asked: Option<(Epoch, VirtualTime)>,
    promises: BTreeSet<ServerId>,
    master_until: VirtualTime,
    master: Option<Master>,
}

impl Replica {
    /// A replica of a cell that has elected a master at the beginning of time.
    pub fn new(id: ServerId, master: ServerId, cell: &Cell, settings: &Settings) -> Self {
        let epoch = Epoch(1);
        let promised_until = VirtualTime::ZERO + settings.master_lease;
        let is_master = id == master;
        Self {
            id,
            cell: cell.clone(),
            promised: (epoch, master),
            promised_until,
            newest: epoch,
            stands_at: promised_until + settings.election_time + settings.turn() * u32::from(id.0),
            asked: is_master.then_some((epoch, VirtualTime::ZERO)),
            promises: BTreeSet::new(),
            master_until: promised_until,
            master: is_master
                .then(|| Master::new(epoch, cell.clone(), settings.clone(), VirtualTime::ZERO)),
            settings: settings.clone(),
        }
    }

    /// Whether it is the master, as far as it knows.
    pub fn is_master(&self) -> bool {
        self.master.is_some()
    }

    /// The last epoch in which it has promised something.
    pub fn epoch(&self) -> Epoch {
        self.promised.0
    }

    /// Looks at the clock.
    fn tick(&mut self, now: VirtualTime, chance: &mut dyn Chance, out: &mut Vec<Output>) {
        if self.master_until <= now {
            self.step_down(out);
        }
        match &mut self.master {
            Some(master) => {
                master.tick(now, out);
                if self.renews_at() <= now {
                    self.ask(now, self.promised.0, out);
                }
            }
            None if self.stands_at <= now => {
                self.stands_at = self.next_election(now + self.settings.master_lease, chance);
                let Epoch(epoch) = self.promised.0.max(self.newest);
                self.ask(now, Epoch(epoch + 1), out);
            }
            None => {}
        }
    }

    /// When a master asks again.
    fn renews_at(&self) -> VirtualTime {
        let asked = self.asked.map_or(VirtualTime::ZERO, |(_, at)| at);
        asked + self.settings.master_lease / 3
    }

    /// When it wants to be elected: each replica in its turn, so that two do not come at the same time again and again.
    fn next_election(&self, promised_until: VirtualTime, chance: &mut dyn Chance) -> VirtualTime {
        let slot = self.settings.turn();
        let most = u32::try_from(slot.as_millis() / 2).unwrap_or(u32::MAX - 1);
        let more = Duration::from_millis(chance.choose(most + 1).into());
        promised_until + self.settings.election_time + slot * u32::from(self.id.0) + more
    }

    /// Asks all for their promise, and gives its own.
    fn ask(&mut self, now: VirtualTime, epoch: Epoch, out: &mut Vec<Output>) {
        self.asked = Some((epoch, now));
        self.promises.clear();
        self.promise((epoch, self.id), now);
        let others = (0..self.settings.replicas).map(ServerId);
        for other in others.filter(|other| *other != self.id) {
            out.push(Output::ToPeer(other, PeerMessage::Propose(epoch, now)));
        }
        self.promised_by(self.id, now, out);
    }

    fn promise(&mut self, to: (Epoch, ServerId), now: VirtualTime) {
        self.promised = to;
        self.promised_until = now + self.settings.master_lease;
    }

    /// What it has asked for was promised. With a majority it is the master, for a lease that is counted from asking.
    fn promised_by(&mut self, by: ServerId, now: VirtualTime, out: &mut Vec<Output>) {
        self.promises.insert(by);
        let Some((epoch, asked)) = self.asked else {
            return;
        };
        if self.promises.len() < self.settings.majority() {
            return;
        }
        self.master_until = self.master_until.max(asked + self.settings.master_lease);
        if self.master.is_none() && self.master_until > now {
            let (cell, settings) = (self.cell.clone(), self.settings.clone());
            self.master = Some(Master::new(epoch, cell, settings, now));
            out.push(Output::BecameMaster(epoch));
        }
    }

    /// It is not elected in the epoch in which it has asked, for another replica has promised something in one that is
    /// no older. It takes its own promise back, which no master has come of, and so may promise another candidate.
    fn give_up(&mut self, now: VirtualTime) {
        self.asked = None;
        if self.promised.1 == self.id {
            self.promised_until = self.promised_until.min(now);
        }
    }

    fn step_down(&mut self, out: &mut Vec<Output>) {
        if let Some(master) = self.master.take() {
            self.asked = None;
            out.push(Output::SteppedDown);
            master.turn_away(out);
        }
    }

    fn on_peer(
        &mut self,
        (from, message): (ServerId, PeerMessage),
        now: VirtualTime,
        chance: &mut dyn Chance,
        out: &mut Vec<Output>,
    ) {
        match message {
            PeerMessage::Propose(epoch, asked) => {
                let is_new = epoch > self.promised.0 && self.promised_until <= now;
                if is_new || self.promised == (epoch, from) {
                    self.asked = None;
                    self.promise((epoch, from), now);
                    self.stands_at = self.next_election(self.promised_until, chance);
                    out.push(Output::ToPeer(from, PeerMessage::Promise(epoch, asked)));
                } else if epoch <= self.promised.0 {
                    out.push(Output::ToPeer(from, PeerMessage::Refuse(self.promised.0)));
                }
            }
            PeerMessage::Refuse(epoch) => {
                self.newest = self.newest.max(epoch);
                if self.asked.is_some_and(|(asked, _)| asked <= epoch) && self.master.is_none() {
                    self.give_up(now);
                }
            }
            PeerMessage::Promise(epoch, asked) => {
                if self.asked == Some((epoch, asked)) {
                    self.promised_by(from, now, out);
                }
            }
        }
    }

    /// The answer of a replica that is not the master: which one is.
    fn not_master(&self, now: VirtualTime, connection: ConnectionId, call: u32) -> Output {
        let (_, ServerId(master)) = self.promised;
        let is_other = self.promised_until > now && master != self.id.0;
        let body = ServerBody::NotMaster(is_other.then_some(master));
        Output::ToClient(connection, ServerMessage { call, body })
    }
}

impl Machine for Replica {
    type Input = Input;
    type Output = Output;
    const WAKE: Input = Input::Wake;

    fn handle(
        &mut self,
        now: Now,
        input: Input,
        chance: &mut dyn Chance,
        out: &mut Vec<Output>,
    ) -> Alarm {
        let now = now.monotonic;
        self.tick(now, chance, out);
        match (input, &mut self.master) {
            (Input::Client(connection, message), Some(master)) => {
                master.receive(now, connection, message, out);
            }
            (Input::Client(connection, message), None) => {
                out.push(self.not_master(now, connection, message.call));
            }
            (Input::ClientGone(connection), Some(master)) => master.client_gone(connection),
            (Input::Peer(from, message), _) => self.on_peer((from, message), now, chance, out),
            (Input::Restart, _) => {
                self.master = None;
                self.asked = None;
                self.stands_at = self.next_election(self.promised_until.max(now), chance);
            }
            (Input::ClientGone(_), None) | (Input::Wake, _) => {}
        }
        Alarm::MayBeEarlier
    }

    fn next_wake(&self) -> VirtualTime {
        match &self.master {
            Some(master) => (master.next_wake().min(self.renews_at())).min(self.master_until),
            None => self.stands_at,
        }
    }
}
