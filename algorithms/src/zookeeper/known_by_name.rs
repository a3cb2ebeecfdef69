//! `same_name`, except that the node has the name of its creator's machine, and a contender that finds its own name
//! there takes the lock for its own, as if it had never been away. Must be caught by `zookeeper/read-only` and
//! `zookeeper/restarted-holder`.

use async_trait::async_trait;

use super::queue::session_lost;
use super::same_name::{SameName, held};
use crate::clients::RequestKind;
use crate::clients::zookeeper::{ZkError, until_answered};
use crate::{Build, Held, Lock, LockError, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "zk-known-by-name",
    summary: "The single node, which names its holder: a contender that finds its own name there goes on.",
    source: "Junqueira and Reed, ZooKeeper, 2013, chapter 3, checkMaster, with a name that outlives the process",
    flaw: Some("a node with our name may be of a session that is long over"),
    requests: &[
        RequestKind::Create,
        RequestKind::Delete,
        RequestKind::GetData,
    ],
    build: Build::ZooKeeper(&|zk, env, lock| {
        Box::new(KnownByName {
            lock: SameName::new(zk, &lock),
            name: env.host(),
        })
    }),
    ..super::same_name::RECIPE
};

struct KnownByName {
    lock: SameName,
    name: String,
}

#[async_trait(?Send)]
impl Lock for KnownByName {
    async fn acquire(&mut self) -> Result<Held, LockError> {
        let SameName { zk, node, mode } = &self.lock;
        loop {
            match until_answered(|| zk.data_and_watch(node)).await {
                Ok((data, stat, _)) if *data == *self.name.as_bytes() => {
                    return Ok(held(node, &stat));
                }
                Ok((_, _, changed)) => {
                    changed.next().await;
                }
                Err(ZkError::NoNode) => {
                    let name = self.name.as_bytes();
                    match zk.create(node, name, *mode).await {
                        // What became of it is looked up.
                        Ok(_)
                        | Err(ZkError::NodeExists | ZkError::ConnectionLoss | ZkError::NoServer) => {
                        }
                        Err(error) => return Err(error.into()),
                    }
                }
                Err(error) => return Err(error.into()),
            }
        }
    }

    async fn release(&mut self, held: Held) -> Result<(), LockError> {
        self.lock.release(held).await
    }

    async fn lost(&self, _held: &Held) -> LockError {
        session_lost(&self.lock.zk).await
    }
}
