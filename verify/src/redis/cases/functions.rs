//! Libraries of functions.

use super::{Case, case};

pub(in crate::redis) const FUNCTIONS: Case = case(
    "functions",
    "
    0 FUNCTION LOAD '#!lua name=lib\\nlocal n = 0\\nredis.register_function(`f`, function(keys, args)\\n n = n + 1
    | return {#keys, #args, keys[1] or ``, args[1] or ``, n} end)'
    0 FUNCTION LIST
    0 FUNCTION LIST WITHCODE LIBRARYNAME L*
    0 FUNCTION LIST LIBRARYNAME x*
    0 FUNCTION LIST LIBRARYNAME
    0 FUNCTION LIST BAD
    0 FUNCTION LIST WITHCODE WITHCODE
    0 FUNCTION STATS
    0 FCALL f 1 a b
    1 FCALL F 1 a b
    0 FCALL f 0
    0 FCALL f 2 a b c
    0 FCALL f 3 a
    0 FCALL f -1 a
    0 FCALL f x a
    0 FCALL nope x a
    0 FCALL f
    0 FCALL_RO f 1 a
    0 MULTI
    0 FCALL f 0
    0 FUNCTION STATS
    0 EXEC
    0 FUNCTION LOAD '#!lua name=lib\\nredis.register_function(`f`, function() end)'
    0 FUNCTION LOAD '#!lua name=LIB\\nredis.register_function(`f`, function() end)'
    0 FUNCTION LOAD '#!lua name=other\\nredis.register_function(`F`, function() end)'
    0 FUNCTION LOAD REPLACE '#!lua name=lib\\nreturn (' 
    0 FCALL f 0
    0 FUNCTION LOAD REPLACE '#!LUA NAME=lib\\nredis.register_function{FUNCTION_NAME=`g`, description=`gets`,
    | flags={`NO-writes`}, callback=function(keys) return redis.call(`get`, keys[1]) end}'
    0 FUNCTION LIST WITHCODE
    0 SET a foo
    0 FCALL g 1 a
    0 FCALL_RO g 1 a
    0 FCALL f 0
    0 FLUSHALL
    0 FCALL g 1 a
    0 FUNCTION DELETE nope
    0 FUNCTION DELETE LIB
    0 FCALL g 1 a
    0 FUNCTION FLUSH
    0 FUNCTION FLUSH SYNC
    0 FUNCTION FLUSH BAD
    0 FUNCTION FLUSH SYNC x
    0 FUNCTION KILL
    0 FUNCTION
    0 FUNCTION NOPE
    0 FUNCTION LOAD
    0 FUNCTION DELETE
    0 FUNCTION DELETE a b
    0 FUNCTION STATS x
    0 FUNCTION LOAD BAD x
    0 FUNCTION LOAD REPLACE
    0 EVAL 'return redis.call(`fcall`, `f`, 0)' 0
    0 EVAL 'return redis.call(`function`, `list`)' 0
    0 EVAL 'return redis.register_function == nil' 0
    ",
);

/// Libraries that cannot be loaded.
pub(in crate::redis) const BAD_LIBRARIES: Case = case(
    "bad libraries of functions",
    "
    0 FUNCTION LOAD ''
    0 FUNCTION LOAD '#!lua name=x'
    0 FUNCTION LOAD '#!lua\\nreturn 1'
    0 FUNCTION LOAD '#!js name=x\\nreturn 1'
    0 FUNCTION LOAD '#!lua name=x foo=1\\nreturn 1'
    0 FUNCTION LOAD '#!lua name=x name=y\\nreturn 1'
    0 FUNCTION LOAD '#!lua name=x-y\\nreturn 1'
    0 FUNCTION LOAD '#!lua name=\\nreturn 1'
    0 FUNCTION LOAD '#!lua name=x\\nreturn 1'
    0 FUNCTION LOAD '#!lua name=x\\nreturn x x'
    0 FUNCTION LOAD '#!lua name=x\\n\\nerror(1)'
    0 FUNCTION LOAD '#!lua name=x\\nlocal a\\na.b = 1'
    0 FUNCTION LOAD '#!lua name=x\\nlocal a = string'
    0 FUNCTION LOAD '#!lua name=x\\nredis.call(`get`, `a`)'
    0 FUNCTION LOAD '#!lua name=x\\nreturn KEYS'
    0 FUNCTION LOAD '#!lua name=x\\nfoo = 1'
    0 FUNCTION LOAD '#!lua name=x\\nredis.x = 1'
    0 FUNCTION LOAD '#!lua name=x\\nredis.log(`a`, `x`)'
    0 FUNCTION LOAD '#!lua name=x\\nredis.register_function()'
    0 FUNCTION LOAD '#!lua name=x\\nredis.register_function(`f`)'
    0 FUNCTION LOAD '#!lua name=x\\nredis.register_function(1, 2)'
    0 FUNCTION LOAD '#!lua name=x\\nredis.register_function({}, function() end)'
    0 FUNCTION LOAD '#!lua name=x\\nredis.register_function(`f-g`, function() end)'
    0 FUNCTION LOAD '#!lua name=x\\nredis.register_function(`f`, function() end) redis.register_function(`f`,
    | function() end)'
    0 FUNCTION LOAD '#!lua name=x\\nredis.register_function(`f`, function() end, 3)'
    0 FUNCTION LOAD '#!lua name=x\\nredis.register_function{function_name=`f`}'
    0 FUNCTION LOAD '#!lua name=x\\nredis.register_function{callback=function() end}'
    0 FUNCTION LOAD '#!lua name=x\\nredis.register_function{function_name={}}'
    0 FUNCTION LOAD '#!lua name=x\\nredis.register_function{callback=1}'
    0 FUNCTION LOAD '#!lua name=x\\nredis.register_function{flags=1}'
    0 FUNCTION LOAD '#!lua name=x\\nredis.register_function{flags={`bad`}}'
    0 FUNCTION LOAD '#!lua name=x\\nredis.register_function{what=1}'
    0 FUNCTION LOAD '#!lua name=x\\nredis.register_function{description={}}'
    0 FUNCTION LOAD '#!lua name=x\\nredis.register_function{1}'
    0 FUNCTION LOAD '#!lua name=x\\nwhile true do end'
    0 FUNCTION LIST
    ",
);

/// Functions that go wrong, and what they find around them.
pub(in crate::redis) const CALLS: Case = case(
    "calls of functions",
    "
    0 FUNCTION LOAD '#!lua name=a\\nredis.register_function(`oops`, function()\\n error(`no`)\\nend)'
    0 FCALL oops 0
    0 FUNCTION LOAD '#!lua name=b\\nredis.register_function(`bad`, function() error({err=`My bad`}) end)'
    0 FCALL bad 0
    0 EVAL 'return KEYS[1]' 1 x
    0 FUNCTION LOAD '#!lua name=c\\nredis.register_function(`k`, function() return KEYS[1] end)'
    0 FCALL k 1 x
    0 FUNCTION LOAD '#!lua name=d\\nredis.register_function{function_name=`w`, flags={`no-writes`},
    | callback=function(keys) return redis.call(`set`, keys[1], 1) end}'
    0 FCALL w 1 x
    0 SET x foo
    0 FUNCTION LOAD '#!lua name=e\\nredis.register_function(`i`, function(keys)
    | return redis.call(`incr`, keys[1]) end)'
    0 FCALL i 1 x
    0 FCALL i 1 y
    0 FUNCTION LOAD '#!lua name=f\\nlocal r = redis\\nredis.register_function(`r`, function()
    | return r.call(`ping`) end)'
    0 FCALL r 0
    0 FUNCTION LOAD '#!lua name=g\\nredis.register_function(`reg`, function() return redis.register_function(`z`,
    | function() end) end)'
    0 FCALL reg 0
    0 FUNCTION LOAD '#!lua name=h\\nlocal function inner(x) return x + _G.redis.LOG_WARNING end\\n
    | redis.register_function(`lib`, function() return {string.rep(`x`, inner(1)), {err=`X y`},
    | redis.pcall(`get`)} end)'
    0 FCALL lib 0
    0 FUNCTION STATS
    ",
);

/// What the recipe `redis-function-lock` asks.
pub(in crate::redis) const LOCK: Case = case(
    "a lock of functions",
    "
    0 FUNCTION LOAD '#!lua name=lock\\nlocal function acquire(keys, args)\\n if redis.call(`set`, keys[1], args[1],
    | `nx`, `px`, args[2]) then\\n return 1\\n end\\n return redis.call(`get`, keys[1]) == args[1] and 1 or 0\\nend\\n
    | redis.register_function(`acquire`, acquire)'
    0 FUNCTION LOAD '#!lua name=unlock\\nredis.register_function(`release`, function(keys, args)\\n if
    | redis.call(`get`, keys[1]) == args[1] then return redis.call(`del`, keys[1]) end\\n return 0\\nend)'
    0 FCALL acquire 1 l one 60000
    0 FCALL acquire 1 l one 60000
    1 FCALL acquire 1 l two 60000
    1 FCALL release 1 l two
    0 PTTL l
    0 FCALL release 1 l one
    0 FCALL release 1 l one
    1 FCALL acquire 1 l two 60000
    0 HSET h a b
    0 FCALL acquire 1 h one 60000
    0 FCALL acquire 1 m one 0
    ",
);
