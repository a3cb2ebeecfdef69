//! Access control lists: which identity may do what with a node.
//!
//! # Source
//!
//! ZooKeeper 3.8: `ZooDefs.Perms`, `ZooDefs.Ids`, and `PrepRequestProcessor.fixupACL`.

use std::ops::BitOr;
use std::rc::Rc;

/// What may be done with a node: `ZooDefs.Perms`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Permissions(pub i32);

impl Permissions {
    /// Read its data and the names of its children.
    pub const READ: Self = Self(1);
    /// Set its data.
    pub const WRITE: Self = Self(2);
    /// Make children of it.
    pub const CREATE: Self = Self(4);
    /// Delete its children.
    pub const DELETE: Self = Self(8);
    /// Say who may do what with it.
    pub const ADMIN: Self = Self(16);
    /// All of these.
    pub const ALL: Self = Self(31);

    /// Whether some of these are among them.
    pub fn intersects(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }
}

impl BitOr for Permissions {
    type Output = Self;
    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// Who a client is, as one of the schemes has it: `ip` and an address, `digest` and a name with a hash.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Identity {
    /// The scheme.
    pub scheme: Rc<str>,
    /// Who, in the scheme's own words.
    pub id: Rc<str>,
}

impl Identity {
    /// The identity of this id in a scheme.
    pub fn new(scheme: &str, id: &str) -> Self {
        Self {
            scheme: scheme.into(),
            id: id.into(),
        }
    }

    /// Whether this means every client.
    pub fn is_anyone(&self) -> bool {
        &*self.scheme == "world" && &*self.id == "anyone"
    }
}

/// One line of a list: who, and what they may do.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Permit {
    /// The permissions.
    pub permissions: Permissions,
    /// The identity that it is for.
    pub who: Identity,
}

/// Who may do what with a node. Most nodes are open to all, and then it takes no memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Acl(Option<Rc<Vec<Permit>>>);

impl Acl {
    /// Every client may do everything: `OPEN_ACL_UNSAFE`.
    pub const OPEN: Self = Self(None);

    /// A list. Servers refuse one that is empty.
    pub fn new(permits: impl IntoIterator<Item = Permit>) -> Self {
        let permits: Vec<Permit> = permits.into_iter().collect();
        match permits.as_slice() {
            [all] if all.permissions == Permissions::ALL && all.who.is_anyone() => Self::OPEN,
            _ => Self(Some(Rc::new(permits))),
        }
    }

    /// A list of one line.
    pub fn of(permissions: Permissions, scheme: &str, id: &str) -> Self {
        let who = Identity::new(scheme, id);
        Self::new([Permit { permissions, who }])
    }

    /// Every client may read: `READ_ACL_UNSAFE`.
    pub fn read_only() -> Self {
        Self::of(Permissions::READ, "world", "anyone")
    }

    /// The creator of the node may do everything, by any identity that it has proved: `CREATOR_ALL_ACL`.
    pub fn creator_all() -> Self {
        Self::of(Permissions::ALL, "auth", "")
    }

    /// Whether every client may do everything.
    pub fn is_open(&self) -> bool {
        self.0.is_none()
    }

    /// The lines; none if it is open.
    pub fn restrictions(&self) -> &[Permit] {
        self.0.as_deref().map_or(&[], Vec::as_slice)
    }

    /// The lines, all of them.
    pub fn permits(&self) -> Vec<Permit> {
        match &self.0 {
            Some(permits) => permits.to_vec(),
            None => vec![Permit {
                permissions: Permissions::ALL,
                who: Identity::new("world", "anyone"),
            }],
        }
    }

    /// Its length on the wire in bytes, as jute encodes it.
    pub fn wire_bytes(&self) -> u64 {
        fn line(scheme: &str, id: &str) -> u64 {
            4 + 4 + scheme.len() as u64 + 4 + id.len() as u64
        }
        4 + match &self.0 {
            None => line("world", "anyone"),
            Some(permits) => permits
                .iter()
                .map(|permit| line(&permit.who.scheme, &permit.who.id))
                .sum(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_for_every_client_is_open_however_it_is_said() {
        assert!(Acl::of(Permissions::ALL, "world", "anyone").is_open());
        assert!(!Acl::read_only().is_open());
        assert!(!Acl::new([]).is_open());
        assert_eq!(Acl::new(Acl::OPEN.permits()), Acl::OPEN);
        assert_eq!(Acl::OPEN.wire_bytes(), 27);
    }
}
