//! Watches that stay, the taking back of watches, and two more ways to read: what came to ZooKeeper with 3.6, but for
//! `removeWatches`, which 3.5 has. Older servers answer `Unimplemented`.

use super::unexpected;
use super::{Path, ReadOp, ReadResult, Request, Response, Watch, WatchSide, ZkResult, ZooKeeper};

impl ZooKeeper {
    /// Leaves a watch that stays when it has fired, on a node that may not be there: it gets each making, change, and
    /// deletion of the node, and each change of its list of children; if it is recursive, all that happens to the node
    /// and to everything below it, but no change of a list. After a reconnect it is there again, but what happened
    /// meanwhile is never told: the client must look when the session's state is `Connected` again.
    ///
    /// # Errors
    ///
    /// `ConnectionLoss` (then no watch is left), `SessionExpired`, `Unimplemented`.
    pub async fn add_watch(&self, path: &Path, recursive: bool) -> ZkResult<Watch> {
        let (watcher, watch) = self.session.watches.watch();
        let request = Request::AddWatch {
            path: Path::clone(path),
            recursive,
        };
        match self.ask(request, Some(watcher)).await? {
            Response::Watching => Ok(watch),
            other => unexpected("add_watch", &other),
        }
    }

    /// Takes back one watch on a side of a node; watches that stay are taken back from [`WatchSide::Any`] alone. It is
    /// told that it was taken back. As in Java, the server is only asked whether there is a watch: it goes on telling
    /// this client, even if this was the last of its watchers. `local`: the client forgets the watch whatever the
    /// server answers, or if no answer comes.
    ///
    /// # Errors
    ///
    /// `NoWatcher` if the client or the server has no such watch; unless `local` is set, `ConnectionLoss`, and then the
    /// watch is still there.
    pub async fn remove_watches(
        &self,
        path: &Path,
        watch: &Watch,
        side: WatchSide,
        local: bool,
    ) -> ZkResult<()> {
        let request = Request::CheckWatches {
            path: Path::clone(path),
            side,
            local,
        };
        match self.ask(request, Some(watch.watcher())).await? {
            Response::Watching => Ok(()),
            other => unexpected("remove_watches", &other),
        }
    }

    /// Takes back all watches of this client on a side of a node, here and at the server; watches that stay are taken
    /// back from [`WatchSide::Any`] alone. Each is told. `local` as in [`remove_watches`](Self::remove_watches).
    ///
    /// # Errors
    ///
    /// `NoWatcher` if the client or the server has none; unless `local` is set, `ConnectionLoss`, and then the server
    /// may have forgotten them.
    pub async fn remove_all_watches(
        &self,
        path: &Path,
        side: WatchSide,
        local: bool,
    ) -> ZkResult<()> {
        let request = Request::RemoveWatches {
            path: Path::clone(path),
            side,
            local,
        };
        match self.ask(request, None).await? {
            Response::Watching => Ok(()),
            other => unexpected("remove_all_watches", &other),
        }
    }

    /// The ephemeral nodes of this session whose path begins so, in no particular order, as the server that we are
    /// connected to knows them; all of them, if the prefix is empty or the root.
    ///
    /// # Errors
    ///
    /// `ConnectionLoss`, `SessionExpired`, `Unimplemented`.
    pub async fn ephemerals(&self, prefix: &Path) -> ZkResult<Vec<Path>> {
        let prefix = Path::clone(prefix);
        match self.ask(Request::GetEphemerals { prefix }, None).await? {
            Response::Ephemerals(paths) => Ok(paths),
            other => unexpected("ephemerals", &other),
        }
    }

    /// Several reads at one moment: no write comes between them. Each has an answer or an error of its own, `NoNode` or
    /// `NoAuth`. They leave no watches.
    ///
    /// # Errors
    ///
    /// `ConnectionLoss`, `SessionExpired`, `Unimplemented`.
    pub async fn multi_read(&self, ops: Vec<ReadOp>) -> ZkResult<Vec<ZkResult<ReadResult>>> {
        match self.ask(Request::MultiRead(ops.into()), None).await? {
            Response::MultiRead(results) => Ok(results),
            other => unexpected("multi_read", &other),
        }
    }
}
