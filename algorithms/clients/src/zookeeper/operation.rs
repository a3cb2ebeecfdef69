//! What requests carry that are made of parts: the operations of a multi, and a list of servers.

use std::rc::Rc;

use super::{Acl, CreateMode, Data, Path, Version, Zxid};

/// What is to become of the list of servers. What is `None` is `null`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reconfiguration {
    /// Servers that join, or change, as lines of the configuration.
    pub joining: Option<Rc<str>>,
    /// The numbers of servers that leave.
    pub leaving: Option<Rc<str>>,
    /// All servers there are to be, instead of the other two.
    pub members: Option<Rc<str>>,
    /// Only if the list is as of this transaction.
    pub from_config: Option<Zxid>,
}

/// One operation of a [`Request::Multi`](super::Request::Multi).
#[derive(Clone, Debug, PartialEq)]
pub enum Op {
    /// Make a node.
    Create {
        /// The path of the node.
        path: Path,
        /// With what data.
        data: Data,
        /// Of what kind.
        mode: CreateMode,
        /// Who may do what with it.
        acl: Acl,
    },
    /// Delete a node.
    Delete {
        /// The path of the node.
        path: Path,
        /// Of which data version; `None` for any.
        version: Option<Version>,
    },
    /// Set the data of a node.
    SetData {
        /// The path of the node.
        path: Path,
        /// To what.
        data: Data,
        /// Of which data version; `None` for any.
        version: Option<Version>,
    },
    /// Go on only if the node exists, in this version if one is given.
    Check {
        /// The path of the node.
        path: Path,
        /// Of which data version; `None` for any.
        version: Option<Version>,
    },
}

/// One operation of a [`Request::MultiRead`](super::Request::MultiRead).
#[derive(Clone, Debug, PartialEq)]
pub enum ReadOp {
    /// The data of a node.
    Data(Path),
    /// The children of a node.
    Children(Path),
}

impl ReadOp {
    /// The node that it reads.
    pub fn path(&self) -> &Path {
        match self {
            Self::Data(path) | Self::Children(path) => path,
        }
    }
}
