//! Messages as traces show them.

use std::fmt;

use super::{
    ClientBody, ClientMessage, Compare, CompareResult, CompareTarget, DeleteRangeRequest, Event,
    EventType, KeyRange, KeyValue, LeaseId, PutRequest, RangeRequest, Request, RequestOp, Response,
    ServerBody, ServerMessage, TxnRequest, WatchRequest,
};

/// Bytes as people read them.
struct Text<'a>(&'a [u8]);

impl fmt::Display for Text<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&String::from_utf8_lossy(self.0))
    }
}

impl fmt::Display for LeaseId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{:x}", self.0)
    }
}

impl fmt::Display for KeyRange {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}", Text(&self.key))?;
        match &*self.range_end {
            [] => Ok(()),
            end if *end == *Self::prefix(&self.key).range_end => out.write_str("*"),
            end => write!(out, "..{}", Text(end)),
        }
    }
}

impl fmt::Display for KeyValue {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let value = Text(&self.value);
        write!(
            out,
            "{}={value} (create {}, mod {})",
            Text(&self.key),
            self.create_revision,
            self.mod_revision
        )
    }
}

impl fmt::Display for RangeRequest {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = if self.serializable {
            "get (serializable)"
        } else {
            "get"
        };
        write!(out, "{kind} {}", self.keys)?;
        if self.max_create_revision > 0 {
            write!(out, " created by {}", self.max_create_revision)?;
        }
        match self.limit {
            limit if limit > 0 => write!(out, " limit {limit}"),
            _ => Ok(()),
        }
    }
}

impl fmt::Display for PutRequest {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "put {}={}", Text(&self.key), Text(&self.value))?;
        match self.lease {
            LeaseId(0) => Ok(()),
            lease => write!(out, " lease {lease}"),
        }
    }
}

impl fmt::Display for DeleteRangeRequest {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "delete {}", self.keys)
    }
}

impl fmt::Display for Compare {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let how = match self.result {
            CompareResult::Equal => "=",
            CompareResult::Greater => ">",
            CompareResult::Less => "<",
            CompareResult::NotEqual => "!=",
        };
        let keys = &self.keys;
        match &self.target {
            CompareTarget::Version(version) => write!(out, "version({keys}) {how} {version}"),
            CompareTarget::Create(revision) => write!(out, "create({keys}) {how} {revision}"),
            CompareTarget::Mod(revision) => write!(out, "mod({keys}) {how} {revision}"),
            CompareTarget::Value(value) => write!(out, "value({keys}) {how} {}", Text(value)),
            CompareTarget::Lease(lease) => write!(out, "lease({keys}) {how} {lease}"),
        }
    }
}

impl fmt::Display for RequestOp {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Range(request) => request.fmt(out),
            Self::Put(request) => request.fmt(out),
            Self::DeleteRange(request) => request.fmt(out),
            Self::Txn(request) => request.fmt(out),
            Self::Unset => out.write_str("nothing"),
        }
    }
}

/// Writes things with commas between them.
fn listed<T: fmt::Display>(things: &[T], out: &mut fmt::Formatter<'_>) -> fmt::Result {
    for (place, thing) in things.iter().enumerate() {
        let before = if place == 0 { "" } else { ", " };
        write!(out, "{before}{thing}")?;
    }
    Ok(())
}

impl fmt::Display for TxnRequest {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("if ")?;
        listed(&self.compare, out)?;
        out.write_str(" then ")?;
        listed(&self.success, out)?;
        if !self.failure.is_empty() {
            out.write_str(" else ")?;
            listed(&self.failure, out)?;
        }
        Ok(())
    }
}

impl fmt::Display for Request {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Range(request) => request.fmt(out),
            Self::Put(request) => request.fmt(out),
            Self::DeleteRange(request) => request.fmt(out),
            Self::Txn(request) => request.fmt(out),
            Self::Compact(revision) => write!(out, "compact {revision}"),
            Self::LeaseGrant(_, seconds) => write!(out, "grant a lease of {seconds} s"),
            Self::LeaseRevoke(lease) => write!(out, "revoke lease {lease}"),
            Self::LeaseTimeToLive(lease, _) => write!(out, "time to live of lease {lease}"),
            Self::LeaseLeases => out.write_str("list leases"),
            Self::Lock(name, lease) => write!(out, "lock {} lease {lease}", Text(name)),
            Self::Unlock(key) => write!(out, "unlock {}", Text(key)),
            Self::Campaign(name, lease, value) => {
                write!(
                    out,
                    "campaign {} lease {lease} as {}",
                    Text(name),
                    Text(value)
                )
            }
            Self::Proclaim(leader, value) => {
                write!(out, "proclaim {} as {}", Text(&leader.key), Text(value))
            }
            Self::Resign(leader) => write!(out, "resign {}", Text(&leader.key)),
            Self::Leader(name) => write!(out, "leader of {}", Text(name)),
        }
    }
}

impl fmt::Display for Response {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Range(range) if range.kvs.is_empty() => out.write_str("no keys"),
            Self::Range(range) => listed(&range.kvs, out),
            Self::Put(_) => out.write_str("put"),
            Self::DeleteRange(deleted, _) => write!(out, "{deleted} deleted"),
            Self::Txn(succeeded, responses) => {
                let which = if *succeeded { "then: " } else { "else: " };
                out.write_str(which)?;
                listed(responses, out)
            }
            Self::Compact => out.write_str("compacted"),
            Self::LeaseGrant(lease, seconds) => write!(out, "lease {lease} of {seconds} s"),
            Self::LeaseRevoke => out.write_str("revoked"),
            Self::LeaseTimeToLive(left) => write!(out, "{} s left of {} s", left.ttl, left.granted),
            Self::LeaseLeases(leases) => listed(leases, out),
            Self::Lock(key) => write!(out, "locked by {}", Text(key)),
            Self::Unlock => out.write_str("unlocked"),
            Self::Campaign(leader) => write!(out, "elected by {}", Text(&leader.key)),
            Self::Proclaim => out.write_str("proclaimed"),
            Self::Resign => out.write_str("resigned"),
            Self::Leader(leader) => leader.fmt(out),
        }
    }
}

impl fmt::Display for Event {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.kind {
            EventType::Put => "PUT",
            EventType::Delete => "DELETE",
        };
        write!(
            out,
            "{kind} {} at {}",
            Text(&self.kv.key),
            self.kv.mod_revision
        )
    }
}

impl fmt::Display for ClientMessage {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.body {
            ClientBody::Unary(request) => request.fmt(out),
            ClientBody::Watch(WatchRequest::Create(request)) => {
                write!(
                    out,
                    "watch {} from {}",
                    request.keys, request.start_revision
                )
            }
            ClientBody::Watch(WatchRequest::Cancel(watch)) => {
                write!(out, "cancel watch {}", watch.0)
            }
            ClientBody::Watch(WatchRequest::Progress) => out.write_str("progress?"),
            ClientBody::LeaseKeepAlive(lease) => write!(out, "keep lease {lease} alive"),
            ClientBody::Cancel => write!(out, "cancel call {}", self.call),
        }
    }
}

impl fmt::Display for ServerMessage {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.body {
            ServerBody::Unary(header, response) => {
                write!(out, "{response} (revision {})", header.revision)
            }
            ServerBody::Watch(watch) if watch.canceled => {
                write!(out, "watch {} canceled", watch.watch_id.0)
            }
            ServerBody::Watch(watch) if watch.created => {
                write!(out, "watch {} created", watch.watch_id.0)
            }
            ServerBody::Watch(watch) => {
                write!(out, "watch {}: ", watch.watch_id.0)?;
                listed(&watch.events, out)
            }
            ServerBody::LeaseKeepAlive(_, lease, 0) => write!(out, "no lease {lease}"),
            ServerBody::LeaseKeepAlive(_, lease, seconds) => {
                write!(out, "lease {lease} lives {seconds} s")
            }
            ServerBody::Error(status) => {
                write!(out, "{}: {}", status.code.name(), status.message)
            }
        }
    }
}
