//! Steps, written short.

use std::rc::Rc;
use std::time::Duration;

use picklock_clients::zookeeper::{Acl, CreateMode, Data, Path, Request};

use crate::zookeeper::backend::ServerIndex;
use crate::zookeeper::random::LONG;
use crate::zookeeper::step::{Client, Resume, Step};

/// Steps in the making.
pub(super) struct Build {
    root: String,
    next: usize,
    pub(super) steps: Vec<Step>,
}

impl Build {
    /// Below this node; so many connections are there already.
    pub(super) fn new(root: &str, first: usize, servers: usize) -> Self {
        Self {
            root: root.to_owned(),
            next: first + servers,
            steps: Vec::new(),
        }
    }

    /// A path below the node of the case; it begins with a slash, or is empty.
    pub(super) fn path(&self, path: &str) -> Path {
        Rc::from(format!("{}{path}", self.root))
    }

    /// A new session.
    pub(super) fn open(&mut self, place: usize, timeout: Duration) -> Client {
        self.begin(place, timeout, false)
    }

    fn begin(&mut self, place: usize, timeout: Duration, read_only: bool) -> Client {
        self.steps.push(Step::Open {
            place: ServerIndex(place),
            timeout,
            read_only,
        });
        self.next_client()
    }

    fn next_client(&mut self) -> Client {
        self.next += 1;
        Client(self.next - 1)
    }

    /// A new session that stays.
    pub(super) fn client(&mut self, place: usize) -> Client {
        self.open(place, LONG)
    }

    /// A session goes on elsewhere.
    pub(super) fn resume(&mut self, of: Client, place: usize, cut: bool) -> Client {
        self.steps.push(Step::Resume(Resume {
            of,
            place: ServerIndex(place),
            cut,
            wrong_password: false,
            ahead: false,
            read_only: false,
        }));
        self.next_client()
    }

    /// A new session of a client that puts up with a server that answers reads alone.
    pub(super) fn reader(&mut self, place: usize) -> Client {
        self.begin(place, LONG, true)
    }

    /// A session of such a client goes on elsewhere, or does not.
    pub(super) fn resume_reader(
        &mut self,
        of: Client,
        place: usize,
        wrong_password: bool,
    ) -> Client {
        self.steps.push(Step::Resume(Resume {
            of,
            place: ServerIndex(place),
            cut: true,
            wrong_password,
            ahead: false,
            read_only: true,
        }));
        self.next_client()
    }

    /// Requests, one after the other without waiting.
    pub(super) fn ask<const N: usize>(&mut self, client: Client, requests: [Request; N]) {
        let requests = requests.into();
        self.steps.push(Step::Ask { client, requests });
    }

    pub(super) fn create(&self, path: &str, mode: CreateMode) -> Request {
        Request::create(self.path(path), b"", mode, Acl::OPEN, true)
    }

    /// A persistent node with this list of permissions.
    pub(super) fn create_for(&self, path: &str, acl: Acl) -> Request {
        Request::create(self.path(path), b"", CreateMode::Persistent, acl, true)
    }

    pub(super) fn authenticate(
        &mut self,
        client: Client,
        scheme: &'static str,
        secret: &'static str,
    ) {
        self.steps.push(Step::Authenticate {
            client,
            scheme,
            secret,
        });
    }

    pub(super) fn exists(&self, path: &str) -> Request {
        Request::Exists {
            path: self.path(path),
            watch: true,
        }
    }

    pub(super) fn get_data(&self, path: &str) -> Request {
        Request::GetData {
            path: self.path(path),
            watch: true,
        }
    }

    pub(super) fn get_children(&self, path: &str) -> Request {
        Request::GetChildren {
            path: self.path(path),
            watch: true,
            with_stat: false,
        }
    }

    pub(super) fn get_children2(&self, path: &str) -> Request {
        Request::GetChildren {
            path: self.path(path),
            watch: true,
            with_stat: true,
        }
    }

    pub(super) fn set_data(&self, path: &str, data: impl Into<Data>) -> Request {
        Request::SetData {
            path: self.path(path),
            data: data.into(),
            version: None,
        }
    }

    pub(super) fn delete(&self, path: &str) -> Request {
        Request::Delete {
            path: self.path(path),
            version: None,
        }
    }
}
