//! The request that creates a node.

use std::time::Duration;

use super::{Acl, CreateMode, Data, Path};

/// A node that is to be made. Most have no data, are open to all, and do not go when nothing has happened to them for
/// so long. What the others have takes memory of its own, so that requests are small.
#[derive(Clone, Debug, PartialEq)]
pub struct NewNode {
    path: Path,
    rest: Option<Box<Rest>>,
    kind: Kind,
    with_stat: bool,
    /// Its data is `null`.
    is_null: bool,
}

/// What most nodes do not have.
#[derive(Clone, Debug, PartialEq)]
struct Rest {
    data: Data,
    acl: Acl,
    ttl: Duration,
}

/// A [`CreateMode`], without what some have besides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Persistent,
    PersistentSequential,
    Ephemeral,
    EphemeralSequential,
    Container,
    PersistentWithTtl,
    PersistentSequentialWithTtl,
}

impl From<CreateMode> for Kind {
    fn from(mode: CreateMode) -> Self {
        match mode {
            CreateMode::Persistent => Self::Persistent,
            CreateMode::PersistentSequential => Self::PersistentSequential,
            CreateMode::Ephemeral => Self::Ephemeral,
            CreateMode::EphemeralSequential => Self::EphemeralSequential,
            CreateMode::Container => Self::Container,
            CreateMode::PersistentWithTtl(_) => Self::PersistentWithTtl,
            CreateMode::PersistentSequentialWithTtl(_) => Self::PersistentSequentialWithTtl,
        }
    }
}

impl Rest {
    #[inline(never)]
    fn of(data: Data, mode: CreateMode, acl: Acl) -> Box<Self> {
        Box::new(Self {
            data,
            acl,
            ttl: mode.ttl().unwrap_or_default(),
        })
    }
}

impl NewNode {
    /// A node of this kind with this data, whose stat is answered too if `with_stat` is set.
    #[inline]
    pub fn new(
        path: Path,
        data: impl Into<Data>,
        mode: CreateMode,
        acl: Acl,
        with_stat: bool,
    ) -> Self {
        let data = data.into();
        let is_null = data.is_null();
        let is_plain = data.is_empty() && acl.is_open() && mode.ttl().is_none();
        Self {
            path,
            rest: (!is_plain).then(|| Rest::of(data, mode, acl)),
            kind: mode.into(),
            with_stat,
            is_null,
        }
    }

    /// The path of the node.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether to answer the stat too.
    pub fn with_stat(&self) -> bool {
        self.with_stat
    }

    /// Whether it has nothing but its path.
    #[inline]
    pub(super) fn is_plain(&self) -> bool {
        self.rest.is_none()
    }

    /// The length of its data in bytes.
    pub fn length(&self) -> usize {
        self.rest.as_ref().map_or(0, |rest| rest.data.len())
    }

    /// With what data.
    pub fn data(&self) -> Data {
        match &self.rest {
            Some(rest) => Data::clone(&rest.data),
            None if self.is_null => Data::NULL,
            None => Data::empty(),
        }
    }

    /// Who may do what with it.
    #[inline]
    pub fn acl(&self) -> Acl {
        self.rest
            .as_ref()
            .map_or(Acl::OPEN, |rest| rest.acl.clone())
    }

    /// Of what kind.
    #[inline]
    pub fn mode(&self) -> CreateMode {
        let ttl = || self.rest.as_ref().map_or(Duration::ZERO, |rest| rest.ttl);
        match self.kind {
            Kind::Persistent => CreateMode::Persistent,
            Kind::PersistentSequential => CreateMode::PersistentSequential,
            Kind::Ephemeral => CreateMode::Ephemeral,
            Kind::EphemeralSequential => CreateMode::EphemeralSequential,
            Kind::Container => CreateMode::Container,
            Kind::PersistentWithTtl => CreateMode::PersistentWithTtl(ttl()),
            Kind::PersistentSequentialWithTtl => CreateMode::PersistentSequentialWithTtl(ttl()),
        }
    }

    /// Its length on the wire in bytes.
    #[inline]
    pub(super) fn wire_bytes(&self) -> u64 {
        let (path, data) = (self.path.len() as u64, self.length() as u64);
        // The flags, and the time to live if there is one.
        let (acl, flags) = match &self.rest {
            None => (OPEN_WIRE_BYTES, 4),
            Some(rest) if self.mode().ttl().is_some() => (rest.acl.wire_bytes(), 12),
            Some(rest) => (rest.acl.wire_bytes(), 4),
        };
        4 + path + 4 + data + acl + flags
    }
}

/// The length on the wire in bytes of the list of a node that is open to all.
const OPEN_WIRE_BYTES: u64 = 27;

#[cfg(test)]
mod tests {
    use super::super::Request;
    use super::*;

    #[test]
    fn it_is_what_was_asked_for() {
        let acls = [Acl::OPEN, Acl::read_only()];
        let modes = [
            CreateMode::Persistent,
            CreateMode::PersistentSequential,
            CreateMode::Ephemeral,
            CreateMode::EphemeralSequential,
            CreateMode::Container,
            CreateMode::PersistentWithTtl(Duration::from_millis(7)),
            CreateMode::PersistentSequentialWithTtl(Duration::MAX),
        ];
        for (acl, mode) in acls.iter().flat_map(|acl| modes.map(|mode| (acl, mode))) {
            for data in [Data::NULL, Data::empty(), Data::from(b"x")] {
                let given = data.clone();
                let request = Request::create(Path::from("/a"), given, mode, acl.clone(), true);
                let Request::Create(node) = request else {
                    panic!("it makes no node");
                };
                assert_eq!(
                    (&**node.path(), node.data(), node.mode()),
                    ("/a", data.clone(), mode)
                );
                assert_eq!((node.acl(), node.with_stat()), (acl.clone(), true));
                assert_eq!(node.length(), data.len());
                let flags = if mode.ttl().is_some() { 12 } else { 4 };
                let bytes = 6 + 4 + data.len() as u64 + acl.wire_bytes() + flags;
                assert_eq!(node.wire_bytes(), bytes);
            }
        }
    }

    #[test]
    fn requests_are_small() {
        assert!(size_of::<Request>() <= 40);
    }
}
