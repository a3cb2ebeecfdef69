//! A healthy ensemble answers like one copy of the tree that does one request after the other.

use std::collections::BTreeMap;
use std::rc::Rc;

use picklock_clients::zookeeper::{
    Acl, Children, CreateMode, Data, Op, OpResult, Reply, Request, Response, SessionId, Stat,
    Version, ZkError,
};
use proptest::prelude::*;

use super::super::messages::Xid;
use super::super::testing::*;
use super::super::tree::DataTree;

/// One copy of the tree. Stats are compared in what needs no clock.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Model(BTreeMap<String, ModelNode>);

#[derive(Clone, Debug, PartialEq)]
struct ModelNode {
    data: Data,
    version: Version,
    creates: i32,
    owner: SessionId,
}

/// What a client learns, as far as the model knows it.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Answer {
    Made(String),
    Deleted,
    Data(Data, Version),
    Stat(Version, i32, i32),
    Names(Vec<String>),
    Checked,
    All(Vec<Answer>),
    Refused(ZkError),
}

fn split(path: &str) -> (&str, &str) {
    let slash = path.rfind('/').unwrap();
    (
        if slash == 0 { "/" } else { &path[..slash] },
        &path[slash + 1..],
    )
}

impl Model {
    fn new(nodes: &[&str]) -> Self {
        let mut model = Self(BTreeMap::new());
        for path in ["/", "/zookeeper"].iter().chain(nodes) {
            if nodes.contains(path) {
                model.0.get_mut(split(path).0).unwrap().creates += 1;
            }
            let node = ModelNode {
                data: Data::empty(),
                version: 0,
                creates: 0,
                owner: SessionId(0),
            };
            model.0.insert((*path).to_string(), node);
        }
        model
    }

    fn children(&self, path: &str) -> Vec<String> {
        let below = self.0.keys().filter(|other| *other != "/");
        let mine = below
            .map(|other| split(other))
            .filter(|(above, _)| *above == path);
        mine.map(|(_, name)| name.to_string()).collect()
    }

    fn stat(&self, path: &str) -> Answer {
        let node = &self.0[path];
        let children = self.children(path).len() as i32;
        Answer::Stat(node.version, 2 * node.creates - children, children)
    }

    fn node(&mut self, path: &str, version: Option<Version>) -> Result<&mut ModelNode, ZkError> {
        let node = self.0.get_mut(path).ok_or(ZkError::NoNode)?;
        match version {
            Some(wanted) if wanted != node.version => Err(ZkError::BadVersion),
            _ => Ok(node),
        }
    }

    fn create(
        &mut self,
        session: SessionId,
        path: &str,
        data: &Data,
        mode: CreateMode,
    ) -> Result<Answer, ZkError> {
        let above = self.node(split(path).0, None)?.clone();
        let path = if mode.is_sequential() {
            format!("{path}{:010}", above.creates)
        } else {
            path.to_string()
        };
        if self.0.contains_key(&path) {
            return Err(ZkError::NodeExists);
        }
        if above.owner != SessionId(0) {
            return Err(ZkError::NoChildrenForEphemerals);
        }
        self.node(split(&path).0, None)?.creates += 1;
        let owner = if mode.is_ephemeral() {
            session
        } else {
            SessionId(0)
        };
        let node = ModelNode {
            data: Data::clone(data),
            version: 0,
            creates: 0,
            owner,
        };
        self.0.insert(path.clone(), node);
        Ok(Answer::Made(path))
    }

    fn delete(&mut self, path: &str, version: Option<Version>) -> Result<Answer, ZkError> {
        self.node(split(path).0, None)?;
        self.node(path, version)?;
        if !self.children(path).is_empty() {
            return Err(ZkError::NotEmpty);
        }
        self.0.remove(path);
        Ok(Answer::Deleted)
    }

    fn set(
        &mut self,
        path: &str,
        data: &Data,
        version: Option<Version>,
    ) -> Result<Answer, ZkError> {
        let node = self.node(path, version)?;
        node.version += 1;
        node.data = Data::clone(data);
        Ok(self.stat(path))
    }

    fn op(&mut self, session: SessionId, op: &Op) -> Result<Answer, ZkError> {
        match op {
            Op::Create {
                path, data, mode, ..
            } => self.create(session, path, data, *mode),
            Op::Delete { path, version } => self.delete(path, *version),
            Op::SetData {
                path,
                data,
                version,
            } => self.set(path, data, *version),
            Op::Check { path, version } => self.node(path, *version).map(|_| Answer::Checked),
        }
    }

    pub(super) fn request(&mut self, session: SessionId, request: &Request) -> Answer {
        let answer = match request {
            Request::Create(node) => self.create(session, node.path(), &node.data(), node.mode()),
            Request::Delete { path, version } => self.delete(path, *version),
            Request::SetData {
                path,
                data,
                version,
            } => self.set(path, data, *version),
            Request::Exists { path, .. } => self.node(path, None).cloned().map(|_| self.stat(path)),
            Request::GetData { path, .. } => self
                .node(path, None)
                .map(|node| Answer::Data(node.data.clone(), node.version)),
            Request::GetChildren {
                path, with_stat, ..
            } => self.node(path, None).cloned().map(|_| {
                let names = Answer::Names(self.children(path));
                match with_stat {
                    true => Answer::All(vec![names, self.stat(path)]),
                    false => names,
                }
            }),
            Request::Sync { .. }
            | Request::AddWatch { .. }
            | Request::RemoveWatches { .. }
            | Request::CheckWatches { .. }
            | Request::MultiRead(_)
            | Request::GetEphemerals { .. }
            | Request::GetAllChildrenNumber { .. }
            | Request::WhoAmI
            | Request::Reconfig(_)
            | Request::GetAcl { .. }
            | Request::SetAcl { .. } => Ok(Answer::Checked),
            Request::Multi(ops) => {
                let before = self.clone();
                let all = ops.iter().map(|op| self.op(session, op)).collect();
                let all: Result<Vec<Answer>, ZkError> = all;
                if all.is_err() {
                    *self = before;
                }
                all.map(Answer::All)
            }
        };
        answer.unwrap_or_else(Answer::Refused)
    }

    pub(super) fn of(tree: &DataTree) -> Self {
        let mut model = Self(BTreeMap::new());
        let mut rest = vec![String::from("/")];
        while let Some(path) = rest.pop() {
            let node = tree.get(&path).unwrap();
            let children = node
                .names()
                .filter(|name| path != "/zookeeper" || name.is_empty());
            rest.extend(children.map(|name| format!("{}/{name}", path.trim_end_matches('/'))));
            let seen = ModelNode {
                data: node.data().clone(),
                version: node.stat().version,
                creates: (node.stat().cversion + node.stat().num_children) / 2,
                owner: node.owner(),
            };
            model.0.insert(path, seen);
        }
        model
    }
}

fn stat_answer(stat: &Stat) -> Answer {
    Answer::Stat(stat.version, stat.cversion, stat.num_children)
}

pub(super) fn answer(reply: Reply) -> Answer {
    match reply {
        Err(error) => Answer::Refused(error),
        Ok(Response::Created { path, .. }) => Answer::Made(path.to_string()),
        Ok(Response::Deleted) => Answer::Deleted,
        Ok(Response::Exists(stat)) => stat_answer(&stat),
        Ok(Response::Set(stat)) => stat_answer(&stat),
        Ok(Response::Data { data, stat }) => Answer::Data(data, stat.version),
        Ok(Response::Children(list)) => names(&list),
        Ok(Response::ChildrenWithStat { children, stat }) => {
            Answer::All(vec![names(&children), stat_answer(&stat)])
        }
        Ok(Response::MultiFailed(failed)) => Answer::Refused(failed.error),
        Ok(
            Response::Synced
            | Response::Closed
            | Response::Watching
            | Response::Acl { .. }
            | Response::MultiRead(_)
            | Response::AllChildrenNumber(_)
            | Response::ClientInfo(_)
            | Response::Ephemerals(_),
        ) => Answer::Checked,
        Ok(Response::Multi(results)) => Answer::All(
            results
                .into_iter()
                .map(|result| match result {
                    OpResult::Created(path) => Answer::Made(path.to_string()),
                    OpResult::Deleted => Answer::Deleted,
                    OpResult::Set(stat) => stat_answer(&stat),
                    OpResult::Checked => Answer::Checked,
                })
                .collect(),
        ),
    }
}

fn names(list: &Children) -> Answer {
    let mut names: Vec<String> = list.names().map(|name| name.to_string()).collect();
    names.sort();
    Answer::Names(names)
}

fn paths() -> impl Strategy<Value = Rc<str>> {
    let names = prop_oneof!["/q", "/q/[ab]", "/q/[ab]/[ab]", "/q/n-000000000[0-3]"];
    names.prop_map(|path| Rc::from(path.as_str()))
}

fn version() -> impl Strategy<Value = Option<Version>> {
    prop_oneof![3 => Just(None), 1 => (0..3).prop_map(Some)]
}

fn mode() -> impl Strategy<Value = CreateMode> {
    prop_oneof![
        Just(CreateMode::Persistent),
        Just(CreateMode::Ephemeral),
        Just(CreateMode::PersistentSequential),
        Just(CreateMode::EphemeralSequential),
    ]
}

fn op() -> impl Strategy<Value = Op> {
    let some = || any::<[u8; 2]>().prop_map(|data| Data::from(data.as_slice()));
    let data = || prop_oneof![3 => some(), 1 => Just(Data::NULL), 1 => Just(Data::empty())];
    prop_oneof![
        4 => (paths(), data(), mode()).prop_map(|(path, data, mode)| {
            let path = if mode.is_sequential() { Rc::from("/q/n-") } else { path };
            Op::Create { path, data, mode, acl: Acl::OPEN }
        }),
        2 => (paths(), version()).prop_map(|(path, version)| Op::Delete { path, version }),
        2 => (paths(), data(), version())
            .prop_map(|(path, data, version)| Op::SetData { path, data, version }),
        1 => (paths(), version()).prop_map(|(path, version)| Op::Check { path, version }),
    ]
}

fn write() -> impl Strategy<Value = Request> {
    prop_oneof![
        4 => op().prop_map(|op| match op {
            Op::Create { path, data, mode, acl } => {
                Request::create(path, data, mode, acl, false)
            }
            Op::Delete { path, version } => Request::Delete { path, version },
            Op::SetData { path, data, version } => Request::SetData { path, data, version },
            check @ Op::Check { .. } => Request::Multi(Rc::from([check])),
        }),
        1 => prop::collection::vec(op(), 0..4).prop_map(|ops| Request::Multi(ops.into())),
    ]
}

fn request() -> impl Strategy<Value = Request> {
    prop_oneof![
        4 => write(),
        1 => paths().prop_map(|path| Request::Exists { path, watch: false }),
        1 => paths().prop_map(|path| Request::GetData { path, watch: true }),
        1 => (paths(), any::<bool>())
            .prop_map(|(path, with_stat)| Request::GetChildren { path, watch: true, with_stat }),
        1 => Just(sync()),
    ]
}

fn all_agree(cluster: &Cluster, model: &Model) {
    for server in &cluster.servers {
        assert_eq!(Model::of(server.tree()), *model);
        assert_eq!(server.tree(), cluster.server(0).tree());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn one_after_the_other_is_like_one_copy(
        servers in prop_oneof![Just(1_u8), Just(3)],
        script in prop::collection::vec((0..3_usize, request()), 1..60),
    ) {
        let mut cluster = Cluster::formed(servers, &["/q"]);
        let mut model = Model::new(&["/q"]);
        let clients: Vec<_> = (0..3).map(|at| cluster.connect(at % servers)).collect();
        for (client, request) in script {
            let client = clients[client];
            let session = cluster.connections[&client].session;
            let expected = model.request(session, &request);
            let reply = cluster.ask(client, request);
            assert_eq!(answer(reply), expected);
            cluster.run_for(5 * LATENCY);
        }
        all_agree(&cluster, &model);
        // The sessions die, and their nodes with them.
        cluster.run_for(20 * SECOND);
        model.0.retain(|_, node| node.owner == SessionId(0));
        all_agree(&cluster, &model);
    }

    #[test]
    fn all_at_once_is_like_one_after_the_other_in_the_order_of_commits(
        servers in prop_oneof![Just(1_u8), Just(3), Just(5)],
        script in prop::collection::vec((0..3_usize, write(), 0..3_u64), 1..60),
    ) {
        let mut cluster = Cluster::formed(servers, &["/q"]);
        let mut model = Model::new(&["/q"]);
        let clients: Vec<_> = (0..3).map(|at| cluster.connect(at % servers)).collect();
        let mut sent: BTreeMap<(SessionId, Xid), _> = BTreeMap::new();
        for (client, request, pause) in script {
            let client = clients[client];
            let session = cluster.connections[&client].session;
            let xid = cluster.request(client, request.clone());
            sent.insert((session, xid), (client, request));
            cluster.run_for(pause * 400);
        }
        cluster.run_for(30 * LATENCY);
        let order: Vec<_> = cluster.observer.committed.values().filter_map(|txn| txn.session.zip(txn.xid)).collect();
        assert_eq!(order.len(), sent.len());
        for key in order {
            let (client, request) = &sent[&key];
            let expected = model.request(key.0, request);
            assert_eq!(cluster.reply_to(*client, key.1).map(answer), Some(expected));
        }
        all_agree(&cluster, &model);
    }
}
