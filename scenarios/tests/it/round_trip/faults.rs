//! Triggers and faults that a scenario file can say.

use picklock_algorithms::clients::RequestKind;
use picklock_sim::plan::*;
use proptest::prelude::*;
use proptest::strategy::Strategy;

use super::plans::{kinds_of_zookeeper, lasts, length, maybe_zero};

pub fn contender(contenders: u32) -> BoxedStrategy<ContenderName> {
    (0..contenders).prop_map(ContenderName).boxed()
}

pub fn server(contenders: u32, (servers, observers): (u8, u8)) -> BoxedStrategy<ServerName> {
    let servers = u32::from(servers);
    let of = contender(contenders).prop_map(ServerName::Of);
    let number = (0..servers).prop_map(ServerName::Number);
    match servers {
        1 => prop_oneof![Just(ServerName::Leader), of, number].boxed(),
        several => {
            let follower = (0..several - 1).prop_map(ServerName::Follower);
            let named = prop_oneof![Just(ServerName::Leader), of, number, follower];
            match observers {
                0 => named.boxed(),
                _ => {
                    let observer = (0..u32::from(observers)).prop_map(ServerName::Observer);
                    prop_oneof![4 => named, 1 => observer].boxed()
                }
            }
        }
    }
}

type OfStep = fn((ContenderName, u32)) -> Trigger;
type OfRequest = fn((RequestKind, (ContenderName, u32))) -> Trigger;

const STEPS: [OfStep; 9] = [
    |(by, nth)| Trigger::Acquiring { by, nth },
    |(by, nth)| Trigger::Queued { by, nth },
    |(by, nth)| Trigger::Waiting { by, nth },
    |(by, nth)| Trigger::Acquired { by, nth },
    |(by, nth)| Trigger::Releasing { by, nth },
    |(by, nth)| Trigger::Released { by, nth },
    |(by, nth)| Trigger::Disconnected { by, nth },
    |(by, nth)| Trigger::Reconnected { by, nth },
    |(by, nth)| Trigger::SessionLost { by, nth },
];

const REQUESTS: [OfRequest; 3] = [
    |(request, (by, nth))| Trigger::Sent {
        request,
        by,
        nth,
        at: None,
    },
    |(request, (by, nth))| Trigger::Answered {
        request,
        by,
        nth,
        at: Some(ServerName::Leader),
    },
    |(request, (by, nth))| Trigger::Received {
        request,
        by,
        nth,
        at: None,
    },
];

const WRITES: [OfRequest; 3] = [
    |(request, (by, nth))| Trigger::Proposed { request, by, nth },
    |(request, (by, nth))| Trigger::Committed { request, by, nth },
    |(request, (by, nth))| Trigger::Applied {
        request,
        by,
        nth,
        at: ServerName::Of(by),
    },
];

pub fn trigger(contenders: u32, place: usize, writes: bool) -> BoxedStrategy<Trigger> {
    let step = || (contender(contenders), 1_u32..=1_000);
    let any = || prop::sample::select(kinds_of_zookeeper());
    let writing = || {
        prop::sample::select(vec![
            RequestKind::Create,
            RequestKind::Delete,
            RequestKind::SetData,
            RequestKind::Multi,
        ])
    };
    let mut all = vec![
        maybe_zero().prop_map(Trigger::At).boxed(),
        contender(contenders)
            .prop_map(|by| Trigger::SessionExpired { by })
            .boxed(),
        (1_u32..=1_000)
            .prop_map(|nth| Trigger::Elected { nth })
            .boxed(),
    ];
    all.extend(STEPS.map(|make| step().prop_map(make).boxed()));
    all.extend(REQUESTS.map(|make| (any(), step()).prop_map(make).boxed()));
    all.extend(WRITES.map(|make| (writing(), step()).prop_map(make).boxed()));
    if writes {
        let make: OfStep = |(by, nth)| Trigger::Writing { by, nth };
        all.push(step().prop_map(make).boxed());
    }
    if place > 0 {
        all.push(
            (0..place)
                .prop_map(|fault| Trigger::Fired { fault })
                .boxed(),
        );
    }
    prop::strategy::Union::new(all).boxed()
}

/// Faults of the link of a contender.
pub fn fault_of_link(contenders: u32) -> BoxedStrategy<Fault> {
    let target = || contender(contenders);
    let way = || {
        prop::sample::select(vec![
            Direction::ToServer,
            Direction::ToClient,
            Direction::Both,
        ])
    };
    prop_oneof![
        (target(), way(), lasts()).prop_map(|(target, direction, length)| Fault::BlackHole {
            target,
            direction,
            length
        }),
        (target(), way(), length(), lasts()).prop_map(|(target, direction, by, length)| {
            Fault::SlowLink {
                target,
                direction,
                by,
                length,
            }
        }),
        (target(), way(), 1_u32..1_000_000, length()).prop_map(
            |(target, direction, parts, length)| Fault::LosePackets {
                target,
                direction,
                rate: Rate::of_million(parts).expect("less than all"),
                length,
            }
        ),
        (
            target(),
            way(),
            (length(), length()),
            (length(), length()),
            length()
        )
            .prop_map(|(target, direction, down, up, length)| Fault::Flap {
                target,
                direction,
                down: (down.0.min(down.1), down.0.max(down.1)),
                up: (up.0.min(up.1), up.0.max(up.1)),
                length,
            }),
    ]
    .boxed()
}

/// Faults of contenders that go with any trigger.
pub fn fault_of_contender(contenders: u32) -> BoxedStrategy<Fault> {
    let target = || contender(contenders);
    let jump = prop_oneof![-1_000_000_i64..0, 1_i64..1_000_000];
    let drift = prop_oneof![-900_000_i32..0, 1_i32..1_000_000];
    prop_oneof![
        (target(), lasts()).prop_map(|(target, length)| Fault::Pause { target, length }),
        (target(), lasts()).prop_map(|(target, length)| Fault::BlockEvents { target, length }),
        (target(), prop::option::of(maybe_zero())).prop_map(|(target, restart_after)| {
            Fault::Crash {
                target,
                restart_after,
            }
        }),
        (
            target(),
            prop::sample::select(vec![LockCall::Acquire, LockCall::Release])
        )
            .prop_map(|(target, call)| Fault::Cancel { target, call }),
        target().prop_map(|target| Fault::ExpireSession { target }),
        target().prop_map(|target| Fault::Cut { target }),
        fault_of_link(contenders),
        (target(), jump).prop_map(|(target, by_millis)| Fault::ClockJump { target, by_millis }),
        (target(), drift, prop::option::of(length())).prop_map(
            |(target, parts_per_million, length)| Fault::ClockDrift {
                target,
                parts_per_million,
                length
            }
        ),
        target().prop_map(|of| Fault::DeleteNode { of }),
        (length(), any::<bool>())
            .prop_map(|(think, compare)| Fault::DeleteStale { think, compare }),
        target().prop_map(|of| Fault::Revoke { of }),
        Just(Fault::RecreateLock),
    ]
    .boxed()
}

pub fn fault_of_server(contenders: u32, (servers, observers): (u8, u8)) -> BoxedStrategy<Fault> {
    let target = || server(contenders, (servers, observers));
    let mut all = vec![
        (target(), prop::option::of(maybe_zero()))
            .prop_map(|(target, restart_after)| Fault::CrashServer {
                target,
                restart_after,
            })
            .boxed(),
        (target(), lasts())
            .prop_map(|(target, length)| Fault::HangServer { target, length })
            .boxed(),
        (target(), length(), lasts())
            .prop_map(|(target, by, length)| Fault::LagServer { target, by, length })
            .boxed(),
        (target(), length(), lasts())
            .prop_map(|(target, fsync, length)| Fault::SlowDisk {
                target,
                fsync,
                length,
            })
            .boxed(),
    ];
    if servers > 1 {
        let isolate = (target(), lasts());
        all.push(
            isolate
                .prop_map(|(target, length)| Fault::IsolateServer { target, length })
                .boxed(),
        );
        let side = prop::collection::btree_set(target(), 1..usize::from(servers));
        let clients = prop::collection::btree_set(contender(contenders), 0..4);
        let partition = (side, clients, lasts());
        let partition = partition.prop_map(|(servers, contenders, length)| Fault::Partition {
            servers: servers.into_iter().collect(),
            contenders: contenders.into_iter().collect(),
            length,
        });
        all.push(partition.boxed());
        let several = prop::collection::btree_set(target(), 1..4);
        let link = (several, target(), lasts()).prop_filter_map("a link to itself", |link| {
            let (from, to, length) = link;
            let from: Vec<ServerName> = from.into_iter().collect();
            (!from.contains(&to)).then_some(Fault::HoldLink { from, to, length })
        });
        all.push(link.boxed());
    }
    prop::strategy::Union::new(all).boxed()
}

/// A fault that strikes one request, with the trigger that it needs.
pub fn fault_of_request(contenders: u32) -> BoxedStrategy<(Trigger, Fault)> {
    let kinds = prop::sample::select(kinds_of_zookeeper());
    (kinds, contender(contenders), 1_u32..100, 0..5, length())
        .prop_map(|(request, by, nth, which, more)| {
            let sent = Trigger::Sent {
                request,
                by,
                nth,
                at: None,
            };
            let answered = Trigger::Answered {
                request,
                by,
                nth,
                at: None,
            };
            let committed = Trigger::Committed {
                request: RequestKind::Create,
                by,
                nth,
            };
            match which {
                0 => (sent, Fault::LoseRequest { target: by }),
                1 => (
                    sent,
                    Fault::DelayRequest {
                        target: by,
                        by: more,
                    },
                ),
                2 => (sent, Fault::LoseReply { target: by }),
                4 => (answered, Fault::SwallowReply { target: by }),
                3 => (
                    answered,
                    Fault::DelayReply {
                        target: by,
                        by: more,
                    },
                ),
                _ => (committed, Fault::LoseReply { target: by }),
            }
        })
        .boxed()
}
