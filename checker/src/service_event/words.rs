//! Events of a service in words.

use super::{
    DataFound, KeyHolders, KeyLoss, KeySource, MessageLoss, Promoter, ServiceEvent,
    ServiceEventKind, SyncMode,
};
use crate::ids::{ContenderId, ServerId};
use crate::lists::listed;

/// The name of a server.
pub(super) fn server(id: ServerId) -> String {
    format!("server-{}", id.0 + 1)
}

/// A zxid as ZooKeeper prints it.
fn zxid(zxid: u64) -> String {
    format!("0x{zxid:x}")
}

impl ServiceEvent {
    /// What happened, in a sentence without its full stop; `name` says what to call a contender.
    pub fn describe(&self, name: &dyn Fn(ContenderId) -> String) -> String {
        sentence(self, name)
    }
}

fn sentence(event: &ServiceEvent, name: &dyn Fn(ContenderId) -> String) -> String {
    let who = &event.machine;
    match &event.what {
        ServiceEventKind::Leading { epoch, previous } => match previous {
            Some(previous) if server(*previous) != *who => {
                format!(
                    "{who} is LEADING in epoch {epoch}, after {}",
                    server(*previous)
                )
            }
            Some(_) => format!("{who} is LEADING again, in epoch {epoch}"),
            None => format!("{who} is LEADING in epoch {epoch}"),
        },
        ServiceEventKind::Following { leader, epoch } => {
            format!("{who} is FOLLOWING {} in epoch {epoch}", server(*leader))
        }
        ServiceEventKind::Looking => format!("{who} is LOOKING, and closes all connections"),
        ServiceEventKind::Synced {
            leader,
            how,
            up_to,
            truncated,
        } => synced(who, *leader, (*how, *up_to), truncated),
        ServiceEventKind::Died { log, lost: 0 } => {
            format!("{who} dies; its log is safe up to {}", zxid(*log))
        }
        ServiceEventKind::Died { log, lost } => {
            let log = zxid(*log);
            let lost = count(*lost, "transaction");
            format!("{who} dies; its log is safe up to {log}, and {lost} after that lost")
        }
        ServiceEventKind::SessionEstablished { session, by } => {
            format!("{who} gives {} the session {session}", name(*by))
        }
        ServiceEventKind::Resent { by, request } => {
            format!("the client of {} sends {who} again: {request}", name(*by))
        }
        ServiceEventKind::ErrorReply { to, error } => {
            format!("{who} answers {} with {error}", name(*to))
        }
        ServiceEventKind::SessionExpired { session, of } => {
            let of = of.map_or(String::new(), |of| format!(" of {}", name(of)));
            format!("{who} expires the session {session}{of}")
        }
        ServiceEventKind::ClientGone { of } => {
            format!(
                "{who} has lost the connection of {}, and forgets its watches",
                name(*of)
            )
        }
        ServiceEventKind::WatchFired { event, path, to } => {
            format!("{who} sends {event} {path} to {}", client(*to, name))
        }
        ServiceEventKind::WatchLost { event, path, to } => {
            let to = client(*to, name);
            format!("{event} {path} of {who} to {to} is lost: its connection is gone")
        }
        ServiceEventKind::Restarted {
            data,
            without_key_of,
            left,
        } => {
            let key = without_key_of.map_or(String::new(), |of| {
                format!("; the key of {} is {}", name(of), still(left))
            });
            format!("{who} is back {}{key}", data.describe())
        }
        ServiceEventKind::Promoted { by, key_of } => {
            let key = match key_of {
                Some(of) => format!("with the key of {}", name(*of)),
                None => "without a key of the lock".to_owned(),
            };
            format!("{who} is promoted {}, {key}", by.describe())
        }
        ServiceEventKind::Demoted { follows } => {
            let whom = follows.as_deref().unwrap_or("another");
            format!("{who} was a primary, and follows {whom} from now on")
        }
        ServiceEventKind::FullSync {
            primary,
            discarded,
            discarded_key_of,
        } => {
            let key = discarded_key_of.map(&name);
            full_sync(who, *primary, *discarded, key)
        }
        ServiceEventKind::PartialSync { primary } => {
            let primary = server(*primary);
            format!("{who} goes on in the stream of {primary} (partial resynchronisation)")
        }
        ServiceEventKind::KeySet { of, by, holders } => {
            let how = match by {
                KeySource::Client => "",
                KeySource::Replication => " by replication",
                KeySource::Clock => " again by its clock",
            };
            format!(
                "{who} has the key of {}{how}: it is {}",
                name(*of),
                holders.describe()
            )
        }
        ServiceEventKind::KeyGone {
            of,
            why,
            by,
            holders,
        } => {
            let why = why.describe(by.map(name));
            format!(
                "the key of {} {why} on {who}, and is {}",
                name(*of),
                still(holders)
            )
        }
        ServiceEventKind::Subscribed { by, channel } => {
            format!("{} subscribes to {channel} at {who}", name(*by))
        }
        ServiceEventKind::Published { by, channel, to } => {
            let what = match by {
                Some(by) => format!("{} publishes on {channel} at {who}", name(*by)),
                None => format!("{who} publishes on {channel}"),
            };
            let to: Vec<String> = to.iter().map(|to| name(*to)).collect();
            match to.as_slice() {
                [] => format!("{what}, and nobody is subscribed"),
                to => format!("{what}, to {}", listed(to)),
            }
        }
        ServiceEventKind::MessageLost { to, channel, why } => {
            let why = why.describe();
            format!(
                "the message on {channel} never reaches {}: {why}",
                name(*to)
            )
        }
        ServiceEventKind::SentinelLog { line, .. } => format!("{who}: {line}"),
        ServiceEventKind::NodeFailed { node } => {
            format!("{who} marks {} as FAIL", server(*node))
        }
        ServiceEventKind::NodeReachable { node } => {
            format!("{who} clears FAIL of {}", server(*node))
        }
    }
}

fn synced(who: &str, leader: ServerId, (how, up_to): (SyncMode, u64), lost: &[String]) -> String {
    let (leader, up_to) = (server(leader), zxid(up_to));
    match how {
        SyncMode::Diff => format!("{who} is synced by {leader} with DIFF, up to {up_to}"),
        SyncMode::Snap => format!("{who} is synced by {leader} with SNAP, up to {up_to}"),
        SyncMode::Trunc => {
            let lost = listed(lost);
            format!("{who} is synced by {leader} with TRUNC, and forgets {lost}")
        }
    }
}

fn full_sync(who: &str, primary: ServerId, discarded: Option<u64>, key: Option<String>) -> String {
    let primary = server(primary);
    let begin = format!("{who} takes all keys of {primary} (full resynchronisation)");
    match (discarded, key) {
        (Some(0) | None, None) => begin,
        (Some(0) | None, Some(key)) => format!("{begin}, and discards the key of {key}"),
        (Some(writes), None) => {
            format!("{begin}, and discards {}", count(writes, "write"))
        }
        (Some(writes), Some(key)) => {
            let writes = count(writes, "write");
            format!("{begin}, and discards {writes}, the key of {key} among them")
        }
    }
}

fn client(to: Option<ContenderId>, name: &dyn Fn(ContenderId) -> String) -> String {
    to.map_or("another client".to_owned(), name)
}

fn count(number: u64, what: &str) -> String {
    match number {
        1 => format!("1 {what}"),
        _ => format!("{number} {what}s"),
    }
}

/// Where a key that has gone somewhere is left.
fn still(holders: &KeyHolders) -> String {
    match holders.on.as_slice() {
        [] => "nowhere any more".to_owned(),
        _ => format!("left {}", holders.describe()),
    }
}

impl KeyHolders {
    /// On which servers: `on server-1 alone`, `on all 3 servers`, `on server-1 and server-2 of 5 servers`.
    pub fn describe(&self) -> String {
        let names: Vec<String> = self.on.iter().map(|id| server(*id)).collect();
        match names.as_slice() {
            [] => "on no server".to_owned(),
            all if all.len() == self.of as usize && all.len() > 1 => {
                format!("on all {} servers", self.of)
            }
            [one] if self.of == 1 => format!("on {one}"),
            [one] => format!("on {one} alone"),
            [others @ .., last] => {
                format!("on {} and {last} of {} servers", others.join(", "), self.of)
            }
        }
    }
}

impl DataFound {
    /// `with nothing: it keeps nothing on its disk`
    fn describe(self) -> String {
        let of = |keys, expired| match expired {
            0 => count(keys, "key"),
            _ => format!("{} loaded, {expired} expired", count(keys, "key")),
        };
        match self {
            Self::Nothing => "with nothing: it keeps nothing on its disk".to_owned(),
            Self::Rdb { saved, .. } if saved.micros() == 0 => {
                "with nothing: no RDB was saved yet".to_owned()
            }
            Self::Rdb {
                saved,
                keys,
                expired,
            } => format!("with the RDB of {saved}: {}", of(keys, expired)),
            Self::Aof {
                up_to,
                keys,
                expired,
            } => format!("with its AOF up to {up_to}: {}", of(keys, expired)),
            Self::Log { up_to } => format!("with its log up to {}", zxid(up_to)),
            Self::Everything => "with all that it had".to_owned(),
        }
    }
}

impl Promoter {
    /// `by sentinel-1 in epoch 1`
    pub fn describe(&self) -> String {
        match self {
            Self::Operator => "by the operator".to_owned(),
            Self::Sentinel { name, epoch } => format!("by {name} in epoch {epoch}"),
            Self::Election { epoch } => format!("by the votes of its cluster in epoch {epoch}"),
            Self::Configuration => "by its configuration".to_owned(),
        }
    }
}

impl MessageLoss {
    /// `its connection was gone`
    pub fn describe(self) -> &'static str {
        match self {
            Self::OnItsWay => "it was lost on its way",
            Self::ConnectionGone => "its connection was gone",
        }
    }
}

impl KeyLoss {
    fn describe(self, by: Option<String>) -> String {
        let by = by.map_or(String::new(), |by| format!(" by {by}"));
        match self {
            Self::Expired => "expires".to_owned(),
            Self::Deleted if by.is_empty() => "is deleted from outside".to_owned(),
            Self::Deleted => format!("is deleted{by}"),
            Self::Overwritten => format!("is overwritten{by}"),
            Self::Flushed => format!("is flushed{by}"),
            Self::Migrated => "has migrated to another node, is gone".to_owned(),
            Self::Resynchronised => "is thrown away in the resynchronisation".to_owned(),
            Self::NotOnDisk => "was not on the disk".to_owned(),
            Self::Replicated => "is deleted by replication".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_forgotten_is_cut_with_a_count() {
        let lost: Vec<String> = (0..1_242).map(|lost| format!("0x{lost:x}")).collect();
        let told = synced("server-3", ServerId(1), (SyncMode::Trunc, 0), &lost);
        assert!(told.ends_with("0x6, and 1235 more"), "{told}");
    }
}
