//! A persistent node whose data says who holds the lock: read, and if it is free, write. Must be caught by
//! `zookeeper/read-then-write`: two can read "free" before either writes.
//!
//! Seen in the wild: the first attempt of several tutorials, "option 1: a flag in a znode".

use async_trait::async_trait;

use super::queue::{child, session_lost};
use crate::clients::RequestKind;
use crate::clients::zookeeper::{CreateMode, Path, ZkError, ZooKeeper, until_answered};
use crate::{Build, Claim, Env, Held, Lock, LockError, OwnershipRule, Recipe};

/// The registry row.
pub const RECIPE: Recipe = Recipe {
    name: "zk-read-then-write",
    summary: "A node whose data names the holder: read it, and if it is free, write it.",
    source: "Tutorials that keep a flag in a znode",
    flaw: Some("the write does not depend on what was read: two can find the lock free"),
    claims: &[
        Claim::MutualExclusion,
        Claim::ExclusiveOwnership,
        Claim::Progress,
    ],
    ownership: OwnershipRule::DATA,
    requests: &[
        RequestKind::Create,
        RequestKind::GetData,
        RequestKind::SetData,
    ],
    inputs: &[],
    cancellable: true,
    shareable: false,
    build: Build::ZooKeeper(&|zk, env, lock| {
        Box::new(ReadThenWrite {
            zk,
            env,
            node: child(&lock, "flag"),
        })
    }),
};

struct ReadThenWrite {
    zk: ZooKeeper,
    env: Env,
    node: Path,
}

#[async_trait(?Send)]
impl Lock for ReadThenWrite {
    async fn acquire(&mut self) -> Result<Held, LockError> {
        let Self { zk, env, node } = self;
        loop {
            match until_answered(|| zk.data_and_watch(node)).await {
                Ok((data, _, _)) if data.is_empty() => {
                    let name = env.guid();
                    // The flaw: `None`. The version that was read belongs here.
                    let stat =
                        until_answered(async || zk.set_data(node, name.as_bytes(), None).await)
                            .await?;
                    return Ok(Held::at(Path::clone(node)).with_token(stat.mzxid.0));
                }
                Ok((_, _, changed)) => {
                    changed.next().await;
                }
                Err(ZkError::NoNode) => match zk.create(node, b"", CreateMode::Persistent).await {
                    Ok(_)
                    | Err(ZkError::NodeExists | ZkError::ConnectionLoss | ZkError::NoServer) => {}
                    Err(error) => return Err(error.into()),
                },
                Err(error) => return Err(error.into()),
            }
        }
    }

    async fn release(&mut self, held: Held) -> Result<(), LockError> {
        until_answered(async || self.zk.set_data(&held.path_or_key, b"", None).await).await?;
        Ok(())
    }

    async fn lost(&self, _held: &Held) -> LockError {
        session_lost(&self.zk).await
    }
}
