//! Several servers, and the links between them.

use std::collections::VecDeque;

use picklock_redis::{Address, Input, LinkId, Output, PeerMessage, ProcessEnd, ServerConfig};

use crate::server::bench::Bench;

/// Servers that know each other by their numbers, which are their ports, too.
pub struct Group {
    pub benches: Vec<Bench>,
    /// The links that are there: which end is the replica's, and which the primary's.
    links: Vec<Link>,
    /// Servers whose messages wait.
    pub held: Vec<usize>,
    /// Servers that do not run: for them no time passes, and what nodes tell them is lost.
    pub down: Vec<usize>,
    /// Servers that hear nothing of other nodes, nor those of them.
    pub alone: Vec<usize>,
}

struct Link {
    replica: usize,
    primary: usize,
    open: bool,
    queue: VecDeque<(usize, PeerMessage)>,
}

pub fn address(number: usize) -> Address {
    Address {
        host: "server".into(),
        port: number as u16,
    }
}

/// The settings of this server, which begins as the replica of the first unless it is the first.
pub fn settings(number: usize) -> ServerConfig {
    ServerConfig {
        number: number as u32,
        address: Some(address(number)),
        primary: (number > 0).then(|| address(0)),
        ..ServerConfig::default()
    }
}

impl Group {
    /// A primary and so many replicas, all in step.
    pub fn of(replicas: usize) -> Self {
        Self::with((0..=replicas).map(settings).collect())
    }

    pub fn with(settings: Vec<ServerConfig>) -> Self {
        let mut group = Self {
            benches: settings.into_iter().map(Bench::with).collect(),
            links: Vec::new(),
            held: Vec::new(),
            down: Vec::new(),
            alone: Vec::new(),
        };
        group.pass(1_000);
        group
    }

    /// Sends a command, and lets everything that comes of it arrive, but what is held.
    pub fn on(&mut self, server: usize, connection: u32, text: &str) -> String {
        self.send(server, connection, crate::server::bench::words(text))
    }

    pub fn send<W: AsRef<[u8]>>(
        &mut self,
        server: usize,
        connection: u32,
        words: Vec<W>,
    ) -> String {
        let answer = self.benches[server].send(connection, words);
        self.settle();
        let later = self.benches[server].read(picklock_redis::ConnectionId(connection));
        [answer, later].join("")
    }

    /// Time passes everywhere.
    pub fn pass(&mut self, millis: u64) {
        for _ in 0..millis.div_ceil(10) {
            for (server, bench) in self.benches.iter_mut().enumerate() {
                if !self.down.contains(&server) {
                    bench.pass(10);
                }
            }
            self.settle();
        }
    }

    /// The process of a server dies and comes back.
    pub fn restart(&mut self, server: usize, end: ProcessEnd) {
        for index in 0..self.links.len() {
            let link = &self.links[index];
            if link.open && (link.replica == server || link.primary == server) {
                self.cut(index, Some(server));
            }
        }
        let bench = &mut self.benches[server];
        bench.server.restart(bench.now, end, &mut bench.out);
        self.settle();
    }

    /// Whatever a server has sent and nobody has got is lost, and so are its links.
    pub fn cut_off(&mut self, server: usize) {
        for index in 0..self.links.len() {
            let link = &self.links[index];
            if link.open && (link.replica == server || link.primary == server) {
                self.cut(index, None);
            }
        }
    }

    fn cut(&mut self, index: usize, silent: Option<usize>) {
        self.links[index].open = false;
        self.links[index].queue.clear();
        let ends = [self.links[index].replica, self.links[index].primary];
        for end in ends.into_iter().filter(|end| Some(*end) != silent) {
            let link = Some(LinkId(index as u32));
            self.tell(end, Input::LinkGone { link });
        }
    }

    fn tell(&mut self, server: usize, input: Input) {
        self.benches[server].tell(input);
    }

    /// Carries messages until there are none.
    pub fn settle(&mut self) {
        while self.collect() || self.deliver() {}
    }

    fn collect(&mut self) -> bool {
        let mut any = false;
        for server in 0..self.benches.len() {
            let out = std::mem::take(&mut self.benches[server].out);
            for output in out {
                match output {
                    Output::ReachPrimary { to } => {
                        any = true;
                        self.links.push(Link {
                            replica: server,
                            primary: usize::from(to.port),
                            open: true,
                            queue: VecDeque::new(),
                        });
                        let link = LinkId(self.links.len() as u32 - 1);
                        self.tell(server, Input::Linked { link });
                    }
                    Output::ToPeer { link, message } => {
                        any = true;
                        let link = &mut self.links[link.0 as usize];
                        if link.open {
                            link.queue.push_back((server, message));
                        }
                    }
                    Output::ToNode { to, message } => {
                        any = true;
                        let to = usize::from(to.0);
                        let both = [server, to];
                        let lost = |list: &[usize]| both.iter().any(|end| list.contains(end));
                        if !lost(&self.down) && !lost(&self.alone) {
                            self.tell(to, Input::FromNode { message });
                        }
                    }
                    Output::CloseLink { link } => {
                        any = true;
                        if self.links[link.0 as usize].open {
                            self.cut(link.0 as usize, Some(server));
                        }
                    }
                    other => self.benches[server].out.push(other),
                }
            }
        }
        any
    }

    fn deliver(&mut self) -> bool {
        for index in 0..self.links.len() {
            let held = &self.held;
            let queue = &self.links[index].queue;
            let Some(at) = queue.iter().position(|(from, _)| !held.contains(from)) else {
                continue;
            };
            let Some((from, message)) = self.links[index].queue.remove(at) else {
                continue;
            };
            let link = &self.links[index];
            let to = if from == link.replica {
                link.primary
            } else {
                link.replica
            };
            let link = LinkId(index as u32);
            self.tell(to, Input::FromPeer { link, message });
            return true;
        }
        false
    }
}
