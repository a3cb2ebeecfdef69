//! Functions, as a real server (7.0.15) has them. `picklock verify redis` asks it more.

use picklock_redis::{Fsync, Persistence, ProcessEnd, ServerConfig};

use crate::server::bench::Bench;
use crate::server::group::Group;

const LOAD: &str = "FUNCTION LOAD '#!lua name=lib\nlocal n = 0\n\
     redis.register_function(\"count\", function() n = n + 1 return n end)\n\
     redis.register_function(\"set\", function(keys, args) return redis.call(\"set\", keys[1], args[1]) end)\n\
     redis.register_function{function_name=\"get\", flags={\"no-writes\"},\n\
     callback=function(keys) return redis.call(\"get\", keys[1]) end}'";

fn loaded() -> Bench {
    let mut redis = Bench::new();
    assert_eq!(redis.on(1, LOAD), "lib");
    redis
}

#[test]
fn a_function_is_given_its_keys_and_its_arguments() {
    let mut redis = loaded();
    assert_eq!(redis.on(1, "FCALL set 1 k a"), "+OK");
    assert_eq!(redis.on(1, "FCALL_RO get 1 k"), "a");
    assert_eq!(redis.on(1, "FCALL GET 1 k"), "a");
    assert_eq!(redis.on(1, "FCALL nope 1 k"), "-ERR Function not found");
    let refused = redis.on(1, "FCALL_RO set 1 k a");
    assert!(refused.starts_with("-ERR Can not execute a script with write flag"));
}

#[test]
fn a_library_of_a_taken_name_is_refused_unless_it_replaces() {
    let mut redis = loaded();
    assert_eq!(redis.on(1, LOAD), "-ERR Library 'lib' already exists");
    let one = "'#!lua name=lib\nredis.register_function(\"one\", function() return 1 end)'";
    let replaced = redis.on(1, &format!("FUNCTION LOAD REPLACE {one}"));
    assert_eq!(replaced, "lib");
    assert_eq!(redis.on(1, "FCALL one 0"), ":1");
    assert_eq!(redis.on(1, "FCALL count 0"), "-ERR Function not found");
    let broken = "FUNCTION LOAD REPLACE '#!lua name=lib\nreturn redis.call(\"ping\")'";
    let refused = redis.on(1, broken);
    assert!(
        refused.contains("nonexistent global variable 'call'"),
        "{refused}"
    );
    assert_eq!(redis.on(1, "FCALL one 0"), ":1");
    let endless = "FUNCTION LOAD '#!lua name=endless\nwhile true do end'";
    let expected = "-ERR Error registering functions: ERR FUNCTION LOAD timeout";
    assert_eq!(redis.on(1, endless), expected);
    assert_eq!(redis.on(1, "FCALL one 0"), ":1");
}

#[test]
fn a_restart_forgets_scripts_and_keeps_functions() {
    let mut redis = Bench::with(ServerConfig {
        persistence: Persistence::Log(Fsync::Always),
        ..ServerConfig::default()
    });
    redis.on(1, LOAD);
    let sha = redis.on(1, "SCRIPT LOAD 'return 1'");
    assert_eq!(redis.on(1, "FCALL count 0"), ":1");
    assert_eq!(redis.on(1, "FCALL count 0"), ":2");
    redis.restart(ProcessEnd::Kill);
    assert!(
        redis
            .on(2, &format!("EVALSHA {sha} 0"))
            .starts_with("-NOSCRIPT")
    );
    // Its code is kept, and what its variables held is not.
    assert_eq!(redis.on(2, "FCALL count 0"), ":1");
    let mut forgetful = loaded();
    forgetful.restart(ProcessEnd::Shutdown);
    assert_eq!(forgetful.on(2, "FCALL count 0"), "-ERR Function not found");
}

#[test]
fn replicas_are_told_of_functions_and_not_of_scripts() {
    let mut group = Group::of(2);
    assert_eq!(group.on(0, 1, LOAD), "lib");
    let sha = group.on(0, 1, "SCRIPT LOAD 'return 1'");
    assert_eq!(group.on(0, 1, "FCALL count 0"), ":1");
    assert!(
        group
            .on(1, 1, &format!("EVALSHA {sha} 0"))
            .starts_with("-NOSCRIPT")
    );
    let read_only = "READONLY You can";
    assert!(group.on(1, 1, "FCALL set 1 k a").contains(read_only));
    assert_eq!(group.on(0, 1, "FCALL set 1 k a"), "+OK");
    assert_eq!(group.on(1, 1, "FCALL get 1 k"), "a");
    for line in [LOAD, "FUNCTION DELETE lib", "FUNCTION FLUSH"] {
        assert!(group.on(1, 1, line).contains(read_only), "{line}");
    }
    assert_eq!(group.on(1, 1, "REPLICAOF NO ONE"), "+OK");
    assert_eq!(group.on(1, 1, "FCALL count 0"), ":1");
    // The other one takes a copy of all that the new primary has.
    assert_eq!(group.on(0, 1, "FUNCTION FLUSH"), "+OK");
    assert_eq!(group.on(0, 1, "FCALL get 1 k"), "-ERR Function not found");
    group.on(0, 1, "REPLICAOF server 1");
    group.pass(3_000);
    assert_eq!(group.on(0, 1, "FCALL get 1 k"), "a");
}

#[test]
fn flushing_the_keys_leaves_the_functions_and_their_flush_the_keys() {
    let mut redis = loaded();
    redis.on(1, "FCALL set 1 k a");
    assert_eq!(redis.on(1, "FLUSHALL"), "+OK");
    assert_eq!(redis.on(1, "FCALL set 1 k a"), "+OK");
    assert_eq!(redis.on(1, "FUNCTION FLUSH"), "+OK");
    assert_eq!(redis.on(1, "GET k"), "a");
    let stats = "[running_script nil engines [LUA [libraries_count :0 functions_count :0]]]";
    assert_eq!(redis.on(1, "FUNCTION STATS"), stats);
}

#[test]
fn a_function_without_an_end_is_cut() {
    let mut redis = loaded();
    let endless = "FUNCTION LOAD '#!lua name=e\nredis.register_function(\"e\", function() while true do end end)'";
    redis.on(1, endless);
    let cut = redis.on(1, "FCALL e 0");
    assert!(cut.contains("script: e, on @user_function:2"), "{cut}");
    assert_eq!(redis.on(1, "FCALL count 0"), ":1");
}
