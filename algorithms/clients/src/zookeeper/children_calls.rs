//! What is below a node: the calls of the handle.

use std::rc::Rc;

use super::unexpected;
use super::{Children, Path, Request, Response, Stat, Watch, ZkResult, ZooKeeper};

impl ZooKeeper {
    /// The names of a node's children, in no particular order.
    ///
    /// # Errors
    ///
    /// `NoNode`, `ConnectionLoss`, `SessionExpired`.
    pub fn children(&self, path: &Path) -> impl Future<Output = ZkResult<Rc<Children>>> {
        let request = Request::GetChildren {
            path: Path::clone(path),
            watch: false,
            with_stat: false,
        };
        self.call(request, |reply| match reply? {
            Response::Children(children) => Ok(children),
            other => unexpected("children", &other),
        })
    }

    /// The names of a node's children, and a watch, which fires when one comes or goes, or the node is deleted.
    ///
    /// # Errors
    ///
    /// `NoNode` (then no watch is left), `ConnectionLoss`, `SessionExpired`.
    pub fn children_and_watch(
        &self,
        path: &Path,
    ) -> impl Future<Output = ZkResult<(Rc<Children>, Watch)>> {
        let request = Request::GetChildren {
            path: Path::clone(path),
            watch: true,
            with_stat: false,
        };
        self.call_and_watch(request, |reply, watch| match reply? {
            Response::Children(children) => Ok((children, watch)),
            other => unexpected("children_and_watch", &other),
        })
    }

    /// The names of a node's children, in no particular order, and the stat of the node, of the same moment:
    /// `getChildren2`.
    ///
    /// # Errors
    ///
    /// `NoNode`, `ConnectionLoss`, `SessionExpired`.
    pub fn children_with_stat(
        &self,
        path: &Path,
    ) -> impl Future<Output = ZkResult<(Rc<Children>, Stat)>> {
        let request = Request::GetChildren {
            path: Path::clone(path),
            watch: false,
            with_stat: true,
        };
        self.call(request, |reply| match reply? {
            Response::ChildrenWithStat { children, stat } => Ok((children, *stat)),
            other => unexpected("children_with_stat", &other),
        })
    }

    /// The same, and a watch, which fires when a child comes or goes, or the node is deleted.
    ///
    /// # Errors
    ///
    /// `NoNode` (then no watch is left), `ConnectionLoss`, `SessionExpired`.
    pub fn children_with_stat_and_watch(
        &self,
        path: &Path,
    ) -> impl Future<Output = ZkResult<(Rc<Children>, Stat, Watch)>> {
        let request = Request::GetChildren {
            path: Path::clone(path),
            watch: true,
            with_stat: true,
        };
        self.call_and_watch(request, |reply, watch| match reply? {
            Response::ChildrenWithStat { children, stat } => Ok((children, *stat, watch)),
            other => unexpected("children_with_stat_and_watch", &other),
        })
    }

    /// How many nodes there are below a node, at any depth (ZooKeeper 3.6 and later).
    ///
    /// # Errors
    ///
    /// `NoNode`, `NoAuth`, `ConnectionLoss`, `SessionExpired`, `Unimplemented`.
    pub fn all_children_number(&self, path: &Path) -> impl Future<Output = ZkResult<i32>> {
        let path = Path::clone(path);
        let request = Request::GetAllChildrenNumber { path };
        self.call(request, |reply| match reply? {
            Response::AllChildrenNumber(number) => Ok(number),
            other => unexpected("all_children_number", &other),
        })
    }
}
