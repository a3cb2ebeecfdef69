//! Scripts.

use picklock_redis::{ConnectionId, Output, ServerConfig};

use crate::server::bench::Bench;

const RELEASE: &str = "if redis.call('get', KEYS[1]) == ARGV[1] then \
     return redis.call('del', KEYS[1]) else return 0 end";

#[test]
fn compare_and_delete_deletes_its_own_only() {
    let mut redis = Bench::new();
    redis.on(1, "SET lock a");
    assert_eq!(redis.send(1, vec!["EVAL", RELEASE, "1", "lock", "b"]), ":0");
    assert_eq!(redis.send(1, vec!["EVAL", RELEASE, "1", "lock", "a"]), ":1");
    let sha = redis.send(1, vec!["SCRIPT", "LOAD", RELEASE]);
    assert_eq!(redis.send(1, vec!["EVALSHA", &sha, "1", "lock", "a"]), ":0");
    redis.on(1, "SCRIPT FLUSH");
    assert_eq!(
        redis.send(1, vec!["EVALSHA", &sha, "1", "lock", "a"]),
        "-NOSCRIPT No matching script. Please use EVAL."
    );
}

/// What a real server answered to each of these, from `script:` on without the SHA1.
const ANSWERS: &[(&str, &str)] = &[
    (
        "return foo",
        "-ERR user_script:1: Script attempted to access nonexistent global variable 'foo' script: @1",
    ),
    (
        "foo=1",
        "-ERR user_script:1: Attempt to modify a readonly table script: @1",
    ),
    (
        "redis.x=1",
        "-ERR user_script:1: Attempt to modify a readonly table script: @1",
    ),
    (
        "string.x=1",
        "-ERR user_script:1: Attempt to modify a readonly table script: @1",
    ),
    (
        "_G.x=1",
        "-ERR user_script:1: Attempt to modify a readonly table script: @1",
    ),
    (
        "KEYS={}",
        "-ERR user_script:1: Attempt to modify a readonly table script: @1",
    ),
    (
        "rawset(_G,'x',1)",
        "-ERR Attempt to modify a readonly table script: @1",
    ),
    (
        "return redis.call('get')",
        "-ERR Wrong number of args calling Redis command from script script: @1",
    ),
    (
        "\n return redis.call('nope')",
        "-ERR Unknown Redis command called from script script: @2",
    ),
    (
        "return redis.call()",
        "-ERR Please specify at least one argument for this redis lib call script: @1",
    ),
    (
        "return redis.call({})",
        "-ERR Lua redis lib command arguments must be strings or integers script: @1",
    ),
    ("error('x')", "-ERR user_script:1: x script: @1"),
    ("error('x', 0)", "-ERR x script: @1"),
    ("error({err='My Err'})", "-My Err script: @1"),
    (
        "assert(false)",
        "-ERR user_script:1: assertion failed! script: @1",
    ),
    (
        "local a\nreturn a.b",
        "-ERR user_script:2: attempt to index local 'a' (a nil value) script: @2",
    ),
    (
        "syntax error",
        "-ERR Error compiling script (new function): user_script:1: '=' expected near 'error'",
    ),
    (
        "return redis.pcall('nope')",
        "-ERR Unknown Redis command called from script",
    ),
    ("return redis.error_reply('x')", "-ERR x"),
    ("return redis.error_reply('My x')", "-My x"),
    ("return redis.status_reply('x')", "+x"),
    (
        "local ok, e = pcall(redis.call, 'nope') return type(e) .. e",
        "stringERR Unknown Redis command called from script",
    ),
    (
        "return redis.call('subscribe', 'x')",
        "-ERR This Redis command is not allowed from script script: @1",
    ),
    (
        "return redis.call('wait', 0, 0)",
        "-ERR This Redis command is not allowed from script script: @1",
    ),
    ("return {1, 2, nil, 3}", "[:1 :2]"),
    (
        "return {1, {3, 'x', false, true, 3.9}}",
        "[:1 [:3 x nil :1 :3]]",
    ),
    ("return -3.9", ":-3"),
    ("return 2^63", ":-9223372036854775808"),
    (
        "redis.call('set', 'k', 1e3) return redis.call('get', 'k')",
        "1000",
    ),
    (
        "redis.call('set', 'k', 0.1) return redis.call('get', 'k')",
        "0.10000000000000001",
    ),
    (
        "redis.call('set', 'k', true)",
        "-ERR Lua redis lib command arguments must be strings or integers script: @1",
    ),
    ("return redis.call('get', 'nokey') == false", ":1"),
    (
        "redis.setresp(3) return redis.call('get', 'nokey') == nil",
        ":1",
    ),
    (
        "return redis.sha1hex('')",
        "da39a3ee5e6b4b0d3255bfef95601890afd80709",
    ),
    (
        "return redis.sha1hex()",
        "-ERR wrong number of arguments script: @1",
    ),
    (
        "return redis.setresp(4)",
        "-ERR RESP version must be 2 or 3. script: @1",
    ),
    ("for i = '1', 3 do end return math.max(1, '2')", ":2"),
    ("return loadstring('return 7')()", ":7"),
    ("return table.getn({1,2})", ":2"),
    ("return bit.band(7, 3)", ":3"),
    (
        "return {bit.tobit(2.5), bit.rol(0x12345678, 12), bit.tohex(0xabcdef, -4)}",
        "[:2 :1164411171 CDEF]",
    ),
    (
        "return bit.band(1, 'x')",
        "-ERR user_script:1: bad argument #2 to 'band' (number expected, got string) script: @1",
    ),
    (
        "return cjson.encode({1, 'a/b', {}, cjson.null, 0.1, 1e15})",
        r#"[1,\"a\\/b\",{},null,0.1,1e+15]"#,
    ),
    (
        r#"return cjson.decode('[1, "\\u00e9", null, {"a":[2.9]}]')"#,
        r"[:1 \xc3\xa9 nil []]",
    ),
    (
        "return cjson.decode('[1,]')",
        "-ERR user_script:1: Expected value but found T_ARR_END at character 4 script: @1",
    ),
    (
        "local ok, e = pcall(cjson.decode, '{') return e",
        "Expected object key string but found T_END at character 2",
    ),
    (
        "return cjson.encode({redis.call})",
        "-ERR user_script:1: Cannot serialise function: type not supported script: @1",
    ),
    (
        "return {cmsgpack.unpack_one(cmsgpack.pack(-40, {a = 1}))}",
        "[:2 :-40]",
    ),
    (
        "return cmsgpack.unpack(string.char(0xa2))",
        "-ERR user_script:1: Missing bytes in input. script: @1",
    ),
    (
        "return {struct.unpack('>hc2', struct.pack('>hc2', -2, 'xyz'))}",
        "[:-2 xy :5]",
    ),
    ("return struct.size('!bi')", ":8"),
    (
        "return cjson.encode_max_depth(5)",
        "-ERR not modelled: cjson.encode_max_depth script: @1",
    ),
    ("return {double=3.25}", "3.25"),
    ("return tostring({}):sub(1, 8)", "table: 0"),
    (
        "return print",
        "-ERR user_script:1: Script attempted to access nonexistent global variable 'print' script: @1",
    ),
];

#[test]
fn scripts_answer_as_those_of_a_real_server() {
    let mut redis = Bench::new();
    for (script, expected) in ANSWERS {
        let answer = redis.eval(script);
        let answer = match (
            answer.split_once(" script: "),
            answer.rsplit_once("on @user_script:"),
        ) {
            (Some((text, _)), Some((_, line))) => {
                format!("{text} script: @{}", line.trim_end_matches('.'))
            }
            _ => answer,
        };
        assert_eq!(&answer, expected, "{script}");
    }
}

#[test]
fn an_endless_script_is_cut_with_its_line() {
    let settings = ServerConfig {
        script_budget: 100_000,
        ..ServerConfig::default()
    };
    let mut redis = Bench::with(settings);
    let loops = [
        "\nwhile true do end",
        "while true do\n pcall(function() while true do end end) end",
        "local c = coroutine.create(function()\n while true do end end)\n while true do coroutine.resume(c) end",
    ];
    for script in loops {
        assert_eq!(redis.eval(script), "");
        let cut = redis.out.pop();
        assert!(
            matches!(cut, Some(Output::ScriptCut { line: 2, .. })),
            "{cut:?}"
        );
        redis.pass(5_000);
        redis.on(1, "SCRIPT KILL");
        let killed = redis.read(ConnectionId(0));
        assert!(killed.ends_with("on @user_script:2."), "{killed}");
    }
    assert_eq!(redis.eval("return 1"), ":1");
    redis.on(1, "MULTI");
    redis.send(1, vec!["EVAL", loops[0], "0"]);
    let answer = redis.on(1, "EXEC");
    assert!(
        answer.starts_with("[-ERR cut after 100000 instructions"),
        "{answer}"
    );
}

#[test]
fn what_a_script_did_before_it_failed_stays() {
    let mut redis = Bench::new();
    redis.eval("redis.call('set', 'part', 1) redis.call('incr')");
    assert_eq!(redis.on(1, "GET part"), "1");
}
