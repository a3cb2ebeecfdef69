//! The kinds of requests that commands are.

use super::{Command, short_name};
use crate::RequestKind;

impl Command {
    /// The kind of request that it is.
    pub fn kind(&self) -> RequestKind {
        const KINDS: [(Option<u64>, RequestKind); 26] = [
            (short_name(b"set"), RequestKind::Set),
            (short_name(b"del"), RequestKind::Del),
            (short_name(b"evalsha"), RequestKind::EvalSha),
            (short_name(b"eval"), RequestKind::Eval),
            (short_name(b"setnx"), RequestKind::SetNx),
            (short_name(b"get"), RequestKind::Get),
            (short_name(b"getset"), RequestKind::GetSet),
            (short_name(b"unlink"), RequestKind::Del),
            (short_name(b"expire"), RequestKind::Expire),
            (short_name(b"pexpire"), RequestKind::Expire),
            (short_name(b"incr"), RequestKind::Incr),
            (short_name(b"fcall"), RequestKind::Script),
            (short_name(b"watch"), RequestKind::Watch),
            (short_name(b"unwatch"), RequestKind::Watch),
            (short_name(b"multi"), RequestKind::MultiCommand),
            (short_name(b"exec"), RequestKind::Exec),
            (short_name(b"publish"), RequestKind::Publish),
            (short_name(b"wait"), RequestKind::Wait),
            (short_name(b"waitaof"), RequestKind::WaitAof),
            (short_name(b"delex"), RequestKind::Del),
            (short_name(b"delifeq"), RequestKind::Del),
            (short_name(b"blpop"), RequestKind::BlPop),
            (short_name(b"brpop"), RequestKind::BrPop),
            (short_name(b"blmove"), RequestKind::BlMove),
            (short_name(b"lpush"), RequestKind::LPush),
            (short_name(b"rpush"), RequestKind::RPush),
        ];
        let name = short_name(self.name());
        if name.is_none() && self.is("SUBSCRIBE") {
            return RequestKind::Subscribe;
        }
        let known = KINDS.iter().find(|(known, _)| *known == name);
        known.map_or(RequestKind::OtherCommand, |(_, kind)| *kind)
    }
}
