//! Protected creates: a node whose making was not answered is recognised by a guid in its name.

use super::Conn;
use crate::zookeeper::{CreateMode, Data, Path, ZkError, ZkResult};

/// How often it is tried.
const TRIES: u32 = 3;

impl Conn {
    /// Makes an ephemeral sequential node: `CreateProtectedEphemeralSequential`. If the connection breaks before the
    /// answer, the guid is looked for, without a `sync`, and a node that bears it is taken, of whatever session it is.
    /// If that look fails, the call does, and a node that has been made stays: it is not looked for again.
    ///
    /// # Errors
    ///
    /// The error of the look, or of the last try.
    pub async fn create_protected_ephemeral_sequential(
        &self,
        parent: &Path,
        name: &str,
        data: &Data,
    ) -> ZkResult<Path> {
        let guid = self.0.env.guid();
        let prefix: Path = [parent, "/_c_", &guid, "-", name].concat().into();
        let mut error = ZkError::SessionExpired;
        let mode = CreateMode::EphemeralSequential;
        for _ in 0..TRIES {
            match self.create(&prefix, data, mode).await {
                // Go: it cannot be there, since its session is gone.
                Err(ZkError::SessionExpired) => error = ZkError::SessionExpired,
                Err(lost @ (ZkError::ConnectionLoss | ZkError::RequestTimeout)) => {
                    error = lost;
                    if let Some(path) = self.find_protected_node(parent, &guid).await? {
                        return Ok(path);
                    }
                }
                answer => return answer,
            }
        }
        Err(error)
    }

    async fn find_protected_node(&self, parent: &Path, guid: &str) -> ZkResult<Option<Path>> {
        let children = self.children(parent).await?;
        let found = children.names().find(|name| {
            let rest = name.strip_prefix("_c_");
            rest.is_some_and(|rest| rest.starts_with(guid))
        });
        Ok(found.map(|name| [parent, "/", name].concat().into()))
    }
}
