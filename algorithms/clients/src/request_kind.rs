//! Kinds of requests, of every service: what a fault can wait for.

/// The kind of a request, without what it carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RequestKind {
    /// `create`: all that make a node (ZooKeeper)
    Create,
    /// `create2`: a create that answers the stat, too (ZooKeeper)
    Create2,
    /// `create-container` (ZooKeeper)
    CreateContainer,
    /// `create-ttl`: of a node that goes by itself (ZooKeeper)
    CreateTtl,
    /// `delete` (ZooKeeper)
    Delete,
    /// `exists` (ZooKeeper)
    Exists,
    /// `get-data` (ZooKeeper)
    GetData,
    /// `get-children`: with the stat or without (ZooKeeper)
    GetChildren,
    /// `get-children2`: with the stat (ZooKeeper)
    GetChildren2,
    /// `set-data` (ZooKeeper)
    SetData,
    /// `sync` (ZooKeeper)
    Sync,
    /// `multi` (ZooKeeper)
    Multi,
    /// `multi-read` (ZooKeeper)
    MultiRead,
    /// `add-watch` (ZooKeeper)
    AddWatch,
    /// `remove-watches` (ZooKeeper): all of one client
    RemoveWatches,
    /// `check-watches` (ZooKeeper): what a client asks to take back one of its watches
    CheckWatches,
    /// `get-ephemerals` (ZooKeeper)
    GetEphemerals,
    /// `get-acl` (ZooKeeper)
    GetAcl,
    /// `set-acl` (ZooKeeper)
    SetAcl,
    /// `get-all-children-number` (ZooKeeper)
    GetAllChildrenNumber,
    /// `who-am-i` (ZooKeeper)
    WhoAmI,
    /// `reconfig` (ZooKeeper)
    Reconfig,
    /// `set`: `SET` in all its forms (Redis)
    Set,
    /// `setnx` (Redis)
    SetNx,
    /// `get` (Redis)
    Get,
    /// `getset` (Redis)
    GetSet,
    /// `del`: `DEL` and `UNLINK` (Redis)
    Del,
    /// `expire`: `EXPIRE` and `PEXPIRE` (Redis)
    Expire,
    /// `incr` (Redis)
    Incr,
    /// `script`: `EVAL`, `EVALSHA`, and `FCALL` (Redis)
    Script,
    /// `eval` (Redis)
    Eval,
    /// `evalsha` (Redis)
    EvalSha,
    /// `blpop` (Redis)
    BlPop,
    /// `brpop` (Redis)
    BrPop,
    /// `blmove` (Redis)
    BlMove,
    /// `lpush` (Redis)
    LPush,
    /// `rpush` (Redis)
    RPush,
    /// `watch` (Redis)
    Watch,
    /// `multi-command`: a transaction's `MULTI` (Redis)
    MultiCommand,
    /// `exec` (Redis)
    Exec,
    /// `subscribe` (Redis)
    Subscribe,
    /// `publish` (Redis)
    Publish,
    /// `wait` (Redis)
    Wait,
    /// `command`: any command that is none of `set` to `wait`, the blocking ones among them (Redis)
    OtherCommand,
    /// `claim` (the lease server)
    Claim,
}

/// The service that a request is made of.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ServiceKind {
    /// ZooKeeper.
    ZooKeeper,
    /// Redis.
    Redis,
    /// A lock server with leases of its own.
    LeaseServer,
}

impl ServiceKind {
    /// Every service.
    pub const ALL: [Self; 3] = [Self::ZooKeeper, Self::Redis, Self::LeaseServer];

    /// Its name, as people write it.
    pub fn title(self) -> &'static str {
        match self {
            Self::ZooKeeper => "ZooKeeper",
            Self::Redis => "Redis",
            Self::LeaseServer => "the lease server",
        }
    }

    /// Whether who waits has a place in a queue, and a session that it lives in.
    pub fn has_queues(self) -> bool {
        self == Self::ZooKeeper
    }

    /// Its name in scenario files, and the folder of the library that is about it.
    pub fn name(self) -> &'static str {
        match self {
            Self::ZooKeeper => "zookeeper",
            Self::Redis => "redis",
            Self::LeaseServer => "lease-server",
        }
    }
}

impl RequestKind {
    /// Every kind that a handle offers to recipes, and so scenarios know.
    pub const ALL: [Self; 45] = [
        Self::Create,
        Self::Create2,
        Self::CreateContainer,
        Self::CreateTtl,
        Self::Delete,
        Self::Exists,
        Self::GetData,
        Self::GetChildren,
        Self::GetChildren2,
        Self::SetData,
        Self::Sync,
        Self::Multi,
        Self::MultiRead,
        Self::AddWatch,
        Self::RemoveWatches,
        Self::CheckWatches,
        Self::GetEphemerals,
        Self::GetAcl,
        Self::SetAcl,
        Self::GetAllChildrenNumber,
        Self::WhoAmI,
        Self::Reconfig,
        Self::Set,
        Self::SetNx,
        Self::Get,
        Self::GetSet,
        Self::Del,
        Self::Expire,
        Self::Incr,
        Self::Script,
        Self::Eval,
        Self::EvalSha,
        Self::BlPop,
        Self::BrPop,
        Self::BlMove,
        Self::LPush,
        Self::RPush,
        Self::Watch,
        Self::MultiCommand,
        Self::Exec,
        Self::Subscribe,
        Self::Publish,
        Self::Wait,
        Self::OtherCommand,
        Self::Claim,
    ];

    /// The kinds that scenarios on a service know.
    pub fn of_service(service: ServiceKind) -> impl Iterator<Item = Self> {
        Self::ALL
            .into_iter()
            .filter(move |kind| kind.service() == service)
    }

    /// Its name in scenario files and traces.
    pub fn name(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Create2 => "create2",
            Self::CreateContainer => "create-container",
            Self::CreateTtl => "create-ttl",
            Self::Delete => "delete",
            Self::Exists => "exists",
            Self::GetData => "get-data",
            Self::GetChildren => "get-children",
            Self::GetChildren2 => "get-children2",
            Self::SetData => "set-data",
            Self::Sync => "sync",
            Self::Multi => "multi",
            Self::MultiRead => "multi-read",
            Self::AddWatch => "add-watch",
            Self::RemoveWatches => "remove-watches",
            Self::CheckWatches => "check-watches",
            Self::GetEphemerals => "get-ephemerals",
            Self::GetAcl => "get-acl",
            Self::SetAcl => "set-acl",
            Self::GetAllChildrenNumber => "get-all-children-number",
            Self::WhoAmI => "who-am-i",
            Self::Reconfig => "reconfig",
            Self::Set => "set",
            Self::SetNx => "setnx",
            Self::Get => "get",
            Self::GetSet => "getset",
            Self::Del => "del",
            Self::Expire => "expire",
            Self::Incr => "incr",
            Self::Script => "script",
            Self::Eval => "eval",
            Self::EvalSha => "evalsha",
            Self::BlPop => "blpop",
            Self::BrPop => "brpop",
            Self::BlMove => "blmove",
            Self::LPush => "lpush",
            Self::RPush => "rpush",
            Self::Watch => "watch",
            Self::MultiCommand => "multi-command",
            Self::Exec => "exec",
            Self::Subscribe => "subscribe",
            Self::Publish => "publish",
            Self::Wait => "wait",
            Self::OtherCommand => "command",
            Self::Claim => "claim",
        }
    }

    /// The kind that it is one of, where several are told apart: itself, if it is of no other.
    pub fn general(self) -> Self {
        match self {
            Self::Create2 | Self::CreateContainer | Self::CreateTtl => Self::Create,
            Self::GetChildren2 => Self::GetChildren,
            Self::Eval | Self::EvalSha => Self::Script,
            Self::BlPop | Self::BrPop | Self::BlMove | Self::LPush | Self::RPush => {
                Self::OtherCommand
            }
            _ => self,
        }
    }

    /// Whether a request of the other kind is one of this kind.
    pub fn covers(self, other: Self) -> bool {
        self == other || self == other.general()
    }

    /// The service that it is made of.
    pub fn service(self) -> ServiceKind {
        match self {
            Self::Create
            | Self::Create2
            | Self::CreateContainer
            | Self::CreateTtl
            | Self::Delete
            | Self::Exists
            | Self::GetData
            | Self::GetChildren
            | Self::GetChildren2
            | Self::SetData
            | Self::Sync
            | Self::Multi
            | Self::AddWatch
            | Self::RemoveWatches
            | Self::CheckWatches
            | Self::MultiRead
            | Self::GetEphemerals
            | Self::GetAcl
            | Self::SetAcl
            | Self::GetAllChildrenNumber
            | Self::WhoAmI
            | Self::Reconfig => ServiceKind::ZooKeeper,
            Self::Set
            | Self::SetNx
            | Self::Get
            | Self::GetSet
            | Self::Del
            | Self::Expire
            | Self::Incr
            | Self::Script
            | Self::Eval
            | Self::EvalSha
            | Self::BlPop
            | Self::BrPop
            | Self::BlMove
            | Self::LPush
            | Self::RPush
            | Self::Watch
            | Self::MultiCommand
            | Self::Exec
            | Self::Subscribe
            | Self::Publish
            | Self::Wait
            | Self::OtherCommand => ServiceKind::Redis,
            Self::Claim => ServiceKind::LeaseServer,
        }
    }

    /// Whether it changes what the service holds: ZooKeeper's leader proposes and commits such requests, and Redis
    /// tells its replicas of them.
    pub fn writes(self) -> bool {
        match self {
            Self::Create
            | Self::Create2
            | Self::CreateContainer
            | Self::CreateTtl
            | Self::Delete
            | Self::SetData
            | Self::SetAcl
            | Self::Reconfig
            | Self::Multi
            | Self::Set
            | Self::SetNx
            | Self::GetSet
            | Self::Del
            | Self::Expire
            | Self::Incr
            | Self::Script
            | Self::Eval
            | Self::EvalSha
            | Self::BlPop
            | Self::BrPop
            | Self::BlMove
            | Self::LPush
            | Self::RPush
            | Self::Exec
            | Self::Publish
            | Self::Claim => true,
            Self::Exists
            | Self::GetData
            | Self::GetChildren
            | Self::GetChildren2
            | Self::Sync
            | Self::AddWatch
            | Self::RemoveWatches
            | Self::CheckWatches
            | Self::MultiRead
            | Self::GetEphemerals
            | Self::GetAcl
            | Self::GetAllChildrenNumber
            | Self::WhoAmI
            | Self::Get
            | Self::Watch
            | Self::MultiCommand
            | Self::Subscribe
            | Self::Wait
            | Self::OtherCommand => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_kinds_share_a_name() {
        for (index, kind) in RequestKind::ALL.iter().enumerate() {
            let earlier = &RequestKind::ALL[..index];
            assert!(earlier.iter().all(|other| other.name() != kind.name()));
        }
    }

    #[test]
    fn what_is_told_apart_is_of_one_kind_of_the_same_service() {
        for kind in RequestKind::ALL {
            let general = kind.general();
            assert!(general.covers(kind) && general.general() == general);
            assert_eq!(general.service(), kind.service());
            assert_eq!(kind.covers(general), kind == general);
        }
        assert!(!RequestKind::Create2.covers(RequestKind::CreateTtl));
    }

    #[test]
    fn every_service_has_requests_that_change_something() {
        for service in ServiceKind::ALL {
            assert!(RequestKind::of_service(service).any(RequestKind::writes));
        }
    }
}
