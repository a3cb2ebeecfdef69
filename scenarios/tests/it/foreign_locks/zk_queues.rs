//! Queues of ephemeral sequential nodes.

use std::time::Duration;

use async_trait::async_trait;
use picklock_algorithms::clients::zookeeper::{
    Path, SessionState, ZkError, ZooKeeper, until_answered,
};
use picklock_algorithms::zookeeper::queue::{Ticket, child, make_ticket, predecessor, prefix};
use picklock_algorithms::{Env, Held, Lock, LockError, Recipe};

use crate::foreign_locks::common::{
    ForeignLock, LeavesNothing, Version, delete_surely, take_ticket, until_lost,
};

/// What is wrong with a queue.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    RegistersTwice,
    TriesAndLeaves,
    WatchesAfterTheCheck,
    MissingIsFirst,
    SortsByName,
}

const ALONE: &str = r#"
[service.zookeeper]
servers = 1
session-timeout = "6s"
[workload]
contenders = 3
arrive = "in-order"
hold = "2s"
"#;

pub const LOCKS: [ForeignLock; 5] = [
    ForeignLock {
        name: "registers-twice",
        source: "samuel/go-zookeeper, Lock, #229; zk-ruby #54",
        flaw: "After a lost create it looks for its guid once: if the look fails too, it makes a second node.",
        breaks: "progress",
        takes: "a lost answer to a create, and a second loss at the look that follows",
        held_out: false,
        world: ALONE,
        recipe: |version| recipe("registers-twice", Kind::RegistersTwice, version),
    },
    ForeignLock {
        name: "tries-and-leaves",
        source: "kazoo, Lock.acquire(blocking=False), #760",
        flaw: "The clean-up of a failed try swallows its error, and the node stays.",
        breaks: "progress",
        takes: "a lost request at the delete of the clean-up, in a session that goes on",
        held_out: true,
        world: ALONE,
        recipe: |version| recipe("tries-and-leaves", Kind::TriesAndLeaves, version),
    },
    ForeignLock {
        name: "watches-after-the-check",
        source: "zk-ruby, NodeDeletionWatcher before 1.5",
        flaw: "It asks if the node ahead is there, and sets the watch with a second request, whose answer it ignores.",
        breaks: "progress",
        takes: "a release between the two requests: a delay there",
        held_out: false,
        world: ALONE,
        recipe: |version| {
            recipe(
                "watches-after-the-check",
                Kind::WatchesAfterTheCheck,
                version,
            )
        },
    },
    ForeignLock {
        name: "missing-is-first",
        source: "the indexOf of many blog posts: minus one is not greater than zero",
        flaw: "Its library opens a new session without the old node, and a waiter that is not listed counts as first.",
        breaks: "mutual-exclusion",
        takes: "the end of a waiter's session",
        held_out: true,
        world: ALONE,
        recipe: |version| recipe("missing-is-first", Kind::MissingIsFirst, version),
    },
    ForeignLock {
        name: "sorts-by-name",
        source: "ZooKeeper recipes, WriteLock, ZOOKEEPER-2931",
        flaw: "Names begin with the session, and the queue is sorted by the whole name.",
        breaks: "mutual-exclusion",
        takes: "nothing: two sessions whose order is not that of their nodes",
        held_out: true,
        world: "
[service.zookeeper]
servers = 3
[workload]
contenders = 4
rounds = 2
hold = \"1s\"
",
        recipe: |version| recipe("sorts-by-name", Kind::SortsByName, version),
    },
];

fn recipe(name: &'static str, kind: Kind, version: Version) -> Recipe {
    Recipe::over_zookeeper(name, move |zk, env, lock| {
        Box::new(Queue {
            zk,
            env,
            lock,
            kind,
            version,
        })
    })
}

struct Queue {
    zk: ZooKeeper,
    env: Env,
    lock: Path,
    kind: Kind,
    version: Version,
}

impl Queue {
    fn has(&self, kind: Kind) -> bool {
        self.kind == kind && self.version == Version::AsWritten
    }

    async fn take(&self, guid: &str) -> Result<Ticket, LockError> {
        match self.kind {
            Kind::RegistersTwice => self.register(guid).await,
            Kind::SortsByName => {
                let prefix = child(&self.lock, &format!("{:?}-{guid}-", self.zk.session()));
                Ok(make_ticket(&self.zk, &prefix).await?)
            }
            Kind::TriesAndLeaves | Kind::WatchesAfterTheCheck | Kind::MissingIsFirst => {
                Ok(take_ticket(&self.zk, &self.lock, guid).await?)
            }
        }
    }

    /// One server: what it has answered, it has done.
    async fn register(&self, guid: &str) -> Result<Ticket, LockError> {
        let prefix = prefix(&self.lock, guid);
        loop {
            match make_ticket(&self.zk, &prefix).await {
                Ok(ticket) => return Ok(ticket),
                Err(ZkError::ConnectionLoss | ZkError::RequestTimeout) => {}
                Err(error) => return Err(error.into()),
            }
            let children = match self.version {
                Version::AsWritten => self.zk.children(&self.lock).await.ok(),
                Version::Mended => Some(until_answered(|| self.zk.children(&self.lock)).await?),
            };
            let Some(children) = children else {
                continue;
            };
            if let Some(ours) = children.names().find(|name| name.starts_with(guid)) {
                let path = child(&self.lock, ours);
                if let Some(stat) = until_answered(|| self.zk.exists(&path)).await? {
                    return Ok(Ticket::new(path, stat.czxid));
                }
            }
        }
    }

    /// The node just ahead of ours, if there is one.
    async fn ahead(&self, ticket: &Ticket) -> Result<Option<Path>, LockError> {
        let children = until_answered(|| self.zk.children(&self.lock)).await?;
        if self.has(Kind::SortsByName) {
            let mut names: Vec<&str> = children.names().map(|name| &**name).collect();
            names.sort_unstable();
            let place = names.iter().position(|name| *name == ticket.name());
            let place = place.ok_or(LockError::PlaceLost)?;
            let ahead = place
                .checked_sub(1)
                .map(|ahead| child(&self.lock, names[ahead]));
            return Ok(ahead);
        }
        match predecessor(children, &self.lock, ticket) {
            Err(LockError::PlaceLost) if self.has(Kind::MissingIsFirst) => Ok(None),
            answer => answer,
        }
    }

    async fn wait_for(&self, ahead: &Path) -> Result<(), LockError> {
        let zk = &self.zk;
        if self.kind == Kind::WatchesAfterTheCheck
            && until_answered(|| zk.exists(ahead)).await?.is_none()
        {
            return Ok(());
        }
        let (there, changed) = until_answered(|| zk.exists_and_watch(ahead)).await?;
        if there.is_some() || self.has(Kind::WatchesAfterTheCheck) {
            changed.next().await;
        }
        Ok(())
    }

    /// In turn, or not at all; the library opens another session when one has ended.
    async fn turn(&mut self, ticket: &Ticket) -> Result<bool, LockError> {
        loop {
            let ahead = match self.ahead(ticket).await {
                Err(LockError::SessionExpired) if self.kind == Kind::MissingIsFirst => {
                    self.zk = self.zk.renew();
                    continue;
                }
                ahead => ahead?,
            };
            match ahead {
                None => return Ok(true),
                Some(_) if self.kind == Kind::TriesAndLeaves => return Ok(false),
                Some(ahead) => match self.wait_for(&ahead).await {
                    Err(LockError::SessionExpired) if self.kind == Kind::MissingIsFirst => {}
                    answer => answer?,
                },
            }
        }
    }
}

#[async_trait(?Send)]
impl Lock for Queue {
    async fn acquire(&mut self) -> Result<Held, LockError> {
        if self.renews_sessions() && self.zk.state() == SessionState::Closed {
            self.zk = self.zk.renew();
        }
        loop {
            let exit = LeavesNothing::new(&self.zk, &self.env, &self.lock);
            let ticket = self.take(&exit.guid).await?;
            if self.turn(&ticket).await? {
                exit.entered();
                return Ok(Held::at(ticket.path).with_token(ticket.czxid.0));
            }
            exit.entered();
            match self.version {
                Version::AsWritten => {
                    let _best_effort = self.zk.delete(&ticket.path, None).await;
                }
                Version::Mended => delete_surely(&self.zk, &ticket.path).await?,
            }
            self.env.pause(Duration::from_millis(300)).await;
        }
    }

    async fn release(&mut self, held: Held) -> Result<(), LockError> {
        Ok(delete_surely(&self.zk, &held.path_or_key).await?)
    }

    async fn lost(&self, held: &Held) -> LockError {
        until_lost(&self.zk, &held.path_or_key).await
    }

    fn renews_sessions(&self) -> bool {
        self.kind == Kind::MissingIsFirst
    }
}
