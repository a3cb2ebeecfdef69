//! What can break, one row a fault: its fields, what it is called in scenario files, which service it can strike, what
//! class it is of, what it does to a lock, what it is, an example, and how it reads.
//!
//! The format, the writer, the describer, the list, drawing, and shrinking read these rows. A new fault is a row here
//! and an arm of `world/faults.rs` (or of a service) that breaks something.

use std::time::Duration;

use picklock_algorithms::FaultClass;
use picklock_clients::ServiceKind;

use super::fault_spec::{
    FaultEffect, FaultField, FaultSpec, Field, FieldMut, FieldSource, FieldSpec, faults,
};
use super::{ContenderName, Direction, FaultDuration, LockCall, Rate, ServerName};

faults! {
    Pause { target: ContenderName, length as "for": FaultDuration } = "pause" {
        service: None, drawn_unasked: true,
        class: Pause, effect: Standstill,
        meaning: "The contender's process stands still, as in a garbage collection.",
        example: r#"inject.pause = { target = "contender-1", for = "20s" }"#,
        sentence: "pause {target} {for}",
    }

    BlockEvents { target: ContenderName, length as "for": FaultDuration } = "block-events" {
        service: None, drawn_unasked: false,
        class: Pause, effect: Silence,
        meaning: "A callback of the contender does not return: its client delivers no event (ZooKeeper), or does \
                  nothing at all (Redis), and its code goes on.",
        example: r#"inject.block-events = { target = "contender-1", for = "20s" }"#,
        sentence: "block-events of {target} {for}",
    }

    Crash { target: ContenderName, restart_after as "restart-after": Option<Duration> } = "crash" {
        service: None, drawn_unasked: true,
        class: Crash, effect: Death,
        meaning: "The contender's process dies: for good, unless it comes back, with nothing in memory.",
        example: r#"inject.crash = { target = "contender-1", restart-after = "5s" }"#,
        sentence: "crash {target} {restart-after}",
    }

    Cancel { target: ContenderName, call: LockCall } = "cancel" {
        service: None, drawn_unasked: true,
        class: Cancel, effect: Withdrawal,
        meaning: "The contender drops its pending acquire, or release, at the await point where it is.",
        example: r#"inject.cancel = { target = "contender-2", call = "acquire" }"#,
        sentence: "cancel {call}{target}",
    }

    Stop { target: ContenderName } = "stop" {
        service: None, drawn_unasked: false,
        class: None, effect: Withdrawal,
        meaning: "The contender is asked to stop (`SIGTERM`, `worker.close()`): it ends the section that it is in, and \
                  drops a pending acquire.",
        example: r#"inject.stop = { target = "contender-1" }"#,
        sentence: "stop {target}",
    }

    ExpireSession { target: ContenderName } = "expire-session" {
        service: Some(ServiceKind::ZooKeeper), drawn_unasked: true,
        class: SessionExpiry, effect: Loss,
        meaning: "The service closes the contender's session, as if it had not heard from it.",
        example: r#"inject.expire-session = { target = "contender-1" }"#,
        sentence: "expire-session {target}",
    }

    Cut { target: ContenderName } = "cut" {
        service: None, drawn_unasked: true,
        class: ConnectionLoss, effect: Disconnection,
        meaning: "The contender's connection breaks, and both sides learn of it at once.",
        example: r#"inject.cut = { target = "contender-1" }"#,
        sentence: "cut {target}",
    }

    BlackHole { target: ContenderName, direction: Direction, length as "for": FaultDuration } = "black-hole" {
        service: None, drawn_unasked: true,
        class: Partition, effect: Silence,
        meaning: "Nothing gets through between the contender and the service, and neither end is notified.",
        example: r#"inject.black-hole = { target = "contender-1", direction = "to-server", for = "20s" }"#,
        sentence: "black-hole {target} {direction} {for}",
    }

    SlowLink {
        target: ContenderName,
        direction: Direction,
        by: Duration,
        length as "for": FaultDuration,
    } = "slow-link" {
        service: None, drawn_unasked: true,
        class: Delay, effect: Silence,
        meaning: "Every message between the contender and the service takes longer.",
        example: r#"inject.slow-link = { target = "contender-1", by = "200ms", for = "20s" }"#,
        sentence: "slow-link of {target} {direction} by {by} {for}",
    }

    LosePackets {
        target: ContenderName,
        direction: Direction,
        rate: Rate,
        length as "for": Duration,
    } = "lose-packets" {
        service: None, drawn_unasked: false,
        class: Delay, effect: Silence,
        meaning: "Packets between the contender and the service are lost by chance, and sent again as TCP does it.",
        example: r#"inject.lose-packets = { target = "contender-1", rate = "5%", for = "20s" }"#,
        sentence: "lose-packets of {target} {direction} at a rate of {rate} {for}",
    }

    Flap {
        target: ContenderName,
        direction: Direction,
        down: (Duration, Duration),
        up: (Duration, Duration),
        length as "for": Duration,
    } = "flap" {
        service: None, drawn_unasked: false,
        class: Partition, effect: Silence,
        meaning: "The link between the contender and the service is down and up in turn: down as in `black-hole`.",
        example: r#"inject.flap = { target = "contender-1", down = "100ms..2s", up = "1s", for = "20s" }"#,
        sentence: "flap the link of {target} {direction}, down for {down} and up for {up}, {for}",
    }

    LoseRequest { target: ContenderName } = "lose-request" {
        service: None, drawn_unasked: true,
        class: ConnectionLoss, effect: LostRequest,
        meaning: "The request that the trigger speaks of never arrives: the connection breaks under it.",
        example: r#"inject.lose-request = { target = "contender-1" }"#,
        sentence: "lose-request of {target}",
    }

    LoseReply { target: ContenderName } = "lose-reply" {
        service: None, drawn_unasked: true,
        class: ConnectionLoss, effect: LostReply,
        meaning: "The answer that the trigger speaks of is lost: the connection breaks under it.",
        example: r#"inject.lose-reply = { target = "contender-1" }"#,
        sentence: "lose-reply to {target}",
    }

    SwallowReply { target: ContenderName } = "swallow-reply" {
        service: Some(ServiceKind::ZooKeeper), drawn_unasked: true,
        class: ConnectionLoss, effect: LostReply,
        meaning: "The answer that the trigger speaks of never comes, and its connection stays (ZooKeeper).",
        example: r#"inject.swallow-reply = { target = "contender-1" }"#,
        sentence: "swallow-reply to {target}",
    }

    LoseMessage { target: ContenderName } = "lose-message" {
        service: Some(ServiceKind::Redis), drawn_unasked: true,
        class: ConnectionLoss, effect: LostMessage,
        meaning: "The trigger's message of a channel is lost, and neither end is notified (Redis).",
        example: r#"inject.lose-message = { target = "contender-1" }"#,
        sentence: "lose-message to {target}",
    }

    DelayRequest { target: ContenderName, by: Duration } = "delay-request" {
        service: None, drawn_unasked: true,
        class: Delay, effect: LateRequest,
        meaning: "The request that the trigger speaks of is held up, and all that follow it.",
        example: r#"inject.delay-request = { target = "contender-1", by = "200ms" }"#,
        sentence: "delay-request of {target} by {by}",
    }

    DelayReply { target: ContenderName, by: Duration } = "delay-reply" {
        service: None, drawn_unasked: true,
        class: Delay, effect: LateReply,
        meaning: "The answer that the trigger speaks of is held up, and all that follow it.",
        example: r#"inject.delay-reply = { target = "contender-1", by = "200ms" }"#,
        sentence: "delay-reply to {target} by {by}",
    }

    ClockJump { target: ContenderName, by_millis as "by": i64 } = "clock-jump" {
        service: None, drawn_unasked: true,
        class: Clock, effect: WallClock,
        meaning: "The contender's wall clock jumps, forward or back.",
        example: r#"inject.clock-jump = { target = "contender-1", by = "-5s" }"#,
        sentence: "clock-jump of {target} by {by}",
    }

    ClockDrift {
        target: ContenderName,
        parts_per_million as "parts-per-million": i32,
        length as "for": Option<Duration>,
    } = "clock-drift" {
        service: None, drawn_unasked: true,
        class: Clock, effect: Silence,
        meaning: "The contender's clocks run fast, or slow if negative, for three times a lease or session, or \
                  `for` so long.",
        example: r#"inject.clock-drift = { target = "contender-1", parts-per-million = 200 }"#,
        sentence: "clock-drift of {target} by {parts-per-million} parts per million {for}",
    }

    CrashServer { target: ServerName, restart_after as "restart-after": Option<Duration> } = "crash-server" {
        service: None, drawn_unasked: true,
        class: ServerCrash, effect: Disagreement,
        meaning: "The server dies: for good, unless it comes back, with what was safe on its disk.",
        example: r#"inject.crash-server = { target = "leader", restart-after = "5s" }"#,
        sentence: "crash-server {target} {restart-after}",
    }

    PowerLoss { target: ServerName, restart_after as "restart-after": Option<Duration> } = "power-loss" {
        service: Some(ServiceKind::Redis), drawn_unasked: true,
        class: ServerCrash, effect: PowerLoss,
        meaning: "The server's machine loses its power, for good or not: what is not on its disk is lost, without \
                  notice (Redis).",
        example: r#"inject.power-loss = { target = "server-1", restart-after = "5s" }"#,
        sentence: "power-loss of {target} {restart-after}",
    }

    HangServer { target: ServerName, length as "for": FaultDuration } = "hang-server" {
        service: None, drawn_unasked: true,
        class: ServerStall, effect: Disagreement,
        meaning: "The server stands still, and its connections stay open.",
        example: r#"inject.hang-server = { target = "follower-1", for = "20s" }"#,
        sentence: "hang-server {target} {for}",
    }

    IsolateServer { target: ServerName, length as "for": FaultDuration } = "isolate-server" {
        service: None, drawn_unasked: true,
        class: Partition, effect: Silence,
        meaning: "The server is cut off from the other servers, and clients still reach it.",
        example: r#"inject.isolate-server = { target = "server-of-contender-1", for = "20s" }"#,
        sentence: "isolate-server {target} {for}",
    }

    Partition {
        servers: Vec<ServerName>,
        contenders: Vec<ContenderName>,
        length as "for": FaultDuration,
    } = "partition" {
        service: None, drawn_unasked: false,
        class: Partition, effect: Silence,
        meaning: "The network falls in two: these servers and contenders have each other, and not the others.",
        example: r#"inject.partition = { servers = ["server-1"], contenders = ["contender-1"], for = "20s" }"#,
        sentence: "partition {servers+contenders} from all others {for}",
    }

    HoldLink { from: Vec<ServerName>, to: ServerName, length as "for": FaultDuration } = "hold-link" {
        service: None, drawn_unasked: true,
        class: Partition, effect: Disagreement,
        meaning: "Messages from some servers to another wait, and go on in order when it is over.",
        example: r#"inject.hold-link = { from = ["follower-1"], to = "leader", for = "5s" }"#,
        sentence: "hold-link from {from} to {to} {for}",
    }

    LagServer { target: ServerName, by: Duration, length as "for": FaultDuration } = "lag-server" {
        service: Some(ServiceKind::ZooKeeper), drawn_unasked: true,
        class: ServerStall, effect: Disagreement,
        meaning: "The server learns of commits later.",
        example: r#"inject.lag-server = { target = "follower-1", by = "200ms", for = "20s" }"#,
        sentence: "lag-server {target} by {by} {for}",
    }

    SlowDisk { target: ServerName, fsync: Duration, length as "for": FaultDuration } = "slow-disk" {
        service: Some(ServiceKind::ZooKeeper), drawn_unasked: true,
        class: ServerStall, effect: Disagreement,
        meaning: "Log writes of the server take long.",
        example: r#"inject.slow-disk = { target = "leader", fsync = "200ms", for = "20s" }"#,
        sentence: "slow-disk of {target} with an fsync of {fsync} {for}",
    }

    ServerClockJump { target: ServerName, by_millis as "by": i64 } = "server-clock-jump" {
        service: Some(ServiceKind::Redis), drawn_unasked: true,
        class: Clock, effect: Loss,
        meaning: "The server's wall clock jumps (Redis: keys expire by it).",
        example: r#"inject.server-clock-jump = { target = "server-1", by = "40s" }"#,
        sentence: "server-clock-jump of {target} by {by}",
    }

    Promote { target: ServerName } = "promote" {
        service: Some(ServiceKind::Redis), drawn_unasked: true,
        class: ServerCrash, effect: Loss,
        meaning: "The replica becomes the primary, as in a failover, with what it has heard so far (Redis).",
        example: r#"inject.promote = { target = "server-2" }"#,
        sentence: "promote {target}",
    }

    FullMemory { target: ServerName, length as "for": FaultDuration } = "full-memory" {
        service: Some(ServiceKind::Redis), drawn_unasked: false,
        class: ServerStall, effect: Loss,
        meaning: "The server uses all the memory that it may, and refuses what could take more: OOM (Redis).",
        example: r#"inject.full-memory = { target = "server-1", for = "20s" }"#,
        sentence: "full-memory of {target} {for}",
    }

    FullDisk { target: ServerName, length as "for": FaultDuration } = "full-disk" {
        service: Some(ServiceKind::Redis), drawn_unasked: false,
        class: ServerStall, effect: Loss,
        meaning: "Nothing can be written to the disk of the server, and it refuses to write: MISCONF (Redis).",
        example: r#"inject.full-disk = { target = "server-1", for = "20s" }"#,
        sentence: "full-disk of {target} {for}",
    }

    SlowScript { target: ServerName, length as "for": Duration } = "slow-script" {
        service: Some(ServiceKind::Redis), drawn_unasked: false,
        class: ServerStall, effect: Loss,
        meaning: "A script of another client takes so long at the server: others wait, and then get BUSY (Redis).",
        example: r#"inject.slow-script = { target = "server-1", for = "20s" }"#,
        sentence: "slow-script at {target} {for}",
    }

    MoveSlot { to: ServerName, length as "for": Duration } = "move-slot" {
        service: Some(ServiceKind::Redis), drawn_unasked: false,
        class: ServerStall, effect: Loss,
        meaning: "The slot of the lock's key moves to another primary, its keys one by one: ASK, then MOVED \
                  (Redis Cluster).",
        example: r#"inject.move-slot = { to = "server-1", for = "4s" }"#,
        sentence: "move-slot to {to} {for}",
    }

    EvictKey { target: ServerName } = "evict-key" {
        service: Some(ServiceKind::Redis), drawn_unasked: true,
        class: Deletion, effect: Loss,
        meaning: "The lock's key goes from the server: evicted, or deleted by an operator (Redis, memcached).",
        example: r#"inject.evict-key = { target = "server-1" }"#,
        sentence: "evict-key from {target}",
    }

    DeleteStale { think: Duration, compare: bool } = "delete-stale" {
        service: None, drawn_unasked: false,
        class: Deletion, effect: Loss,
        meaning: "A clean-up script looks at the lock, thinks, and deletes what it saw, also if it is another's by \
                  now; if it is to `compare`, only if it is as it was.",
        example: r#"inject.delete-stale = { think = "12s", compare = true }"#,
        sentence: "delete-stale {think} after a look{compare}",
    }

    DeleteNode { of: ContenderName } = "delete-node" {
        service: Some(ServiceKind::ZooKeeper), drawn_unasked: true,
        class: Deletion, effect: Loss,
        meaning: "An operator deletes a contender's node in the queue.",
        example: r#"inject.delete-node = { of = "contender-2" }"#,
        sentence: "delete-node of {of}",
    }

    DeleteKey { of: ContenderName } = "delete-key" {
        service: Some(ServiceKind::Etcd), drawn_unasked: true,
        class: Deletion, effect: Loss,
        meaning: "An operator deletes a contender's key in the queue, as by `etcdctl del`.",
        example: r#"inject.delete-key = { of = "contender-2" }"#,
        sentence: "delete-key of {of}",
    }

    StallRaft { target: ServerName, length as "for": FaultDuration } = "stall-raft" {
        service: Some(ServiceKind::Etcd), drawn_unasked: true,
        class: ServerStall, effect: Disagreement,
        meaning: "The raft loop of a member stands still, as in a write to a slow disk, and the rest of it goes on: it \
                  answers, and looks which leases have ended.",
        example: r#"inject.stall-raft = { target = "leader", for = "10s" }"#,
        sentence: "stall-raft of {target} {for}",
    }

    Revoke { of: ContenderName } = "revoke" {
        service: Some(ServiceKind::ZooKeeper), drawn_unasked: true,
        class: Deletion, effect: Loss,
        meaning: "An operator asks a contender to give the lock back, by the data of its node (ZooKeeper).",
        example: r#"inject.revoke = { of = "contender-1" }"#,
        sentence: "revoke the lock of {of}",
    }

    RecreateLock = "recreate-lock" {
        service: Some(ServiceKind::ZooKeeper), drawn_unasked: true,
        class: Deletion, effect: Recreation,
        meaning: "An operator deletes the lock's own node with all below it, and creates it again.",
        example: "inject.recreate-lock = {}",
        sentence: "recreate-lock",
    }

}
