//! Protected creates: a node whose making was not answered is recognised by a guid in its name.

use std::rc::Rc;

use super::Curator;
use crate::zookeeper::{CreateMode, Path, SessionId, ZkError, ZkResult, ZooKeeper};

/// What a protected create minds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Protection {
    /// Whether a node that is found counts only if it is of the present session.
    pub minds_session: bool,
    /// Whether what may have been made is looked for, and deleted, when the create has failed.
    pub finds_leftover: bool,
}

impl Protection {
    /// All that Curator minds since 4.2.
    pub const FULL: Self = Self {
        minds_session: true,
        finds_leftover: true,
    };
}

/// Whether a thread waits for the answer.
#[derive(Clone, Copy)]
enum Way {
    Foreground,
    Background,
}

impl Curator {
    /// Makes an ephemeral sequential node. A node that was made by a create whose answer was lost is found by its guid,
    /// and taken if the session is still the same. If all tries fail, or the call is dropped, whatever may have been
    /// made is deleted in the background.
    ///
    /// # Errors
    ///
    /// The error of the last try.
    pub async fn create_protected(
        &self,
        parent: &Path,
        name: &str,
        protection: Protection,
    ) -> ZkResult<Path> {
        let way = (Way::Foreground, CreateMode::EphemeralSequential);
        self.create_protected_in(way, parent, name, protection)
            .await
    }

    /// The same of a node whose name has a number already: it is ephemeral, and gets none.
    ///
    /// # Errors
    ///
    /// The error of the last try.
    pub async fn create_protected_at_number(
        &self,
        parent: &Path,
        name: &str,
        protection: Protection,
    ) -> ZkResult<Path> {
        let (way, mode) = (Way::Foreground, CreateMode::Ephemeral);
        self.create_protected_in((way, mode), parent, name, protection)
            .await
    }

    /// The same as [`create_protected`](Self::create_protected) in the background.
    ///
    /// # Errors
    ///
    /// The error of the last try.
    pub async fn create_protected_in_background(
        &self,
        parent: &Path,
        name: &str,
    ) -> ZkResult<Path> {
        let way = (Way::Background, CreateMode::EphemeralSequential);
        self.create_protected_in(way, parent, name, Protection::FULL)
            .await
    }

    async fn create_protected_in(
        &self,
        (way, mode): (Way, CreateMode),
        parent: &Path,
        name: &str,
        protection: Protection,
    ) -> ZkResult<Path> {
        let guid = self.env().guid();
        let prefix: Path = [parent, "/_c_", &guid, "-", name].concat().into();
        let mut leftover = Leftover::new(self, parent, &guid);
        leftover.armed = protection.finds_leftover;
        let mut session = SessionId(0);
        let mut tried = false;
        let create = async |zk: &ZooKeeper| {
            if tried && let Some(found) = find_protected_node(zk, parent, &guid).await? {
                // The nodes of an old session are about to go with it.
                if session == zk.session() {
                    return Ok(found);
                }
                if !protection.minds_session {
                    return Ok(found);
                }
                self.delete_in_background(&found);
            }
            tried = true;
            session = zk.session();
            self.create_with_parents(zk, &prefix, mode).await
        };
        let made = match way {
            Way::Foreground => self.call_with_retry(create).await,
            Way::Background => self.call_in_background(create).await,
        };
        // Other errors than these say that there is nothing, or that it will go with its session.
        match made {
            Err(ZkError::ConnectionLoss | ZkError::NoServer | ZkError::RequestTimeout) => {}
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
        let mode = CreateMode::EphemeralSequential;
        self.call_with_retry(async |zk| self.create_with_parents(zk, &prefix, mode).await)
            .await
    }

    /// Makes a node with the default data, and its parents if they are not there: `creatingParentContainersIfNeeded`.
    /// As there, the stat is always asked for, even if it is not used.
    async fn create_with_parents(
        &self,
        zk: &ZooKeeper,
        prefix: &Path,
        mode: CreateMode,
    ) -> ZkResult<Path> {
        let create = || {
            let data = self.0.default_data.clone();
            zk.create_with_stat(prefix, data, mode)
        };
        let made = match create().await {
            Err(ZkError::NoNode) => {
                mkdirs(zk, prefix).await?;
                create().await
            }
            answer => answer,
        };
        made.map(|(path, _)| path)
    }
}

/// Makes whatever is missing above a node, from the root on, as containers without data: `ZKPaths.mkdirs`. What is
/// there, it leaves as it is.
async fn mkdirs(zk: &ZooKeeper, path: &Path) -> ZkResult<()> {
    for (end, _) in path.match_indices('/').skip(1) {
        let parent = Path::from(&path[..end]);
        if zk.exists(&parent).await?.is_some() {
            continue;
        }
        match zk.create(&parent, b"", CreateMode::Container).await {
            // It may be another's.
            Ok(_) | Err(ZkError::NodeExists) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
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
