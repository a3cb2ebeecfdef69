//! Locks whose library opens a new session by itself when one is gone.

use async_trait::async_trait;
use picklock_algorithms::clients::zookeeper::{
    Path, SessionId, SessionState, ZkError, ZkResult, ZooKeeper, until_answered,
};
use picklock_algorithms::zookeeper::queue::{Ticket, child, make_ticket, predecessor, prefix};
use picklock_algorithms::{Env, Held, Lock, LockError, Recipe};

use crate::foreign_locks::common::{
    ForeignLock, LeavesNothing, Version, connected_within, delete_surely, until_lost,
};

/// What is wrong with it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    ReleasesByPlace,
    AdoptsTheDying,
    RemembersItsSession,
}

pub const LOCKS: [ForeignLock; 3] = [
    ForeignLock {
        name: "releases-by-place",
        source: "blog posts on ZooKeeper locks: the releaser is the first in the queue",
        flaw: "Release deletes the first node of the queue, whosever it is.",
        breaks: "own-release-only",
        takes: "the end of a holder's session",
        held_out: false,
        world: r#"
[service.zookeeper]
servers = 1
session-timeout = "6s"
[workload]
contenders = 3
arrive = "in-order"
hold = "3s"
"#,
        recipe: |version| recipe("releases-by-place", Kind::ReleasesByPlace, version),
    },
    ForeignLock {
        name: "adopts-the-dying",
        source: "Apache Curator, CURATOR-498 and CURATOR-604",
        flaw: "The look-up after a lost create takes a node of its guid, though the session that made it was given up.",
        breaks: "mutual-exclusion",
        takes: "a lost create, and a connection that is away until the client, not the server, gives its session up",
        held_out: true,
        world: r#"
[service.zookeeper]
servers = 1
session-timeout = "6s"
[workload]
contenders = 3
arrive = "in-order"
hold = "6s"
"#,
        recipe: |version| recipe("adopts-the-dying", Kind::AdoptsTheDying, version),
    },
    ForeignLock {
        name: "remembers-its-session",
        source: "Apache Accumulo, ZooLock; Apache Curator, ProtectedMode before CURATOR-498",
        flaw: "It asks for its session once, and takes what a later one has made for another's.",
        breaks: "progress",
        takes: "the end of a session, and then a lost answer to a create",
        held_out: false,
        world: r#"
[service.zookeeper]
servers = 1
session-timeout = "6s"
[workload]
contenders = 3
arrive = "in-order"
rounds = 2
hold = "2s"
"#,
        recipe: |version| recipe("remembers-its-session", Kind::RemembersItsSession, version),
    },
];

fn recipe(name: &'static str, kind: Kind, version: Version) -> Recipe {
    Recipe::over_zookeeper(name, move |zk, env, lock| {
        Box::new(Reconnecting {
            zk,
            env,
            lock,
            kind,
            version,
            remembered: None,
        })
    })
}

struct Reconnecting {
    zk: ZooKeeper,
    env: Env,
    lock: Path,
    kind: Kind,
    version: Version,
    /// The session as it was when it was asked for.
    remembered: Option<SessionId>,
}

impl Reconnecting {
    fn has(&self, kind: Kind) -> bool {
        self.kind == kind && self.version == Version::AsWritten
    }

    /// Another session, if this one is gone.
    fn renew_if_gone(&mut self) {
        if self.zk.state() == SessionState::Closed {
            self.zk = self.zk.renew();
        }
    }

    /// The session that a node must be of to be ours.
    fn session(&mut self) -> SessionId {
        let now = self.zk.session();
        let remembered = *self.remembered.get_or_insert(now);
        match self.has(Kind::RemembersItsSession) {
            true => remembered,
            false => now,
        }
    }

    async fn take(&mut self, guid: &str) -> ZkResult<Ticket> {
        let prefix = prefix(&self.lock, guid);
        loop {
            self.session();
            match make_ticket(&self.zk, &prefix).await {
                Err(ZkError::ConnectionLoss | ZkError::RequestTimeout) => {}
                answer => return answer,
            }
            if self.kind == Kind::AdoptsTheDying
                && !connected_within(&self.zk, &self.env, self.zk.timeout()).await
            {
                self.zk = self.zk.renew();
            }
            if let Some(ticket) = self.look_up(guid).await? {
                return Ok(ticket);
            }
        }
    }

    async fn look_up(&mut self, guid: &str) -> ZkResult<Option<Ticket>> {
        let children = until_answered(|| self.zk.children(&self.lock)).await?;
        for name in children.names().filter(|name| name.starts_with(guid)) {
            let path = child(&self.lock, name);
            let Some(stat) = until_answered(|| self.zk.exists(&path)).await? else {
                continue;
            };
            if self.has(Kind::AdoptsTheDying) || stat.ephemeral_owner == self.session() {
                return Ok(Some(Ticket::new(path, stat.czxid)));
            }
        }
        Ok(None)
    }

    async fn wait_for_turn(&self, ticket: &Ticket) -> Result<(), LockError> {
        let zk = &self.zk;
        loop {
            let children = until_answered(|| zk.children(&self.lock)).await?;
            let Some(ahead) = predecessor(children, &self.lock, ticket)? else {
                return Ok(());
            };
            let (there, changed) = until_answered(|| zk.exists_and_watch(&ahead)).await?;
            if there.is_some() {
                changed.next().await;
            }
        }
    }
}

#[async_trait(?Send)]
impl Lock for Reconnecting {
    async fn acquire(&mut self) -> Result<Held, LockError> {
        self.renew_if_gone();
        let exit = LeavesNothing::new(&self.zk, &self.env, &self.lock);
        let ticket = self.take(&exit.guid).await?;
        self.wait_for_turn(&ticket).await?;
        exit.entered();
        Ok(Held::at(ticket.path).with_token(ticket.czxid.0))
    }

    async fn release(&mut self, held: Held) -> Result<(), LockError> {
        self.renew_if_gone();
        let mut ours = held.path_or_key;
        if self.has(Kind::ReleasesByPlace) {
            let queue = until_answered(|| self.zk.children(&self.lock)).await?;
            match queue.sorted_by_sequence().get(0) {
                Some(first) => ours = child(&self.lock, first),
                None => return Ok(()),
            }
        }
        Ok(delete_surely(&self.zk, &ours).await?)
    }

    async fn lost(&self, held: &Held) -> LockError {
        until_lost(&self.zk, &held.path_or_key).await
    }

    fn renews_sessions(&self) -> bool {
        true
    }
}
