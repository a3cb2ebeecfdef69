//! Protected creates: a node whose making was not answered is recognised by a guid in its name.

use std::rc::Rc;

use super::Curator;
use crate::zookeeper::{CreateMode, Path, SessionId, ZkError, ZkResult, ZooKeeper};

impl Curator {
    /// Makes an ephemeral sequential node. A node that was made by a create whose answer was lost is found by its
    /// guid, and taken if the session is still the same. If all is in vain, or nobody waits any more, whatever may have
    /// been made is deleted in the background.
    ///
    /// # Errors
    ///
    /// The error of the last try.
    pub async fn create_protected(&self, parent: &Path, name: &str) -> ZkResult<Path> {
        let guid = self.env().guid();
        let prefix: Path = [parent, "/_c_", &guid, "-", name].concat().into();
        let leftover = Leftover::new(self, parent, &guid);
        let mut session = SessionId(0);
        let mut tried = false;
        let made = self
            .call_with_retry(async |zk| {
                if tried && let Some(found) = find_protected_node(zk, parent, &guid).await? {
                    // The nodes of an old session are about to go with it.
                    if session == zk.session() {
                        return Ok(found);
                    }
                    self.delete_in_background(&found);
                }
                tried = true;
                session = zk.session();
                create(zk, parent, &prefix).await
            })
            .await;
        // Other errors than these say that there is nothing, or that it will go with its session.
        match made {
            Err(ZkError::ConnectionLoss | ZkError::RequestTimeout) => {}
            Ok(_) | Err(_) => leftover.disarm(),
        }
        made
    }

    /// Makes an ephemeral sequential node, and makes it again if that was not answered.
    ///
    /// # Errors
    ///
    /// The error of the last try.
    pub async fn create_unprotected(&self, parent: &Path, name: &str) -> ZkResult<Path> {
        let prefix: Path = [parent, "/", name].concat().into();
        self.call_with_retry(async |zk| create(zk, parent, &prefix).await)
            .await
    }
}

/// Makes a node, and its parent if that is not there.
async fn create(zk: &ZooKeeper, parent: &Path, prefix: &Path) -> ZkResult<Path> {
    let mode = CreateMode::EphemeralSequential;
    match zk.create(prefix, b"", mode).await {
        Err(ZkError::NoNode) => {
            match zk.create(parent, b"", CreateMode::Container).await {
                Ok(_) | Err(ZkError::NodeExists) => {}
                Err(error) => return Err(error),
            }
            zk.create(prefix, b"", mode).await
        }
        answer => answer,
    }
}

/// The node of a guid. As published, it is looked for without a `sync`.
async fn find_protected_node(zk: &ZooKeeper, parent: &Path, guid: &str) -> ZkResult<Option<Path>> {
    let children = match zk.children(parent).await {
        Err(ZkError::NoNode) => return Ok(None),
        answer => answer?,
    };
    let is_ours = |name: &&Rc<str>| {
        let rest = name.strip_prefix("_c_");
        rest.is_some_and(|rest| rest.starts_with(guid))
    };
    let found = children.names().find(is_ours);
    Ok(found.map(|name| [parent, "/", name].concat().into()))
}

/// What a create may leave behind. Dropped while it is armed, it is found and deleted in the background.
struct Leftover {
    curator: Curator,
    parent: Path,
    guid: String,
    armed: bool,
}

impl Leftover {
    fn new(curator: &Curator, parent: &Path, guid: &str) -> Self {
        Self {
            curator: curator.clone(),
            parent: Rc::clone(parent),
            guid: guid.to_owned(),
            armed: true,
        }
    }

    fn disarm(mut self) {
        self.armed = false;
    }
}

impl Drop for Leftover {
    fn drop(&mut self) {
        if !self.armed {
            return;
        }
        let (curator, parent) = (self.curator.clone(), Rc::clone(&self.parent));
        let guid = std::mem::take(&mut self.guid);
        self.curator.env().spawn(async move {
            let look = async |zk: &ZooKeeper| {
                find_protected_node(&zk.in_background(), &parent, &guid).await
            };
            if let Some(found) = curator.persist(look).await.unwrap_or_default() {
                curator.delete_in_background(&found);
            }
        });
    }
}
