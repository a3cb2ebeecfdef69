//! Random steps. The seed and the model's answers decide them, so the same seed asks the same again.

mod access;

use std::rc::Rc;
use std::time::Duration;

use picklock_clients::zookeeper::{
    CreateMode, Data, Op, Path, ReadOp, Request, Version, WatchSide,
};
use picklock_machines::Chance;
use picklock_sim::engine::tape::Tape;

use crate::zookeeper::backend::ServerIndex;
use crate::zookeeper::step::{Client, Resume, Step};

/// The longest session timeout that the servers grant here.
pub(crate) const LONG: Duration = Duration::from_secs(10);
/// Sessions at the same time, but for those that are there from the beginning.
const MOST_SESSIONS: usize = 6;
/// Paths that are remembered.
const MOST_PATHS: usize = 40;

/// What may be asked of, and how it stands.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OpenClient {
    pub(crate) client: Client,
    /// Its session goes on elsewhere, but it is open.
    pub(crate) left: bool,
}

/// Where random steps come from.
pub(crate) struct Random {
    tape: Tape,
    root: String,
    paths: Vec<Path>,
    servers: usize,
    /// The first so many of the connections stay as they are: one for each server.
    first: usize,
}

const MODES: [CreateMode; 10] = [
    CreateMode::Persistent,
    CreateMode::PersistentSequential,
    CreateMode::Ephemeral,
    CreateMode::EphemeralSequential,
    CreateMode::Persistent,
    CreateMode::PersistentSequential,
    CreateMode::EphemeralSequential,
    CreateMode::Container,
    CreateMode::PersistentWithTtl(LONG),
    CreateMode::PersistentSequentialWithTtl(LONG),
];

const NAMES: [&str; 6] = ["a", "b", "c", "lock-", "x y", "\u{fc}"];

/// Paths that are none, or that only servers use; `/` stands for the root of the round.
const ODD: [&str; 16] = [
    "",
    "/",
    "//",
    "/a/",
    "/a//b",
    "/./a",
    "/a/..",
    "/...",
    "/a\u{0}b",
    "/a\u{1f}",
    "/a\u{7f}",
    "/a\u{85}",
    "/a\u{e000}",
    "/a\u{fff0}",
    "/a\u{10348}",
    "/.a",
];

impl Random {
    /// Steps below this node; the first connections of the round are one for each server.
    pub(crate) fn new(seed: u64, root: String, servers: usize, first: usize) -> Self {
        Self {
            tape: Tape::from_seed(seed),
            paths: vec![Rc::from(root.as_str())],
            root,
            servers,
            first,
        }
    }

    /// Remembers paths that were made.
    pub(crate) fn learn(&mut self, made: &[Path]) {
        for path in made {
            if !self.paths.contains(path) {
                self.paths.push(Rc::clone(path));
            }
        }
        while self.paths.len() > MOST_PATHS {
            let place = 1 + self.below(self.paths.len() - 1);
            self.paths.swap_remove(place);
        }
    }

    fn below(&mut self, options: usize) -> usize {
        self.tape.choose(options as u32) as usize
    }

    /// True in so many cases of a hundred.
    fn percent(&mut self, percent: u32) -> bool {
        self.tape.choose(100) < percent
    }

    fn one_of<T: Clone>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())].clone()
    }

    /// The next step.
    pub(crate) fn step(&mut self, live: &[OpenClient]) -> Step {
        let first = self.first;
        let busy: Vec<OpenClient> = live.iter().filter(|one| !one.left).copied().collect();
        let free: Vec<OpenClient> = busy
            .iter()
            .filter(|one| one.client.0 >= first + self.servers)
            .copied()
            .collect();
        let ghosts: Vec<OpenClient> = live.iter().filter(|one| one.left).copied().collect();
        let place = ServerIndex(self.below(self.servers));
        if free.is_empty() || free.len() < MOST_SESSIONS && self.percent(3) {
            return Step::open(place, LONG);
        }
        let client = self.one_of(&busy).client;
        match self.below(100) {
            0..2 => self.set_acl(client),
            2..4 => {
                let client = self.one_of(&free).client;
                self.authenticate(client)
            }
            4..62 => self.ask(client, 1),
            62..86 => {
                let requests = 2 + self.below(6);
                self.ask(client, requests)
            }
            86..90 => self.watch(client),
            90..95 => {
                let of = self.one_of(&free);
                self.resume(of, place)
            }
            95..98 if free.len() > 1 => Step::Close {
                client: self.one_of(&free).client,
            },
            98.. if !ghosts.is_empty() => {
                let ghost = self.one_of(&ghosts).client;
                self.ask(ghost, 1)
            }
            _ => self.ask(client, 1),
        }
    }

    fn ask(&mut self, client: Client, requests: usize) -> Step {
        let requests = (0..requests).map(|_| self.request()).collect();
        Step::Ask { client, requests }
    }

    fn resume(&mut self, of: OpenClient, place: ServerIndex) -> Step {
        let wrong_password = self.percent(6);
        Step::Resume(Resume {
            of: of.client,
            place,
            cut: self.percent(60),
            wrong_password,
            ahead: !wrong_password && self.percent(6),
            read_only: false,
        })
    }

    fn watch(&mut self, client: Client) -> Step {
        Step::SetWatches {
            client,
            answers_ago: self.below(12),
            data: self.some_paths(),
            exist: self.some_paths(),
            child: self.some_paths(),
            persistent: self.few_paths(),
            recursive: self.few_paths(),
        }
    }

    fn some_paths(&mut self) -> Vec<Path> {
        let number = self.below(3);
        (0..number).map(|_| self.path()).collect()
    }

    fn few_paths(&mut self) -> Vec<Path> {
        if self.percent(20) {
            self.some_paths()
        } else {
            Vec::new()
        }
    }

    fn request(&mut self) -> Request {
        let watch = self.percent(40);
        match self.below(100) {
            0..32 => self.create(),
            32..46 => Request::Delete {
                path: self.path(),
                version: self.version(),
            },
            46..57 => Request::SetData {
                path: self.path(),
                data: self.data(),
                version: self.version(),
            },
            57..67 => Request::Exists {
                path: self.path(),
                watch,
            },
            67..77 => Request::GetData {
                path: self.path(),
                watch,
            },
            77..86 => Request::GetChildren {
                path: self.path(),
                watch,
                with_stat: self.percent(40),
            },
            86 => Request::GetAllChildrenNumber { path: self.path() },
            87 if self.percent(50) => Request::WhoAmI,
            87 => Request::Reconfig(Rc::default()),
            88 => Request::Sync { path: self.path() },
            89..91 => Request::AddWatch {
                path: self.path(),
                recursive: self.percent(50),
            },
            91..93 => {
                let (path, local) = (self.path(), false);
                let side = self.one_of(&[WatchSide::Children, WatchSide::Data, WatchSide::Any]);
                if self.percent(70) {
                    Request::RemoveWatches { path, side, local }
                } else {
                    Request::CheckWatches { path, side, local }
                }
            }
            93 => Request::GetEphemerals {
                prefix: self.path(),
            },
            94 => Request::GetAcl { path: self.path() },
            95 => {
                let parts = self.below(5);
                Request::MultiRead((0..parts).map(|_| self.read_part()).collect())
            }
            _ => {
                let parts = self.below(5);
                Request::Multi((0..parts).map(|_| self.part()).collect())
            }
        }
    }

    fn create(&mut self) -> Request {
        let (path, data) = (self.new_path(), self.data());
        let (mode, acl) = (self.one_of(&MODES), self.acl());
        Request::create(path, data, mode, acl, self.percent(40))
    }

    fn read_part(&mut self) -> ReadOp {
        let path = self.path();
        if self.percent(50) {
            ReadOp::Data(path)
        } else {
            ReadOp::Children(path)
        }
    }

    fn part(&mut self) -> Op {
        match self.below(10) {
            0..4 => Op::Create {
                path: self.new_path(),
                data: self.data(),
                mode: self.one_of(&MODES),
                acl: self.acl(),
            },
            4..6 => Op::Delete {
                path: self.path(),
                version: self.version(),
            },
            6..8 => Op::SetData {
                path: self.path(),
                data: self.data(),
                version: self.version(),
            },
            _ => Op::Check {
                path: self.path(),
                version: self.version(),
            },
        }
    }

    fn version(&mut self) -> Option<Version> {
        match self.below(10) {
            0..6 => None,
            6..8 => Some(0),
            8 => Some(1),
            _ => Some(self.below(4) as Version - 1),
        }
    }

    /// A path that there may be.
    fn path(&mut self) -> Path {
        if self.percent(70) {
            let paths = std::mem::take(&mut self.paths);
            let path = self.one_of(&paths);
            self.paths = paths;
            path
        } else {
            self.new_path()
        }
    }

    /// A path below one that there may be; sometimes one that cannot be.
    fn new_path(&mut self) -> Path {
        if self.percent(5) {
            let odd = self.one_of(&ODD);
            return match odd {
                "" | "/" => Rc::from(odd),
                below => Rc::from(format!("{}{below}", self.root)),
            };
        }
        let paths = std::mem::take(&mut self.paths);
        let mut above = self.one_of(&paths);
        if self.percent(40) {
            above = Rc::clone(&paths[0]);
        }
        self.paths = paths;
        let name = self.one_of(&NAMES);
        Rc::from(format!("{above}/{name}"))
    }

    fn data(&mut self) -> Data {
        if self.percent(10) {
            return Data::NULL;
        }
        let length = self.below(40);
        (0..length).map(|place| b'a' + (place % 26) as u8).collect()
    }
}
