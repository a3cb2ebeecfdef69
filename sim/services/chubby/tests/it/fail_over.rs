//! Masters, elections, and fail-overs (sections 2.1, 2.2, and 2.9).

use std::time::Duration;

use picklock_checker::VirtualTime;
use picklock_chubby::client::Input;
use picklock_chubby::{Cell, Input as ReplicaInput, Output, PeerMessage, Replica};
use picklock_clients::chubby::{
    ClientBody, ClientMessage, Epoch, HandleData, HandleId, LockMode, OpenOptions, Request,
    SessionId, SessionState,
};
use picklock_machines::{Boring, ConnectionId, Machine, Now, ServerId};

use crate::cell::{Fact, World, settings};

const FIRST: SessionId = SessionId(1);

/// Section 2.1: replicas elect no master before the lease of the last one is over; an election takes a few seconds.
#[test]
fn another_master_comes_when_the_lease_is_over_and_an_election_is_held() {
    let mut world = World::new(5, 0);
    world.run_until(10.0);
    world.crash(0);
    world.run_until(30.0);
    let elected = world.when(&Fact::Master(ServerId(1)));
    assert!((15.0..19.0).contains(&elected), "{elected}");
}

/// Section 2.1: a cell without a majority has no master.
#[test]
fn a_cell_without_a_majority_has_no_master() {
    let mut world = World::new(5, 0);
    for replica in [0, 1, 2] {
        world.crash(replica);
    }
    world.run_until(100.0);
    assert!(world.facts.is_empty(), "{:?}", world.facts);
    world.restart(1);
    world.run_until(120.0);
    assert!(!world.facts.is_empty());
}

/// Section 2.9: a fail-over within the grace period costs no session, and a lock stays with its handle.
#[test]
fn a_fail_over_within_the_grace_period_loses_no_session() {
    for at in [1.0, 4.0, 8.5, 11.0] {
        let mut world = World::new(3, 2);
        let handles = [0, 1].map(|client| world.open(client, "file", 0));
        world.acquire(0, handles[0]);
        world.acquire(1, handles[1]);
        world.run_until(at);
        world.crash(0);
        world.run_until(60.0);
        let expired = |(_, fact): &(_, Fact)| matches!(fact, Fact::Expired(_));
        assert!(!world.facts.iter().any(expired), "at {at}");
        assert!(!world.states_of(0).contains(&SessionState::Expired));
        world.sequencer(0, handles[0]);
        assert!(world.call(0, handles[0], Request::Release).is_ok());
        world.run_until(61.0);
        world.when(&Fact::Acquired(SessionId(2)));
    }
}

/// Section 2.9: time without a master does not count: each session has its whole lease again.
#[test]
fn a_new_master_gives_each_session_its_whole_lease() {
    let mut world = World::new(3, 1);
    world.open(0, "file", 0);
    world.cut_off[0] = true;
    world.crash(0);
    world.run_until(60.0);
    let elected = world.when(&Fact::Master(ServerId(1)));
    let expired = world.when(&Fact::Expired(FIRST));
    assert!(
        (expired - elected - 12.0).abs() < 0.01,
        "{elected}, {expired}"
    );
}

/// Section 2.9, steps 4 to 7: there are only KeepAlives until each session knows of the master, or has ended.
#[test]
fn calls_wait_until_every_session_knows_of_the_master() {
    let mut world = World::new(3, 2);
    let handle = world.open(0, "file", 0);
    world.open(1, "file", 0);
    world.cut_off[1] = true;
    world.crash(0);
    world.run_until(1.0);
    let call = world.ask(0, handle, Request::GetContentsAndStat);
    world.run_until(12.0);
    let elected = world.when(&Fact::Master(ServerId(1)));
    assert!(elected < 11.0 && !world.answers.contains_key(&(0, call)));
    world.run_until(elected + 12.1);
    assert!(world.answers.contains_key(&(0, call)));
}

/// Section 2.9, steps 1 and 8: calls of a former epoch have no effect, and a closed handle is not made again.
#[test]
fn an_old_epoch_and_a_closed_handle_have_no_effect() {
    let mut world = World::new(3, 1);
    let handle = world.open(0, "file", 0);
    world.crash(0);
    world.run_until(30.0);
    world.client_input(0, Input::Close(handle));
    world.run_until(31.0);
    let acquire = |epoch| ClientMessage {
        call: 1_000,
        epoch: Epoch(epoch),
        session: FIRST,
        body: ClientBody::Call(
            HandleData {
                id: handle,
                made_in: Epoch(1),
                name: "file".into(),
                instance: 1,
                options: OpenOptions::default(),
            },
            Request::Acquire(LockMode::Exclusive),
        ),
    };
    for epoch in [1, 2] {
        world.deliver(1, ConnectionId(0), acquire(epoch));
    }
    let acquired = |(_, fact): &(_, Fact)| matches!(fact, Fact::Acquired(_));
    assert!(!world.facts.iter().any(acquired), "{:?}", world.facts);
}

/// Section 2.9, step 8: a handle of a former master is made again when it is used.
#[test]
fn a_handle_of_a_former_master_is_made_again() {
    let mut world = World::new(3, 1);
    let handle = world.open(0, "file", 0);
    world.crash(0);
    world.run_until(30.0);
    world.acquire(0, handle);
    world.run_until(31.0);
    world.when(&Fact::Acquired(FIRST));
}

/// Section 2.9, step 9: an ephemeral file that no client has opened since goes after a minute.
#[test]
fn an_ephemeral_file_that_is_not_used_goes_a_minute_later() {
    let mut world = World::new(3, 2);
    world.open(0, "ephemeral", 0);
    world.open(1, "file", 0);
    world.crash(0);
    let stat = |world: &mut World, handle: HandleId| match world.call(
        1,
        handle,
        Request::GetContentsAndStat,
    ) {
        Ok(picklock_clients::chubby::Response::Contents(stat)) => stat.instance,
        other => panic!("{other:?}"),
    };
    world.run_until(40.0);
    let handle = world.open(1, "ephemeral", 0);
    assert_eq!(stat(&mut world, handle), 1);
    world.client_input(1, Input::Close(handle));
    world.run_until(80.0);
    let handle = world.open(1, "ephemeral", 0);
    assert_eq!(
        stat(&mut world, handle),
        3,
        "the cell has had two files before"
    );
}

/// Section 2.1: a candidate that another replica refuses learns of the newest epoch, and is free to elect another.
#[test]
fn a_candidate_that_is_refused_asks_in_a_newer_epoch() {
    let settings = settings(5);
    let mut replica = Replica::new(ServerId(1), ServerId(0), &Cell::default(), &settings);
    let mut handle = |seconds: u64, input: ReplicaInput| {
        let now = Now {
            monotonic: VirtualTime::ZERO + Duration::from_secs(seconds),
            wall_micros: 0,
        };
        let mut out = Vec::new();
        let _ = replica.handle(now, input, &mut Boring, &mut out);
        out.into_iter().find_map(|output| match output {
            Output::ToPeer(ServerId(2), message) => Some(message),
            _ => None,
        })
    };
    let proposed = |message| match message {
        Some(PeerMessage::Propose(Epoch(epoch), _)) => epoch,
        other => panic!("{other:?}"),
    };
    assert_eq!(proposed(handle(20, ReplicaInput::Wake)), 2);
    let refused = PeerMessage::Refuse(Epoch(9));
    assert_eq!(handle(20, ReplicaInput::Peer(ServerId(2), refused)), None);
    let asked = VirtualTime::ZERO;
    let other = PeerMessage::Propose(Epoch(10), asked);
    let promise = handle(20, ReplicaInput::Peer(ServerId(2), other));
    assert_eq!(promise, Some(PeerMessage::Promise(Epoch(10), asked)));
    assert_eq!(proposed(handle(60, ReplicaInput::Wake)), 11);
}
