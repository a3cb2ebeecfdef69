//! The operator: somebody with a shell, who deletes what is in the way.

use std::rc::Rc;

use picklock_algorithms::clients::zookeeper::{
    CreateMode, Path, ZkError, ZkResult, ZooKeeper, until_answered,
};
use picklock_checker::ContenderId;

use crate::shared::{Shared, handle};
use crate::world::{LOCK_PATH, Whose, World};

/// Deletes the node of a contender.
pub(crate) fn delete_node_of(world: &mut World, by: ContenderId) {
    let Some(name) = world.ownership.node_of(by) else {
        return;
    };
    let path = Path::from(format!("{LOCK_PATH}/{name}"));
    with_operator(world, async move |zk| delete(zk, &path).await);
}

/// So often an operator deletes what is below the lock's node. If somebody has come each time meanwhile, it gives up:
/// it would break holds for as long as anybody wants the lock.
const PASSES: u32 = 20;

/// Deletes the lock's own node with all below it, and makes it anew.
pub(crate) fn recreate_lock(world: &mut World) {
    with_operator(world, async |zk| {
        let lock = Path::from(LOCK_PATH);
        for pass in 1.. {
            if pass > PASSES {
                return Ok(());
            }
            let children = match until_answered(|| zk.children(&lock)).await {
                // Another operator is at the same work, or this one was interrupted in it.
                Err(ZkError::NoNode) => break,
                answer => answer?,
            };
            for name in children.names() {
                delete(zk, &Path::from(format!("{LOCK_PATH}/{name}"))).await?;
            }
            match zk.delete(&lock, None).await {
                Ok(()) | Err(ZkError::NoNode) => break,
                // Somebody was quicker.
                Err(ZkError::NotEmpty | ZkError::ConnectionLoss) => {}
                Err(error) => return Err(error),
            }
        }
        loop {
            match zk.create(&lock, b"", CreateMode::Persistent).await {
                Ok(_) | Err(ZkError::NodeExists) => return Ok(()),
                Err(ZkError::ConnectionLoss) => {}
                Err(error) => return Err(error),
            }
        }
    });
}

async fn delete(zk: &ZooKeeper, path: &Path) -> ZkResult<()> {
    match until_answered(|| zk.delete(path, None)).await {
        Err(ZkError::NoNode) => Ok(()),
        answer => answer,
    }
}

/// An operator whose session dies in the middle begins again: to leave the lock without its node would be a fault of
/// another kind.
fn with_operator(world: &mut World, work: impl AsyncFn(&ZooKeeper) -> ZkResult<()> + 'static) {
    let Some(shared) = world.shared() else { return };
    let process = world.operator_process();
    let task = async move {
        while let Err(ZkError::SessionExpired) = work(&operator_session(&shared)).await {}
    };
    world
        .spawned
        .push((process, Box::pin(task), Whose::Simulator));
}

fn operator_session(shared: &Rc<Shared>) -> ZooKeeper {
    let client = {
        let mut world = shared.world.borrow_mut();
        let process = world.operator_process();
        world.add_client(process)
    };
    handle(shared, client)
}
