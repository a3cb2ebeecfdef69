//! The libraries that Redis gives to scripts besides Lua's own.

use super::{Case, case};

pub(in crate::redis) const BITS: Case = case(
    "bit",
    r"
    0 EVAL 'return {bit.tobit(1.5), bit.tobit(2.5), bit.tobit(-1.5), bit.tobit(`0x10`), bit.tobit(2^31),
    | bit.tobit(1e20)}' 0
    0 EVAL 'return {bit.rol(0x12345678, 12), bit.ror(0x12345678, 12), bit.bswap(0x12345678), bit.rol(1, 33)}' 0
    0 EVAL 'return {bit.tohex(1), bit.tohex(-1), bit.tohex(0xabcdef, 4), bit.tohex(0xabcdef, -6), bit.tohex(1, 0),
    | bit.tohex(1, 20), bit.tohex(-1, -20)}' 0
    0 EVAL 'return {bit.band(7, 3, 2), bit.bor(1, 2, 4), bit.bxor(1, 1, 1), bit.band(-1), bit.bnot(`5`)}' 0
    0 EVAL 'return {bit.lshift(1, 32), bit.lshift(1, -1), bit.rshift(-1, 31), bit.arshift(-256, 8)}' 0
    0 EVAL 'return bit.tobit()' 0
    0 EVAL 'return bit.tobit(nil)' 0
    0 EVAL 'return bit.band(1, `x`)' 0
    0 EVAL 'return bit.band(1, {}, true)' 0
    0 EVAL 'return bit.lshift(1)' 0
    0 EVAL 'return bit.tohex(1, nil)' 0
    0 EVAL 'local ok, e = pcall(bit.band, `x`) return e' 0
    0 EVAL 'local f = bit.band return f({})' 0
    0 EVAL 'bit.x = 1' 0
    0 EVAL 'return bit.nothing' 0
    ",
);

pub(in crate::redis) const JSON: Case = case(
    "cjson",
    r#"
    0 EVAL 'return cjson.encode({1, 2, {a = 1}, `x`, true, false, cjson.null})' 0
    0 EVAL 'return cjson.encode({})' 0
    0 EVAL 'return cjson.encode({{}, {{}}})' 0
    0 EVAL 'return cjson.encode(nil)' 0
    0 EVAL 'return cjson.encode(`a"b/c\\d`)' 0
    0 EVAL 'local t = {} for i = 0, 255 do t[#t + 1] = string.char(i) end return cjson.encode(table.concat(t))' 0
    0 EVAL 'return cjson.encode({0, -0, 1.5, 1e15, 1e14, 123456789012345, 0.1, 1/3, 1e-7, -1e300, 2^53, 100, 1e5})' 0
    0 EVAL 'return cjson.encode(1/0)' 0
    0 EVAL 'return cjson.encode({0/0})' 0
    0 EVAL 'return cjson.encode({[1] = 1, [3] = 3})' 0
    0 EVAL 'return cjson.encode({[10] = 1})' 0
    0 EVAL 'return cjson.encode({[11] = 1})' 0
    0 EVAL 'return cjson.encode({[1] = 1, [2] = 2, [5] = 5, [6] = 6, [12] = 12})' 0
    0 EVAL 'return cjson.encode({[1.5] = 1})' 0
    0 EVAL 'return cjson.encode({[0] = 1})' 0
    0 EVAL 'return cjson.encode({[-1] = 1})' 0
    0 EVAL 'return cjson.encode({[true] = 1})' 0
    0 EVAL 'return cjson.encode({print})' 0
    0 EVAL 'return cjson.encode(redis.call)' 0
    0 EVAL 'return cjson.encode({a = function() end})' 0
    0 EVAL 'return cjson.encode(coroutine.create(function() end))' 0
    0 EVAL 'return cjson.encode()' 0
    0 EVAL 'return cjson.encode(1, 2)' 0
    0 EVAL 'local x = cjson.encode(1, 2) return x' 0
    0 EVAL 'local ok, e = pcall(cjson.encode) return e' 0
    0 EVAL 'local ok, e = pcall(cjson.encode, {print = redis.call}) return e' 0
    0 EVAL 'local t = {} for i = 1, 999 do t = {t} end return #cjson.encode(t)' 0
    0 EVAL 'local t = {} for i = 1, 1000 do t = {t} end return #cjson.encode(t)' 0
    0 EVAL 'return cjson.encode({one = 1, two = 2, three = 3, four = 4, five = 5, six = 6, seven = 7})' 0
    0 EVAL 'local t = {} for i = 20, 1, -1 do t[`k` .. i] = i end t.k3 = nil t.k21 = 1 return cjson.encode(t)' 0
    0 EVAL 'return cjson.encode({1, 2, a = 3, b = {4}})' 0
    0 EVAL 'return cjson.encode(cjson.decode(`{"one":1,"two":[1,2,{"three":null}],"four":{"five":[]}}`))' 0
    0 EVAL 'return cjson.decode(`[1, 2.9, "x", true, false, null, 7]`)' 0
    0 EVAL 'return {type(cjson.decode(`null`)), tostring(cjson.null), cjson.decode(`null`) == cjson.null}' 0
    0 EVAL 'return cjson.null' 0
    0 EVAL 'return {cjson._NAME, cjson._VERSION}' 0
    0 EVAL 'return cjson.decode(`"\\u0041\\u00e9\\u20ac\\ud83d\\ude00\\u0000x\\b\\f\\r\\t\\/\\\\\\""`)' 0
    0 EVAL 'return cjson.decode(`"\\ud83d"`)' 0
    0 EVAL 'return cjson.decode(`"\\ud83d\\u0041"`)' 0
    0 EVAL 'return cjson.decode(`"\\ude00\\ud83d"`)' 0
    0 EVAL 'return cjson.decode(`"\\u00g0"`)' 0
    0 EVAL 'return cjson.decode(`"abc\\x"`)' 0
    0 EVAL 'return cjson.decode(`"abc`)' 0
    0 EVAL 'return cjson.decode(`"abc\\`)' 0
    0 EVAL 'return cjson.decode(``)' 0
    0 EVAL 'return cjson.decode(` `)' 0
    0 EVAL 'return cjson.decode(`{`)' 0
    0 EVAL 'return cjson.decode(`{1:2}`)' 0
    0 EVAL 'return cjson.decode(`{"a"}`)' 0
    0 EVAL 'return cjson.decode(`{"a":}`)' 0
    0 EVAL 'return cjson.decode(`{"a":1,}`)' 0
    0 EVAL 'return cjson.decode(`{"a":1 "b":2}`)' 0
    0 EVAL 'return cjson.decode(`[1,]`)' 0
    0 EVAL 'return cjson.decode(`[1 2]`)' 0
    0 EVAL 'return cjson.decode(`[1`)' 0
    0 EVAL 'return cjson.decode(`]`)' 0
    0 EVAL 'return cjson.decode(`1 2`)' 0
    0 EVAL 'return cjson.decode(`1 x`)' 0
    0 EVAL 'return cjson.decode(`tru`)' 0
    0 EVAL 'return cjson.decode(`truex`)' 0
    0 EVAL 'return cjson.decode(`nul`)' 0
    0 EVAL 'return cjson.decode(`@`)' 0
    0 EVAL 'return cjson.decode(`  \t\r x`)' 0
    0 EVAL 'return cjson.decode(`\0x`)' 0
    0 EVAL 'return cjson.decode(`1\0 x`)' 0
    0 EVAL 'return cjson.decode(`12\0 x`)' 0
    0 EVAL 'return cjson.decode(5)' 0
    0 EVAL 'return cjson.decode()' 0
    0 EVAL 'return cjson.decode(nil)' 0
    0 EVAL 'return cjson.decode({})' 0
    0 EVAL 'return cjson.decode(true)' 0
    0 EVAL 'return cjson.decode(`1`, 2)' 0
    0 EVAL 'return cjson.decode(redis.call(`get`, `nothing`))' 0
    0 EVAL 'local ok, e = pcall(cjson.decode, `{`) return e' 0
    0 EVAL 'local ok, e = pcall(function() return cjson.decode(`{`) end) return e' 0
    0 EVAL 'local ok, e = xpcall(function() local x = cjson.decode(`{`) end, function(e) return `got ` .. e end)
    | return e' 0
    0 EVAL '\n\nlocal x = cjson.decode(`{`)' 0
    0 EVAL 'local f = cjson.decode f(nil)' 0
    0 EVAL 'local t = {} for _, n in ipairs({`1`, `-1`, `0`, `-0`, `1.5`, `1.`, `1e3`, `1E-3`, `1e`, `1e+`, `01`,
    | `-01`, `0x1f`, `-0x1F`, `0x`, `+1`, `+`, `-`, `--1`, `.5`, `-.5`, `inf`, `-inf`, `+inf`, `Infinity`, `INFx`,
    | `nan`, `0x1F.`, `0x1.8p3`, `0x.8`, `0x.`, `0x1p`, `0x1p-2x`, `-nan(x)`, `nan(`,
    | `-nan`, `NaN`, `nanx`, `1e400`, `-1e400`, `1e-400`, `12345678901234567890`,
    | `0.1`, `infinite`, `i`, `N`}) do
    | local ok, v = pcall(cjson.decode, n) t[#t + 1] = tostring(v) end return t' 0
    0 EVAL 'return type(cjson.decode(string.rep(`[`, 1000) .. string.rep(`]`, 1000)))' 0
    0 EVAL 'return cjson.decode(string.rep(`[`, 1001) .. string.rep(`]`, 1001))' 0
    0 EVAL 'return cjson.decode(string.rep(`{"a":`, 1001))' 0
    0 EVAL 'error(cjson.null)' 0
    0 EVAL 'local ok, e = pcall(error, cjson.null) return tostring(e)' 0
    0 EVAL 'return redis.call(`set`, `k`, cjson.null)' 0
    0 EVAL 'cjson.x = 1' 0
    0 EVAL 'return cjson.nothing' 0
    "#,
);

pub(in crate::redis) const MESSAGE_PACK: Case = case(
    "cmsgpack",
    r#"
    0 EVAL 'return cmsgpack.pack({1, 2, {a = 1}, `x`, true, false, cjson.null})' 0
    0 EVAL 'return cmsgpack.pack(1, `two`, nil, {})' 0
    0 EVAL 'local t = {} for _, n in ipairs({0, 127, 128, 255, 256, 65535, 65536, 2^32 - 1, 2^32, 2^53, 2^63, 2^64,
    | -1, -32, -33, -128, -129, -32768, -32769, -2^31, -2^31 - 1, -2^63, 0.5, 0.1, 1/0, -1/0, 1e300, -0}) do
    | t[#t + 1] = cmsgpack.pack(n) end return t' 0
    0 EVAL 'local t = {} for _, n in ipairs({0, 31, 32, 255, 256, 65535, 65536}) do
    | t[#t + 1] = cmsgpack.pack(string.rep(`x`, n)):sub(1, 6) end return t' 0
    0 EVAL 'local t = {} for _, n in ipairs({15, 16, 65535, 65536}) do local l = {} for i = 1, n do l[i] = 1 end
    | t[#t + 1] = cmsgpack.pack(l):sub(1, 8) l.x = 1 t[#t + 1] = cmsgpack.pack(l):sub(1, 8) end return t' 0
    0 EVAL 'return cmsgpack.pack({[1] = 1, [3] = 3})' 0
    0 EVAL 'return cmsgpack.pack({[0] = 1})' 0
    0 EVAL 'return cmsgpack.pack({[1.5] = 1, [2] = 2})' 0
    0 EVAL 'return cmsgpack.pack({[true] = 1})' 0
    0 EVAL 'return cmsgpack.pack({one = 1, two = 2, three = 3, four = 4, five = 5})' 0
    0 EVAL 'return cmsgpack.pack(redis.call)' 0
    0 EVAL 'local t = {1} for i = 1, 15 do t = {t} end return cmsgpack.pack(t)' 0
    0 EVAL 'local t = {1} for i = 1, 20 do t = {t} end return cmsgpack.pack(t)' 0
    0 EVAL 'return cmsgpack.pack()' 0
    0 EVAL 'return {cmsgpack.unpack(cmsgpack.pack(1, `two`, {3, 4}, -5, true))}' 0
    0 EVAL 'return cjson.encode(cmsgpack.unpack(cmsgpack.pack({a = {1, 2, {b = `c`}}, d = 0.25})))' 0
    0 EVAL 'return {cmsgpack.unpack_one(cmsgpack.pack(1, 2, 3))}' 0
    0 EVAL 'return {cmsgpack.unpack_one(cmsgpack.pack(1, 2, 3), 2)}' 0
    0 EVAL 'return {cmsgpack.unpack_one(cmsgpack.pack(1, 2, 3), 3)}' 0
    0 EVAL 'return {cmsgpack.unpack_one(cmsgpack.pack(1, 2, 3), 4)}' 0
    0 EVAL 'return {cmsgpack.unpack_one(cmsgpack.pack(1, 2, 3), -1)}' 0
    0 EVAL 'return {cmsgpack.unpack_limit(cmsgpack.pack(1, 2, 3), 2)}' 0
    0 EVAL 'return {cmsgpack.unpack_limit(cmsgpack.pack(1, 2, 3), 2, 1)}' 0
    0 EVAL 'return {cmsgpack.unpack_limit(cmsgpack.pack(1, 2, 3), 5)}' 0
    0 EVAL 'return {cmsgpack.unpack_limit(cmsgpack.pack(1, 2, 3), 0)}' 0
    0 EVAL 'return {cmsgpack.unpack_limit(cmsgpack.pack(1, 2, 3), 0, 1)}' 0
    0 EVAL 'return {cmsgpack.unpack_limit(cmsgpack.pack(1, 2, 3), -1)}' 0
    0 EVAL 'return {cmsgpack.unpack_limit(cmsgpack.pack(1, 2, 3))}' 0
    0 EVAL 'return cmsgpack.unpack()' 0
    0 EVAL 'return cmsgpack.unpack(nil)' 0
    0 EVAL 'return cmsgpack.unpack(``)' 0
    0 EVAL 'return cmsgpack.unpack(5)' 0
    0 EVAL 'return cmsgpack.unpack(`\193`)' 0
    0 EVAL 'return cmsgpack.unpack(`\196\1x`)' 0
    0 EVAL 'return cmsgpack.unpack(`\162x`)' 0
    0 EVAL 'return cmsgpack.unpack(`\205\1`)' 0
    0 EVAL 'return cmsgpack.unpack(`\221\255\255\255\255`)' 0
    0 EVAL 'return cmsgpack.unpack(`\129\192\1`)' 0
    0 EVAL 'return cmsgpack.unpack(`\207\255\255\255\255\255\255\255\254`)' 0
    0 EVAL 'local ok, e = pcall(cmsgpack.unpack, `\162x`) return e' 0
    0 EVAL 'return {cmsgpack._NAME, cmsgpack._VERSION}' 0
    "#,
);

pub(in crate::redis) const STRUCTURES: Case = case(
    "struct",
    r#"
    0 EVAL 'return struct.pack(`bBhHlLTiI`, 1, 2, 3, 4, 5, 6, 7, 8, 9)' 0
    0 EVAL 'return struct.pack(`>hi4i8`, -2, 3, -4)' 0
    0 EVAL 'return struct.pack(`<i3>i3`, 70000, 70000)' 0
    0 EVAL 'return struct.pack(`fd>fd`, 1.5, 0.1, -1.5, 1e300)' 0
    0 EVAL 'return struct.pack(`sc3c0xc`, `abc`, `defg`, `hi`, `j`)' 0
    0 EVAL 'return struct.pack(`!bi`, 1, 2)' 0
    0 EVAL 'return struct.pack(`!8bdbh`, 1, 2, 3, 4)' 0
    0 EVAL 'return struct.pack(`!2 b i b`, 1, 2, 3)' 0
    0 EVAL 'return struct.pack(`!3b`, 1)' 0
    0 EVAL 'return struct.pack(`b`, 300)' 0
    0 EVAL 'return struct.pack(`b`, -1.9)' 0
    0 EVAL 'return struct.pack(`L`, 2^63)' 0
    0 EVAL 'return struct.pack(`b`)' 0
    0 EVAL 'return struct.pack(`b`, `x`)' 0
    0 EVAL 'return struct.pack(`c5`, `x`)' 0
    0 EVAL 'return struct.pack(`c5`)' 0
    0 EVAL 'return struct.pack(`s`, 12)' 0
    0 EVAL 'return struct.pack(`y`, 12)' 0
    0 EVAL 'return struct.pack(`i33`, 12)' 0
    0 EVAL 'return struct.pack(`c99999999999`, 12)' 0
    0 EVAL 'return struct.pack()' 0
    0 EVAL 'return struct.pack(``)' 0
    0 EVAL 'return {struct.unpack(`bBhHlLTiI`, struct.pack(`bBhHlLTiI`, -1, 255, -3, 4, -5, 6, 7, -8, 9))}' 0
    0 EVAL 'return {struct.unpack(`>i3I3`, `\255\255\254\255\255\254`)}' 0
    0 EVAL 'return {struct.unpack(`sbc3`, `abc\0\5defg`)}' 0
    0 EVAL 'return {struct.unpack(`bc0b`, `\3abcd`)}' 0
    0 EVAL 'return {struct.unpack(`bc0`, `\9abcd`)}' 0
    0 EVAL 'return {struct.unpack(`c0`, `abcd`)}' 0
    0 EVAL 'return {struct.unpack(`sc0`, `abcd\0x`)}' 0
    0 EVAL 'return {struct.unpack(`s`, `abcd`)}' 0
    0 EVAL 'return {struct.unpack(`b`, `abcd`, 3)}' 0
    0 EVAL 'return {struct.unpack(`b`, `abcd`, 5)}' 0
    0 EVAL 'return {struct.unpack(`b`, `abcd`, 0)}' 0
    0 EVAL 'return {struct.unpack(`b`, `abcd`, -1)}' 0
    0 EVAL 'return {struct.unpack(``, `abcd`)}' 0
    0 EVAL 'return {struct.unpack(`i`, `abc`)}' 0
    0 EVAL 'return {struct.unpack(`!bi`, struct.pack(`!bi`, 1, 2))}' 0
    0 EVAL 'local f, d = struct.unpack(`fd`, struct.pack(`fd`, 0.1, 0.1)) return {tostring(f), tostring(d)}' 0
    0 EVAL 'return {struct.unpack(`xbx`, `abc`)}' 0
    0 EVAL 'return struct.unpack(`b`)' 0
    0 EVAL 'return struct.unpack()' 0
    0 EVAL 'return {struct.size(`bhil`), struct.size(`!bhil`), struct.size(`!4bd`), struct.size(`c7`),
    | struct.size(``)}' 0
    0 EVAL 'return struct.size(`s`)' 0
    0 EVAL 'return struct.size(`c0`)' 0
    0 EVAL 'return struct.size(`y`)' 0
    0 EVAL 'return struct.size(`?`)' 0
    0 EVAL 'return struct.size()' 0
    0 EVAL 'local ok, e = pcall(struct.unpack, `i`, `abc`) return e' 0
    "#,
);
