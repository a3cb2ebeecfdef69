//! Events of a service in words.

use super::{DataFound, KeyHolders, KeyLoss, KeySource, MessageLoss, Promoter, SyncMode};
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

pub(super) fn leading(machine: &str, epoch: u32, previous: Option<ServerId>) -> String {
    match previous.map(server) {
        Some(previous) if previous != machine => {
            format!("{machine} is LEADING in epoch {epoch}, after {previous}")
        }
        Some(_) => format!("{machine} is LEADING again, in epoch {epoch}"),
        None => format!("{machine} is LEADING in epoch {epoch}"),
    }
}

pub(super) fn died(machine: &str, log: u64, lost: u64) -> String {
    let begin = format!("{machine} dies; its log is safe up to {}", zxid(log));
    match lost {
        0 => begin,
        _ => format!(
            "{begin}, and {} after that lost",
            count(lost, "transaction")
        ),
    }
}

pub(super) fn expired(machine: &str, session: &str, of: Option<String>) -> String {
    let of = of.map_or(String::new(), |of| format!(" of {of}"));
    format!("{machine} expires the session {session}{of}")
}

pub(super) fn watch_lost(machine: &str, (event, path): (&str, &str), to: &str) -> String {
    format!("{event} {path} of {machine} to {to} is lost: its connection is gone")
}

pub(super) fn restarted(
    machine: &str,
    data: DataFound,
    without_key_of: Option<String>,
    left: &KeyHolders,
) -> String {
    let key = without_key_of.map_or(String::new(), |of| {
        format!("; the key of {of} is {}", still(left))
    });
    format!("{machine} is back {}{key}", data.describe())
}

pub(super) fn promoted(machine: &str, by: &Promoter, key_of: Option<String>) -> String {
    let key = match key_of {
        Some(of) => format!("with the key of {of}"),
        None => "without a key of the lock".to_owned(),
    };
    format!("{machine} is promoted {}, {key}", by.describe())
}

pub(super) fn demoted(machine: &str, follows: Option<&str>) -> String {
    let follows = follows.unwrap_or("another");
    format!("{machine} was a primary, and follows {follows} from now on")
}

pub(super) fn partial_sync(machine: &str, primary: ServerId) -> String {
    let primary = server(primary);
    format!("{machine} goes on in the stream of {primary} (partial resynchronisation)")
}

pub(super) fn key_set(machine: &str, of: &str, by: KeySource, holders: &KeyHolders) -> String {
    let how = match by {
        KeySource::Client => "",
        KeySource::Replication => " by replication",
        KeySource::Clock => " again by its clock",
    };
    let holders = holders.describe();
    format!("{machine} has the key of {of}{how}: it is {holders}")
}

pub(super) fn key_gone(machine: &str, of: &str, why: &str, holders: &KeyHolders) -> String {
    format!(
        "the key of {of} {why} on {machine}, and is {}",
        still(holders)
    )
}

pub(super) fn published(
    (machine, channel): (&str, &str),
    by: Option<String>,
    to: impl Iterator<Item = String>,
) -> String {
    let what = match by {
        Some(by) => format!("{by} publishes on {channel} at {machine}"),
        None => format!("{machine} publishes on {channel}"),
    };
    let to: Vec<String> = to.collect();
    match to.as_slice() {
        [] => format!("{what}, to no subscriber"),
        to => format!("{what}, to {}", listed(to)),
    }
}

pub(super) fn message_lost(channel: &str, to: &str, why: MessageLoss) -> String {
    let why = why.describe();
    format!("the message on {channel} never reaches {to}: {why}")
}

pub(super) fn synced(
    who: &str,
    leader: ServerId,
    (how, up_to): (SyncMode, u64),
    lost: &[String],
) -> String {
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

pub(super) fn full_sync(
    who: &str,
    primary: ServerId,
    discarded: Option<u64>,
    key: Option<String>,
) -> String {
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

pub(super) fn client(to: Option<ContenderId>, name: &dyn Fn(ContenderId) -> String) -> String {
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
    pub(super) fn describe(self, by: Option<String>) -> String {
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
