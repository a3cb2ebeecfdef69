//! What is done to both backends.

use std::fmt;
use std::time::Duration;

use picklock_clients::zookeeper::{Path, Request};

use crate::harness::pair;
use crate::zookeeper::backend::ServerIndex;

/// A client's connection, counted on both backends as they are opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Client(pub usize);

impl fmt::Display for Client {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "connection-{}", self.0 + 1)
    }
}

impl fmt::Display for ServerIndex {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "server-{}", self.0 + 1)
    }
}

/// One thing that is done to both backends.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// A new session.
    Open {
        /// The server.
        place: ServerIndex,
        /// The timeout that is asked for.
        timeout: Duration,
        /// Whether the client puts up with a server that answers reads alone.
        read_only: bool,
    },
    /// A session goes on over a new connection.
    Resume(Resume),
    /// Requests, sent without waiting for an answer in between.
    Ask {
        /// Over which connection.
        client: Client,
        /// The requests.
        requests: Vec<Request>,
    },
    /// The client brings its watches.
    SetWatches {
        /// Over which connection.
        client: Client,
        /// The zxid that it has seen: that of so many answers ago.
        answers_ago: usize,
        /// Nodes whose data it watches.
        data: Vec<Path>,
        /// Nodes whose making it waits for.
        exist: Vec<Path>,
        /// Nodes whose children it watches.
        child: Vec<Path>,
        /// Nodes on which it has watches that stay.
        persistent: Vec<Path>,
        /// Nodes below which it watches everything.
        recursive: Vec<Path>,
    },
    /// The client says who it is.
    Authenticate {
        /// Over which connection.
        client: Client,
        /// By which scheme.
        scheme: &'static str,
        /// What the scheme wants to know.
        secret: &'static str,
    },
    /// The client ends its session.
    Close {
        /// Over which connection.
        client: Client,
    },
    /// Clients fall silent, if any, until these nodes are gone: those that go with their sessions, or by themselves.
    Silence {
        /// Their connections, which are cut if so wished.
        clients: Vec<Client>,
        /// Whether the connections are cut, or stay.
        cut: bool,
        /// What is asked first.
        first: Option<(Client, Request)>,
        /// The nodes.
        nodes: Vec<Path>,
        /// How long the nodes stay at least.
        timeout: Duration,
    },
    /// The leader is killed, and another is elected.
    KillLeader,
    /// A server that does not lead is killed.
    KillFollower,
    /// All others are killed, and the server that is left answers reads alone.
    Isolate {
        /// The server that is left.
        place: ServerIndex,
    },
    /// The killed servers come back.
    RestartKilled,
}

impl Step {
    /// A new session at a server that has a leader.
    pub fn open(place: ServerIndex, timeout: Duration) -> Self {
        Self::Open {
            place,
            timeout,
            read_only: false,
        }
    }
}

impl pair::Step for Step {
    fn requests(&self) -> Vec<String> {
        match self {
            Self::Ask { requests, .. } => {
                let kinds = requests.iter().map(Request::kind);
                kinds.map(|kind| kind.name().to_owned()).collect()
            }
            _ => Vec::new(),
        }
    }

    fn operations(&self) -> u64 {
        match self {
            Self::Ask { requests, .. } => requests.len() as u64,
            _ => 1,
        }
    }
}

/// A session goes on over a new connection.
#[derive(Clone, Debug, PartialEq)]
pub struct Resume {
    /// The client of the session.
    pub of: Client,
    /// The server.
    pub place: ServerIndex,
    /// Whether the old connection is cut before.
    pub cut: bool,
    /// Whether the password is another.
    pub wrong_password: bool,
    /// Whether the client claims to have seen what is yet to come.
    pub ahead: bool,
    /// Whether the client puts up with a server that answers reads alone.
    pub read_only: bool,
}

impl fmt::Display for Resume {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "the session of {} at {}", self.of, self.place)?;
        for (set, words) in [
            (self.cut, "its connection cut before"),
            (self.wrong_password, "with a wrong password"),
            (self.ahead, "with a zxid that is yet to come"),
            (self.read_only, "read-only if need be"),
        ] {
            if set {
                write!(out, ", {words}")?;
            }
        }
        Ok(())
    }
}

impl fmt::Display for Step {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Open {
                place,
                timeout,
                read_only,
            } => {
                write!(out, "a new session at {place}, timeout {timeout:?}")?;
                if *read_only {
                    out.write_str(", read-only if need be")?;
                }
                Ok(())
            }
            Self::Resume(resume) => resume.fmt(out),
            Self::Ask { client, requests } => {
                write!(out, "{client}:")?;
                for request in requests {
                    write!(out, " {}", request)?;
                }
                Ok(())
            }
            Self::SetWatches {
                client,
                answers_ago,
                data,
                exist,
                child,
                persistent,
                recursive,
            } => write!(
                out,
                "{client}: set-watches of {answers_ago} answers ago, data {data:?}, exist {exist:?}, child {child:?}, \
                 persistent {persistent:?}, recursive {recursive:?}"
            ),
            Self::Authenticate {
                client,
                scheme,
                secret,
            } => write!(out, "{client}: says that it is {scheme} {secret}"),
            Self::Close { client } => write!(out, "{client}: close"),
            Self::Silence {
                clients,
                cut,
                first,
                ..
            } => {
                if let Some((client, request)) = first {
                    write!(out, "{client}: {}, ", request)?;
                }
                let how = if *cut { "cut" } else { "silent" };
                write!(out, "{how} until nodes are gone:")?;
                clients
                    .iter()
                    .try_for_each(|client| write!(out, " {client}"))
            }
            Self::KillLeader => write!(out, "kill the leader"),
            Self::KillFollower => write!(out, "kill a follower"),
            Self::Isolate { place } => write!(out, "kill all but {place}"),
            Self::RestartKilled => write!(out, "start who was killed"),
        }
    }
}
