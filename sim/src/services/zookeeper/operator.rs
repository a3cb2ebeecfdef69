//! The operator: deletes in a shell what is in the way, or asks for the lock.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use picklock_clients::zookeeper::{CreateMode, Path, ZkError, ZkResult, ZooKeeper, until_answered};

use super::SimulatedZooKeeper;
use super::handle::handle;
use crate::simulated_environment::environment;
use crate::world::Shared;

type SharedWorld = Rc<Shared<SimulatedZooKeeper>>;

/// Deletes a node.
pub(super) async fn delete_node(shared: SharedWorld, path: Path) {
    until_done(shared, async |zk| delete(zk, &path).await).await;
}

/// Cleans up what it takes for stale: looks at nodes, thinks, and deletes them, even if they are another's by now; or
/// only if they have the version that they had.
pub(super) async fn delete_stale(
    shared: SharedWorld,
    nodes: Vec<Path>,
    think: Duration,
    compare: bool,
) {
    let thread = shared.world.borrow().operator();
    let thinks = environment(&shared, thread).sleep(think);
    let mut seen = Vec::new();
    for node in nodes {
        let found = RefCell::new(None);
        until_done(Rc::clone(&shared), async |zk| {
            let stat = until_answered(|| zk.exists(&node)).await?;
            found.replace(stat.map(|stat| stat.version));
            Ok(())
        })
        .await;
        if let Some(version) = found.into_inner() {
            seen.push((node, version));
        }
    }
    thinks.await;
    for (node, version) in seen {
        let version = compare.then_some(version);
        until_done(Rc::clone(&shared), async |zk| {
            match until_answered(|| zk.delete(&node, version)).await {
                Err(ZkError::NoNode | ZkError::BadVersion) => Ok(()),
                answer => answer,
            }
        })
        .await;
    }
}

/// Asks the contender that created a node to give the lock back: `attemptRevoke` of Curator's `Revoker`. If the node is
/// gone by then, the request reaches no contender.
pub(super) async fn revoke(shared: SharedWorld, path: Path, message: &'static str) {
    until_done(shared, async |zk| {
        match until_answered(|| zk.set_data(&path, message.as_bytes(), None)).await {
            Ok(_) | Err(ZkError::NoNode) => Ok(()),
            Err(error) => Err(error),
        }
    })
    .await;
}

/// Deletes the lock's own node with all below it, and creates it again; of several locks each in turn.
pub(super) async fn recreate_lock(shared: SharedWorld) {
    let locks = shared.world.borrow().lock_names.clone();
    for lock in &locks {
        until_done(Rc::clone(&shared), async |zk| {
            delete_and_create(zk, lock).await
        })
        .await;
    }
}

/// Does the work. An operator whose session dies in the middle begins again: to leave the lock without its node would
/// be a fault of another kind.
async fn until_done(shared: SharedWorld, work: impl AsyncFn(&ZooKeeper) -> ZkResult<()>) {
    while let Err(ZkError::SessionExpired) = work(&operator_session(&shared)).await {}
}

/// So often an operator deletes what is below the lock's node. If contenders have come each time meanwhile, it gives
/// up: it would break holds for as long as contenders want the lock.
const PASSES: u32 = 20;

async fn delete_and_create(zk: &ZooKeeper, lock: &Path) -> ZkResult<()> {
    for pass in 1.. {
        if pass > PASSES {
            return Ok(());
        }
        let children = match until_answered(|| zk.children(lock)).await {
            // Another operator is at the same work, or this one was interrupted in it.
            Err(ZkError::NoNode) => break,
            answer => answer?,
        };
        for name in children.names() {
            delete(zk, &Path::from(format!("{lock}/{name}"))).await?;
        }
        match zk.delete(lock, None).await {
            Ok(()) | Err(ZkError::NoNode) => break,
            // A contender was quicker.
            Err(ZkError::NotEmpty | ZkError::ConnectionLoss | ZkError::NoServer) => {}
            Err(error) => return Err(error),
        }
    }
    loop {
        match zk.create(lock, b"", CreateMode::Persistent).await {
            Ok(_) | Err(ZkError::NodeExists) => return Ok(()),
            Err(ZkError::ConnectionLoss | ZkError::NoServer) => {}
            Err(error) => return Err(error),
        }
    }
}

async fn delete(zk: &ZooKeeper, path: &Path) -> ZkResult<()> {
    match until_answered(|| zk.delete(path, None)).await {
        Err(ZkError::NoNode) => Ok(()),
        answer => answer,
    }
}

fn operator_session(shared: &SharedWorld) -> ZooKeeper {
    let (client, operator) = {
        let mut world = shared.world.borrow_mut();
        let operator = world.operator();
        (world.add_client(operator), operator)
    };
    handle(shared, client, operator)
}
