//! What memcached 1.6.18 (Debian 12) answered, and what its sources say: each rule stands beside its test.

use picklock_clients::memcached::Product;
use picklock_memcached::Input;

use crate::driver::{BEGIN, Driver};

fn memcached() -> Driver {
    Driver::new(Product::Memcached)
}

/// Rule: `add` is a lock that any client can give back.
#[test]
fn delete_takes_an_item_of_any_client() {
    memcached().script(
        "add k 0 a -> STORED
         add k 0 b -> NOT_STORED
         get k -> VALUE a
         delete k -> DELETED
         delete k -> NOT_FOUND
         add k 0 b -> STORED
         replace k 0 a -> STORED
         get k -> VALUE a
         set k 0 c -> STORED
         delete nokey -> NOT_FOUND
         replace nokey 0 a -> NOT_STORED",
    );
}

/// Rule: cas numbers are one growing counter of the server; each store gives a new one; 0 is no item's.
#[test]
fn a_cas_number_is_good_for_one_store() {
    memcached().script(
        "set k 0 a -> STORED
         gets k -> VALUE a
         cas k 0 b 999999 -> EXISTS
         cas k 0 c LAST -> STORED
         cas k 0 d LAST -> EXISTS
         cas none 0 b 1 -> NOT_FOUND
         get k -> VALUE c
         cas k 0 b 0 -> EXISTS",
    );
}

/// Rule: touch and gat leave the cas number; a store of the same value does not.
#[test]
fn touch_leaves_the_cas_number_and_a_store_does_not() {
    memcached().script(
        "set k 0 a -> STORED
         gets k -> VALUE a
         touch k 100 -> TOUCHED
         gat 100 k -> VALUE a
         cas k 0 a LAST -> STORED
         gets k -> VALUE a
         set k 0 a -> STORED
         cas k 0 b LAST -> EXISTS",
    );
}

/// Rule: an item that has expired is not there for any command.
#[test]
fn an_expired_item_is_not_found() {
    memcached().script(
        "add k 1 a -> STORED
         add k 1 b -> NOT_STORED
         wait 2100
         get k -> END
         add k 1 b -> STORED
         wait 2100
         delete k -> NOT_FOUND
         touch k 5 -> NOT_FOUND
         incr k 1 -> NOT_FOUND",
    );
}

/// Rule: n seconds are n-1 to n, for the clock ticks once a second.
#[test]
fn a_lease_of_a_second_can_last_for_half_of_one() {
    memcached().script(
        "add k 1 a -> STORED
         wait 499
         add k 1 b -> NOT_STORED
         wait 1
         add k 1 b -> STORED
         wait 999
         add k 1 c -> NOT_STORED
         wait 1
         add k 1 c -> STORED",
    );
}

/// Rule: negative is over at once and STORED; 30 days are relative, and a second more is a Unix time.
#[test]
fn an_exptime_in_the_past_is_stored_and_gone() {
    memcached().script(
        "set k -1 a -> STORED
         get k -> END
         add k -1 a -> STORED
         add k 0 b -> STORED
         delete k -> DELETED
         add k 2592000 a -> STORED
         get k -> VALUE a
         delete k -> DELETED
         add k 2592001 a -> STORED
         get k -> END
         add k 10 b -> STORED
         get k -> VALUE b
         set k 4102444800 c -> STORED
         get k -> END",
    );
}

#[test]
fn a_unix_time_is_counted_from_the_beginning_of_the_process() {
    let mut driver = memcached();
    let at = BEGIN + 3;
    driver.script(&format!(
        "add k {at} a -> STORED
         wait 2400
         get k -> VALUE a
         wait 200
         get k -> END"
    ));
}

/// Rule: touch and gat by any client; they revive nothing; -1 ends the item.
#[test]
fn touch_moves_the_end_of_another_clients_item() {
    memcached().script(
        "add k 1 a -> STORED
         touch k 100 -> TOUCHED
         wait 2100
         add k 1 a -> NOT_STORED
         get k -> VALUE a
         touch k -1 -> TOUCHED
         get k -> END
         add k 0 a -> STORED
         touch none 1 -> NOT_FOUND
         gat 100 k -> VALUE a
         gat 100 none -> END",
    );
}

/// Rule: incr and decr need an item; decr stops at 0 and keeps the length; incr wraps at 2^64.
#[test]
fn counters_wrap_and_keep_their_length() {
    memcached().script(
        "incr n 1 -> NOT_FOUND
         add n 0 0 -> STORED
         incr n 1 -> 1
         incr n 1 -> 2
         decr n 5 -> 0
         set n 0 18446744073709551615 -> STORED
         incr n 1 -> 0
         set n 0 10 -> STORED
         decr n 1 -> 9",
    );
    let mut driver = memcached();
    driver.script(
        "set n 0 10 -> STORED
         decr n 1 -> 9",
    );
    assert_eq!(driver.line("get n"), "VALUE 9 ");
    driver.script(
        "set n 0 x -> STORED
         incr n 1 -> CLIENT_ERROR cannot increment or decrement non-numeric value",
    );
}

/// Rule: incr keeps the expiry, and gives a new cas number.
#[test]
fn a_counter_expires_when_it_was_to() {
    memcached().script(
        "add n 1 5 -> STORED
         gets n -> VALUE 5
         incr n 1 -> 6
         cas n 0 7 LAST -> EXISTS
         wait 1100
         incr n 1 -> NOT_FOUND",
    );
}

/// Rule: flush_all ends every lock, and leaves what is added in the same second; with a delay it comes up to a second
/// early.
#[test]
fn flush_all_ends_all_items_and_no_later_one() {
    memcached().script(
        "add k 0 a -> STORED
         flush_all -> OK
         get k -> END
         add k 0 b -> STORED
         flush_all 4 -> OK
         get k -> VALUE b
         wait 2400
         get k -> VALUE b
         wait 200
         get k -> END
         wait 1600
         add k 0 a -> STORED
         get k -> VALUE a",
    );
}

/// Rule: a restart frees all locks; the death of a connection frees none.
#[test]
fn a_restart_loses_everything() {
    let mut driver = memcached();
    driver.script("add k 0 a -> STORED");
    driver.input(Input::Restart);
    driver.script(
        "get k -> END
         add k 1 b -> STORED
         wait 999
         get k -> VALUE b
         wait 1
         get k -> END",
    );
}

/// Rule: a class without room evicts the item that was read longest ago, whatever its exptime; `add` reads nothing.
#[test]
fn a_poll_by_add_does_not_keep_an_item_and_a_get_does() {
    for (poll, kept) in [("add k 3600 b", false), ("get k", true)] {
        let mut driver = Driver::with_room(Product::Memcached, Some(10));
        driver.script("add k 3600 a -> STORED");
        for number in 0..30 {
            driver.line(&format!("set other-{number} 0 a"));
            driver.line(poll);
        }
        assert_eq!(driver.line("get k") == "VALUE a", kept, "{poll}");
    }
}

/// Rule: an unlock by gets and cas with a past exptime is safe against a successor.
#[test]
fn a_cas_with_an_exptime_of_minus_one_deletes_ones_own() {
    memcached().script(
        "add k 1 a -> STORED
         gets k -> VALUE a
         wait 2100
         add k 100 b -> STORED
         cas k -1 0 LAST -> EXISTS
         get k -> VALUE b
         gets k -> VALUE b
         cas k -1 0 LAST -> STORED
         get k -> END
         add k 0 a -> STORED",
    );
}

/// Rule: a key has 250 bytes at most.
#[test]
fn a_key_of_251_bytes_is_refused() {
    let mut driver = memcached();
    assert_eq!(driver.line(&format!("get {}", "k".repeat(250))), "END");
    let long = driver.line(&format!("get {}", "k".repeat(251)));
    assert_eq!(long, "CLIENT_ERROR bad command line format");
}
