//! Access control: the calls of the handle that read and set lists, and authenticate. Few recipes use them.

use super::unexpected;
use super::{
    Acl, CreateMode, Data, Identity, Path, Reconfiguration, Request, Response, Stat, Version,
    ZkResult, ZooKeeper,
};
use std::rc::Rc;

impl ZooKeeper {
    /// Says who we are, now and after each reconnect: a `digest` is a name, a colon, and a password. A server that
    /// does not believe it ends the session: every call then answers `AuthFailed`.
    pub fn add_auth(&self, scheme: &str, secret: &[u8]) {
        self.session.transport.authenticate(scheme, secret);
    }

    /// Makes a node, and says who may do what with it.
    ///
    /// # Errors
    ///
    /// As for [`create`](Self::create); `InvalidAcl` if the list is empty or no server understands it, or if it stands
    /// for our identities, and we have named none.
    pub async fn create_with_acl(
        &self,
        path: &Path,
        data: impl Into<Data>,
        mode: CreateMode,
        acl: Acl,
    ) -> ZkResult<Path> {
        let request = Request::create(Path::clone(path), data, mode, acl, false);
        match self.ask(request, None).await? {
            Response::Created { path, .. } => Ok(path),
            other => unexpected("create_with_acl", &other),
        }
    }

    /// Our identities to the server, in no particular order: the schemes and names that we have said, and our address
    /// (ZooKeeper 3.7 and later).
    ///
    /// # Errors
    ///
    /// `ConnectionLoss`, `SessionExpired`, `Unimplemented`.
    pub async fn who_am_i(&self) -> ZkResult<Vec<Identity>> {
        match self.ask(Request::WhoAmI, None).await? {
            Response::ClientInfo(known) => Ok(known),
            other => unexpected("who_am_i", &other),
        }
    }

    /// Asks for another list of servers (ZooKeeper 3.5 and later). Here, as by default there, that is disabled.
    ///
    /// # Errors
    ///
    /// `ReconfigDisabled`, `ConnectionLoss`, `SessionExpired`, `Unimplemented`.
    pub async fn reconfigure(&self, asked: Reconfiguration) -> ZkResult<(Data, Stat)> {
        match self.ask(Request::Reconfig(Rc::new(asked)), None).await? {
            Response::Data { data, stat } => Ok((data, *stat)),
            other => unexpected("reconfigure", &other),
        }
    }

    /// Who may do what with a node. To those who may not change it, hashes are not shown.
    ///
    /// # Errors
    ///
    /// `NoNode`, `NoAuth`.
    pub async fn acl(&self, path: &Path) -> ZkResult<(Acl, Stat)> {
        let path = Path::clone(path);
        match self.ask(Request::GetAcl { path }, None).await? {
            Response::Acl { acl, stat } => Ok((acl, *stat)),
            other => unexpected("acl", &other),
        }
    }

    /// Says who may do what with a node, if its list is of this version, should one be given.
    ///
    /// # Errors
    ///
    /// `NoNode`, `NoAuth`, `BadVersion`, `InvalidAcl`. After `ConnectionLoss` it may be done.
    pub async fn set_acl(&self, path: &Path, acl: Acl, version: Option<Version>) -> ZkResult<Stat> {
        let request = Request::SetAcl {
            path: Path::clone(path),
            acl,
            version,
        };
        match self.ask(request, None).await? {
            Response::Set(stat) => Ok(*stat),
            other => unexpected("set_acl", &other),
        }
    }
}
