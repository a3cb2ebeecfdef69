//! Files, handles, locks, and sequencers (sections 2.3, 2.4, and 2.6).

use picklock_chubby::Departure;
use picklock_chubby::client::Input;
use picklock_clients::chubby::{ChubbyError, LockMode, Request, Response, SessionId};

use crate::cell::{Fact, World};

const FIRST: SessionId = SessionId(1);
const SECOND: SessionId = SessionId(2);
const DONE: Result<Response, ChubbyError> = Ok(Response::Done(true));
const REFUSED: Result<Response, ChubbyError> = Ok(Response::Done(false));

/// Section 2.4: a lock is held by one client in exclusive mode, or by any number in shared mode.
#[test]
fn a_writer_keeps_all_out_and_readers_only_writers() {
    let mut world = World::new(1, 3);
    let handles = [0, 1, 2].map(|client| world.open(client, "file", 0));
    let shared = Request::TryAcquire(LockMode::Shared);
    let exclusive = Request::TryAcquire(LockMode::Exclusive);
    assert_eq!(world.call(0, handles[0], shared.clone()), DONE);
    assert_eq!(world.call(1, handles[1], shared.clone()), DONE);
    assert_eq!(world.call(2, handles[2], exclusive.clone()), REFUSED);
    assert_eq!(world.call(0, handles[0], Request::Release), DONE);
    assert_eq!(world.call(1, handles[1], Request::Release), DONE);
    assert_eq!(world.call(2, handles[2], exclusive), DONE);
    assert_eq!(world.call(0, handles[0], shared), REFUSED);
}

/// Section 2.4: a lock that was released is free at once.
#[test]
fn a_release_gives_the_lock_to_the_next_at_once() {
    let mut world = World::new(1, 2);
    let handles = [0, 1].map(|client| world.open(client, "file", 60));
    world.acquire(0, handles[0]);
    world.acquire(1, handles[1]);
    world.run_until(5.0);
    assert_eq!(world.call(0, handles[0], Request::Release), DONE);
    let released = world.when(&Fact::Released(FIRST, Departure::Released));
    assert!(world.when(&Fact::Acquired(SECOND)) - released < 0.001);
}

/// Section 2.4: the lock of a holder that has failed is kept from others for the lock-delay.
#[test]
fn a_failure_keeps_the_lock_from_others_for_the_lock_delay() {
    for delay in [0, 10, 60] {
        let mut world = World::new(1, 2);
        let handles = [0, 1].map(|client| world.open(client, "file", delay));
        world.acquire(0, handles[0]);
        world.acquire(1, handles[1]);
        world.run_until(1.0);
        world.cut_off[0] = true;
        world.run_until(120.0);
        let failed = world.when(&Fact::Released(FIRST, Departure::Failed));
        let waited = world.when(&Fact::Acquired(SECOND)) - failed;
        assert!(
            (waited - delay as f64).abs() < 0.01,
            "{waited} after {delay}"
        );
    }
}

/// Section 2.4: clients can ask for a lock-delay of a minute at most.
#[test]
fn a_lock_delay_is_a_minute_at_most() {
    let mut world = World::new(1, 2);
    let handles = [0, 1].map(|client| world.open(client, "file", 600));
    world.acquire(0, handles[0]);
    world.acquire(1, handles[1]);
    world.run_until(1.0);
    world.cut_off[0] = true;
    world.run_until(120.0);
    let failed = world.when(&Fact::Released(FIRST, Departure::Failed));
    assert!(world.when(&Fact::Acquired(SECOND)) - failed < 60.01);
}

/// Section 2.3: the lock generation grows when the lock goes from free to held, and at no other time.
#[test]
fn the_lock_generation_grows_from_free_to_held() {
    let mut world = World::new(1, 2);
    let handles = [0, 1].map(|client| world.open(client, "file", 0));
    let shared = Request::TryAcquire(LockMode::Shared);
    assert_eq!(world.call(0, handles[0], shared.clone()), DONE);
    let first = world.sequencer(0, handles[0]);
    assert_eq!(world.call(1, handles[1], shared.clone()), DONE);
    assert_eq!(world.sequencer(1, handles[1]), first, "it was held already");
    for client in [0, 1] {
        assert_eq!(world.call(client, handles[client], Request::Release), DONE);
    }
    assert_eq!(world.call(0, handles[0], shared), DONE);
    let second = world.sequencer(0, handles[0]);
    assert_eq!(second.generation, first.generation + 1);
}

/// Section 2.4: a sequencer is valid while the lock is held as it says.
#[test]
fn a_sequencer_is_valid_while_its_lock_is_held() {
    let mut world = World::new(1, 2);
    let handles = [0, 1].map(|client| world.open(client, "file", 0));
    world.acquire(0, handles[0]);
    let first = world.sequencer(0, handles[0]);
    let check = Request::CheckSequencer(first.clone());
    assert_eq!(world.call(1, handles[1], check.clone()), DONE);
    assert_eq!(world.call(0, handles[0], Request::Release), DONE);
    assert_eq!(world.call(1, handles[1], check.clone()), REFUSED);
    world.acquire(1, handles[1]);
    assert_eq!(
        world.call(1, handles[1], check),
        REFUSED,
        "another hold has begun"
    );
}

/// Section 2.6: calls of a handle fail when the sequencer that was set for it is not valid any more.
#[test]
fn a_handle_with_a_stale_sequencer_does_nothing() {
    let mut world = World::new(1, 2);
    let handles = [0, 1].map(|client| world.open(client, "file", 0));
    world.acquire(0, handles[0]);
    let sequencer = world.sequencer(0, handles[0]);
    let set = Request::SetSequencer(sequencer);
    assert_eq!(world.call(1, handles[1], set), DONE);
    let write = Request::SetContents("by a server of the holder".into(), None);
    assert_eq!(world.call(1, handles[1], write.clone()), DONE);
    assert_eq!(world.call(0, handles[0], Request::Release), DONE);
    let stale = Err(ChubbyError::StaleSequencer);
    assert_eq!(world.call(1, handles[1], write), stale);
}

/// Section 2.6: a write can be made to depend on the content generation.
#[test]
fn a_write_compares_the_content_generation() {
    let mut world = World::new(1, 1);
    let handle = world.open(0, "file", 0);
    let set = |generation| Request::SetContents("a".into(), Some(generation));
    assert_eq!(world.call(0, handle, set(0)), DONE);
    let wrong = Err(ChubbyError::WrongGeneration);
    assert_eq!(world.call(0, handle, set(0)), wrong);
    assert_eq!(world.call(0, handle, set(1)), DONE);
}

/// Section 2.3: a handle is of an instance of a file, and not of its name.
#[test]
fn a_handle_of_a_deleted_instance_is_invalid() {
    let mut world = World::new(1, 2);
    let old = world.open(0, "file", 0);
    let other = world.open(1, "file", 0);
    world.acquire(0, old);
    let waits = world.acquire(1, other);
    world.run_until(1.0);
    assert_eq!(world.call(0, old, Request::Delete), DONE);
    let invalid = Err(ChubbyError::InvalidHandle);
    assert_eq!(world.answers[&(1, waits)], invalid, "a waiter is told");
    let new = world.open(0, "file", 0);
    let read = Request::GetContentsAndStat;
    assert_eq!(world.call(1, other, read.clone()), invalid);
    let Ok(Response::Contents(stat)) = world.call(0, new, read) else {
        panic!("there is a file of this name again");
    };
    assert_eq!(stat.instance, 2);
}

/// Section 2.3: an ephemeral file goes when no client has it open.
#[test]
fn an_ephemeral_file_goes_with_its_last_handle() {
    let mut world = World::new(1, 2);
    let handles = [0, 1].map(|client| world.open(client, "ephemeral", 0));
    world.run_until(61.0);
    world.client_input(0, Input::Close(handles[0]));
    let write = Request::SetContents("a".into(), None);
    assert_eq!(world.call(1, handles[1], write), DONE);
    world.cut_off[1] = true;
    world.run_until(90.0);
    let again = world.open(0, "ephemeral", 0);
    let Ok(Response::Contents(stat)) = world.call(0, again, Request::GetContentsAndStat) else {
        panic!("the file is there again");
    };
    assert_eq!((stat.instance, &*stat.contents), (2, ""));
}

/// Section 2.6: to poison a handle lets its calls fail that wait, and leaves it open.
#[test]
fn a_poisoned_handle_fails_what_waits() {
    let mut world = World::new(1, 2);
    let handles = [0, 1].map(|client| world.open(client, "file", 0));
    world.acquire(0, handles[0]);
    let waits = world.acquire(1, handles[1]);
    world.run_until(1.0);
    world.client_input(1, Input::Poison(handles[1]));
    let invalid = Err(ChubbyError::InvalidHandle);
    assert_eq!(world.answers[&(1, waits)], invalid);
    assert_eq!(world.call(1, handles[1], Request::Release), invalid);
}

/// A closed handle holds no lock, and waits for none.
#[test]
fn a_closed_handle_holds_no_lock_and_waits_for_none() {
    let mut world = World::new(1, 3);
    let handles = [0, 1, 2].map(|client| world.open(client, "file", 60));
    for client in [0, 1, 2] {
        world.acquire(client, handles[client]);
        world.run_until(1.0 + client as f64);
    }
    world.client_input(1, Input::Close(handles[1]));
    world.client_input(0, Input::Close(handles[0]));
    world.run_until(5.0);
    let acquired = world
        .facts
        .iter()
        .filter(|(_, fact)| matches!(fact, Fact::Acquired(_)));
    let acquired: Vec<_> = acquired.map(|(_, fact)| fact.clone()).collect();
    assert_eq!(
        acquired,
        [Fact::Acquired(FIRST), Fact::Acquired(SessionId(3))]
    );
}
