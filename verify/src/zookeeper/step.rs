//! What is done to both backends.

use std::fmt;
use std::time::Duration;

use picklock_clients::zookeeper::{Acl, CreateMode, Op, Path, ReadOp, Request, Version};

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
        /// Where.
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
        /// What.
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
    /// Whoever leads is killed, and another leads.
    KillLeader,
    /// A server that does not lead is killed.
    KillFollower,
    /// All others are killed, and who is left answers reads alone.
    Isolate {
        /// Who is left.
        place: ServerIndex,
    },
    /// Who was killed comes back.
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
                let names = requests.iter().map(|it| it.kind().name().to_owned());
                names.collect()
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
    /// Whose session.
    pub of: Client,
    /// Where.
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
                    write!(out, " {}", RequestText(request))?;
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
                    write!(out, "{client}: {}, ", RequestText(request))?;
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

/// A request in words.
pub struct RequestText<'a>(pub &'a Request);

impl fmt::Display for RequestText<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.0.kind().name();
        let watched = |watch: bool| if watch { ", watch" } else { "" };
        match self.0 {
            Request::Create(node) => {
                let (path, bytes, kind) = (node.path(), node.length(), kind(node.mode()));
                let stat = if node.with_stat() { ", stat" } else { "" };
                let acl = node.acl();
                write!(
                    out,
                    "{name}({path}, {bytes} bytes, {kind}{stat}{})",
                    For(&acl)
                )
            }
            Request::Delete { path, version } => {
                write!(out, "{name}({path}{})", Of(*version))
            }
            Request::Exists { path, watch }
            | Request::GetData { path, watch }
            | Request::GetChildren { path, watch } => {
                write!(out, "{name}({path}{})", watched(*watch))
            }
            Request::SetData {
                path,
                data,
                version,
            } => write!(out, "{name}({path}, {} bytes{})", data.len(), Of(*version)),
            Request::SetAcl { path, acl, version } => {
                write!(out, "{name}({path}{}{})", For(acl), Of(*version))
            }
            Request::Sync { path }
            | Request::GetAcl { path }
            | Request::GetEphemerals { prefix: path } => {
                write!(out, "{name}({path})")
            }
            Request::AddWatch { path, recursive } => {
                let recursive = if *recursive { ", recursive" } else { "" };
                write!(out, "{name}({path}{recursive})")
            }
            Request::RemoveWatches { path, side, .. }
            | Request::CheckWatches { path, side, .. } => {
                write!(out, "{name}({path}, {side:?})")
            }
            Request::MultiRead(ops) => write!(out, "{name}({})", Reads(ops)),
            Request::Multi(ops) => {
                write!(out, "{name}(")?;
                for (place, op) in ops.iter().enumerate() {
                    let between = if place == 0 { "" } else { ", " };
                    write!(out, "{between}{}", Part(op))?;
                }
                write!(out, ")")
            }
        }
    }
}

struct Reads<'a>(&'a [ReadOp]);

impl fmt::Display for Reads<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, op) in self.0.iter().enumerate() {
            let between = if place == 0 { "" } else { ", " };
            let read = match op {
                ReadOp::Data(_) => "get-data",
                ReadOp::Children(_) => "get-children",
            };
            write!(out, "{between}{read}({})", op.path())?;
        }
        Ok(())
    }
}

struct Part<'a>(&'a Op);

impl fmt::Display for Part<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Op::Create {
                path, mode, acl, ..
            } => write!(out, "create({path}, {}{})", kind(*mode), For(acl)),
            Op::Delete { path, version } => write!(out, "delete({path}{})", Of(*version)),
            Op::SetData { path, version, .. } => write!(out, "set-data({path}{})", Of(*version)),
            Op::Check { path, version } => write!(out, "check({path}{})", Of(*version)),
        }
    }
}

struct Of(Option<Version>);

impl fmt::Display for Of {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(version) => write!(out, ", version {version}"),
            None => Ok(()),
        }
    }
}

/// Who may do what, if not everybody everything.
struct For<'a>(&'a Acl);

impl fmt::Display for For<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_open() {
            return Ok(());
        }
        write!(out, ", for")?;
        self.0.restrictions().iter().try_for_each(|permit| {
            let (permissions, who) = (permit.permissions.0, &permit.who);
            write!(out, " {permissions} {}:{}", who.scheme, who.id)
        })
    }
}

fn kind(mode: CreateMode) -> &'static str {
    match mode {
        CreateMode::Persistent => "persistent",
        CreateMode::PersistentSequential => "persistent, sequential",
        CreateMode::Ephemeral => "ephemeral",
        CreateMode::EphemeralSequential => "ephemeral, sequential",
        CreateMode::Container => "container",
        CreateMode::PersistentWithTtl(_) => "with a time to live",
        CreateMode::PersistentSequentialWithTtl(_) => "with a time to live, sequential",
    }
}
