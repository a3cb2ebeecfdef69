//! Services and the kinds of requests that each answers: what a fault can wait for.

/// What a kind of request does: whether it changes what the service holds.
macro_rules! changes {
    (writes) => {
        true
    };
    (reads) => {
        false
    };
}

/// The kind that it is one of, where several are told apart: itself, if it is of no other.
macro_rules! general {
    ($kind:ident) => {
        Self::$kind
    };
    ($kind:ident $general:ident) => {
        Self::$general
    };
}

/// What a service keeps, from which the owner of a lock can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StateKind {
    /// Nodes in a tree.
    Nodes,
    /// Keys with values.
    Keys,
    /// Keys that count.
    Counters,
    /// Rows of tables.
    Rows,
    /// Keys with values that sessions hold.
    HeldKeys,
    /// Locks that sessions hold.
    SessionLocks,
}

/// The services, each with its name, its title, what it keeps, and its requests; of each of these its name, whether it
/// changes what the service holds, and the kind that it is one of, if it is one of several that are told apart.
macro_rules! services {
    ($($service:ident $name:literal $title:literal [$($state:ident)+] {
        $($(#[$meaning:meta])? $kind:ident $key:literal $does:ident $(of $general:ident)?,)+
    })+) => {
        /// The kind of a request, without what it carries.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum RequestKind {
            $($(
                #[doc = concat!("`", $key, "` of ", $title, "\n")]
                $(#[$meaning])?
                $kind,
            )+)+
        }

        /// The service that a request is made of.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum ServiceKind {
            $(#[doc = concat!("`", $name, "`: ", $title)] $service,)+
        }

        impl ServiceKind {
            /// What it keeps from which the owner of a lock can be read.
            pub const fn keeps(self) -> &'static [StateKind] {
                match self {
                    $(Self::$service => &[$(StateKind::$state),+],)+
                }
            }

            /// Every service.
            pub const ALL: [Self; [$($name),+].len()] = [$(Self::$service),+];

            /// Its name, as people write it.
            pub const fn title(self) -> &'static str {
                match self {
                    $(Self::$service => $title,)+
                }
            }

            /// Its name in scenario files, and the folder of the library that is about it.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$service => $name,)+
                }
            }
        }

        impl RequestKind {
            /// Every kind that a handle offers to recipes, and so scenarios know.
            pub const ALL: [Self; [$($($key),+),+].len()] = [$($(Self::$kind),+),+];

            /// Its name in scenario files and traces.
            pub fn name(self) -> &'static str {
                match self {
                    $($(Self::$kind => $key,)+)+
                }
            }

            /// The kind that it is one of, where several are told apart: itself, if it is of no other.
            pub fn general(self) -> Self {
                match self {
                    $($(Self::$kind => general!($kind $($general)?),)+)+
                }
            }

            /// The service that it is made of.
            pub fn service(self) -> ServiceKind {
                match self {
                    $($(Self::$kind)|+ => ServiceKind::$service,)+
                }
            }

            /// Whether it changes what the service holds: ZooKeeper's leader proposes and commits such requests, and
            /// Redis tells its replicas of them.
            pub fn writes(self) -> bool {
                match self {
                    $($(Self::$kind => changes!($does),)+)+
                }
            }
        }
    };
}

services! {
    ZooKeeper "zookeeper" "ZooKeeper" [Nodes] {
        /// All that make a node.
        Create "create" writes,
        /// A create that answers the stat, too.
        Create2 "create2" writes of Create,
        CreateContainer "create-container" writes of Create,
        /// Of a node that goes by itself.
        CreateTtl "create-ttl" writes of Create,
        Delete "delete" writes,
        Exists "exists" reads,
        GetData "get-data" reads,
        /// With the stat or without.
        GetChildren "get-children" reads,
        /// With the stat.
        GetChildren2 "get-children2" reads of GetChildren,
        SetData "set-data" writes,
        Sync "sync" reads,
        Multi "multi" writes,
        MultiRead "multi-read" reads,
        AddWatch "add-watch" reads,
        /// All of one client.
        RemoveWatches "remove-watches" reads,
        /// What a client asks to take back one of its watches.
        CheckWatches "check-watches" reads,
        GetEphemerals "get-ephemerals" reads,
        GetAcl "get-acl" reads,
        SetAcl "set-acl" writes,
        GetAllChildrenNumber "get-all-children-number" reads,
        WhoAmI "who-am-i" reads,
        Reconfig "reconfig" writes,
    }
    Redis "redis" "Redis" [Keys Counters] {
        /// `SET` in all its forms.
        Set "set" writes,
        SetNx "setnx" writes,
        Get "get" reads,
        GetSet "getset" writes,
        /// `DEL`, `UNLINK`, `DELEX`, and `DELIFEQ`.
        Del "del" writes,
        /// `EXPIRE` and `PEXPIRE`.
        Expire "expire" writes,
        Incr "incr" writes,
        /// `EVAL`, `EVALSHA`, and `FCALL`.
        Script "script" writes,
        Eval "eval" writes of Script,
        EvalSha "evalsha" writes of Script,
        BlPop "blpop" writes of OtherCommand,
        BrPop "brpop" writes of OtherCommand,
        BlMove "blmove" writes of OtherCommand,
        LPush "lpush" writes of OtherCommand,
        RPush "rpush" writes of OtherCommand,
        Watch "watch" reads,
        /// A transaction's `MULTI`.
        MultiCommand "multi-command" reads,
        Exec "exec" writes,
        Subscribe "subscribe" reads,
        Publish "publish" writes,
        Wait "wait" reads,
        WaitAof "waitaof" reads,
        /// Any command that is none of `set` to `waitaof`, the blocking ones among them.
        OtherCommand "command" reads,
    }
    LeaseServer "lease-server" "the lease server" [Keys] { Claim "claim" writes, }
    Etcd "etcd" "etcd" [Nodes] {
        /// Also of one key.
        Range "range" reads,
        Put "put" writes,
        DeleteRange "delete-range" writes,
        Txn "txn" writes,
        LeaseGrant "lease-grant" writes,
        LeaseRevoke "lease-revoke" writes,
        /// What keeps a lease alive.
        LeaseKeepAlive "lease-keep-alive" reads,
        WatchCreate "watch-create" reads,
        /// `Lock` of the service v3lock.
        Lock "lock" writes,
        Unlock "unlock" writes,
        /// `Campaign` of the service v3election.
        Campaign "campaign" writes,
        Resign "resign" writes,
        /// Any call that is none of these.
        OtherCall "call" reads,
    }
    Sql "sql" "a SQL database" [Rows SessionLocks] {
        Begin "begin" reads,
        Commit "commit" writes,
        Rollback "rollback" reads,
        /// `INSERT` in all its forms.
        Insert "insert" writes,
        Update "update" writes,
        /// `DELETE` of rows.
        DeleteRows "delete-rows" writes,
        Select "select" reads,
        SelectForUpdate "select-for-update" writes,
        /// `pg_advisory_lock`, of a session or of a transaction.
        AdvisoryLock "advisory-lock" writes,
        /// `pg_try_advisory_lock`
        TryAdvisoryLock "try-advisory-lock" writes,
        /// `pg_advisory_unlock`, also of all.
        AdvisoryUnlock "advisory-unlock" writes,
        /// `GET_LOCK`
        GetLock "get-lock" writes,
        /// `RELEASE_LOCK`, also of all.
        ReleaseLock "release-lock" writes,
        /// Any statement that is none of these.
        OtherStatement "statement" reads,
    }
    Memcached "memcached" "memcached" [Keys] {
        Add "add" writes,
        /// `cas`, and the commands of TairString that compare and set.
        Cas "cas" writes,
        /// `set`, `replace`, and the other commands of TairString that store.
        Storage "storage" writes,
        /// `get` and `gets`, also of Tair.
        Retrieval "retrieval" reads,
        /// `delete`, and the commands of TairString that compare and delete.
        Deletion "deletion" writes,
        IncrDecr "incr-decr" writes,
        /// `touch` and `gat`
        Touch "touch" writes,
        FlushAll "flush-all" writes,
        /// `put` of Tair's cache engine.
        TairPut "tair-put" writes,
    }
    Consul "consul" "Consul" [HeldKeys] {
        /// Also as a blocking query.
        KvGet "kv-get" reads,
        /// Of all keys that begin so (`?recurse`).
        KvList "kv-list" reads,
        KvPut "kv-put" writes,
        /// A put with `?cas=`.
        KvCas "kv-cas" writes,
        /// A put with `?acquire=`.
        KvAcquire "kv-acquire" writes,
        /// A put with `?release=`.
        KvRelease "kv-release" writes,
        KvDelete "kv-delete" writes,
        SessionCreate "session-create" writes,
        /// What keeps a session alive.
        SessionRenew "session-renew" reads,
        SessionDestroy "session-destroy" writes,
    }
    Chubby "chubby" "Chubby" [SessionLocks] {
        /// What begins a session.
        NewSession "new-session" writes,
        /// What makes the lease of a session longer; the master holds it back until the lease is nearly over.
        KeepAlive "keep-alive" reads,
        OpenFile "open-file" writes,
        CloseFile "close-file" writes,
        GetContentsAndStat "get-contents-and-stat" reads,
        SetContents "set-contents" writes,
        DeleteFile "delete-file" writes,
        /// `Acquire`
        AcquireFileLock "acquire-file-lock" writes,
        /// `TryAcquire`
        TryAcquireFileLock "try-acquire-file-lock" writes,
        /// `Release`
        ReleaseFileLock "release-file-lock" writes,
        GetSequencer "get-sequencer" reads,
        /// `CheckSequencer` and `SetSequencer`
        CheckSequencer "check-sequencer" reads,
    }
}

impl ServiceKind {
    /// The service of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|service| service.name() == name)
    }
}

impl RequestKind {
    /// The kinds that scenarios on a service know.
    pub fn of_service(service: ServiceKind) -> impl Iterator<Item = Self> {
        let kinds = Self::ALL.into_iter();
        kinds.filter(move |kind| kind.service() == service)
    }

    /// Whether a request of the other kind is one of this kind.
    pub fn covers(self, other: Self) -> bool {
        self == other || self == other.general()
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
