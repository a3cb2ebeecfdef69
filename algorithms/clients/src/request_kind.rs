//! Kinds of requests, of every service: what a fault can wait for.

/// The kind of a request, without what it carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RequestKind {
    /// `create` (ZooKeeper)
    Create,
    /// `delete` (ZooKeeper)
    Delete,
    /// `exists` (ZooKeeper)
    Exists,
    /// `get-data` (ZooKeeper)
    GetData,
    /// `get-children` (ZooKeeper)
    GetChildren,
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
    /// `del`: `DEL` and `UNLINK` (Redis)
    Del,
    /// `expire`: `EXPIRE` and `PEXPIRE` (Redis)
    Expire,
    /// `incr` (Redis)
    Incr,
    /// `script`: `EVAL` and `EVALSHA` (Redis)
    Script,
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
    /// `command`: any other command (Redis)
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
    pub const ALL: [Self; 33] = [
        Self::Create,
        Self::Delete,
        Self::Exists,
        Self::GetData,
        Self::GetChildren,
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
        Self::Del,
        Self::Expire,
        Self::Incr,
        Self::Script,
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
            Self::Delete => "delete",
            Self::Exists => "exists",
            Self::GetData => "get-data",
            Self::GetChildren => "get-children",
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
            Self::Del => "del",
            Self::Expire => "expire",
            Self::Incr => "incr",
            Self::Script => "script",
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

    /// The service that it is made of.
    pub fn service(self) -> ServiceKind {
        match self {
            Self::Create
            | Self::Delete
            | Self::Exists
            | Self::GetData
            | Self::GetChildren
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
            | Self::Del
            | Self::Expire
            | Self::Incr
            | Self::Script
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
            | Self::Delete
            | Self::SetData
            | Self::SetAcl
            | Self::Reconfig
            | Self::Multi
            | Self::Set
            | Self::SetNx
            | Self::Del
            | Self::Expire
            | Self::Incr
            | Self::Script
            | Self::Exec
            | Self::Publish
            | Self::Claim => true,
            Self::Exists
            | Self::GetData
            | Self::GetChildren
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
    fn every_service_has_requests_that_change_something() {
        for service in ServiceKind::ALL {
            assert!(RequestKind::of_service(service).any(RequestKind::writes));
        }
    }
}
