//! A ZooKeeper server as a state machine: it is told what arrives and what time it is, and says what is to be sent.

use std::rc::Rc;
use std::time::Duration;

use picklock_checker::{VirtualTime, time::whole_micros};
use picklock_clients::zookeeper::{Acl, Data, Path, SessionId, Stat, Zxid, sequence};
use picklock_machines::Chance;

use super::clients::Clients;
use super::election::Election;
use super::follower::Following;
pub(super) use super::input_output::Turn;
pub use super::input_output::later;
pub use super::input_output::{Input, Output};
use super::leader::Leading;
use super::log::{TxnLog, WINDOW, WINDOW_ALONE};
use super::messages::{ConnectionId, ServerId};
use super::quorum_messages::{PeerMessage, Vote};
use super::read_only::ReadOnly;
pub use super::settings::{OUTSTANDING_LIMIT, QuorumPeerConfig, WALL_CLOCK_AT_START};
use super::tree::{DataTree, name_of};
use super::txn::{Created, ReapRule, Txn, parent_of};
use super::watches::WatchManager;

/// A server of an ensemble.
#[derive(Clone, Debug)]
pub struct Server {
    pub(super) id: ServerId,
    pub(super) settings: Rc<QuorumPeerConfig>,

    // On disk.
    pub(super) tree: DataTree,
    pub(super) log: TxnLog,
    pub(super) accepted_epoch: u32,
    pub(super) current_epoch: u32,

    // In memory.
    pub(super) role: Role,
    /// The beginning of the last epoch that it has led: its clients see it as if it were a transaction.
    pub(super) led_from: Zxid,
    pub(super) serving: bool,
    /// Set while it serves, but has no leader.
    pub(super) read_only: Option<Box<ReadOnly>>,
    pub(super) clients: Clients,
    pub(super) watches: WatchManager,
    /// What `exists` was answered last: ten thousand waiters ask for the same one after the other.
    pub(super) last_stat: Rc<Stat>,
    /// Sessions that have given signs of life since the leader last asked, and the number of that asking.
    pub(super) touched: Vec<(SessionId, u64)>,
    pub(super) touch_turn: u16,
    pub(super) next_session: SessionId,
    /// When connections that have been silent are looked for next.
    pub(super) idle_check: VirtualTime,
    /// Links to leaders so far.
    pub(super) links: u32,
    /// The last leader's log and ours did not fit together.
    pub(super) want_snapshot: bool,
    /// Elections so far, as far as we know, and our vote in the last.
    pub(super) round: u64,
    pub(super) vote: Vote,
    /// To which servers the connections for elections stand, as far as we know; by server.
    pub(super) connected_peers: Vec<bool>,
    /// Whether proposals are reported.
    pub(super) reports_proposals: bool,
    pub(super) wake: VirtualTime,
}

/// What a server does in the ensemble.
#[derive(Clone, Debug)]
pub(super) enum Role {
    /// It is not running.
    Down,
    /// It looks for a leader.
    Looking(Election),
    /// It follows, or tries to.
    Following(Following),
    /// It leads, or tries to.
    Leading(Box<Leading>),
}

impl Server {
    /// A server with an empty disk. It does not run until [`restart`](Self::restart).
    pub fn new(id: ServerId, settings: Rc<QuorumPeerConfig>) -> Self {
        let tree = DataTree::new(settings.version);
        Self::with_disk(id, settings, tree)
    }

    fn with_disk(id: ServerId, settings: Rc<QuorumPeerConfig>, tree: DataTree) -> Self {
        let window = match settings.machines() {
            0..=1 => WINDOW_ALONE,
            _ => WINDOW,
        };
        let log = TxnLog::new(tree.last_zxid(), settings.fsync, window);
        let watches = WatchManager::of(settings.version);
        let connected_peers = vec![false; usize::from(settings.machines())];
        Self {
            id,
            settings,
            tree,
            log,
            accepted_epoch: 0,
            current_epoch: 0,
            role: Role::Down,
            led_from: Zxid(0),
            serving: false,
            read_only: None,
            clients: Clients::default(),
            watches,
            last_stat: Rc::default(),
            touched: Vec::new(),
            touch_turn: 1,
            next_session: SessionId(0),
            idle_check: VirtualTime::NEVER,
            links: 0,
            want_snapshot: false,
            round: 0,
            vote: Vote {
                epoch: 0,
                zxid: Zxid(0),
                leader: id,
            },
            connected_peers,
            reports_proposals: true,
            wake: VirtualTime::NEVER,
        }
    }

    /// An ensemble that has formed already: the highest id that votes leads in epoch 1, all servers are in sync and
    /// serve, and these nodes are there. A node's parent has to stand before it.
    pub fn formed(settings: &Rc<QuorumPeerConfig>, nodes: &[(Path, ReapRule)]) -> Vec<Self> {
        let mut tree = DataTree::new(settings.version);
        for ((path, reaped), zxid) in nodes.iter().zip(1..) {
            let parent = parent_of(path).unwrap_or("/");
            let made = Created {
                path: Rc::clone(path),
                name: Rc::from(name_of(path)),
                number: sequence(path),
                parent: Rc::from(parent),
                data: Data::empty(),
                owner: SessionId(0),
                acl: Acl::OPEN,
                parent_creates: tree.get(parent).map_or(0, |parent| parent.creates) + 1,
                reaped: *reaped,
            };
            tree.create(Zxid(zxid), WALL_CLOCK_AT_START, &made);
            tree.set_last_zxid(Zxid(zxid));
        }
        let leader = ServerId(settings.servers.saturating_sub(1));
        (0..settings.machines())
            .map(|id| {
                let mut server = Self::with_disk(ServerId(id), Rc::clone(settings), tree.clone());
                server.accepted_epoch = 1;
                server.current_epoch = 1;
                server.start_formed(leader);
                server.set_wake();
                server
            })
            .collect()
    }

    /// Handles what happens.
    #[inline(always)]
    pub fn handle(
        &mut self,
        now: VirtualTime,
        input: Input,
        chance: &mut dyn Chance,
        out: &mut Vec<Output>,
    ) {
        let mut turn = Turn { now, chance, out };
        // What is overdue comes first: a paused server finds sessions expired before it reads what they have sent.
        if self.wake <= now {
            self.run_timers(&mut turn);
        }
        match input {
            Input::Client {
                connection,
                message,
            } => self.client(&mut turn, connection, message),
            Input::ClientGone { connection } => self.forget_connection(connection),
            Input::Peer { from, message } => self.peer(&mut turn, from, message),
            Input::PeerLost { peer } => self.peer_lost(&mut turn, peer),
            Input::Wake => {}
        }
        self.set_wake();
    }

    /// When [`Input::Wake`] is due; [`VirtualTime::NEVER`] if nothing is. It may change with every input.
    pub fn next_wake(&self) -> VirtualTime {
        self.wake
    }

    /// The process dies. What was in memory is lost, and what was not yet safe on disk.
    pub fn crash(&mut self, now: VirtualTime) {
        self.log.crash(now);
        self.role = Role::Down;
        self.led_from = Zxid(0);
        self.serving = false;
        self.read_only = None;
        self.clients = Clients::default();
        self.watches.clear();
        self.touched.clear();
        self.idle_check = VirtualTime::NEVER;
        self.round = 0;
        self.connected_peers.fill(false);
        self.wake = VirtualTime::NEVER;
    }

    /// The process starts, with what is on its disk, and looks for a leader.
    pub fn restart(&mut self, now: VirtualTime, chance: &mut dyn Chance, out: &mut Vec<Output>) {
        let mut turn = Turn { now, chance, out };
        self.look_for_leader(&mut turn);
        self.set_wake();
    }

    /// The leader acts as if it had not heard from a session. Does nothing on other servers, and nothing to a session
    /// that is not alive.
    pub fn expire_session(
        &mut self,
        now: VirtualTime,
        session: SessionId,
        chance: &mut dyn Chance,
        out: &mut Vec<Output>,
    ) {
        let mut turn = Turn { now, chance, out };
        if self.wake <= now {
            self.run_timers(&mut turn);
        }
        self.expire_now(&mut turn, session);
        self.set_wake();
    }

    /// From now on a flush of the log takes this long.
    pub fn set_fsync(&mut self, flush: Duration) {
        self.log.set_flush(whole_micros(flush));
    }

    /// Its id.
    pub fn id(&self) -> ServerId {
        self.id
    }

    /// Whether it leads and a quorum follows, as far as it knows. A single server leads itself.
    pub fn is_leader(&self) -> bool {
        matches!(&self.role, Role::Leading(leading) if leading.is_established())
    }

    /// The newest transaction that it has applied.
    pub fn last_applied(&self) -> Zxid {
        self.tree.last_zxid()
    }

    /// Whether it accepts clients.
    pub fn is_serving(&self) -> bool {
        self.serving
    }

    /// Whether it answers reads alone, because it has no leader.
    pub fn is_read_only(&self) -> bool {
        self.read_only.is_some()
    }

    /// Whether its process runs.
    pub fn is_running(&self) -> bool {
        !matches!(self.role, Role::Down)
    }

    /// What it has applied.
    pub fn tree(&self) -> &DataTree {
        &self.tree
    }

    /// The newest zxid that its clients see.
    pub(super) fn newest(&self) -> Zxid {
        self.readable().last_zxid().max(self.led_from)
    }

    /// The newest transaction that it has logged, applied or not.
    pub fn last_logged(&self) -> Zxid {
        self.log.last_zxid()
    }

    /// The transactions that it has logged lately, oldest first.
    pub fn logged(&self) -> impl Iterator<Item = &Txn> {
        self.log.iter()
    }

    /// The session of a connection, once there is one.
    pub fn session_of(&self, connection: ConnectionId) -> Option<SessionId> {
        self.clients
            .connections
            .get(connection)
            .filter(|connection| connection.established)
            .map(|connection| connection.session)
    }

    /// How many client connections it has.
    pub fn connection_count(&self) -> usize {
        self.clients.connections.len()
    }

    /// How many watches are set on it.
    pub fn watch_count(&self) -> usize {
        self.watches.count()
    }

    /// Whether it leads and keeps this session, and has not marked it as closing.
    pub fn keeps_alive(&self, session: SessionId) -> bool {
        matches!(&self.role, Role::Leading(leading) if leading.keeps_alive(session))
    }

    #[inline(never)]
    pub(super) fn run_timers(&mut self, turn: &mut Turn) {
        match &self.role {
            Role::Down => {}
            Role::Looking(_) => {
                self.expire_local_sessions(turn);
                self.election_timers(turn);
            }
            Role::Following(_) => self.follower_timers(turn),
            Role::Leading(_) => self.leader_timers(turn),
        }
        if self.idle_check <= turn.now {
            self.close_idle(turn);
        }
    }

    #[inline(always)]
    pub(super) fn set_wake(&mut self) {
        let role = match &self.role {
            Role::Down => VirtualTime::NEVER,
            Role::Looking(election) => match &self.read_only {
                Some(read_only) => election.next_wake().min(read_only.next_wake()),
                None => election.next_wake(),
            },
            Role::Following(following) => following.next_wake(),
            Role::Leading(leading) if self.tree.has_reaped() => {
                leading.next_wake(&self.settings).min(leading.next_reaping)
            }
            Role::Leading(leading) => leading.next_wake(&self.settings),
        };
        self.wake = role.min(self.idle_check);
    }

    #[inline(always)]
    fn peer(&mut self, turn: &mut Turn, from: ServerId, message: PeerMessage) {
        match &self.role {
            Role::Down => {}
            Role::Looking(_) => self.peer_while_looking(turn, from, message),
            Role::Following(_) => self.peer_while_following(turn, from, message),
            Role::Leading(_) => self.peer_while_leading(turn, from, message),
        }
    }

    #[cold]
    fn peer_lost(&mut self, turn: &mut Turn, peer: ServerId) {
        if let Some(connected) = self.connected_peers.get_mut(usize::from(peer.0)) {
            *connected = false;
        }
        match &mut self.role {
            Role::Down => {}
            Role::Looking(election) => election.forget(peer),
            Role::Following(following) if following.leader == peer => self.leader_lost(turn),
            Role::Following(_) => {}
            Role::Leading(leading) => leading.drop_learner(peer),
        }
    }

    /// Begins to accept clients.
    #[cold]
    pub(super) fn start_serving(&mut self, now: VirtualTime) {
        self.serving = true;
        self.next_session = self.next_session.max(super::session_tracker::first_session(
            self.id,
            now.micros() / 1_000,
        ));
    }

    /// Closes all client connections, and refuses new ones.
    #[cold]
    pub(super) fn stop_serving(&mut self, turn: &mut Turn) {
        if !self.serving {
            return;
        }
        self.serving = false;
        self.read_only = None;
        for id in self.clients.connections.keys() {
            turn.out.push(Output::CloseClient { connection: id });
        }
        self.clients = Clients::default();
        self.watches.clear();
        self.touched.clear();
        self.idle_check = VirtualTime::NEVER;
        turn.out.push(Output::StoppedServing);
    }
}
