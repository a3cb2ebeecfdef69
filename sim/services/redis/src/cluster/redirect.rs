//! Redirections (`MOVED`, `ASK`): what a server answers to commands on keys that it does not serve.

use std::borrow::Cow;

use picklock_clients::redis::{Command, ErrorReply};

use super::{Cluster, NodeId, slot_of};
use crate::clients::ConnectionFlags;
use crate::command_keys::keys_of;
use crate::command_table::{Row, Traits};
use crate::errors::refuse;
use crate::keyspace::Keyspace;

/// Why a command is not served here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Redirect {
    CrossSlot,
    NotServed,
    Down,
    TryAgain,
    Ask(u16, NodeId),
    Moved(u16, NodeId),
}

impl Cluster {
    /// Why these commands, which are to run as one, are not served here, if anything speaks against it. `now` is in
    /// milliseconds of the wall clock.
    pub(crate) fn redirection<'a>(
        &self,
        commands: impl Iterator<Item = (&'a Row, &'a Command)>,
        keys: &Keyspace,
        now: i64,
        flags: ConnectionFlags,
    ) -> Option<Redirect> {
        let mut commands = commands.peekable();
        // A transaction that sends keys away has no such right, for its name is another.
        let first = commands.peek();
        let migrates = first.is_some_and(|(row, _)| row.name == "migrate");
        let mut found: Option<(u16, NodeId)> = None;
        let (mut writes, mut several, mut listens) = (false, false, false);
        let (mut there, mut missing) = (false, false);
        for (row, command) in commands {
            writes |= row.traits.has(Traits::WRITE);
            listens |= ["ssubscribe", "sunsubscribe", "spublish"].contains(&row.name);
            for key in keys_of(row, command) {
                let slot = slot_of(key);
                match found {
                    None => match self.owner(slot) {
                        None => return Some(Redirect::NotServed),
                        Some(owner) => found = Some((slot, owner)),
                    },
                    Some((first, _)) if first != slot => return Some(Redirect::CrossSlot),
                    Some(_) => several = true,
                }
                if keys.get(key).is_some_and(|entry| !entry.has_expired(now)) {
                    there = true;
                } else {
                    missing = true;
                }
            }
        }
        let (slot, owner) = found?;
        if !self.serves {
            return Some(Redirect::Down);
        }
        if migrates && self.moves(slot) {
            return None;
        }
        if owner == self.me
            && let Some(to) = self.migrating.get(&slot)
            && missing
        {
            return Some(if there {
                Redirect::TryAgain
            } else {
                Redirect::Ask(slot, *to)
            });
        }
        if self.importing.contains_key(&slot) && flags.asking {
            return (several && missing).then_some(Redirect::TryAgain);
        }
        let good_enough = (flags.readonly && !writes) || listens;
        let good_enough = good_enough && self.primary() == Some(owner);
        (owner != self.me && !good_enough).then_some(Redirect::Moved(slot, owner))
    }

    /// The answer that sends a client elsewhere.
    pub(crate) fn redirect<T>(&self, elsewhere: Redirect) -> Result<T, ErrorReply> {
        let to = |word: &str, slot: u16, id: NodeId| {
            let address = self.address(id);
            Cow::from(format!("{word} {slot} {}:{}", address.host, address.port))
        };
        refuse(match elsewhere {
            Redirect::CrossSlot => {
                Cow::from("CROSSSLOT Keys in request don't hash to the same slot")
            }
            Redirect::NotServed => Cow::from("CLUSTERDOWN Hash slot not served"),
            Redirect::Down => Cow::from("CLUSTERDOWN The cluster is down"),
            Redirect::TryAgain => {
                Cow::from("TRYAGAIN Multiple keys request during rehashing of slot")
            }
            Redirect::Ask(slot, id) => to("ASK", slot, id),
            Redirect::Moved(slot, id) => to("MOVED", slot, id),
        })
    }
}

impl Redirect {
    /// The error of a script that has asked for the key.
    pub(crate) fn in_script(self) -> &'static str {
        match self {
            Self::Down => "ERR Script attempted to execute a command while the cluster is down",
            Self::CrossSlot
            | Self::NotServed
            | Self::TryAgain
            | Self::Ask(..)
            | Self::Moved(..) => "ERR Script attempted to access a non local key in a cluster node",
        }
    }
}
