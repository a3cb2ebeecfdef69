//! Plans: everything that a run will do, as plain data.
//!
//! A plan is what runs, what is printed, what is shrunk, and what can be saved as a scenario. Nothing in it is
//! drawn while the run goes on, except latencies and ties, which come from the tape.

use std::time::Duration;

use picklock_algorithms::Recipe;
use picklock_algorithms::clients::RequestKind;

mod lasts;
mod names;
mod service;

pub use crate::engine::Strategy;
pub use lasts::Lasts;
pub use names::{ContenderName, Direction, ServerName};
pub(crate) use service::LOCK_KEY;
pub use service::{
    Cluster, Connections, Deployment, Ensemble, Fsync, JUTE_MAX_BUFFER, Persistence, ReadFrom,
    Sentinels, Service,
};

/// Everything that a run will do.
#[derive(Clone)]
pub struct Plan {
    /// The algorithm under test.
    pub recipe: Recipe,
    /// The service that it stands on.
    pub service: Service,
    /// The network between everybody.
    pub network: Network,
    /// Who wants the lock, and what for.
    pub workload: Workload,
    /// The protected resource.
    pub resource: Resource,
    /// What breaks, in the order of the scenario file.
    pub faults: Vec<PlannedFault>,
    /// The run gives up, undecided, after this many engine events.
    pub event_budget: u64,
}

/// The network between everybody.
#[derive(Clone, Debug, PartialEq)]
pub struct Network {
    /// How chance decides how long each message takes, and which of several goes first.
    pub chance: Strategy,
    /// One-way latency between a client and a server (service or resource): from, to (both inclusive).
    pub client_latency: (Duration, Duration),
    /// One-way latency between servers.
    pub server_latency: (Duration, Duration),
}

impl Default for Network {
    fn default() -> Self {
        Self {
            chance: Strategy::Even,
            client_latency: (Duration::from_millis(1), Duration::from_millis(5)),
            server_latency: (Duration::from_micros(200), Duration::from_millis(1)),
        }
    }
}

/// Who wants the lock, and what for.
#[derive(Clone, Debug, PartialEq)]
pub struct Workload {
    /// How many contenders there are: `contender-1` and so on, each a process with a client of its own.
    pub contenders: u32,
    /// How they come.
    pub arrive: Arrival,
    /// How often each wants the lock.
    pub rounds: u32,
    /// How long each waits for the lock before it gives up, and comes again. `None`: for as long as it takes.
    pub patience: Option<Duration>,
    /// How often a section enters the lock, one call inside the other; all but the outermost entry are left before the
    /// section does its work.
    pub entries: u32,
    /// How long a section lasts, apart from what it does to the resource.
    pub hold: Hold,
    /// Time between a release and the next acquire of the same contender: from, to.
    pub think: (Duration, Duration),
    /// What a section does to the resource.
    pub section: Section,
    /// Clients that read something else on the same service all the time.
    pub bystanders: u32,
    /// Time between two reads of a bystander.
    pub bystander_every: Duration,
    /// How long everybody has to get the lock once the storm is over. `None`: computed from the scenario.
    pub progress_bound: Option<Duration>,
    /// The storm ends at this time at the latest. `None`: when every fault has fired and healed, or cannot any more.
    pub storm: Option<Duration>,
}

impl Default for Workload {
    fn default() -> Self {
        Self {
            contenders: 3,
            arrive: Arrival::Together,
            rounds: 1,
            patience: None,
            entries: 1,
            hold: Hold::For(Duration::from_millis(10)),
            think: (Duration::ZERO, Duration::ZERO),
            section: Section::Write,
            bystanders: 0,
            bystander_every: Duration::from_millis(10),
            progress_bound: None,
            storm: None,
        }
    }
}

/// How contenders come to the lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// All at once; who is first is up to the network.
    Together,
    /// One after the other: each comes when the one before it holds the lock or is in the queue.
    InOrder,
    /// The first takes the lock and does not start its section before all others wait.
    BehindHolder,
    /// The same, and the others set out in their order; on a network of one latency, they queue up in it.
    InOrderBehindHolder,
    /// Each at a random moment within this time.
    Within(Duration),
}

impl Arrival {
    /// Whether the first holds the lock until all others wait.
    pub fn is_behind_holder(self) -> bool {
        matches!(self, Self::BehindHolder | Self::InOrderBehindHolder)
    }
}

/// How long a section lasts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hold {
    /// This long.
    For(Duration),
    /// Until nothing is under way any more: one release at a time.
    Settled,
}

/// What a section does to the resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Section {
    /// Holds, then writes once.
    Write,
    /// Reads a counter, holds, and writes back one more.
    Count,
    /// Reads the stock, holds, and writes back one less, unless nothing is left.
    Sell {
        /// What there is at first.
        stock: i64,
    },
    /// Writes once, at once, and does not wait for the answer; the write travels for a random time up to this before
    /// it reaches the resource.
    DelayedWrite {
        /// How long at most.
        delay: Duration,
    },
    /// Nothing.
    Nothing,
}

/// The protected resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resource {
    /// Whether it refuses a write whose token is lower than one that it has seen.
    pub fenced: bool,
}

/// A fault and when it happens.
#[derive(Clone, Debug, PartialEq)]
pub struct PlannedFault {
    /// What must happen first.
    pub when: Trigger,
    /// How long after that the fault strikes.
    pub after: Duration,
    /// What breaks.
    pub inject: Fault,
    /// What it does, as a person would say it: `pause contender-1 for 20s`. Reports show it.
    pub text: String,
}

/// What a fault waits for. Each fires once.
#[derive(Clone, Debug, PartialEq)]
#[expect(
    missing_docs,
    reason = "fields mean the same in every variant, and the variants are documented"
)]
pub enum Trigger {
    /// The run has lasted this long.
    At(Duration),
    /// A contender calls `acquire` for the `nth` time.
    Acquiring { by: ContenderName, nth: u32 },
    /// The service has put a contender in the queue for the `nth` time (first in it or not).
    Queued { by: ContenderName, nth: u32 },
    /// A contender waits: it has found, for the `nth` time, that another is ahead of it.
    Waiting { by: ContenderName, nth: u32 },
    /// A contender's `acquire` has returned the lock for the `nth` time.
    Acquired { by: ContenderName, nth: u32 },
    /// A contender is about to send a write to the resource for the `nth` time.
    Writing { by: ContenderName, nth: u32 },
    /// A contender calls `release` for the `nth` time.
    Releasing { by: ContenderName, nth: u32 },
    /// A contender's `release` has returned for the `nth` time.
    Released { by: ContenderName, nth: u32 },
    /// A contender's client puts its `nth` request of a kind on the wire.
    Sent {
        request: RequestKind,
        by: ContenderName,
        nth: u32,
    },
    /// The leader has proposed the `nth` write of a kind of a contender.
    Proposed {
        request: RequestKind,
        by: ContenderName,
        nth: u32,
    },
    /// The `nth` write of a kind of a contender is committed.
    Committed {
        request: RequestKind,
        by: ContenderName,
        nth: u32,
    },
    /// A server sends the answer to a contender's `nth` request of a kind.
    Answered {
        request: RequestKind,
        by: ContenderName,
        nth: u32,
    },
    /// The primary has sent its replicas what a contender's `nth` request of a kind has changed.
    Streamed {
        request: RequestKind,
        by: ContenderName,
        nth: u32,
    },
    /// What a contender's `nth` write of a kind has changed has come to be so at a server that follows another.
    Applied {
        request: RequestKind,
        by: ContenderName,
        nth: u32,
        at: ServerName,
    },
    /// A server sends a contender its `nth` message of a channel.
    Told { by: ContenderName, nth: u32 },
    /// The service has expired a contender's session.
    SessionExpired { by: ContenderName },
    /// A contender's client has lost its connection, or has given it up, for the `nth` time.
    Disconnected { by: ContenderName, nth: u32 },
    /// A contender's client is connected again, in the same session, for the `nth` time.
    Reconnected { by: ContenderName, nth: u32 },
    /// A contender's client has learned for the `nth` time that its session is gone.
    SessionLost { by: ContenderName, nth: u32 },
    /// A server has come to lead the others, for the `nth` time since the run began.
    Elected { nth: u32 },
    /// Another fault of the plan, by its place from zero, has fired.
    Fired { fault: usize },
}

/// What can break.
#[derive(Clone, Debug, PartialEq)]
#[expect(
    missing_docs,
    reason = "fields mean the same in every variant, and the variants are documented"
)]
pub enum Fault {
    /// The contender's process stands still, its clients with it (a GC pause, SIGSTOP).
    Pause {
        target: ContenderName,
        length: Lasts,
    },
    /// A callback of the contender does not return: its client's event thread stands still, and all else goes on.
    BlockEvents {
        target: ContenderName,
        length: Lasts,
    },
    /// The contender's process dies, and, if it is to, comes back with nothing in memory.
    Crash {
        target: ContenderName,
        restart_after: Option<Duration>,
    },
    /// The contender drops its pending `acquire` at the await point where it is.
    Cancel { target: ContenderName },
    /// The leader closes the contender's session, as if it had not heard from it.
    ExpireSession { target: ContenderName },
    /// The contender's connection breaks; both sides learn of it at once.
    Cut { target: ContenderName },
    /// Nothing gets through between the contender and the service, and nobody is told.
    BlackHole {
        target: ContenderName,
        direction: Direction,
        length: Lasts,
    },
    /// Every message between the contender and the service takes this much longer.
    SlowLink {
        target: ContenderName,
        direction: Direction,
        by: Duration,
        length: Lasts,
    },
    /// The request that the trigger speaks of never reaches the server: the connection breaks under it.
    LoseRequest { target: ContenderName },
    /// The answer to the request that the trigger speaks of never reaches the client: the connection breaks under it.
    LoseReply { target: ContenderName },
    /// The answer to the request that the trigger speaks of never reaches the client, and its connection stays.
    SwallowReply { target: ContenderName },
    /// The message of a channel that the trigger speaks of never reaches the client; its connection stays.
    LoseMessage { target: ContenderName },
    /// The request that the trigger speaks of is held up on its way, and all that follow it.
    DelayRequest { target: ContenderName, by: Duration },
    /// The answer to the request that the trigger speaks of is held up on its way, and all that follow it.
    DelayReply { target: ContenderName, by: Duration },
    /// The contender's wall clock jumps, back if negative.
    ClockJump {
        target: ContenderName,
        by_millis: i64,
    },
    /// The contender's clocks run fast (positive) or slow, in parts per million, until they are set right: after this
    /// long, or, if nothing is said, three times as long as a session can live.
    ClockDrift {
        target: ContenderName,
        parts_per_million: i32,
        length: Option<Duration>,
    },
    /// The server dies, and comes back with what was safe on its disk.
    CrashServer {
        target: ServerName,
        restart_after: Option<Duration>,
    },
    /// The power of the server's machine goes: what is not on its disk is lost, and nobody is told before the power is
    /// back.
    PowerLoss {
        target: ServerName,
        restart_after: Option<Duration>,
    },
    /// The server stands still, its connections stay open.
    HangServer { target: ServerName, length: Lasts },
    /// The server is cut off from the other servers; clients still reach it.
    IsolateServer { target: ServerName, length: Lasts },
    /// The network falls into two parts: these servers and contenders are in one, all others in the other. Nothing gets
    /// through between the two, and nobody is told. The protected resource is reached from both.
    Partition {
        servers: Vec<ServerName>,
        contenders: Vec<ContenderName>,
        length: Lasts,
    },
    /// Messages from some servers to another wait, and go on in order when it is over.
    HoldLink {
        from: Vec<ServerName>,
        to: ServerName,
        length: Lasts,
    },
    /// The server learns of commits this much later.
    LagServer {
        target: ServerName,
        by: Duration,
        length: Lasts,
    },
    /// Log writes of the server take this long.
    SlowDisk {
        target: ServerName,
        fsync: Duration,
        length: Lasts,
    },
    /// The server's wall clock jumps, back if negative.
    ServerClockJump { target: ServerName, by_millis: i64 },
    /// The server becomes the primary, as Sentinel makes it: clients that ask are sent to it, other replicas follow it,
    /// and the old primary does ten seconds later, if it runs.
    Promote { target: ServerName },
    /// The server uses all the memory that it may, and refuses what could take more.
    FullMemory { target: ServerName, length: Lasts },
    /// Nothing can be written to the disk of the server, and it refuses what would have to be.
    FullDisk { target: ServerName, length: Lasts },
    /// An operator moves the slot of the lock's key from the node of a cluster that serves it to another, which has it
    /// after this long. Meanwhile keys go one by one.
    MoveSlot { to: ServerName, length: Duration },
    /// The lock's key goes from the server: it is evicted, or an operator deletes it.
    EvictKey { target: ServerName },
    /// An operator deletes a contender's node in the queue.
    DeleteNode { of: ContenderName },
    /// An operator deletes the lock's own node with all below it, and makes it anew.
    RecreateLock,
}
