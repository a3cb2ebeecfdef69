//! `RedissonMultiLock` over locks whose calls fail.

use super::*;
use crate::stub_locks::{LEASE, StubLock, acquire_and_release};

const AS_IT_IS: RedissonMultiLock = RedissonMultiLock {
    deviation: Deviation::NONE,
};
const LEASED: RedissonMultiLock = RedissonMultiLock {
    deviation: crate::redis::redisson_multi_lock_leased::LEASED,
};

fn failing(errors: &[LockError]) -> StubLock {
    StubLock {
        acquire_fails: errors.to_vec(),
        ..StubLock::default()
    }
}

fn three() -> [StubLock; 3] {
    [(); 3].map(|()| StubLock::default())
}

#[test]
fn who_fails_at_one_lock_begins_with_the_first_again() {
    let error = LockError::ConnectionLoss;
    let mut locks = [
        StubLock::default(),
        failing(&[error; 2]),
        StubLock::default(),
    ];
    let waits = locks[0].waits.clone();
    let (acquired, released, held) = acquire_and_release(&AS_IT_IS, None, &mut locks);
    assert_eq!((acquired, released), (Ok(()), Some(Ok(()))));
    assert_eq!(held, [false; 3]);
    let waited: Vec<u128> = waits.borrow().iter().map(Duration::as_millis).collect();
    assert_eq!(waited, [4500, 4490, 4480], "the time is one for all tries");
}

#[test]
fn a_call_without_a_time_tries_once() {
    let mut locks = [StubLock::default(), failing(&[LockError::AcquireTimeout])];
    let (acquired, _, held) = acquire_and_release(&AS_IT_IS, Some(Duration::ZERO), &mut locks);
    assert_eq!(acquired, Err(LockError::AcquireTimeout));
    assert_eq!(held, [false, false]);
}

#[test]
fn a_call_that_may_have_left_a_lock_says_so_if_it_is_hardened() {
    let of = || [StubLock::default(), failing(&[LockError::ConnectionLoss])];
    let once = Some(Duration::ZERO);
    let (acquired, ..) = acquire_and_release(&AS_IT_IS, once, &mut of());
    assert_eq!(acquired, Err(LockError::AcquireTimeout));
    let (acquired, ..) = acquire_and_release(&LEASED, once, &mut of());
    assert_eq!(acquired, Err(LockError::ConnectionLoss));
}

#[test]
fn the_lease_of_a_call_is_what_was_asked_or_twice_its_time() {
    let second = Duration::from_secs(1);
    let leases = |in_call, wait| {
        let all = RedissonMultiLock {
            deviation: Deviation {
                in_call,
                ..LEASED.deviation
            },
        };
        let mut locks = three();
        acquire_and_release(&all, Some(wait), &mut locks).0.unwrap();
        locks[2].leases.take()
    };
    assert_eq!(leases(CallLease::AsAsked, second), [LEASE; 2]);
    assert_eq!(leases(CallLease::TwiceItsTime, second), [second * 2, LEASE]);
    assert_eq!(leases(CallLease::TwiceItsTime, Duration::ZERO), [LEASE; 2]);
    let none = [Duration::ZERO, LEASE];
    assert_eq!(leases(CallLease::TwiceNone, Duration::ZERO), none);
}

#[test]
fn a_lock_that_was_lost_before_its_lease_is_set_is_acquired_again() {
    let mut locks = three();
    locks[1].is_lost = true;
    let waits = locks[0].waits.clone();
    let (acquired, ..) = acquire_and_release(&LEASED, None, &mut locks);
    assert_eq!((acquired, waits.borrow().len()), (Ok(()), 2));
    locks[1].is_lost = true;
    let blind = RedissonMultiLock {
        deviation: crate::redis::redisson_multi_lock_blind_expire::BLIND_EXPIRE,
    };
    let (acquired, ..) = acquire_and_release(&blind, None, &mut locks);
    assert_eq!((acquired, waits.borrow().len()), (Ok(()), 3));
}

#[test]
fn an_unlock_stops_at_the_first_that_throws_unless_it_is_hardened() {
    let of = || {
        let mut locks = three();
        locks[0].release_fails = Some(LockError::PlaceLost);
        locks
    };
    let (_, released, held) = acquire_and_release(&AS_IT_IS, None, &mut of());
    assert_eq!(released, Some(Err(LockError::PlaceLost)));
    assert_eq!(held, [true; 3]);
    let (_, released, held) = acquire_and_release(&LEASED, None, &mut of());
    assert_eq!(released, Some(Err(LockError::PlaceLost)));
    assert_eq!(held, [true, false, false]);
}

#[test]
fn a_majority_can_do_without_the_others() {
    let majority = RedissonMultiLock {
        deviation: Deviation {
            is_of_majority: true,
            ..Deviation::NONE
        },
    };
    assert_eq!(
        [1, 2, 3, 4, 5].map(|all| majority.failed_locks_limit(all)),
        [0, 0, 1, 1, 2]
    );
    let none = || failing(&[LockError::Refused; 9]);
    let mut locks = [none(), StubLock::default(), StubLock::default()];
    let (waits, wait) = (locks[1].waits.clone(), Some(Duration::from_secs(3)));
    assert_eq!(acquire_and_release(&majority, wait, &mut locks).0, Ok(()));
    assert_eq!(
        *waits.borrow(),
        [Duration::from_secs(1)],
        "each has its part"
    );
    // The last is not asked for: two that are not had are too many, and two that are had are enough.
    let mut locks = [none(), none(), StubLock::default()];
    let last = locks[2].waits.clone();
    let (acquired, ..) = acquire_and_release(&majority, Some(Duration::ZERO), &mut locks);
    assert_eq!(
        (acquired, last.borrow().len()),
        (Err(LockError::AcquireTimeout), 0)
    );
}

#[test]
fn the_time_of_a_lease_is_between_the_base_and_the_lease() {
    let waits = |lease: Option<u64>| {
        let env = crate::stub_locks::env();
        RedissonMultiLock::wait_time(&env, 2, lease.map(Duration::from_secs)).as_millis()
    };
    assert_eq!([None, Some(2), Some(10)].map(waits), [3000, 1000, 3000]);
}
