//! Claims about InnoDB and user locks, as sessions see them.

use picklock_sql::sql::Dialect::MySql;

use crate::script::play;

#[test]
fn of_a_circle_the_one_that_changed_the_fewest_rows_dies() {
    play(
        MySql,
        "a BEGIN => BEGIN
         b BEGIN => BEGIN
         b UPDATE l SET owner='b' WHERE name='m' => UPDATE 1
         b INSERT INTO l(name) VALUES('x') => INSERT 0 1
         a UPDATE l SET owner='a' WHERE name='k' => UPDATE 1
         a UPDATE l SET owner='a' WHERE name='m' => waits
         b UPDATE l SET owner='b' WHERE name='k' => UPDATE 1 | a 1213
         b COMMIT => COMMIT
         a SELECT owner FROM l WHERE name='k' => SELECT 1 ('b')",
    );
}

#[test]
fn shared_requests_wait_behind_an_exclusive_one() {
    play(
        MySql,
        "a BEGIN => BEGIN
         a SELECT version FROM l WHERE name='k' FOR SHARE => SELECT 1 (0)
         b SELECT version FROM l WHERE name='k' FOR UPDATE => waits
         c SELECT version FROM l WHERE name='k' FOR SHARE => waits
         a COMMIT => COMMIT | b SELECT 1 (0) | c SELECT 1 (0)",
    );
}

#[test]
fn a_gap_keeps_other_names_out_unless_read_committed() {
    play(
        MySql,
        "a BEGIN => BEGIN
         a SELECT name FROM l WHERE name='n' FOR UPDATE => SELECT 0
         b INSERT INTO l(name) VALUES('p') => waits
         a COMMIT => COMMIT | b INSERT 0 1
         a SET TRANSACTION ISOLATION LEVEL READ COMMITTED => SET
         a BEGIN => BEGIN
         a SELECT name FROM l WHERE name='n' FOR UPDATE => SELECT 0
         b INSERT INTO l(name) VALUES('n') => INSERT 0 1",
    );
}

#[test]
fn without_an_index_every_row_is_locked_unless_read_committed() {
    play(
        MySql,
        "a BEGIN => BEGIN
         a UPDATE l SET version=1 WHERE owner='none' => UPDATE 0
         b UPDATE l SET owner='b' WHERE name='m' => waits
         a COMMIT => COMMIT | b UPDATE 1
         a SET TRANSACTION ISOLATION LEVEL READ COMMITTED => SET
         a BEGIN => BEGIN
         a UPDATE l SET version=1 WHERE owner='b' => UPDATE 1
         b UPDATE l SET owner='c' WHERE name='k' => UPDATE 1
         b UPDATE l SET owner='c' WHERE name='m' => waits
         a COMMIT => COMMIT | b UPDATE 1",
    );
}

#[test]
fn writes_work_on_what_is_newest_and_reads_on_the_snapshot() {
    play(
        MySql,
        "a BEGIN => BEGIN
         a SELECT version FROM l WHERE name='k' => SELECT 1 (0)
         b UPDATE l SET version=1 WHERE name='k' => UPDATE 1
         a UPDATE l SET owner='a' WHERE name='k' AND version=0 => UPDATE 0
         a UPDATE l SET version=version+1 WHERE name='k' => UPDATE 1
         a SELECT version FROM l WHERE name='k' => SELECT 1 (2)
         a COMMIT => COMMIT",
    );
}

#[test]
fn an_upsert_counts_one_two_or_nothing() {
    play(
        MySql,
        "a INSERT INTO l(name,owner) VALUES('x','a') ON DUPLICATE KEY UPDATE owner='a' => INSERT 0 1
         a INSERT INTO l(name,owner) VALUES('x','a') ON DUPLICATE KEY UPDATE owner='b' => INSERT 0 2
         a INSERT INTO l(name,owner) VALUES('x','a') ON DUPLICATE KEY UPDATE owner='b' => INSERT 0 0
         a INSERT IGNORE INTO l(name) VALUES('x') => INSERT 0 0; warning: Duplicate entry for key 'PRIMARY'",
    );
}

#[test]
fn a_begin_commits_the_transaction_before_it() {
    play(
        MySql,
        "a BEGIN => BEGIN
         a UPDATE l SET owner='a' WHERE name='k' => UPDATE 1
         b UPDATE l SET owner='b' WHERE name='k' => waits
         a BEGIN => BEGIN | b UPDATE 1",
    );
}

#[test]
fn a_circle_of_a_user_lock_and_a_row_is_ended_by_time_alone() {
    play(
        MySql,
        "a SELECT GET_LOCK('g',0) => SELECT 1 (1)
         b SET innodb_lock_wait_timeout=3 => SET
         b BEGIN => BEGIN
         a BEGIN => BEGIN
         b UPDATE l SET owner='b' WHERE name='m' => UPDATE 1
         a UPDATE l SET owner='a' WHERE name='k' => UPDATE 1
         b UPDATE l SET owner='b' WHERE name='k' => waits
         a UPDATE l SET owner='a' WHERE name='k' AND GET_LOCK('g',0) => UPDATE 0
         pass 3000 => b 1205
         b SELECT owner FROM l WHERE name='m' => SELECT 1 ('b')",
    );
}

#[test]
fn a_waiter_of_a_user_lock_that_is_killed_is_answered_null() {
    play(
        MySql,
        "a SELECT GET_LOCK('g',0) => SELECT 1 (1)
         b SELECT GET_LOCK('g',100) => waits
         x KILL QUERY @b@ => KILL | b SELECT 1 (NULL)
         x KILL QUERY @a@ => KILL
         b SELECT GET_LOCK('g',0) => SELECT 1 (0)",
    );
}

#[test]
fn a_dead_waiter_leaves_a_user_lock_by_itself_and_not_a_row() {
    play(
        MySql,
        "a SELECT GET_LOCK('g',0) => SELECT 1 (1)
         a BEGIN => BEGIN
         a SELECT version FROM l WHERE name='k' FOR UPDATE => SELECT 1 (0)
         b SELECT GET_LOCK('g',100) => waits
         c UPDATE l SET owner='c' WHERE name='k' => waits
         pass 300
         cut b
         cut c
         pass 700
         a COMMIT => COMMIT
         a SELECT owner FROM l WHERE name='k' => SELECT 1 ('c')
         a SELECT RELEASE_LOCK('g') => SELECT 1 (1)
         a SELECT IS_FREE_LOCK('g') => SELECT 1 (1)",
    );
}

#[test]
fn a_record_that_was_inserted_again_is_one_row() {
    play(
        MySql,
        "a BEGIN => BEGIN
         a SELECT count(*) FROM l => SELECT 1 (2)
         b DELETE FROM l WHERE name='k' => DELETE 1
         a SELECT owner FROM l WHERE name='k' => SELECT 1 ('-')
         a INSERT INTO l(name,owner) VALUES('k','a') => INSERT 0 1
         a SELECT owner FROM l WHERE name='k' => SELECT 1 ('a')
         a DELETE FROM l WHERE name='k' => DELETE 1
         a SELECT owner FROM l WHERE name='k' => SELECT 0",
    );
}

#[test]
fn a_savepoint_before_the_first_look_gives_all_locks_back() {
    play(
        MySql,
        "a BEGIN => BEGIN
         a SAVEPOINT s => SAVEPOINT
         a SELECT owner FROM l WHERE name='k' FOR UPDATE => SELECT 1 ('-')
         a SAVEPOINT t => SAVEPOINT
         a SELECT owner FROM l WHERE name='m' FOR UPDATE => SELECT 1 ('-')
         a ROLLBACK TO t => ROLLBACK
         b SELECT owner FROM l WHERE name='m' FOR UPDATE NOWAIT => 1205
         a ROLLBACK TO s => ROLLBACK
         b SELECT owner FROM l WHERE name='k' FOR UPDATE NOWAIT => SELECT 1 ('-')",
    );
}
