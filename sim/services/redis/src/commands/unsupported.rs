//! Commands that Redis has and this server does not: their error is not that of an unknown command.

use super::{Row, Run, Traits};

const fn not(name: &'static str, arity: i32) -> Row {
    Row {
        name,
        arity,
        traits: Traits::NONE,
        run: Run::Not,
        since: None,
    }
}

pub(super) const ROWS: &[Row] = &[
    not("acl", -2),
    not("auth", -2),
    not("bgrewriteaof", 1),
    not("bgsave", -1),
    not("bitcount", -2),
    not("bitfield", -2),
    not("bitfield_ro", -2),
    not("bitop", -4),
    not("bitpos", -3),
    not("bzmpop", -5),
    not("bzpopmax", -3),
    not("bzpopmin", -3),
    not("debug", -2),
    not("dump", 2),
    not("failover", -1),
    not("geoadd", -5),
    not("geodist", -4),
    not("geohash", -2),
    not("geopos", -2),
    not("georadius", -6),
    not("georadius_ro", -6),
    not("georadiusbymember", -5),
    not("georadiusbymember_ro", -5),
    not("geosearch", -7),
    not("geosearchstore", -8),
    not("getbit", 3),
    not("hrandfield", -2),
    not("hscan", -3),
    not("latency", -2),
    not("lcs", -3),
    not("lolwut", -1),
    not("lpos", -3),
    not("memory", -2),
    not("module", -2),
    not("monitor", 1),
    not("pfadd", -2),
    not("pfcount", -2),
    not("pfdebug", 3),
    not("pfmerge", -2),
    not("pfselftest", 1),
    not("psync", -3),
    not("replconf", -1),
    not("restore", -4),
    not("restore-asking", -4),
    not("save", 1),
    not("sdiff", -2),
    not("sdiffstore", -3),
    not("setbit", 4),
    not("shutdown", -1),
    not("sinter", -2),
    not("sintercard", -3),
    not("sinterstore", -3),
    not("slowlog", -2),
    not("smove", 4),
    not("sort", -2),
    not("sort_ro", -2),
    not("spop", -2),
    not("srandmember", -2),
    not("sscan", -3),
    not("sunion", -2),
    not("sunionstore", -3),
    not("sync", 1),
    not("xack", -4),
    not("xadd", -5),
    not("xautoclaim", -6),
    not("xclaim", -6),
    not("xdel", -3),
    not("xgroup", -2),
    not("xinfo", -2),
    not("xlen", 2),
    not("xpending", -3),
    not("xrange", -4),
    not("xread", -4),
    not("xreadgroup", -7),
    not("xrevrange", -4),
    not("xsetid", -3),
    not("xtrim", -4),
    not("zdiff", -3),
    not("zdiffstore", -4),
    not("zinter", -3),
    not("zintercard", -3),
    not("zinterstore", -4),
    not("zlexcount", 4),
    not("zmpop", -4),
    not("zrandmember", -2),
    not("zrangebylex", -4),
    not("zrangestore", -5),
    not("zremrangebylex", 4),
    not("zrevrangebylex", -4),
    not("zscan", -3),
    not("zunion", -3),
    not("zunionstore", -4),
];

#[cfg(test)]
mod tests {
    use super::super::rows;
    use super::*;

    #[test]
    fn the_page_on_redis_names_every_command_and_says_whether_it_is_modelled() {
        let page = include_str!("../../../../../docs/redis.md");
        let (_, commands) = page.split_once("### Commands").expect("the list");
        let (modelled, not_modelled) = commands
            .split_once("are answered by an error that says so")
            .expect("both lists");
        let names = |part: &str, name: &str| {
            let name = name.to_ascii_uppercase();
            part.contains(&format!("`{name}`")) || part.contains(&format!("`{name} "))
        };
        for row in rows() {
            let unsupported = ROWS.iter().any(|other| other.name == row.name);
            let part = if unsupported { not_modelled } else { modelled };
            let known = names(part, row.name) || row.name == "command";
            assert!(known, "{}", row.name);
        }
        assert!(commands.contains(&format!("These {} are answered", ROWS.len())));
        let others = rows().count() - ROWS.len();
        assert!(commands.contains(&format!("These {others} are modelled")));
    }
}
