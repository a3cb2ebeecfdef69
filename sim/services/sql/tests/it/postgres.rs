//! Claims about PostgreSQL, as sessions see them.

use std::time::Duration;

use picklock_sql::Settings;
use picklock_sql::sql::Dialect::Postgres;

use crate::script::{play, play_on, table};

#[test]
fn the_next_look_that_falls_due_finds_a_deadlock() {
    play(
        Postgres,
        "a BEGIN => BEGIN
         b BEGIN => BEGIN
         a UPDATE l SET owner='a' WHERE name='k' => UPDATE 1
         b UPDATE l SET owner='b' WHERE name='m' => UPDATE 1
         a UPDATE l SET owner='a' WHERE name='m' => waits
         pass 1500
         b UPDATE l SET owner='b' WHERE name='k' => waits
         pass 999
         pass 1 => b 40P01 | a UPDATE 1",
    );
}

#[test]
fn three_in_a_circle_lose_the_one_that_looks_next() {
    play(
        Postgres,
        "a SELECT pg_advisory_lock(1) => SELECT 1 ('')
         b SELECT pg_advisory_lock(2) => SELECT 1 ('')
         c SELECT pg_advisory_lock(3) => SELECT 1 ('')
         a SELECT pg_advisory_lock(2) => waits
         pass 1100
         b SELECT pg_advisory_lock(3) => waits
         pass 300
         c SELECT pg_advisory_lock(1) => waits
         pass 700 => b 40P01
         b SELECT pg_advisory_unlock(2) => SELECT 1 (true) | a SELECT 1 ('')",
    );
}

#[test]
fn an_upgrade_by_two_holders_is_refused_at_once() {
    play(
        Postgres,
        "a SELECT pg_advisory_lock_shared(1) => SELECT 1 ('')
         b SELECT pg_advisory_lock_shared(1) => SELECT 1 ('')
         a SELECT pg_advisory_lock(1) => waits
         b SELECT pg_advisory_lock(1) => 40P01
         b SELECT pg_advisory_unlock_shared(1) => SELECT 1 (true) | a SELECT 1 ('')",
    );
}

#[test]
fn a_holder_takes_a_lock_again_past_those_that_wait() {
    play(
        Postgres,
        "a SELECT pg_advisory_lock_shared(1) => SELECT 1 ('')
         b SELECT pg_advisory_lock(1) => waits
         a SELECT pg_try_advisory_lock_shared(1) => SELECT 1 (true)
         c SELECT pg_try_advisory_lock_shared(1) => SELECT 1 (false)
         d SELECT pg_advisory_lock_shared(1) => waits
         e SELECT pg_advisory_lock_shared(1) => waits
         a SELECT pg_advisory_unlock_shared(1) => SELECT 1 (true)
         a SELECT pg_advisory_unlock_shared(1) => SELECT 1 (true) | b SELECT 1 ('')
         b SELECT pg_advisory_unlock(1) => SELECT 1 (true) | d SELECT 1 ('') | e SELECT 1 ('')",
    );
}

#[test]
fn a_shared_row_lock_passes_one_that_waits_for_the_row() {
    play(
        Postgres,
        "a BEGIN => BEGIN
         a SELECT version FROM l WHERE name='k' FOR SHARE => SELECT 1 (0)
         b SELECT version FROM l WHERE name='k' FOR UPDATE => waits
         c SELECT version FROM l WHERE name='k' FOR SHARE NOWAIT => SELECT 1 (0)
         a COMMIT => COMMIT | b SELECT 1 (0)",
    );
}

#[test]
fn an_error_frees_locks_before_the_rollback() {
    play(
        Postgres,
        "a BEGIN => BEGIN
         a SELECT version FROM l WHERE name='m' FOR UPDATE => SELECT 1 (0)
         a SELECT pg_advisory_xact_lock(1) => SELECT 1 ('')
         a SELECT pg_advisory_lock(2) => SELECT 1 ('')
         a INSERT INTO l(name) VALUES('k') => 23505
         b SELECT version FROM l WHERE name='m' FOR UPDATE NOWAIT => SELECT 1 (0)
         b SELECT pg_try_advisory_lock(1), pg_try_advisory_lock(2) => SELECT 1 (true, false)
         a COMMIT => ROLLBACK",
    );
}

#[test]
fn a_savepoint_gives_back_what_was_locked_after_it() {
    play(
        Postgres,
        "a BEGIN => BEGIN
         a SELECT pg_advisory_xact_lock(1) => SELECT 1 ('')
         a SAVEPOINT s => SAVEPOINT
         a SELECT pg_advisory_xact_lock(2) => SELECT 1 ('')
         a UPDATE l SET owner='a' WHERE name='k' => UPDATE 1
         b UPDATE l SET owner='b' WHERE name='k' => waits
         a ROLLBACK TO s => ROLLBACK | b UPDATE 1
         b SELECT pg_try_advisory_lock(1), pg_try_advisory_lock(2) => SELECT 1 (false, true)
         a COMMIT => COMMIT",
    );
}

#[test]
fn a_repeatable_read_refuses_what_has_changed_since() {
    play(
        Postgres,
        "a BEGIN ISOLATION LEVEL REPEATABLE READ => BEGIN
         b UPDATE l SET owner='b' WHERE name='k' => UPDATE 1
         a SELECT owner FROM l WHERE name='k' => SELECT 1 ('b')
         b UPDATE l SET owner='c' WHERE name='k' => UPDATE 1
         b BEGIN => BEGIN
         b SELECT owner FROM l WHERE name='m' FOR UPDATE => SELECT 1 ('-')
         b COMMIT => COMMIT
         a SELECT owner FROM l WHERE name='m' FOR UPDATE => SELECT 1 ('-')
         a SELECT owner FROM l WHERE name='k' => SELECT 1 ('b')
         a SELECT owner FROM l WHERE name='k' FOR UPDATE => 40001
         a ROLLBACK => ROLLBACK",
    );
}

#[test]
fn a_row_that_was_deleted_gives_its_waiters_nothing() {
    play(
        Postgres,
        "a BEGIN => BEGIN
         a DELETE FROM l WHERE name='k' => DELETE 1
         b SELECT name FROM l WHERE name='k' FOR UPDATE => waits
         c SELECT name FROM l WHERE name='k' FOR UPDATE => waits
         a INSERT INTO l(name) VALUES('k') => INSERT 0 1
         a COMMIT => COMMIT | b SELECT 0 | c SELECT 0",
    );
}

#[test]
fn a_prepared_transaction_keeps_its_locks_over_a_restart() {
    let mut driver = play(
        Postgres,
        "a BEGIN => BEGIN
         a UPDATE l SET owner='a' WHERE name='k' => UPDATE 1
         a SELECT pg_advisory_xact_lock(1) => SELECT 1 ('')
         a PREPARE TRANSACTION 'p' => PREPARE TRANSACTION
         b SELECT pg_try_advisory_lock(1) => SELECT 1 (false)
         b UPDATE l SET owner=owner||'b' WHERE name='k' => waits
         cut a
         c COMMIT PREPARED 'p' => COMMIT PREPARED | b UPDATE 1
         c SELECT owner FROM l WHERE name='k' => SELECT 1 ('ab')
         d BEGIN => BEGIN
         d DELETE FROM l WHERE name='m' => DELETE 1
         d PREPARE TRANSACTION 'q' => PREPARE TRANSACTION",
    );
    driver.input(picklock_sql::Input::Restart);
    driver.open(1);
    let delete = crate::sql_text::statement("DELETE FROM l WHERE name='m'", &[]);
    assert_eq!(driver.ask(1, delete.clone().expect("a statement")), None);
    driver.open(2);
    let end = crate::sql_text::statement("ROLLBACK PREPARED 'q'", &[]);
    assert!(matches!(
        driver.ask(2, end.expect("a statement")),
        Some(Ok(_))
    ));
    assert_eq!(driver.server.lock_counts().waiting, 0);
}

#[test]
fn a_key_held_at_both_levels_cannot_be_prepared() {
    play(
        Postgres,
        "a SELECT pg_advisory_lock(1) => SELECT 1 ('')
         a BEGIN => BEGIN
         a SELECT pg_advisory_xact_lock(1) => SELECT 1 ('')
         a PREPARE TRANSACTION 'p' => 0A000",
    );
}

#[test]
fn time_limits_count_a_wait_or_the_whole_statement() {
    play(
        Postgres,
        "a SELECT pg_advisory_lock(1) => SELECT 1 ('')
         b SET lock_timeout='500ms' => SET
         b SET statement_timeout='300ms' => SET
         b SELECT pg_advisory_lock(1) => waits
         pass 300 => b 57014
         b SET statement_timeout='900ms' => SET
         b SELECT pg_advisory_lock(1) => waits
         pass 500 => b 55P03
         a SELECT pg_advisory_unlock(1) => SELECT 1 (true)
         b SET statement_timeout='100ms' => SET
         b SELECT pg_advisory_lock(1), pg_sleep(1) => waits
         pass 100 => b 57014
         a SELECT pg_try_advisory_lock(1) => SELECT 1 (false)",
    );
}

#[test]
fn idle_time_limits_count_each_their_own_state() {
    play(
        Postgres,
        "a SET idle_in_transaction_session_timeout='300ms' => SET
         a SELECT pg_advisory_lock(1) => SELECT 1 ('')
         pass 1000
         b SELECT pg_advisory_lock(1) => waits
         a BEGIN => BEGIN
         pass 300 => a 25P03 | b SELECT 1 ('')
         c SET idle_session_timeout='300ms' => SET
         c BEGIN => BEGIN
         pass 1000
         c COMMIT => COMMIT
         pass 300 => c 57P05",
    );
}

#[test]
fn a_dead_client_is_seen_by_an_idle_session_or_by_checks() {
    play(
        Postgres,
        "a SELECT pg_advisory_lock(1) => SELECT 1 ('')
         b SELECT pg_advisory_lock(1) => waits
         c SET client_connection_check_interval='500ms' => SET
         c SELECT pg_advisory_lock(1) => waits
         d SELECT pg_advisory_lock(1) => waits
         pass 700
         cut b
         cut c
         pass 400
         a SELECT pg_advisory_unlock(1) => SELECT 1 (true) | d SELECT 1 ('')
         cut d
         a SELECT pg_try_advisory_lock(1) => SELECT 1 (true)",
    );
}

#[test]
fn keepalive_ends_an_idle_session_that_is_cut_off() {
    let mut settings = Settings::of(Postgres, vec![table()]);
    settings.keepalive = Duration::from_secs(3);
    play_on(
        settings,
        "a SELECT pg_advisory_lock(1) => SELECT 1 ('')
         b SELECT pg_advisory_lock(1) => waits
         unreachable a
         pass 2999
         pass 1 => b SELECT 1 ('')",
    );
}

#[test]
fn locks_are_held_and_rows_unseen_until_the_log_is_flushed() {
    let mut settings = Settings::of(Postgres, vec![table()]);
    settings.flush = Duration::from_millis(5);
    play_on(
        settings,
        "a INSERT INTO l(name) VALUES('n') => waits
         b SELECT name FROM l WHERE name='n' => SELECT 0
         b INSERT INTO l(name) VALUES('n') => waits
         pass 5 => a INSERT 0 1 | b 23505",
    );
}

#[test]
fn several_statements_of_a_message_are_one_transaction() {
    play(
        Postgres,
        "a UPDATE l SET owner='a' WHERE name='k'; SELECT pg_advisory_lock(1); SELECT 1/0 => 22012
         b SELECT owner FROM l WHERE name='k' => SELECT 1 ('-')
         b SELECT pg_try_advisory_lock(1) => SELECT 1 (false)",
    );
}

#[test]
fn a_sort_evaluates_a_condition_for_every_row() {
    let driver = play(
        Postgres,
        "a SELECT name FROM l WHERE pg_try_advisory_lock(version) ORDER BY owner LIMIT 1 => SELECT 1 ('k')
         a SELECT pg_advisory_unlock(0), pg_advisory_unlock(0) => SELECT 1 (true, true)",
    );
    assert_eq!(driver.server.lock_counts().advisory, 0);
}

#[test]
fn a_write_skew_of_serializable_transactions_is_refused() {
    play(
        Postgres,
        "a BEGIN ISOLATION LEVEL SERIALIZABLE => BEGIN
         b BEGIN ISOLATION LEVEL SERIALIZABLE => BEGIN
         a SELECT count(*) FROM l => SELECT 1 (2)
         b SELECT count(*) FROM l => SELECT 1 (2)
         a INSERT INTO l(name) VALUES('x') => INSERT 0 1
         b INSERT INTO l(name) VALUES('y') => INSERT 0 1
         a COMMIT => COMMIT
         b COMMIT => 40001",
    );
}
