//! Who clients are, and what they may do: the schemes `world`, `auth`, `ip`, and `digest`.
//!
//! # Source
//!
//! ZooKeeper 3.8: `PrepRequestProcessor.fixupACL`, `ZooKeeperServer.checkACL`, `IPAuthenticationProvider`, and
//! `DigestAuthenticationProvider`.

use std::net::Ipv4Addr;
use std::rc::Rc;

use data_encoding::BASE64;
use picklock_clients::zookeeper::{Acl, Identity, Permissions, Permit, ZkError};
use sha1_smol::Sha1;

/// Who may be notified of a change: of the node, its readers, and of its parent's children, the parent's readers. A
/// watch of any other client fires, too, but sends nothing.
#[derive(Default)]
pub(super) struct Readers {
    pub(super) of_node: Acl,
    pub(super) of_parent: Acl,
}

/// The address that every client comes from.
const ADDRESS: Ipv4Addr = Ipv4Addr::LOCALHOST;

/// Who a client has said that it is, besides coming from its address. Most say nothing, and then it takes no memory.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Identities(Option<Rc<Vec<Identity>>>);

impl Identities {
    /// A client says who it is; what it says is checked as its scheme has it.
    pub(super) fn authenticate(&mut self, scheme: &str, secret: &[u8]) -> Result<(), ZkError> {
        match scheme {
            "digest" => {
                let known = Rc::make_mut(self.0.get_or_insert_default());
                let identity = Identity::new("digest", &digest(secret));
                if !known.contains(&identity) {
                    known.push(identity);
                }
                Ok(())
            }
            // The address is known, whatever is said.
            "ip" => Ok(()),
            _ => Err(ZkError::AuthFailed),
        }
    }

    /// The identities of the client, without what is secret: its address, and the names that it has said.
    pub(super) fn names(&self) -> Vec<Identity> {
        let address = Identity::new("ip", &ADDRESS.to_string());
        let said = self.digests().iter().map(|who| {
            let name = who.id.split(':').next().unwrap_or_default();
            Identity::new(&who.scheme, name)
        });
        std::iter::once(address).chain(said).collect()
    }

    fn digests(&self) -> &[Identity] {
        self.0.as_deref().map_or(&[], Vec::as_slice)
    }

    /// Whether a list has these people in this line.
    fn includes(&self, who: &Identity) -> bool {
        match &*who.scheme {
            "world" => who.is_anyone(),
            "ip" => Network::parse(&who.id).is_some_and(|network| network.has(ADDRESS)),
            _ => self.digests().contains(who),
        }
    }

    /// Whether a list lets these people do one of these things.
    pub(super) fn may(&self, what: Permissions, acl: &Acl) -> Result<(), ZkError> {
        if acl.is_open() {
            return Ok(());
        }
        let mut permits = acl.restrictions().iter();
        let permitted =
            permits.any(|permit| permit.permissions.intersects(what) && self.includes(&permit.who));
        if permitted {
            Ok(())
        } else {
            Err(ZkError::NoAuth)
        }
    }

    /// A list as a node keeps it: each line once, and `auth` as the identities of its creator.
    pub(super) fn expand(&self, acl: Acl) -> Result<Acl, ZkError> {
        if acl.is_open() {
            return Ok(acl);
        }
        let mut unique: Vec<&Permit> = Vec::new();
        for permit in acl.restrictions() {
            if !unique.contains(&permit) {
                unique.push(permit);
            }
        }
        let mut kept: Vec<Permit> = Vec::new();
        for permit in unique {
            let Identity { scheme, id } = &permit.who;
            match &**scheme {
                "auth" if !self.digests().is_empty() => {
                    kept.extend(self.digests().iter().map(|who| Permit {
                        permissions: permit.permissions,
                        who: who.clone(),
                    }));
                }
                "world" if permit.who.is_anyone() => kept.push(permit.clone()),
                "ip" if Network::parse(id).is_some() => kept.push(permit.clone()),
                "digest" if is_digest(id) => kept.push(permit.clone()),
                _ => return Err(ZkError::InvalidAcl),
            }
        }
        if kept.is_empty() {
            return Err(ZkError::InvalidAcl);
        }
        Ok(Acl::new(kept))
    }
}

/// A list as it is shown to a client that may not change it: without hashes.
pub(super) fn without_secrets(acl: &Acl) -> Acl {
    if acl.is_open() {
        return Acl::OPEN;
    }
    Acl::new(acl.restrictions().iter().map(|permit| {
        let Identity { scheme, id } = &permit.who;
        let shown = match id.split_once(':') {
            Some((name, _)) if &**scheme == "digest" => &format!("{name}:x"),
            _ => &**id,
        };
        Permit {
            permissions: permit.permissions,
            who: Identity::new(scheme, shown),
        }
    }))
}

/// An address, and how many of its bits count.
struct Network {
    address: u32,
    bits: u32,
}

impl Network {
    fn parse(text: &str) -> Option<Self> {
        let (address, bits) = match text.split_once('/') {
            Some((address, bits)) => (address, bits.parse().ok().filter(|bits| *bits <= 32)?),
            None => (text, 32),
        };
        let parts: Option<Vec<u8>> = address.split('.').map(|part| part.parse().ok()).collect();
        let parts: [u8; 4] = parts?.try_into().ok()?;
        Some(Self {
            address: u32::from_be_bytes(parts),
            bits,
        })
    }

    fn has(&self, other: Ipv4Addr) -> bool {
        let differing = self.address ^ other.to_bits();
        differing.checked_shr(32 - self.bits).unwrap_or_default() == 0
    }
}

/// Whether this may be a name and a hash: two parts, but for empty ones at the end.
fn is_digest(id: &str) -> bool {
    id.trim_end_matches(':').split(':').count() == 2
}

/// A name and the hash of it with its password: `DigestAuthenticationProvider.generateDigest`.
fn digest(name_and_password: &[u8]) -> String {
    let text = String::from_utf8_lossy(name_and_password);
    let name = text.split(':').next().unwrap_or_default();
    let hash = Sha1::from(text.as_bytes()).digest().bytes();
    format!("{name}:{}", BASE64.encode(&hash))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_is_a_name_and_the_hash_of_name_and_password() {
        // From ZooKeeper's documentation of its administrators' command line.
        assert_eq!(digest(b"super:test"), "super:D/InIHSb7yEEbrWz8b9l71RjZJU=");
        assert_eq!(digest(b"bob").split(':').next(), Some("bob"));
    }

    #[test]
    fn an_address_is_meant_by_its_network() {
        let has = |text| Network::parse(text).map(|network| network.has(ADDRESS));
        assert_eq!(has("127.0.0.1"), Some(true));
        assert_eq!(has("127.9.9.9/8"), Some(true));
        assert_eq!(has("10.0.0.0/0"), Some(true));
        assert_eq!(has("10.0.0.0/8"), Some(false));
        for text in ["127.0.0", "127.0.0.256", "127.0.0.1/33", "host", ""] {
            assert_eq!(has(text), None, "{text}");
        }
    }

    #[test]
    fn a_digest_has_two_parts() {
        assert!(is_digest("bob:hash"));
        assert!(is_digest(":hash"));
        assert!(is_digest("bob:hash:"));
        assert!(!is_digest("bob"));
        assert!(!is_digest("bob:"));
        assert!(!is_digest("a:b:c"));
    }
}
